// SPDX-License-Identifier: BSD-3-Clause
// engine.h - networks of adapters, and the one library of a process that has them.
//
//   library.cpp       the process: handles, adapters by number; what every call does first
//   environment.cpp   the adapters of a process without a Fabric
//   fabric.cpp        networks within a process, for their makers
//   network.cpp       one network: nodes, randomness, waiting
//   service.cpp       its thread: DMA, callbacks, deaths
//   simulated.cpp     its events, in simulated time
//   segment.cpp       memory of this node          connect.cpp   memory of another node
//   map.cpp           either in an address space   fault.cpp     first accesses to shadows
//   stores.cpp        shadows                      push.cpp      what barriers push
//   sequence.cpp      what has become of stores    copy.cpp      SCIMemCpy
//   dma.cpp           transfers                    dma_start.cpp what may be transferred
//   interrupt.cpp     both kinds                   query.cpp     questions
//
// One mutex for all calls of a process, and inside it that of a domain's tables. Waiting, copying
// by DMA and calling back are done without it. A program that touches a shadow holds neither.

#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <queue>
#include <random>
#include <thread>

#include "devices/sisci/objects.h"
#include "devices/sisci/sisci.h"

namespace sisci {

struct Adapter {
  Network *network;
  unsigned number;  // in this process
  uint32_t rank;    // in its network, of this process
  uint32_t node;    // slot
  Time hostFree = 0, dmaFree = 0;
};

/// A callback that has to be called, unless its object has gone.
struct Notice {
  uintptr_t handle;
  std::function<sci_callback_action_t()> call;
};

struct Event {
  Time at;
  uint64_t number;
  std::function<void()> happen;
  bool operator>(const Event &e) const { return at != e.at ? at > e.at : number > e.number; }
};

/// Which of a batch's words arrive together.
using Group = std::vector<uint32_t>;

struct Network {
  explicit Network(const Options &);                      // within this process
  Network(const Options &, std::unique_ptr<DomainFile>);  // with others
  ~Network();

  const Options options;
  const bool simulated, shadowed;
  std::unique_ptr<DomainFile> file;
  DomainMemory own;
  Domain &domain;
  const uint32_t process;
  std::deque<Adapter> adapters;
  std::vector<Map *> shadows;
  std::mt19937_64 generator;
  Counters counters;
  std::vector<Moved> moved;

  // network.cpp
  uint64_t below(uint64_t n) { return generator() % n; }
  bool misfortune() {  // of the adversary's making
    return options.adversarial && options.faults && below(options.faults) == 0;
  }
  bool isDead(uint32_t node) const { return domain.nodes[node].dead; }
  /// Whether the other end of a connection is no more; looks whether its process lives.
  bool isLost(const RemoteSegment &);
  Adapter *adapterOf(uint32_t node);
  /// Until `ready` says so, or the time has passed (false). Unlocks meanwhile.
  bool wait(std::unique_lock<std::mutex> &, unsigned milliseconds,
            const std::function<bool()> &ready);
  /// Others, or this process's thread and whoever waits, have something to look at.
  void wakeOwner(uint32_t processSlot) { wake(domain.processes[processSlot]); }
  void wakeUp() { wake(domain.processes[process]); }

  // service.cpp
  void startService();
  void stopService();
  void serve(std::unique_lock<std::mutex> &);
  void notice(Object &, std::function<sci_callback_action_t()>);
  bool deliverNotices(std::unique_lock<std::mutex> &);
  void lookAround();  // what there is to call back for
  void lookAtConnections();
  void lookAtInterrupts();
  std::deque<uintptr_t> posted;  // DMA queues
  std::deque<Notice> notices;

  // simulated.cpp
  Time now = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  uint64_t scheduled = 0;
  std::vector<uint32_t> changed;  // ranks, by the event at hand
  void schedule(Time at, std::function<void()> happen);
  bool step(std::unique_lock<std::mutex> &);
  Time late();  // of the adversary
  void busy(Adapter &adapter, Time work) {
    adapter.hostFree = std::max(adapter.hostFree, now) + work;
  }

  // push.cpp
  /// All that was stored into a map before what will be stored; `risky`: some may be lost, which
  /// its sequences then know.
  void push(Map &, bool risky);
  /// The adversary's: some of what is held arrives now.
  void leakSomewhere();

  // dma.cpp
  void post(DmaQueue &);
  bool carryOutOne(std::unique_lock<std::mutex> &, uintptr_t queue);
  void finish(DmaQueue &, const std::shared_ptr<Transfer> &, bool failed);

 private:
  std::thread service_;
  bool stop_ = false;
  uint32_t lookedAt_ = 0;  // the wake-up behind which nothing was new
  std::chrono::steady_clock::time_point lookedForDead_;
};

struct Library {
  std::mutex mutex;
  uint32_t initialized = 0;
  Handles handles;
  std::map<unsigned, Adapter *> adapters;
  std::vector<Network *> networks;
  std::unique_ptr<Network> environment;
  uint32_t fabrics = 0;
  std::map<uintptr_t, Shadow *> shadows;  // by view

  Adapter *adapter(unsigned number) const {
    auto found = adapters.find(number);
    return found == adapters.end() ? nullptr : found->second;
  }
  template <class T, class Handle>
  T *find(Handle handle) const {
    return handles.find<T>(handle);
  }
};
Library &library();

/// The numbers of a Fabric's adapters begin here; those of the environment with 0.
constexpr unsigned firstOfFabrics = 1024;

/// Whether this thread is in the library: then a fault is no first access to a shadow.
extern thread_local int inLibrary;

/// What every function does first: it takes the lock, looks at flags, and lets the adversary act.
class Call {
 public:
  Call(sci_error_t *error, unsigned flags, unsigned honoured, unsigned known = 0);
  ~Call() { --inLibrary; }
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  bool ok() const { return ok_; }
  void fail(sci_error_t code) {
    *error_ = code;
    ok_ = false;
  }
  /// The object of a handle. Null: there is none of that kind, and that was said.
  template <class T, class Handle>
  T *object(Handle handle) {
    T *found = ok_ ? library().find<T>(handle) : nullptr;
    if (ok_ && !found) fail(SCI_ERR_ILLEGAL_PARAMETER);
    return found;
  }
  Adapter *adapter(unsigned number);
  /// Refuses null pointers.
  template <class... Pointer>
  bool given(const Pointer *...pointers) {
    if (ok_ && ((pointers == nullptr) || ...)) fail(SCI_ERR_ILLEGAL_PARAMETER);
    return ok_;
  }

 private:
  sci_error_t ignored_ = SCI_ERR_OK, *error_;
  bool ok_ = true;

 public:
  std::unique_lock<std::mutex> lock;
};

template <class Handle, class T>
Handle handleOf(T *object) {
  return reinterpret_cast<Handle>(object->handle);
}

// environment.cpp
sci_error_t openEnvironment(Library &);

// fault.cpp
void watchFaults();

}  // namespace sisci
