// SPDX-License-Identifier: BSD-3-Clause
// domain.h - what the nodes of a network know of each other: tables in memory that all of them
// share.
//
//   domain.cpp       a network's tables: locked, looked up
//   domain_file.cpp  in a file of /dev/shm: found or made, entered and left; who has died
//
// Tables hold no data: segments are files without a name, which are opened by way of their owner
// (memory.cpp). So when a process is killed nothing is left but its lines here, and the last one
// that leaves takes the file away. A slot whose `used` is 0 is free; that is written first when a
// slot is given back and last when it is taken, so a process that dies in between leaves nothing
// half-made.

#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "sisci/sisci_api.h"

namespace sisci {

constexpr uint32_t none = UINT32_MAX;

/// Where something is in a table; by its generation, what came later in that place is told apart.
struct Place {
  uint32_t slot = none, generation = 0;
};

struct ProcessSlot {
  uint32_t used;
  int32_t pid;
  std::atomic<uint32_t> wake;  // a futex: changes when there is something to look at
};

struct NodeSlot {
  uint32_t used, id, process;
  uint32_t dead;  // within one process: killed on purpose
};

struct SegmentSlot {
  uint32_t used, generation;
  uint32_t node, process;  // slots
  uint32_t id;
  uint32_t available;
  uint32_t listens;  // its owner wants to hear of connections
  int32_t file;      // of the owner's process
  uint64_t bytes, device, inode;
};

enum ConnectionState : uint32_t { Unused, Connected, Left, Lost };

/// From a node to a segment. One that has ended stays until the segment's owner has heard of it.
struct ConnectionSlot {
  uint32_t used, generation;  // used: ConnectionState
  uint32_t node, process;     // of who connected
  Place segment;
  uint32_t told;       // the owner knows that it was made
  uint32_t ownerGone;  // the segment is no more
};

struct Datum {
  uint32_t length;
  uint8_t bytes[252];
};
constexpr uint32_t longestDatum = sizeof(Datum::bytes), dataQueued = 16;

struct InterruptSlot {
  uint32_t used, generation;
  uint32_t node, process;
  uint32_t number;
  uint32_t data;      // 1: triggers bring bytes
  uint32_t counting;  // 1: each trigger counts
  uint32_t pending;   // triggers nobody has seen
  uint32_t first;     // of the queue, if they bring bytes
  uint32_t queued;    // in it: pending ones, and those under way
  Datum queue[dataQueued];
};

template <class T, uint32_t N>
struct Table {
  std::atomic<uint32_t> top;  // no slot from here on was ever used
  T slots[N];

  T &operator[](uint32_t i) { return slots[i]; }
  /// A slot that is free, or none. Its generation is a new one.
  uint32_t take();
  /// What is there, if it is still that.
  T *at(Place p) {
    return p.slot < N && slots[p.slot].used && slots[p.slot].generation == p.generation
               ? &slots[p.slot]
               : nullptr;
  }
  T *begin() { return slots; }
  T *end() { return slots + top.load(std::memory_order_acquire); }
};

constexpr uint32_t mostProcesses = 64, mostNodes = 1024;

struct Domain {
  uint64_t version;
  pthread_mutex_t mutex;
  ProcessSlot processes[mostProcesses];
  NodeSlot nodes[mostNodes];
  Table<SegmentSlot, 16384> segments;
  Table<ConnectionSlot, 65536> connections;
  Table<InterruptSlot, 1024> interrupts;
};

/// Changes with the layout of the tables.
constexpr uint64_t domainVersion = 0x5349534349000000 + sizeof(Domain);

/// Tables that nobody else knows; or those of a file.
struct DomainCloser {
  void operator()(Domain *) const;
};
using DomainMemory = std::unique_ptr<Domain, DomainCloser>;
DomainMemory privateDomain();
void prepareDomain(Domain &);

/// Held while tables are looked at or changed; survives a holder that was killed.
class DomainLock {
 public:
  explicit DomainLock(Domain &);
  ~DomainLock();
  DomainLock(const DomainLock &) = delete;
  DomainLock &operator=(const DomainLock &) = delete;

 private:
  Domain &domain_;
};

// All with the lock held.

/// The node with this id, or none.
uint32_t nodeWithId(Domain &, uint32_t id);
/// A new node of a process; id 0: the next that is free. None: all are taken, or this one is.
uint32_t takeNode(Domain &, uint32_t process, uint32_t id);
/// The segment of a node, or none.
uint32_t segmentWithId(Domain &, uint32_t node, uint32_t id);
uint32_t interruptWithNumber(Domain &, uint32_t node, uint32_t number, bool data);
bool isConnected(Domain &, Place segment);
/// A node is no more: its segments and interrupts are not, its connections are lost.
void bury(Domain &, uint32_t node);
/// All nodes of a process, and the process itself.
void buryProcess(Domain &, uint32_t process);

void wake(ProcessSlot &);
void wakeAll(Domain &);

// domain_file.cpp

/// A network's file, and the place of this process in it.
class DomainFile {
 public:
  /// On failure an error code, and a line on stderr where it is a matter of settings.
  static sci_error_t open(const std::string &name, std::unique_ptr<DomainFile> &);
  ~DomainFile();

  Domain &domain() { return *domain_; }
  uint32_t process() const { return process_; }
  bool isAlive(uint32_t process) const;
  /// Buries processes that have died; true: there were some.
  bool buryDead();

 private:
  DomainFile() = default;
  sci_error_t enter();
  bool anybodyElse() const;

  std::string path_;
  int file_ = -1;
  DomainMemory domain_;
  uint32_t process_ = none;
};

}  // namespace sisci
