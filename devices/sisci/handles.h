// SPDX-License-Identifier: BSD-3-Clause
// handles.h - what a program holds: numbers of objects, never their addresses.
//
// A handle is the object's kind, its place, and how often that place was used before. So one that
// is null, of another kind, given back or made up is found out, and nothing is read through it.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace sisci {

/// In this order they are taken down when a program ends without having done so.
enum class Kind : uint8_t {
  Sequence = 1,
  DmaQueue,
  Map,
  RemoteSegment,
  LocalSegment,
  RemoteInterrupt,
  RemoteDataInterrupt,
  LocalInterrupt,
  LocalDataInterrupt,
  Descriptor
};

struct Network;

struct Object {
  Kind kind;
  uintptr_t handle = 0;
  bool calling = false;  // its callback is being called
  bool silent = false;   // its callback wants to hear no more

  explicit Object(Kind k) : kind(k) {}
  virtual ~Object() = default;
  /// Whether it cannot be without this network.
  virtual bool isOn(const Network &) const { return false; }
};

class Handles {
 public:
  template <class T>
  T *add(std::unique_ptr<T> object) {
    T *raw = object.get();
    insert(std::move(object));
    return raw;
  }
  Object *find(uintptr_t handle) const;
  template <class T, class Handle>
  T *find(Handle handle) const {
    Object *object = find(reinterpret_cast<uintptr_t>(handle));
    return object && T::isKind(object->kind) ? static_cast<T *>(object) : nullptr;
  }
  void remove(Object *);
  /// All of them, or those on one network; what others rest on last.
  void clear(const Network *only = nullptr);

  template <class T, class F>
  void each(F f) const {
    for (const Slot &slot : slots_)
      if (slot.object && T::isKind(slot.object->kind)) f(*static_cast<T *>(slot.object.get()));
  }

 private:
  struct Slot {
    uint32_t used = 0;  // how often
    std::unique_ptr<Object> object;
  };
  void insert(std::unique_ptr<Object>);

  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace sisci
