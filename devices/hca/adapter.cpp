// SPDX-License-Identifier: BSD-3-Clause
// adapter.cpp - the functions of nbc/hca.h: queues are made, connected and destroyed.
//
// Numbers of queue pairs and CQs are unique in the fabric and never used twice, so that a number
// out of place or out of date names nothing. All here but the doorbell and `failed` takes the lock.

#include <algorithm>
#include <cstdlib>

#include "devices/hca/engine.h"
#include "nbc.h"

namespace hca {

Block::Block(size_t bytes) {
  if (bytes == 0) return;
  owner.reset(calloc(1, bytes + 63));  // calloc: large blocks cost nothing until they are used
  if (owner)
    at = reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(owner.get()) + 63) & ~63);
}

Slot *Engine::slot(uint32_t number) const {
  if (number >> 24) return nullptr;
  Slot *chunk = slots[number / slotsPerChunk].load(std::memory_order_acquire);
  return chunk ? &chunk[number % slotsPerChunk] : nullptr;
}

QueuePair *Engine::find(uint32_t number) const {
  Slot *s = slot(number);
  return s ? s->queuePair.load(std::memory_order_relaxed) : nullptr;
}

CompletionQueue *Engine::findQueue(uint32_t number) const {
  return number < queues.size() ? queues[number].get() : nullptr;
}

uint32_t Engine::newSlot() {
  if (slotCount >> 24) return 0;
  std::atomic<Slot *> &chunk = slots[slotCount / slotsPerChunk];
  if (!chunk.load(std::memory_order_relaxed))
    chunk.store(new Slot[slotsPerChunk], std::memory_order_release);
  return slotCount++;
}

void Engine::destroy(QueuePair &qp) {
  Slot *s = slot(qp.number);
  s->doorbell.store(nullptr, std::memory_order_release);
  s->queuePair.store(nullptr, std::memory_order_relaxed);
  stopWaiting(qp);
  notReady.erase(qp.number);
  if (qp.state == State::Ready) sayFarewell(qp);
  std::erase(qp.adapter->queuePairs, qp.number);
  if (qp.remote) std::erase(qp.remote->queuePairs, qp.number);
  std::erase(qp.sendQueue->attached, qp.number);
  std::erase(qp.receiveQueue->attached, qp.number);
  delete &qp;
}

void Engine::destroy(Adapter &adapter) {
  while (!adapter.queuePairs.empty()) destroy(*find(adapter.queuePairs.back()));
  for (std::unique_ptr<CompletionQueue> &cq : queues)
    if (cq && cq->adapter == &adapter) cq.reset();
  adapters[adapter.rank].reset();
}

