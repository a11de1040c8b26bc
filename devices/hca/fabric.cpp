// SPDX-License-Identifier: BSD-3-Clause
// fabric.cpp - adapters are added and killed; what happened can be asked for.

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "devices/hca/engine.h"

namespace hca {

namespace {
uint64_t nextFabric() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}
}  // namespace

Engine::Engine(const Options &o)
    : options(o),
      simulated(o.mode == Mode::Simulated),
      slots(new std::atomic<Slot *>[chunks]()),
      slotCount(64),  // small numbers are what uninitialized memory and mixed up CQs name
      fabric(nextFabric()),
      generator(o.seed),
      epoch(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1)) {
  queues.push_back(nullptr);  // no CQ has number 0
  if (o.wire && simulated) throw std::invalid_argument("simulated time is of one process alone");
  if (o.lid && !o.wire) throw std::invalid_argument("a LID is of use to other processes alone");
  if (o.wire) wire = std::make_unique<Wire>(o.lid);
  if (!simulated) worker = std::thread([this] { work(); });
}

Engine::~Engine() {
  if (worker.joinable()) {
    ending.store(true);
    wakeWorker();
    worker.join();
  }
  for (const auto &adapter : adapters)
    if (adapter)
      for (uint32_t number : adapter->queuePairs) delete find(number);
  for (uint32_t i = 0; i < chunks; ++i) delete[] slots[i].load();
}

Fabric::Fabric(const Options &options) : engine_(std::make_unique<Engine>(options)) {}
Fabric::~Fabric() = default;

nbc_hca *Fabric::addAdapter() {
  auto guard = engine_->lock();
  auto adapter = std::make_unique<Adapter>();
  adapter->device = {NBC_HCA_TARGET, nullptr};
  adapter->ops = &adapterOps;
  adapter->engine = engine_.get();
  adapter->ports.resize(std::max(engine_->options.facts.ports, 1u));
  adapter->rank = static_cast<uint32_t>(engine_->adapters.size());
  engine_->adapters.push_back(std::move(adapter));
  return engine_->adapters.back().get();
}

void Fabric::removeAdapter(nbc_hca *hca) {
  auto guard = engine_->lock();
  engine_->destroy(*static_cast<Adapter *>(hca));
}

Run Fabric::run(const std::function<bool(const Completion &)> &seen, const RunLimits &limits) {
  return engine_->simulated ? engine_->run(seen, limits) : Run::Quiet;
}

Time Fabric::now() const {
  return engine_->clock();
}

void Fabric::hostBusy(uint32_t rank, Time work) {
  auto guard = engine_->lock();
  Time &free = engine_->adapters.at(rank)->hostFree;
  free = std::max(free, engine_->now) + work;
}

Time Fabric::hostFree(uint32_t rank) const {
  auto guard = engine_->lock();
  return std::max(engine_->adapters.at(rank)->hostFree, engine_->now);
}

void Fabric::at(Time when, uint32_t rank, std::function<void()> what) {
  auto guard = engine_->lock();
  const uint32_t number = engine_->othersCount++;
  engine_->others[number] = {rank, std::move(what)};
  engine_->post(Kind::Other, number, std::max(when, engine_->now));
}

std::vector<Record> Fabric::trace() const {
  auto guard = engine_->lock();
  return engine_->records;
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
  engine_->adapters.at(rank)->dead = true;
  for (uint32_t number : engine_->adapters[rank]->queuePairs) engine_->notReady.erase(number);
}

void Fabric::dropReceives(uint32_t qp, uint32_t count) {
  auto guard = engine_->lock();
  if (QueuePair *to = engine_->find(qp)) to->dropReceives += count;
}

void Fabric::setRetry(uint32_t qp, const Retry &retry) {
  auto guard = engine_->lock();
  QueuePair *to = engine_->find(qp);
  if (!to) return;
  to->retry = retry;
  to->retriesLeft = static_cast<uint8_t>(retry.retryCount);
  to->rnrLeft = static_cast<uint8_t>(retry.rnrRetry);
}

void Fabric::ignoreOverrun(uint32_t cq, bool ignore) {
  auto guard = engine_->lock();
  CompletionQueue *queue = engine_->findQueue(cq);
  if (!queue) return;
  queue->flags &= ~NBC_HCA_CQ_OVERRUN_IGNORE;
  if (ignore) queue->flags |= NBC_HCA_CQ_OVERRUN_IGNORE;
}

void Fabric::setAccess(uint32_t qp, uint32_t access) {
  auto guard = engine_->lock();
  if (QueuePair *to = engine_->find(qp)) to->access = access;
}

void Fabric::failQueuePair(uint32_t qp) {
  {
    auto guard = engine_->lock();
    QueuePair *to = engine_->find(qp);
    if (!to) return;
    if (to->state == State::Error)
      engine_->postFlush(*to);
    else
      engine_->fail(*to, MLX5_FLUSHED);
  }
  engine_->wakeWorker();
}

}  // namespace hca
