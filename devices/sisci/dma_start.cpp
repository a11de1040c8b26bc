// SPDX-License-Identifier: BSD-3-Clause
// dma_start.cpp - DMA queues, and what may be transferred: checked before anything is under way.

#include <algorithm>

#include "devices/sisci/engine.h"

namespace sisci {

namespace {

constexpr unsigned startFlags = SCI_FLAG_USE_CALLBACK | SCI_FLAG_DMA_WAIT | SCI_FLAG_DMA_READ |
                                SCI_FLAG_DMA_ADAPTER | SCI_FLAG_DMA_SYSDMA | SCI_FLAG_DMA_USER_MEM;
constexpr unsigned otherEngines = SCI_FLAG_DMA_GLOBAL | SCI_FLAG_DMA_PHDMA;

bool isPosted(const DmaQueue &queue) {
  return queue.state == SCI_DMAQUEUE_POSTED;
}

/// An error code for what this part may not be.
sci_error_t wrongPart(const Facts &facts, const Transfer::Part &part, size_t localBytes,
                      size_t remoteBytes) {
  if (part.bytes == 0 || part.bytes % facts.alignment) return SCI_ERR_SIZE_ALIGNMENT;
  if (part.local % facts.alignment || part.remote % facts.alignment)
    return SCI_ERR_OFFSET_ALIGNMENT;
  if (part.bytes > facts.longestTransfer || part.local > localBytes ||
      part.bytes > localBytes - part.local || part.remote > remoteBytes ||
      part.bytes > remoteBytes - part.remote)
    return SCI_ERR_OUT_OF_RANGE;
  return SCI_ERR_OK;
}

/// The segments of a transfer, if they may be used by this queue; `local` null: the program's
/// memory.
bool segmentsFit(Call &call, const DmaQueue &queue, const LocalSegment *local,
                 const RemoteSegment &remote, bool read) {
  const auto isOurs = [&](const auto &p) { return p.adapter == queue.adapter; };
  if (queue.adapter->network->isDead(queue.adapter->node))
    call.fail(SCI_ERR_NO_LINK_ACCESS);
  else if (remote.adapter != queue.adapter)
    call.fail(SCI_ERR_ILLEGAL_PARAMETER);
  else if (local && std::ranges::none_of(local->prepared, isOurs))
    call.fail(SCI_ERR_SEGMENT_NOT_PREPARED);
  else if (local && read && local->flags & SCI_FLAG_DMA_SOURCE_ONLY)
    call.fail(SCI_ERR_ILLEGAL_OPERATION);
  else if (queue.adapter->network->isLost(remote))
    call.fail(SCI_ERR_SEGMENT_NOT_CONNECTED);
  return call.ok();
}

/// Lets whoever asks how far a transfer is carry it out.
void help(Call &call, DmaQueue &queue) {
  Network &n = *queue.adapter->network;
  if (n.simulated || !isPosted(queue) || (n.options.adversarial && n.below(4))) return;
  if (std::erase(n.posted, queue.handle) > 0) n.carryOutOne(call.lock, queue.handle);
}

sci_dma_queue_state_t stateOf(sci_dma_queue_t handle) {
  auto *queue = library().find<DmaQueue>(handle);
  return queue ? queue->state.load() : SCI_DMAQUEUE_ERROR;
}

sci_dma_queue_state_t waitFor(Call &call, DmaQueue &queue, sci_dma_queue_t handle,
                              unsigned timeout) {
  help(call, queue);
  Network &n = *queue.adapter->network;
  const auto ended = [&] {
    auto *q = library().find<DmaQueue>(handle);
    return !q || !isPosted(*q);
  };
  if (!n.wait(call.lock, timeout, ended)) call.fail(SCI_ERR_TIMEOUT);
  if (!library().find<DmaQueue>(handle)) call.fail(SCI_ERR_CANCELLED);
  return stateOf(handle);
}

bool mayStart(Call &call, const DmaQueue &queue, sci_cb_dma_t callback, unsigned flags) {
  if (isPosted(queue))
    call.fail(SCI_ERR_BUSY);
  else if (flags & SCI_FLAG_USE_CALLBACK && !callback)
    call.fail(SCI_ERR_ILLEGAL_PARAMETER);
  return call.ok();
}

void start(Call &call, DmaQueue &queue, sci_cb_dma_t callback, void *argument, unsigned flags) {
  Transfer &t = *queue.transfer;
  t.callback = flags & SCI_FLAG_USE_CALLBACK ? callback : nullptr;
  t.argument = argument;
  queue.silent = false;
  queue.adapter->network->post(queue);
  if (!(flags & SCI_FLAG_DMA_WAIT)) return;
  const auto state = waitFor(call, queue, handleOf<sci_dma_queue_t>(&queue), SCI_INFINITE_TIMEOUT);
  if (call.ok() && state != SCI_DMAQUEUE_DONE)
    call.fail(state == SCI_DMAQUEUE_ABORTED ? SCI_ERR_CANCELLED : SCI_ERR_TRANSFER_FAILED);
}

std::shared_ptr<Transfer> transferOf(LocalSegment *local, RemoteSegment &remote, bool read) {
  auto t = std::make_shared<Transfer>();
  t->local = local;
  t->remote = &remote;
  if (local) t->localMemory = local->memory;
  if (local) t->localBase = local->memory->base;
  t->remoteMemory = remote.memory;
  t->read = read;
  return t;
}

/// All that starts a transfer does so here.
void startParts(Call &call, sci_dma_queue_t handle, sci_local_segment_t localHandle, void *memory,
                sci_remote_segment_t remoteHandle, std::vector<Transfer::Part> parts,
                sci_cb_dma_t callback, void *argument, unsigned flags) {
  auto *queue = call.object<DmaQueue>(handle);
  LocalSegment *local = memory ? nullptr : call.object<LocalSegment>(localHandle);
  auto *remote = call.object<RemoteSegment>(remoteHandle);
  if (!call.ok() || !mayStart(call, *queue, callback, flags)) return;
  if (queue->state == SCI_DMAQUEUE_GATHER) return call.fail(SCI_ERR_ILLEGAL_OPERATION);
  const bool read = flags & SCI_FLAG_DMA_READ;
  if (!segmentsFit(call, *queue, local, *remote, read)) return;
  for (const auto &part : parts) {
    const sci_error_t wrong = wrongPart(queue->adapter->network->options.facts, part,
                                        local ? local->bytes : SIZE_MAX, remote->bytes);
    if (wrong != SCI_ERR_OK) return call.fail(wrong);
  }
  queue->transfer = transferOf(local, *remote, read);
  queue->transfer->parts = std::move(parts);
  if (memory) queue->transfer->localBase = static_cast<uint8_t *>(memory);
  start(call, *queue, callback, argument, flags);
}

}  // namespace
}  // namespace sisci

