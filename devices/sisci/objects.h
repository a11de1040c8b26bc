// SPDX-License-Identifier: BSD-3-Clause
// objects.h - what handles stand for.

#pragma once

#include <atomic>
#include <functional>

#include "devices/sisci/domain.h"
#include "devices/sisci/handles.h"
#include "devices/sisci/memory.h"
#include "devices/sisci/stores.h"

namespace sisci {

struct Adapter;

template <Kind K>
struct Is : Object {
  Is() : Object(K) {}
  static bool isKind(Kind kind) { return kind == K; }
};

struct Descriptor : Is<Kind::Descriptor> {
  uint32_t resources = 0;
};

/// A resource of a descriptor.
struct Use {
  explicit Use(Descriptor *d) : of(d) { ++of->resources; }
  ~Use() { --of->resources; }
  Use(const Use &) = delete;
  Use &operator=(const Use &) = delete;
  Descriptor *of;
};

struct LocalSegment : Is<Kind::LocalSegment> {
  explicit LocalSegment(Descriptor *d) : use(d) {}
  ~LocalSegment() override;
  bool isOn(const Network &) const override;
  Use use;
  uint32_t id = 0, flags = 0;
  size_t bytes = 0;
  std::shared_ptr<Memory> memory;
  uint32_t maps = 0;
  /// Where it is known; each adapter once.
  struct Prepared {
    Adapter *adapter;
    Place place;
    bool available = false;
  };
  std::vector<Prepared> prepared;
  sci_cb_local_segment_t callback = nullptr;
  void *argument = nullptr;
};

struct RemoteSegment : Is<Kind::RemoteSegment> {
  explicit RemoteSegment(Descriptor *d) : use(d) {}
  ~RemoteSegment() override;
  bool isOn(const Network &) const override;
  Use use;
  Adapter *adapter = nullptr;
  Place connection;
  uint32_t node = none;  // the owner's slot
  size_t bytes = 0;
  std::shared_ptr<Memory> memory;
  uint32_t maps = 0;
  bool lostTold = false;
  sci_cb_remote_segment_t callback = nullptr;
  void *argument = nullptr;
};

struct Sequence;

struct Map : Is<Kind::Map> {
  ~Map() override;
  bool isOn(const Network &) const override;
  LocalSegment *local = nullptr;  // one of the two
  RemoteSegment *remote = nullptr;
  size_t offset = 0, bytes = 0;  // in the segment
  uint8_t *view = nullptr;       // the program's address
  uint8_t *pages = nullptr;      // whole pages around it, if they are not the shadow's
  size_t pageBytes = 0;
  bool readOnly = false;
  std::vector<Sequence *> sequences;
  std::unique_ptr<Shadow> shadow;
};

struct Sequence : Is<Kind::Sequence> {
  explicit Sequence(Map *m) : map(m) { map->sequences.push_back(this); }
  ~Sequence() override { std::erase(map->sequences, this); }
  bool isOn(const Network &n) const override { return map->isOn(n); }
  Map *map;
  bool started = false;
  bool lost = false;     // some of what was stored since
  uint32_t pending = 0;  // so many checks do not know yet
  uint32_t broken = 0;   // so many starts fail
};

/// What a DMA queue is given at a time.
struct Transfer {
  struct Part {
    size_t local, remote, bytes;
  };
  std::vector<Part> parts;
  uint8_t *localBase = nullptr;
  std::shared_ptr<Memory> localMemory, remoteMemory;  // kept while it is under way
  LocalSegment *local = nullptr;                      // null: memory of the program's
  RemoteSegment *remote = nullptr;
  bool read = false;
  size_t failsBefore = SIZE_MAX;  // this part, and no later one, is copied
  std::atomic<bool> aborted{false};
  Time started = 0;
  uint32_t rank = 0;
  sci_cb_dma_t callback = nullptr;
  void *argument = nullptr;
};

struct DmaQueue : Is<Kind::DmaQueue> {
  explicit DmaQueue(Descriptor *d) : use(d) {}
  bool isOn(const Network &) const override;
  Use use;
  Adapter *adapter = nullptr;
  uint32_t most = 0;
  std::atomic<sci_dma_queue_state_t> state{SCI_DMAQUEUE_IDLE};
  std::shared_ptr<Transfer> transfer;  // gathered, posted, or the last
};

template <Kind K>
struct LocalTrigger : Is<K> {
  explicit LocalTrigger(Descriptor *d) : use(d) {}
  ~LocalTrigger() override;
  bool isOn(const Network &) const override;
  Use use;
  Adapter *adapter = nullptr;
  Place place;
  sci_cb_interrupt_t callback = nullptr;
  sci_cb_data_interrupt_t dataCallback = nullptr;
  void *argument = nullptr;
};
using LocalInterrupt = LocalTrigger<Kind::LocalInterrupt>;
using LocalDataInterrupt = LocalTrigger<Kind::LocalDataInterrupt>;

template <Kind K>
struct RemoteTrigger : Is<K> {
  explicit RemoteTrigger(Descriptor *d) : use(d) {}
  bool isOn(const Network &) const override;
  Use use;
  Adapter *adapter = nullptr;
  Place place;
};
using RemoteInterrupt = RemoteTrigger<Kind::RemoteInterrupt>;
using RemoteDataInterrupt = RemoteTrigger<Kind::RemoteDataInterrupt>;

}  // namespace sisci
