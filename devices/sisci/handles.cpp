// SPDX-License-Identifier: BSD-3-Clause
// handles.cpp - objects by number.

#include "devices/sisci/handles.h"

#include <algorithm>

namespace sisci {

namespace {
constexpr uint32_t generations = 0xffffff;
uintptr_t handleOf(Kind kind, uint32_t used, size_t slot) {
  static_assert(sizeof(uintptr_t) == 8, "a handle has 32 bits of place and 24 of generation");
  return static_cast<uintptr_t>(slot + 1) << 32 | uintptr_t{used & generations} << 8 |
         static_cast<uintptr_t>(kind);
}
}  // namespace

void Handles::insert(std::unique_ptr<Object> object) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  uint32_t at = free_.back();
  free_.pop_back();
  object->handle = handleOf(object->kind, ++slots_[at].used, at);
  slots_[at].object = std::move(object);
}

Object *Handles::find(uintptr_t handle) const {
  size_t slot = (handle >> 32) - 1;
  if (slot >= slots_.size() || !slots_[slot].object) return nullptr;
  return slots_[slot].object->handle == handle ? slots_[slot].object.get() : nullptr;
}

void Handles::remove(Object *object) {
  uint32_t slot = static_cast<uint32_t>((object->handle >> 32) - 1);
  std::unique_ptr<Object> gone = std::move(slots_[slot].object);
  free_.push_back(slot);
}

void Handles::clear(const Network *only) {
  std::vector<Object *> all;
  for (const Slot &slot : slots_)
    if (slot.object && (!only || slot.object->isOn(*only))) all.push_back(slot.object.get());
  std::ranges::sort(all, {}, &Object::kind);
  for (Object *object : all) remove(object);
}

}  // namespace sisci
