// SPDX-License-Identifier: BSD-3-Clause
// fabric.cpp - the functions of nbc/p2p.h; endpoints are added, and what happened can be asked for.

#include <algorithm>
#include <chrono>

#include "devices/p2p/engine.h"

namespace p2p {
namespace {

Endpoint &self(nbc_p2p *p2p) {
  return *static_cast<Endpoint *>(p2p);
}

Post &postOf(const union nbc_p2p_message *message) {
  return *static_cast<Post *>(message->pointer);
}

int send(nbc_p2p *p2p, const void *from, uint64_t bytes, uint32_t rank, uint32_t tag,
         union nbc_p2p_message *message) {
  auto guard = self(p2p).engine->lock();
  // Read only: a send's memory is never written.
  auto *memory = static_cast<uint8_t *>(const_cast<void *>(from));
  return self(p2p).engine->post(self(p2p), true, memory, bytes, rank, tag, message);
}

int receive(nbc_p2p *p2p, void *to, uint64_t bytes, uint32_t rank, uint32_t tag,
            union nbc_p2p_message *message) {
  auto guard = self(p2p).engine->lock();
  return self(p2p).engine->post(self(p2p), false, static_cast<uint8_t *>(to), bytes, rank, tag,
                                message);
}

int test(nbc_p2p *p2p, union nbc_p2p_message *message) {
  return self(p2p).engine->test(postOf(message));
}

int forget(nbc_p2p *p2p, union nbc_p2p_message *message, int) {
  auto guard = self(p2p).engine->lock();
  self(p2p).engine->forget(postOf(message));
  return 0;
}

void sleep(nbc_p2p *p2p, int64_t nanoseconds) {
  self(p2p).engine->sleep(self(p2p), nanoseconds);
}

const nbc_p2p_ops endpointOps = {
    .name = "soft",
    .send = send,
    .receive = receive,
    .test = test,
    .forget = forget,
    .sleep = sleep,
};

uint64_t nextIdentity() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

Engine::Engine(const Options &o)
    : options(o),
      simulated(o.mode == Mode::Simulated),
      generator(o.seed),
      epoch(0),
      identity(nextIdentity()) {
  if (!simulated) epoch = clock();
}

Engine::~Engine() {
  for (const auto &e : endpoints)
    for (Post *p : e->posts) delete p;
}

/// Nothing to take in simulated time, which has one thread.
std::unique_lock<std::mutex> Engine::lock() const {
  return simulated ? std::unique_lock<std::mutex>() : std::unique_lock(mutex);
}

Fabric::Fabric(const Options &options) : engine_(std::make_unique<Engine>(options)) {}
Fabric::~Fabric() = default;

nbc_p2p *Fabric::addEndpoint() {
  auto guard = engine_->lock();
  auto e = std::make_unique<Endpoint>();
  e->device = {NBC_P2P_TARGET, nullptr};
  e->ops = &endpointOps;
  e->largest_tag = engine_->options.largestTag;
  e->longest = engine_->options.longest;
  e->engine = engine_.get();
  e->rank = static_cast<uint32_t>(engine_->endpoints.size());
  engine_->endpoints.push_back(std::move(e));
  return engine_->endpoints.back().get();
}

Run Fabric::run(const std::function<bool(uint32_t)> &seen, const RunLimits &limits) {
  return engine_->simulated ? engine_->run(seen, limits) : Run::Quiet;
}

Time Fabric::now() const {
  return engine_->clock();
}

void Fabric::hostBusy(uint32_t rank, Time work) {
  auto guard = engine_->lock();
  Time &free = engine_->endpoints.at(rank)->hostFree;
  free = std::max(free, engine_->now) + work;
}

std::vector<std::string> Fabric::waiting() const {
  auto guard = engine_->lock();
  std::vector<const Post *> open;
  for (const auto &e : engine_->endpoints)
    for (const Post *p : e->posts)
      if (!p->match && p->held && p->state.load() == 0) open.push_back(p);
  std::ranges::sort(open, {}, &Post::number);
  std::vector<std::string> lines;
  for (const Post *p : open) {
    std::ostringstream text;
    text << "rank " << p->rank << ": a " << (p->isSend ? "send" : "receive") << " of " << p->bytes
         << " bytes " << (p->isSend ? "to" : "from") << " rank " << p->peer << ", tag " << p->tag
         << ": nobody has " << (p->isSend ? "received" : "sent") << " it";
    lines.push_back(text.str());
  }
  return lines;
}

std::vector<Transfer> Fabric::trace() const {
  auto guard = engine_->lock();
  return engine_->transfers;
}

Counters Fabric::counters() const {
  auto guard = engine_->lock();
  return engine_->counters;
}

std::vector<std::string> Fabric::findings() const {
  auto guard = engine_->lock();
  return engine_->findings;
}

void Fabric::kill(uint32_t rank) {
  auto guard = engine_->lock();
  engine_->kill(*engine_->endpoints.at(rank));
}

}  // namespace p2p