using namespace sisci;

void SCICreateDMAQueue(sci_desc_t sd, sci_dma_queue_t *handle, unsigned adapterNo,
                       unsigned maxEntries, unsigned flags, sci_error_t *error) {
  Call call(error, flags, SCI_FLAG_DMA_ADAPTER | SCI_FLAG_DMA_SYSDMA, otherEngines);
  auto *descriptor = call.object<Descriptor>(sd);
  Adapter *adapter = call.adapter(adapterNo);
  if (!call.given(handle)) return;
  if (maxEntries == 0 || maxEntries > adapter->network->options.facts.queueEntries)
    return call.fail(SCI_ERR_MAX_ENTRIES);
  auto made = std::make_unique<DmaQueue>(descriptor);
  made->adapter = adapter;
  made->most = maxEntries;
  *handle = handleOf<sci_dma_queue_t>(library().handles.add(std::move(made)));
}

void SCIRemoveDMAQueue(sci_dma_queue_t handle, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  auto *queue = call.object<DmaQueue>(handle);
  if (!queue) return;
  if (isPosted(*queue)) return call.fail(SCI_ERR_ILLEGAL_OPERATION);
  if (queue->calling) return call.fail(SCI_ERR_BUSY);
  Network &n = *queue->adapter->network;
  library().handles.remove(queue);
  n.wakeUp();
}

void SCIStartDmaTransfer(sci_dma_queue_t queue, sci_local_segment_t local,
                         sci_remote_segment_t remote, size_t localOffset, size_t size,
                         size_t remoteOffset, sci_cb_dma_t callback, void *argument, unsigned flags,
                         sci_error_t *error) {
  Call call(error, flags, startFlags, otherEngines);
  startParts(call, queue, local, nullptr, remote, {{localOffset, remoteOffset, size}}, callback,
             argument, flags);
}

void SCIStartDmaTransferMem(sci_dma_queue_t queue, void *memory, sci_remote_segment_t remote,
                            size_t size, size_t remoteOffset, sci_cb_dma_t callback, void *argument,
                            unsigned flags, sci_error_t *error) {
  Call call(error, flags, startFlags, otherEngines);
  if (!call.given(memory)) return;
  const size_t unit = reinterpret_cast<uintptr_t>(memory) % alignof(uint64_t);
  if (unit) return call.fail(SCI_ERR_OFFSET_ALIGNMENT);
  startParts(call, queue, nullptr, memory, remote, {{0, remoteOffset, size}}, callback, argument,
             flags);
}

void SCIStartDmaTransferVec(sci_dma_queue_t handle, sci_local_segment_t local,
                            sci_remote_segment_t remote, size_t length, dis_dma_vec_t *vector,
                            sci_cb_dma_t callback, void *argument, unsigned flags,
                            sci_error_t *error) {
  Call call(error, flags, startFlags, otherEngines);
  auto *queue = call.object<DmaQueue>(handle);
  if (!call.given(vector)) return;
  const uint32_t most =
      std::min<uint32_t>(queue->adapter->network->options.facts.longestVector, DIS_DMA_MAX_VECLEN);
  if (length == 0 || length > most) return call.fail(SCI_ERR_OUT_OF_RANGE);
  std::vector<Transfer::Part> parts;
  for (size_t i = 0; i < length; ++i) {
    if (vector[i].flags) return call.fail(SCI_ERR_ILLEGAL_FLAG);
    parts.push_back({vector[i].local_offset, vector[i].remote_offset, vector[i].size});
  }
  startParts(call, handle, local, nullptr, remote, std::move(parts), callback, argument, flags);
}

