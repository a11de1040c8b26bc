// SPDX-License-Identifier: BSD-3-Clause
// device.cpp - queues and registrations are made, connected and ended.

#include <algorithm>
#include <bit>
#include <cstring>

#include "devices/verbs/engine.h"

namespace verbs {

uint32_t blocksOfSend(uint32_t gather, uint32_t inlineBytes) {
  constexpr uint32_t header = 2;  // control, remote address
  uint32_t inlined = inlineBytes ? (4 + inlineBytes + MLX5_SEGMENT - 1) / MLX5_SEGMENT : 0;
  uint32_t segments = header + std::max(gather, inlined);
  return (segments * MLX5_SEGMENT + MLX5_WQEBB - 1) / MLX5_WQEBB;
}

namespace {

/// Blocks are counted modulo 2^16, and which of two counts is ahead is seen by their difference.
constexpr uint32_t mostBlocks = (1u << 15) - 1;
constexpr uint32_t longestMessage = 1u << 30;
/// What an entry, of at most 63 segments, can hold beside its header.
constexpr uint32_t mostInline = 61 * MLX5_SEGMENT - 4;

uint32_t log2Up(uint32_t n) {
  return static_cast<uint32_t>(std::bit_width(n - 1));
}

void facts(nbc_verbs *verbs, nbc_verbs_facts *out) {
  const Options &o = self(verbs).options;
  nbc_hca_facts hca;
  self(verbs).hca->ops->facts(self(verbs).hca, &hca);
  out->gather = std::min(o.gather, hca.max_gather);
  out->inline_bytes = std::min(o.inlineBytes, mostInline);
  uint32_t blocks = std::min(1u << hca.max_log_sq, mostBlocks);
  out->queue = std::min(
      {o.queue, blocks / blocksOfSend(out->gather, out->inline_bytes), 1u << hca.max_log_rq});
  out->completions = std::min(o.completions, 1u << hca.max_log_cq);
  out->reads = o.reads;
  out->rails = o.rails;
  out->longest = std::min<uint64_t>(o.longest, longestMessage);
  out->rendezvous = o.rendezvous;
  out->transfer = o.transfer;
  out->offers = o.offers;
  out->patience = o.patience;
  out->rnr_timer = o.rnrTimer;
  out->on_demand = o.onDemand && o.memory != NBC_VERBS_PINNED;
  out->memory = o.memory;
}

int createCq(nbc_verbs *verbs, uint32_t entries, void **out) {
  Adapter &adapter = self(verbs);
  nbc_verbs_facts most;
  facts(verbs, &most);
  if (entries == 0) return NBC_ERROR_ARGUMENT;
  if (entries > most.completions) return NBC_ERROR_RESOURCES;
  auto cq = std::make_unique<Completions>();
  int r = adapter.hca->ops->create_cq(adapter.hca, log2Up(entries), NBC_HCA_CQ_HOST, &cq->cq);
  if (r) return r;
  cq->next = adapter.options.firstIndex & MLX5_CQ_INDEX_MASK;
  if (cq->next) adapter.hca->ops->start_cq_at(adapter.hca, cq->cq.number, cq->next);
  *out = cq.release();
  return NBC_OK;
}

int createQp(nbc_verbs *verbs, const nbc_verbs_queue_wish *wish, void **out, uint32_t *number) {
  Adapter &adapter = self(verbs);
  nbc_hca *hca = adapter.hca;
  nbc_verbs_facts most;
  facts(verbs, &most);
  if (wish->sends > most.queue || wish->receives > most.queue || wish->gather > most.gather ||
      wish->scatter > most.gather || wish->inline_bytes > most.inline_bytes)
    return NBC_ERROR_RESOURCES;
  if (wish->rail >= most.rails) return NBC_ERROR_ARGUMENT;

  auto queue = std::make_unique<Queue>();
  queue->completions = static_cast<Completions *>(wish->cq);
  queue->gather = wish->gather;
  queue->scatter = std::max(wish->scatter, 1u);
  queue->rail = wish->rail;
  queue->inlineBytes = wish->inline_bytes;
  queue->sends.most = wish->sends;
  queue->receives.most = wish->receives;
  uint32_t blocks = std::max(wish->sends, 1u) * blocksOfSend(wish->gather, wish->inline_bytes);
  uint32_t cq = queue->completions->cq.number;
  nbc_hca_qp_request request = {.log_sq = log2Up(blocks),
                                .log_rq = wish->receives ? log2Up(wish->receives) : UINT32_MAX,
                                .log_stride = log2Up(queue->scatter * MLX5_SEGMENT),
                                .send_cq = cq,
                                .recv_cq = cq,
                                .flags = 0,
                                .rnr_timer = wish->rnr_timer};
  if (int r = hca->ops->create_qp(hca, &request, &queue->qp)) return r;
  for (auto [ring, log] : {std::pair{&queue->sends, request.log_sq},
                           std::pair{&queue->receives, wish->receives ? request.log_rq : 0}}) {
    ring->ids.resize(size_t{1} << log);
    ring->requests.resize(size_t{1} << log);
  }
  queue->blocks = queue->received = static_cast<uint16_t>(adapter.options.firstIndex);
  if (queue->blocks)
    hca->ops->start_queue_at(hca, queue->qp.number, queue->blocks, queue->received);
  *number = queue->qp.number;
  queue->completions->queues[*number] = queue.get();
  *out = queue.release();
  return NBC_OK;
}

/// The HCA's address, and the number of the queue pair there, and its rail.
struct Address {
  uint8_t hca[32];
  uint32_t number, rail, pad[2];
};
static_assert(sizeof(Address) == sizeof(nbc_verbs_address));

int address(nbc_verbs *verbs, void *qp, nbc_verbs_address *out) {
  Address a = {};
  a.number = static_cast<Queue *>(qp)->qp.number;
  a.rail = static_cast<Queue *>(qp)->rail;
  int r = self(verbs).hca->ops->address(self(verbs).hca, a.hca);
  memcpy(out, &a, sizeof a);
  return r;
}

int connect(nbc_verbs *verbs, void *qp, const nbc_verbs_address *peer) {
  Queue &queue = *static_cast<Queue *>(qp);
  Address a;
  memcpy(&a, peer, sizeof a);
  int r = self(verbs).hca->ops->connect_qp(self(verbs).hca, queue.qp.number, a.hca, a.number);
  if (r == NBC_OK) queue.connected = true;
  queue.peerRail = a.rail;
  return r;
}

void sleep(nbc_verbs *verbs, void *, int64_t nanoseconds) {
  self(verbs).hca->ops->sleep(self(verbs).hca, nanoseconds);
}

int failed(nbc_verbs *verbs, void *qp) {
  uint32_t number = static_cast<Queue *>(qp)->qp.number;
  return self(verbs).hca->ops->failed(self(verbs).hca, number) ? NBC_ERROR_DEVICE : NBC_OK;
}

void destroyQp(nbc_verbs *verbs, void *qp) {
  Queue *queue = static_cast<Queue *>(qp);
  if (!queue) return;
  self(verbs).hca->ops->destroy_qp(self(verbs).hca, queue->qp.number);
  queue->completions->queues.erase(queue->qp.number);
  delete queue;
}

/// One that queue pairs still use stays, as ibv_destroy_cq leaves it.
void destroyCq(nbc_verbs *verbs, void *cq) {
  Completions *completions = static_cast<Completions *>(cq);
  if (!completions ||
      self(verbs).hca->ops->destroy_cq(self(verbs).hca, completions->cq.number) != NBC_OK)
    return;
  delete completions;
}

/// Regions are known by their key, which is never 0.
int registerMemory(nbc_verbs *verbs, void *begin, size_t bytes, int access, void **region,
                   uint32_t *lkey, uint32_t *rkey) {
  uint32_t rights = 0, key, same;
  if (access & ~(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                 IBV_ACCESS_RELAXED_ORDERING | IBV_ACCESS_ON_DEMAND))
    return NBC_ERROR_ARGUMENT;
  if (access & IBV_ACCESS_ON_DEMAND && !self(verbs).options.onDemand) return NBC_ERROR_UNSUPPORTED;
  if (access & IBV_ACCESS_REMOTE_WRITE) rights |= NBC_HCA_REMOTE_WRITE;
  if (access & IBV_ACCESS_REMOTE_READ) rights |= NBC_HCA_REMOTE_READ;
  if (!(access & IBV_ACCESS_LOCAL_WRITE)) rights |= NBC_HCA_READ_ONLY;
  int r = self(verbs).hca->ops->register_memory(self(verbs).hca, begin, bytes, rights, &key, &same);
  if (r) return r;
  *region = reinterpret_cast<void *>(uintptr_t{key});
  *lkey = key;
  *rkey = turnKey(key);
  return NBC_OK;
}

void keys(nbc_verbs *, void *region, uint32_t rail, uint32_t *lkey, uint32_t *rkey) {
  const auto key = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(region));
  *lkey = keyOnRail(key, rail);
  *rkey = keyOnRail(turnKey(key), rail);
}

void deregisterMemory(nbc_verbs *verbs, void *region) {
  if (region)
    self(verbs).hca->ops->deregister_memory(
        self(verbs).hca, static_cast<uint32_t>(reinterpret_cast<uintptr_t>(region)));
}

/// A registration is of addresses here, not of pages: what is mapped there later is what is sent.
/// So of memory that goes nobody has to be told.
int watch(nbc_verbs *, nbc_verbs_gone *, void *) {
  return NBC_OK;
}

const nbc_verbs_ops softwareOps = {
    .name = "soft",
    .facts = facts,
    .create_cq = createCq,
    .create_qp = createQp,
    .address = address,
    .connect = connect,
    .post_send = postSend,
    .post_receive = postReceive,
    .poll = poll,
    .sleep = sleep,
    .failed = failed,
    .destroy_qp = destroyQp,
    .destroy_cq = destroyCq,
    .register_memory = registerMemory,
    .deregister_memory = deregisterMemory,
    .keys = keys,
    .watch = watch,
};

}  // namespace

void Close::operator()(nbc_verbs *verbs) const {
  delete static_cast<Adapter *>(verbs);
}

Device deviceOn(nbc_hca *hca, const Options &options) {
  auto adapter = std::make_unique<Adapter>();
  adapter->device = {NBC_VERBS_TARGET, nullptr, 0};
  adapter->ops = &softwareOps;
  adapter->hca = hca;
  adapter->options = options;
  return Device(adapter.release());
}

}  // namespace verbs