namespace {

Adapter &self(nbc_hca *hca) {
  return *static_cast<Adapter *>(hca);
}

QueuePair *own(Adapter &adapter, uint32_t number) {
  QueuePair *qp = adapter.engine->find(number);
  return qp && qp->adapter == &adapter ? qp : nullptr;
}

CompletionQueue *ownQueue(Adapter &adapter, uint32_t number) {
  CompletionQueue *cq = adapter.engine->findQueue(number);
  return cq && cq->adapter == &adapter ? cq : nullptr;
}

/// What `address` gives out: the fabric and the rank in it. Where other processes can reach it, its
/// name is that at which it listens.
struct Address {
  uint64_t name;
  uint32_t rank, pad;
  uint64_t secret[2];
};
static_assert(sizeof(Address) == 32);

void facts(nbc_hca *hca, nbc_hca_facts *out) {
  *out = self(hca).engine->options.facts;
}

int createCqIn(const Rings &given, nbc_hca *hca, uint32_t log, uint32_t flags, nbc_hca_cq *out) {
  Adapter &adapter = self(hca);
  Engine &engine = *adapter.engine;
  auto guard = engine.lock();
  if (log > engine.options.facts.max_log_cq || engine.queues.size() >> 24)
    return NBC_ERROR_RESOURCES;

  auto cq = std::make_unique<CompletionQueue>();
  size_t bytes = size_t(MLX5_CQE) << log;
  Rings rings = given;
  if (!rings.send) {
    cq->memory = Block(bytes + 64);
    rings.send = cq->memory.at;
    if (!rings.send) return NBC_ERROR_MEMORY;
    rings.record = reinterpret_cast<uint32_t *>(rings.send + bytes);
    for (size_t i = MLX5_CQE_OP_OWN; i < bytes; i += MLX5_CQE) rings.send[i] = 0xf1;
  }
  cq->adapter = &adapter;
  cq->number = static_cast<uint32_t>(engine.queues.size());
  cq->log = log;
  cq->flags = flags;
  cq->entries = rings.send;
  cq->consumer = rings.record;
  if (flags & NBC_HCA_CQ_HOST) ++adapter.hostQueues;
  *out = {cq->number, log, cq->entries, cq->consumer};
  engine.queues.push_back(std::move(cq));
  return NBC_OK;
}

int destroyCq(nbc_hca *hca, uint32_t number) {
  Adapter &adapter = self(hca);
  auto guard = adapter.engine->lock();
  CompletionQueue *cq = ownQueue(adapter, number);
  if (!cq) return NBC_ERROR_ARGUMENT;
  if (!cq->attached.empty()) return NBC_ERROR_BUSY;
  // Who still waits for it never gets on; executing the entry again makes an error of it.
  std::vector<uint32_t> waiters = std::move(cq->waiters);
  if (cq->flags & NBC_HCA_CQ_HOST) --adapter.hostQueues;
  adapter.engine->queues[number].reset();
  for (uint32_t waiter : waiters)
    if (QueuePair *qp = adapter.engine->find(waiter)) {
      qp->waiting = false;
      adapter.engine->wake(*qp);
    }
  adapter.engine->wakeWorker();
  return NBC_OK;
}

int createQpIn(const Rings &given, nbc_hca *hca, const nbc_hca_qp_request *want, nbc_hca_qp *out) {
  Adapter &adapter = self(hca);
  Engine &engine = *adapter.engine;
  auto guard = engine.lock();
  const nbc_hca_facts &device = engine.options.facts;
  bool receives = want->log_rq != UINT32_MAX;
  CompletionQueue *sendQueue = ownQueue(adapter, want->send_cq);
  CompletionQueue *receiveQueue = ownQueue(adapter, want->recv_cq);
  if (!sendQueue || !receiveQueue || want->port >= adapter.ports.size() || want->rnr_timer > 31)
    return NBC_ERROR_ARGUMENT;
  const uint32_t room = given.room ? given.room : 1u << std::min(want->log_stride, 31u);
  if (receives && (room < MLX5_SEGMENT || room > mostRoom)) return NBC_ERROR_ARGUMENT;
  if (want->log_sq > device.max_log_sq || (receives && want->log_rq > device.max_log_rq))
    return NBC_ERROR_RESOURCES;
  if (want->flags &
          (NBC_HCA_QP_CROSS_CHANNEL | NBC_HCA_QP_MANAGED_SEND | NBC_HCA_QP_MANAGED_RECEIVES) &&
      !(device.waits & NBC_HCA_WAITS_CQ))
    return NBC_ERROR_UNSUPPORTED;
  uint32_t number = engine.newSlot();
  if (number == 0) return NBC_ERROR_RESOURCES;

  auto qp = std::make_unique<QueuePair>();
  size_t send = size_t(MLX5_WQEBB) << want->log_sq;
  size_t receive = receives ? size_t(1) << (want->log_rq + want->log_stride) : 0;
  Rings rings = given;
  if (!rings.send) {
    qp->memory = Block(send + receive + 8);
    rings.send = qp->memory.at;
    if (!rings.send) return NBC_ERROR_MEMORY;
    rings.receive = rings.send + send;
    rings.record = reinterpret_cast<uint32_t *>(rings.send + send + receive);
  }
  qp->adapter = &adapter;
  qp->number = number;
  qp->flags = want->flags;
  qp->port = want->port;
  if (want->rnr_timer) qp->retry.minRnrTimer = want->rnr_timer;
  qp->logSend = want->log_sq;
  qp->logReceive = want->log_rq;
  qp->logStride = want->log_stride;
  qp->room = room;
  qp->sendQueue = sendQueue;
  qp->receiveQueue = receiveQueue;
  qp->send = rings.send;
  qp->receive = receives ? rings.receive : nullptr;
  qp->doorbell = rings.record;
  sendQueue->attached.push_back(number);
  if (receiveQueue != sendQueue) receiveQueue->attached.push_back(number);
  *out = {number,   want->log_sq, want->log_rq, want->log_stride,
          qp->send, qp->receive,  qp->doorbell};

  adapter.queuePairs.push_back(number);
  Slot *s = engine.slot(number);
  s->owner.store(&adapter, std::memory_order_relaxed);
  s->doorbell.store(qp->doorbell, std::memory_order_release);
  s->queuePair.store(qp.release(), std::memory_order_release);
  return NBC_OK;
}

int createCq(nbc_hca *hca, uint32_t log, uint32_t flags, nbc_hca_cq *out) {
  return createCqIn({}, hca, log, flags, out);
}

int createQp(nbc_hca *hca, const nbc_hca_qp_request *want, nbc_hca_qp *out) {
  return createQpIn({}, hca, want, out);
}

int destroyQp(nbc_hca *hca, uint32_t number) {
  Adapter &adapter = self(hca);
  auto guard = adapter.engine->lock();
  QueuePair *qp = own(adapter, number);
  if (!qp) return NBC_ERROR_ARGUMENT;
  adapter.engine->destroy(*qp);
  return NBC_OK;
}

int address(nbc_hca *hca, uint8_t out[32]) {
  const Engine &engine = *self(hca).engine;
  Address a = {engine.fabric, self(hca).rank, 0, {}};
  if (engine.wire) {
    const Identity &i = engine.wire->identity;
    a = {i.name, self(hca).rank, 0, {i.secret[0], i.secret[1]}};
  }
  memcpy(out, &a, sizeof a);
  return NBC_OK;
}

constexpr uint32_t anyRank = UINT32_MAX;

/// To one of this fabric, which is there; of another process whoever says so later.
int findPeer(Engine &engine, const Address &a, uint32_t number, QueuePair &qp) {
  const Identity who = {a.name, {a.secret[0], a.secret[1]}};
  const bool here =
      engine.wire ? who == engine.wire->identity : who == Identity{.name = engine.fabric};
  if (here) {
    QueuePair *other = engine.find(number);
    return other && (a.rank == anyRank || other->adapter->rank == a.rank) ? NBC_OK
                                                                          : NBC_ERROR_ARGUMENT;
  }
  if (!engine.wire || number >> 24) return NBC_ERROR_ARGUMENT;
  int status;
  qp.remote = engine.wire->meet(who, status);
  if (!qp.remote) return status;
  qp.peerRank = a.rank;
  qp.remote->queuePairs.push_back(qp.number);
  return NBC_OK;
}

int connectQp(nbc_hca *hca, uint32_t number, const uint8_t bytes[32], uint32_t peer) {
  Adapter &adapter = self(hca);
  Engine &engine = *adapter.engine;
  {
    auto guard = engine.lock();
    Address a;
    memcpy(&a, bytes, sizeof a);
    QueuePair *qp = own(adapter, number);
    if (!qp || qp->state != State::Reset) return NBC_ERROR_ARGUMENT;
    if (int status = findPeer(engine, a, peer, *qp)) return status;
    qp->peer = peer;
    qp->state = State::Ready;
    qp->retriesLeft = static_cast<uint8_t>(qp->retry.retryCount);
    qp->rnrLeft = static_cast<uint8_t>(qp->retry.rnrRetry);
    engine.wake(*qp);
  }
  engine.wakeWorker();
  return NBC_OK;
}

int registerMemory(nbc_hca *hca, void *begin, size_t bytes, uint32_t access, uint32_t *lkey,
                   uint32_t *rkey) {
  Adapter &adapter = self(hca);
  auto guard = adapter.engine->lock();
  if ((!begin && bytes) || reinterpret_cast<uintptr_t>(begin) + bytes < bytes)
    return NBC_ERROR_ARGUMENT;
  if (access & NBC_HCA_READ_ONLY && access & (NBC_HCA_REMOTE_WRITE | NBC_HCA_REMOTE_ATOMIC))
    return NBC_ERROR_ARGUMENT;
  // Each count gives another key, and neighbours differ in most bits: a key that is off by one, of
  // another rank, or of a registration that is gone opens nothing.
  uint32_t key;
  do {
    if (adapter.engine->keys == UINT32_MAX) return NBC_ERROR_RESOURCES;
    key = ++adapter.engine->keys * 0x9e3779b1u;
  } while (key == 0 || key == MLX5_INVALID_LKEY);
  adapter.regions[key] = {static_cast<uint8_t *>(begin), bytes, access};
  *lkey = *rkey = key;
  return NBC_OK;
}

int deregisterMemory(nbc_hca *hca, uint32_t lkey) {
  Adapter &adapter = self(hca);
  auto guard = adapter.engine->lock();
  return adapter.regions.erase(lkey) ? NBC_OK : NBC_ERROR_ARGUMENT;
}

void doorbell(nbc_hca *hca, uint32_t number, uint64_t) {
  self(hca).engine->ring(self(hca), number);
}

uint32_t failed(nbc_hca *hca, uint32_t number) {
  Slot *s = self(hca).engine->slot(number);
  return s ? s->failed.load(std::memory_order_acquire) : 0;
}

void sleep(nbc_hca *hca, int64_t nanoseconds) {
  self(hca).engine->sleep(self(hca), nanoseconds);
}

int startQueueAt(nbc_hca *hca, uint32_t number, uint16_t send, uint16_t receive) {
  Adapter &adapter = self(hca);
  auto guard = adapter.engine->lock();
  QueuePair *qp = own(adapter, number);
  if (!qp || qp->state != State::Reset) return NBC_ERROR_ARGUMENT;
  qp->next = qp->limit = send;
  qp->received = qp->receiveLimit = receive;
  __atomic_store_n(&qp->doorbell[0], __builtin_bswap32(receive), __ATOMIC_RELEASE);
  if (!(qp->flags & NBC_HCA_QP_MANAGED_SEND))
    __atomic_store_n(&qp->doorbell[1], __builtin_bswap32(send), __ATOMIC_RELEASE);
  return NBC_OK;
}

int startCqAt(nbc_hca *hca, uint32_t number, uint32_t index) {
  Adapter &adapter = self(hca);
  auto guard = adapter.engine->lock();
  CompletionQueue *cq = ownQueue(adapter, number);
  if (!cq || cq->total) return NBC_ERROR_ARGUMENT;
  cq->producer = index & MLX5_CQ_INDEX_MASK;
  __atomic_store_n(cq->consumer, __builtin_bswap32(cq->producer), __ATOMIC_RELEASE);
  return NBC_OK;
}

}  // namespace

int Fabric::createCq(const Rings &rings, nbc_hca *hca, uint32_t log, uint32_t flags,
                     nbc_hca_cq *out) {
  return createCqIn(rings, hca, log, flags, out);
}

int Fabric::createQp(const Rings &rings, nbc_hca *hca, const nbc_hca_qp_request *want,
                     nbc_hca_qp *out) {
  return createQpIn(rings, hca, want, out);
}

void Fabric::addressOf(uint16_t lid, uint8_t out[32]) {
  const Address a = {identityOfLid(lid).name, anyRank, 0, {}};
  memcpy(out, &a, sizeof a);
}

const nbc_hca_ops adapterOps = {
    .name = "soft",
    .facts = facts,
    .create_cq = createCq,
    .create_qp = createQp,
    .address = address,
    .connect_qp = connectQp,
    .destroy_qp = destroyQp,
    .destroy_cq = destroyCq,
    .register_memory = registerMemory,
    .deregister_memory = deregisterMemory,
    .doorbell = doorbell,
    .failed = failed,
    .sleep = sleep,
    .start_queue_at = startQueueAt,
    .start_cq_at = startCqAt,
};

}  // namespace hca
