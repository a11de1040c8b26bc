// SPDX-License-Identifier: BSD-3-Clause
// sequence.cpp - barriers, and what has become of stores since a sequence was started.

#include <atomic>

#include "devices/sisci/engine.h"

namespace sisci {

namespace {

Network &networkOf(const Sequence &sequence) {
  return *sequence.map->remote->adapter->network;
}

/// Whoever has no shadow stores into the memory itself: only the compiler and the CPU have to be
/// told.
void pushStores(const Sequence &sequence, bool risky) {
  if (sequence.map->shadow)
    networkOf(sequence).push(*sequence.map, risky);
  else
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace
}  // namespace sisci

using namespace sisci;

void SCICreateMapSequence(sci_map_t handle, sci_sequence_t *sequence, unsigned flags,
                          sci_error_t *error) {
  Call call(error, flags, SCI_FLAG_FAST_BARRIER);
  auto *map = call.object<Map>(handle);
  if (!call.given(sequence)) return;
  if (!map->remote) return call.fail(SCI_ERR_ILLEGAL_OPERATION);
  *sequence = handleOf<sci_sequence_t>(library().handles.add(std::make_unique<Sequence>(map)));
}

void SCIRemoveSequence(sci_sequence_t handle, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  auto *sequence = call.object<Sequence>(handle);
  if (sequence) library().handles.remove(sequence);
}

sci_sequence_status_t SCIStartSequence(sci_sequence_t handle, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  auto *sequence = call.object<Sequence>(handle);
  if (!sequence) return SCI_SEQ_NOT_RETRIABLE;
  Network &n = networkOf(*sequence);
  if (n.simulated) n.busy(*sequence->map->remote->adapter, n.options.cost.check);
  if (n.isLost(*sequence->map->remote)) return SCI_SEQ_NOT_RETRIABLE;
  if (sequence->broken) {
    --sequence->broken;
    return n.below(2) ? SCI_SEQ_NOT_RETRIABLE : SCI_SEQ_PENDING;
  }
  pushStores(*sequence, false);  // what was stored before is not what it watches
  sequence->started = true;
  sequence->lost = false;
  sequence->pending = 0;
  return SCI_SEQ_OK;
}

sci_sequence_status_t SCICheckSequence(sci_sequence_t handle, unsigned flags, sci_error_t *error) {
  constexpr unsigned unpushed = SCI_FLAG_NO_FLUSH | SCI_FLAG_NO_STORE_BARRIER;
  Call call(error, flags, unpushed);
  auto *sequence = call.object<Sequence>(handle);
  if (!sequence) return SCI_SEQ_NOT_RETRIABLE;
  Network &n = networkOf(*sequence);
  if ((flags & unpushed) != unpushed) pushStores(*sequence, true);
  if (n.simulated) {
    Adapter &a = *sequence->map->remote->adapter;
    n.busy(a, n.options.cost.check);
    a.hostFree = std::max(a.hostFree, sequence->map->shadow->newest);
  }
  if (n.isLost(*sequence->map->remote)) {
    sequence->started = false;
    return SCI_SEQ_NOT_RETRIABLE;
  }
  // An error may also be reported where nothing was lost.
  if (sequence->started && !sequence->lost && n.misfortune()) sequence->lost = true;
  if (sequence->lost && sequence->pending == 0 && n.below(2))
    sequence->pending = static_cast<uint32_t>(1 + n.below(3));
  if (sequence->pending > 1) {
    --sequence->pending;
    return SCI_SEQ_PENDING;
  }
  if (sequence->lost) {
    sequence->lost = false;
    sequence->pending = 0;
    if (n.below(2)) return SCI_SEQ_RETRIABLE;  // it watches on
    sequence->started = false;
    sequence->broken = static_cast<uint32_t>(n.below(4));
    return SCI_SEQ_NOT_RETRIABLE;
  }
  sequence->started = false;
  return SCI_SEQ_OK;
}

void SCIStoreBarrier(sci_sequence_t handle, unsigned flags) {
  Call call(nullptr, flags, 0);
  if (auto *sequence = call.object<Sequence>(handle)) pushStores(*sequence, true);
}

void SCIFlush(sci_sequence_t handle, unsigned flags) {
  Call call(nullptr, flags, SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY);
  if (auto *sequence = call.object<Sequence>(handle)) pushStores(*sequence, true);
}
