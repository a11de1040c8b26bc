// SPDX-License-Identifier: BSD-3-Clause
// scheduler.cpp - what happens next: events, what things cost, and the adversary.

#include <algorithm>

#include "devices/hca/engine.h"

namespace hca {

namespace {
/// For heaps, which keep the greatest in front.
bool later(const Pending &a, const Pending &b) {
  return a.at != b.at ? a.at > b.at : a.order > b.order;
}
}  // namespace

void Engine::post(Kind kind, uint32_t queuePair, Time at, uint16_t limit) {
  Pending pending = {at, 0, queuePair, limit, kind};
  if (!simulated && at <= now) {
    ready.push(pending);
    return;
  }
  pending.order = options.adversarial ? random() : sequence++;
  timed.push_back(pending);
  std::push_heap(timed.begin(), timed.end(), later);
}

Pending Engine::popTimed() {
  std::pop_heap(timed.begin(), timed.end(), later);
  Pending next = timed.back();
  timed.pop_back();
  return next;
}

void Engine::handle(const Pending &pending) {
  ++counters.events;
  if (pending.kind == Kind::Other) return other(pending.queuePair);
  QueuePair *qp = find(pending.queuePair);
  if (!qp || qp->adapter->dead) return;
  switch (pending.kind) {
    case Kind::Step:
      qp->stepPosted = false;
      return step(*qp);
    case Kind::Deliver:
      qp->deliverPosted = false;
      return deliver(*qp);
    case Kind::Answer:
      qp->answerPosted = false;
      return retire(*qp);
    case Kind::Flush:
      qp->flushPosted = false;
      return flush(*qp);
    case Kind::Doorbell:
      return doorbell(*qp, pending.limit);
    case Kind::Expire:
      return expire(*qp);
    case Kind::Other:
      break;  // of no queue pair
  }
}

void Engine::other(uint32_t number) {
  const OtherDevice o = std::move(others.extract(number).mapped());
  o.what();
  unseen.push_back({o.rank, UINT32_MAX, now});
}

void Engine::doorbell(QueuePair &qp, uint16_t limit) {
  ++counters.doorbells;
  record(Event::Doorbell, qp, limit, 0);
  if (qp.flags & NBC_HCA_QP_MANAGED_SEND)
    return finding(qp, "doorbell rung for a managed queue, which it does not start");
  if (ahead(limit, qp.limit) > 0) {
    qp.limit = limit;
    qp.partial = false;
    uint32_t there = static_cast<uint16_t>(limit - qp.next), room = 1u << qp.logSend;
    if (there > room) finding(qp, "posted ", there, " blocks where ", room, " fit");
  }
  if (qp.state == State::Error)
    postFlush(qp);
  else
    wake(qp);
}

/// Has the next entry executed, if there is one and nothing holds the queue.
void Engine::wake(QueuePair &qp) {
  if (qp.stepPosted || qp.state != State::Ready || qp.stopped || qp.receiverNotReady ||
      qp.waiting || qp.fenced || qp.partial || ahead(qp.limit, qp.next) <= 0)
    return;
  qp.stepPosted = true;
  Time at = now;
  if (simulated) {
    Time &pipeline = qp.adapter->pipelineFree;
    at = pipeline = std::max(pipeline, now) + options.cost.perEntry;
  }
  post(Kind::Step, qp.number, at + holdBack());
}

void Engine::postDeliver(QueuePair &qp) {
  if (qp.deliverPosted) return;
  uint32_t i = qp.delivered;
  while (i < qp.inFlight.size() && qp.inFlight[i].stage != Stage::Sent) ++i;
  if (i == qp.inFlight.size()) return;
  qp.deliverPosted = true;
  post(Kind::Deliver, qp.number, std::max(qp.inFlight[i].due, now));
}

void Engine::postAnswer(QueuePair &qp) {
  if (qp.answerPosted) return;
  qp.answerPosted = true;
  post(Kind::Answer, qp.number, std::max(qp.inFlight.front().due, now));
}

void Engine::postFlush(QueuePair &qp) {
  if (qp.flushPosted) return;
  qp.flushPosted = true;
  post(Kind::Flush, qp.number, now);
}

/// When the last byte of a message that starts now is there. Latency is the same for all, so who
/// starts first reaches the receiving port first, and it can be reserved now.
Time Engine::transit(const QueuePair &from, const QueuePair &to, uint64_t bytes) {
  if (!simulated) return now;
  Time carried = static_cast<Time>(bytes) * options.cost.perByte;
  if (from.adapter == to.adapter) return now + options.cost.loopbackLatency + carried;
  Time &sendFree = from.adapter->ports[from.port].sendFree;
  Time &receiveFree = to.adapter->ports[to.port].receiveFree;
  Time occupied = std::max(options.cost.gap, carried);
  Time start = std::max(now, sendFree);
  sendFree = start + occupied;
  Time head = std::max(start + options.cost.latency, receiveFree);
  receiveFree = head + occupied;
  return head + carried;
}

/// When an answer sent now is back; one without data takes no port.
Time Engine::answerTime(const QueuePair &from, const QueuePair &to, uint64_t bytes) {
  if (!simulated) return now + holdBack();
  if (bytes) return transit(from, to, bytes) + holdBack();
  return now + (from.adapter == to.adapter ? 0 : options.cost.latency) + holdBack();
}

uint64_t Engine::random() {  // splitmix64
  uint64_t z = generator += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/// The adversary's delays: often none, sometimes a hundred times the usual.
Time Engine::holdBack() {
  if (!options.adversarial) return 0;
  uint64_t r = random();
  if (r & 1) return 0;
  uint64_t most = static_cast<uint64_t>(microsecond) << (r >> 1 & 7);
  return static_cast<Time>((r >> 8) % most);
}

}  // namespace hca
