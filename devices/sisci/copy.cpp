// SPDX-License-Identifier: BSD-3-Clause
// copy.cpp - SCIMemCpy: stores and loads of the CPU that the library makes.
//
// The program's memory is read and written without the lock, since it may be a shadow itself.

#include <cstring>
#include <utility>

#include "devices/sisci/engine.h"

namespace sisci {

namespace {

/// Leaves the library for as long as a program's memory is touched.
void copyOutside(Call &call, void *to, const void *from, size_t bytes) {
  const int depth = std::exchange(inLibrary, 0);
  call.lock.unlock();
  std::memcpy(to, from, bytes);
  call.lock.lock();
  inLibrary = depth;
}

/// Stores what is to be watched, and says whether all of it has arrived.
bool storeWatched(Map &map, Sequence &sequence, size_t offset, const std::vector<uint8_t> &bytes) {
  Network &n = *map.remote->adapter->network;
  if (sequence.broken) {
    --sequence.broken;
    return false;
  }
  n.push(map, false);  // what was stored before
  map.shadow->store(offset, bytes.data(), bytes.size());
  const bool started = std::exchange(sequence.started, true),
             lost = std::exchange(sequence.lost, false);
  n.push(map, true);
  if (n.simulated) {
    n.busy(*map.remote->adapter, n.options.cost.check);
    map.remote->adapter->hostFree = std::max(map.remote->adapter->hostFree, map.shadow->newest);
  }
  sequence.started = started;
  const bool arrived = !sequence.lost;
  sequence.lost = lost;
  return arrived;
}

}  // namespace
}  // namespace sisci

using namespace sisci;

void SCIMemCpy(sci_sequence_t sequenceHandle, void *memory, sci_map_t mapHandle,
               size_t remoteOffset, size_t size, unsigned flags, sci_error_t *error) {
  Call call(error, flags, SCI_FLAG_BLOCK_READ | SCI_FLAG_ERROR_CHECK);
  auto *map = call.object<Map>(mapHandle);
  auto *sequence = sequenceHandle ? call.object<Sequence>(sequenceHandle) : nullptr;
  if (!call.given(memory)) return;
  const bool reads = flags & SCI_FLAG_BLOCK_READ, checks = flags & SCI_FLAG_ERROR_CHECK;
  if (!map->remote || (checks && !sequence) || (sequence && sequence->map != map))
    return call.fail(SCI_ERR_ILLEGAL_PARAMETER);
  Network &n = *map->remote->adapter->network;
  const uint32_t unit = n.options.facts.copyAlignment;
  if (remoteOffset > map->bytes || size > map->bytes - remoteOffset)
    return call.fail(SCI_ERR_OUT_OF_RANGE);
  if (size % unit) return call.fail(SCI_ERR_SIZE_ALIGNMENT);
  if (remoteOffset % unit) return call.fail(SCI_ERR_OFFSET_ALIGNMENT);
  if (!reads && map->readOnly) return call.fail(SCI_ERR_ACCESS);
  if (checks && n.isLost(*map->remote)) return call.fail(SCI_ERR_SEGMENT_NOT_CONNECTED);
  if (size == 0) return;

  if (!map->shadow) {
    const std::shared_ptr<Memory> kept = map->remote->memory;
    uint8_t *there = kept->base + map->offset + remoteOffset;
    copyOutside(call, reads ? memory : there, reads ? there : memory, size);
    return;
  }
  std::vector<uint8_t> bytes(size);
  const size_t offset = map->offset % pageSize() + remoteOffset;
  if (reads) {
    map->shadow->load(offset, bytes.data(), size);
    return copyOutside(call, memory, bytes.data(), size);
  }
  copyOutside(call, bytes.data(), memory, size);
  map = call.object<Map>(mapHandle);
  if (sequence) sequence = call.object<Sequence>(sequenceHandle);
  if (!call.ok()) return;  // another thread has removed one
  if (!checks)
    map->shadow->store(offset, bytes.data(), size);
  else if (!storeWatched(*map, *sequence, offset, bytes))
    call.fail(SCI_ERR_TRANSFER_FAILED);
}