sci_dma_queue_state_t SCIWaitForDMAQueue(sci_dma_queue_t handle, unsigned timeout, unsigned flags,
                                         sci_error_t *error) {
  Call call(error, flags, 0);
  auto *queue = call.object<DmaQueue>(handle);
  if (!queue) return SCI_DMAQUEUE_ERROR;
  if (queue->state == SCI_DMAQUEUE_IDLE || queue->state == SCI_DMAQUEUE_GATHER) {
    call.fail(SCI_ERR_ILLEGAL_OPERATION);
    return queue->state;
  }
  return waitFor(call, *queue, handle, timeout);
}

sci_dma_queue_state_t SCIDMAQueueState(sci_dma_queue_t handle) {
  Call call(nullptr, 0, 0);
  auto *queue = call.object<DmaQueue>(handle);
  if (queue) help(call, *queue);
  return stateOf(handle);
}

/// Returns when nothing touches memory any more.
void SCIAbortDMAQueue(sci_dma_queue_t handle, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  auto *queue = call.object<DmaQueue>(handle);
  if (!queue) return;
  if (!isPosted(*queue)) return call.fail(SCI_ERR_ILLEGAL_OPERATION);
  Network &n = *queue->adapter->network;
  queue->transfer->aborted = true;
  const bool notBegun = std::erase(n.posted, queue->handle) > 0;
  if (n.simulated || notBegun)
    n.finish(*queue, queue->transfer, false);
  else
    n.wait(call.lock, SCI_INFINITE_TIMEOUT, [&] {
      auto *q = library().find<DmaQueue>(handle);
      return !q || !isPosted(*q);
    });
}

sci_dma_queue_state_t SCIEnqueueDMATransfer(sci_dma_queue_t handle, sci_local_segment_t localHandle,
                                            sci_remote_segment_t remoteHandle, size_t localOffset,
                                            size_t remoteOffset, size_t size, unsigned flags,
                                            sci_error_t *error) {
  Call call(error, flags, SCI_FLAG_DMA_READ | SCI_FLAG_DMA_ADAPTER | SCI_FLAG_DMA_SYSDMA,
            otherEngines);
  auto *queue = call.object<DmaQueue>(handle);
  auto *local = call.object<LocalSegment>(localHandle);
  auto *remote = call.object<RemoteSegment>(remoteHandle);
  if (!call.ok()) return stateOf(handle);
  const bool read = flags & SCI_FLAG_DMA_READ;
  const Transfer::Part part{localOffset, remoteOffset, size};
  const bool gathers = queue->state == SCI_DMAQUEUE_GATHER;
  if (isPosted(*queue)) return call.fail(SCI_ERR_BUSY), queue->state.load();
  if (!segmentsFit(call, *queue, local, *remote, read)) return queue->state;
  const sci_error_t wrong =
      wrongPart(queue->adapter->network->options.facts, part, local->bytes, remote->bytes);
  if (wrong != SCI_ERR_OK) return call.fail(wrong), queue->state.load();
  if (gathers && queue->transfer->parts.size() == queue->most)
    return call.fail(SCI_ERR_MAX_ENTRIES), queue->state.load();
  // All parts of a posting go between the same two segments, the same way.
  if (gathers && (queue->transfer->local != local || queue->transfer->remote != remote ||
                  queue->transfer->read != read))
    return call.fail(SCI_ERR_ILLEGAL_OPERATION), queue->state.load();
  if (!gathers) queue->transfer = transferOf(local, *remote, read);
  queue->transfer->parts.push_back(part);
  queue->state = SCI_DMAQUEUE_GATHER;
  return queue->state;
}

void SCIPostDMAQueue(sci_dma_queue_t handle, sci_cb_dma_t callback, void *argument, unsigned flags,
                     sci_error_t *error) {
  Call call(error, flags, SCI_FLAG_USE_CALLBACK | SCI_FLAG_DMA_WAIT);
  auto *queue = call.object<DmaQueue>(handle);
  if (!queue || !mayStart(call, *queue, callback, flags)) return;
  if (queue->state != SCI_DMAQUEUE_GATHER) return call.fail(SCI_ERR_ILLEGAL_OPERATION);
  start(call, *queue, callback, argument, flags);
}

void SCIResetDMAQueue(sci_dma_queue_t handle, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  auto *queue = call.object<DmaQueue>(handle);
  if (!queue) return;
  if (isPosted(*queue)) return call.fail(SCI_ERR_ILLEGAL_OPERATION);
  queue->transfer.reset();
  queue->state = SCI_DMAQUEUE_IDLE;
}
