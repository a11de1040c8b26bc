// SPDX-License-Identifier: BSD-3-Clause
// engine.h - libibverbs and the vendor's experimental verbs, on the software HCA; inside
// devices/verbs_exp only.
//
//   program       verbs.h, verbs_exp.h: work requests, work completions
//   here          what a provider such as libmlx5 does: requests -> entries, entries -> completions
//   devices/hca   executes the entries, on a thread of the process's
//
//   process.cpp      the device: found, opened, closed; the process's place among others
//   query.cpp        what it says of itself
//   memory.cpp       protection domains, registrations
//   queue_pair.cpp   made, destroyed; what it was made with
//   modify.cpp       from state to state: access, peer, patience
//   entry.cpp        one work request -> one work queue entry
//   post.cpp         chains of them, tasks; waits and enables counted as the vendor does
//   completion.cpp   completion queues, polling
//   events.cpp       completion channels, asynchronous events
//   refused.cpp      what the software HCA has not: SRQs, UD, memory windows, ...
//
// A program for verbs tells its peer a LID (or GID) and a queue pair number, and nothing that an
// address of devices/hca would fit into. So each process is a port of its own: it takes a LID that
// no process of this user has, and is reached by it. A LID of 0 is one's own, as with real ports
// that are looped.
//
// Where hardware is trusted to, this is stricter: a wait or an enable that could not be counted,
// and what a queue pair's kind or, of sends, state forbids, is refused when it is posted. Where a
// program cannot tell, it is laxer: packet sequence numbers, path MTU, service levels, and the
// number of READs at a time are taken and not looked at; keys are good for a context, not for one
// protection domain.
//
// Not here: queue pairs but RC, shared receive queues, moves to SQD and back to RESET, resizing.

#pragma once

#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "devices/hca/hca.h"
#include "nbc/mlx5_wqe.h"

// Headers of other people's; of theirs, inline functions take these names.
#include <infiniband/verbs.h>

#include "verbs_exp/infiniband/verbs_exp.h"
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace verbs_exp {

struct Context;
struct Cq;
struct Qp;

/// What is told by a file that becomes readable, one unit for each event.
template <class Event>
struct Events {
  std::mutex mutex;
  std::deque<Event> waiting;
  int file = -1;

  void put(const Event &);
  /// False: errno says why.
  bool take(Event &);
  template <class Which>
  void drop(Which which);
};

struct Channel : ibv_comp_channel {
  Events<Cq *> events;
};

/// For which entries an event is wanted: solicited ones are errors, and what a sender marked so.
enum class Armed : uint8_t { no, solicited, all };

struct Cq : ibv_cq {
  nbc_hca_cq ring;
  uint32_t next = 0;                          // entry to look at
  uint32_t idle = 0;                          // times that there was nothing
  std::unordered_map<uint32_t, Qp *> queues;  // by number
  Armed armed = Armed::no;                    // guarded by Process::told
  uint32_t events = 0, asyncEvents = 0;       // taken by the program, who has to acknowledge them
  // Waits are counted from the last group's end: entry `waited` (of all there ever were).
  uint32_t waited = UINT32_MAX;
  uint32_t group = 0;  // the farthest wait of this one
  Cq() : ibv_cq{}, ring{} {}
};

/// A queue's work requests, oldest first: `posted - done` are under way.
struct Requests {
  struct Request {
    uint64_t id;
    uint32_t number;  // of all that were ever posted
    uint8_t opcode;   // enum mlx5_opcode
  };
  uint32_t most = 0;
  bool ignoreOverflow = false;
  uint32_t posted = 0, done = 0;
  std::vector<Request> at;  // by the entry that a completion names

  bool full() const { return !ignoreOverflow && posted - done >= most; }
  void put(uint32_t entry, uint64_t id, uint8_t opcode) {
    at[entry % at.size()] = {id, posted++, opcode};
  }
  /// Ends this request and, as none overtakes another, those before it.
  const Request &take(uint32_t entry) {
    const Request &r = at[entry % at.size()];
    done = r.number + 1;
    return r;
  }
};

/// Of a managed queue. Enables are counted from the last group's end.
struct Enables {
  uint32_t before = 0;  // requests that may start by the groups that have ended
  uint32_t group = 0;   // and by this one, at most
  uint16_t begin = 0;   // block where request `before` begins; of receives: not used
};

struct Qp : ibv_qp {
  nbc_hca_qp ring;
  ibv_qp_cap cap;
  uint32_t createFlags = 0;
  bool signalAll = false;
  ibv_qp_attr attributes = {};        // what it was told so far
  uint16_t blocks = 0, received = 0;  // as the doorbell records count
  Requests sends, receives;
  std::vector<uint16_t> ends;  // by send request: the block behind it
  uint32_t asyncEvents = 0;
  Enables enabledSends, enabledReceives;
  Qp() : ibv_qp{}, ring{}, cap{} {}
  bool managed() const { return createFlags & IBV_EXP_QP_CREATE_MANAGED_SEND; }
  bool crossChannel() const { return createFlags & IBV_EXP_QP_CREATE_CROSS_CHANNEL; }
};

/// One opened device. `mutex` guards all that belongs to it, but for events.
struct Context : ibv_context {
  nbc_hca *hca = nullptr;
  nbc_hca_facts facts = {};
  std::mutex lock;
  Events<ibv_async_event> asynchronous;
  // What the program has not ended goes with the context.
  std::list<std::unique_ptr<Qp>> queuePairs;
  std::list<std::unique_ptr<Cq>> completionQueues;
  std::list<std::unique_ptr<Channel>> channels;
  std::list<std::unique_ptr<ibv_mr>> regions;
  std::list<std::unique_ptr<ibv_pd>> domains;
  Context() : ibv_context{} {}
  ~Context();
};

/// The process: one fabric, and whom it tells. Never destroyed.
struct Process {
  std::mutex mutex;
  pid_t pid = 0;  // whose fabric it is: not that of a child
  std::unique_ptr<hca::Fabric> fabric;
  uint16_t lid = 0;
  std::list<std::unique_ptr<Context>> contexts;

  /// Guards what the fabric's thread looks at. Nothing of the fabric's is called under it.
  std::mutex told;
  std::unordered_map<uint32_t, Cq *> completionQueues;
  std::unordered_map<uint32_t, Qp *> queuePairs;
  void (*others)(const hca::Notice &) = nullptr;  // of queue pairs that another has made
};
Process &process();

inline Context &self(ibv_context *c) {
  return *static_cast<Context *>(c);
}
inline Cq &self(ibv_cq *c) {
  return *static_cast<Cq *>(c);
}
inline Qp &self(ibv_qp *q) {
  return *static_cast<Qp *>(q);
}

/// For functions that return a pointer.
inline std::nullptr_t refuse(int error) {
  errno = error;
  return nullptr;
}

/// Of an nbc_status.
int errorOf(int status);

/// Of an enum that a program has filled in, with whatever it likes.
template <class Enum>
uint32_t raw(const Enum &e) {
  static_assert(sizeof e == sizeof(uint32_t));
  uint32_t value;
  memcpy(&value, &e, sizeof value);
  return value;
}

/// Takes it out of the list that owns it.
template <class Object>
std::unique_ptr<Object> takeOut(std::list<std::unique_ptr<Object>> &list, Object *object) {
  for (auto i = list.begin(); i != list.end(); ++i)
    if (i->get() == object) {
      std::unique_ptr<Object> taken = std::move(*i);
      list.erase(i);
      return taken;
    }
  return nullptr;
}

inline uint32_t log2Up(uint32_t n) {
  uint32_t log = 0;
  while ((uint64_t{1} << log) < n) ++log;
  return log;
}

// query.cpp
ibv_gid gidOfLid(uint16_t lid);
/// 0: it is not one of those.
uint16_t lidOfGid(const ibv_gid &);
constexpr uint32_t longestMessage = 1u << 30;
constexpr uint32_t mostReads = 16;
/// Bit (1 << enum mlx5_calc) for an operation of the vendor's; 0: there is none.
uint32_t calcOf(uint32_t operation, uint32_t type, uint32_t size);
/// The most requests of a queue pair whose entries take so many blocks.
uint32_t mostRequests(const Context &, uint32_t blocks);
/// Whether the device has queue pairs that are managed, or wait for completions.
bool crosses(const Context &);

// queue_pair.cpp
/// Blocks of the longest entry that a send of so much can become.
uint32_t blocksOfSend(uint32_t gather, uint32_t inlineBytes);
constexpr uint32_t mostInline = 61 * MLX5_SEGMENT - 4;
constexpr uint32_t crossChannelFlags = IBV_EXP_QP_CREATE_CROSS_CHANNEL |
                                       IBV_EXP_QP_CREATE_MANAGED_SEND |
                                       IBV_EXP_QP_CREATE_MANAGED_RECV;
constexpr uint32_t knownCreateFlags =
    crossChannelFlags | IBV_EXP_QP_CREATE_IGNORE_SQ_OVERFLOW | IBV_EXP_QP_CREATE_IGNORE_RQ_OVERFLOW;
/// As the device sees it.
ibv_qp_state stateOf(Qp &);

// entry.cpp
/// Writes the request's entry to the ring, and counts it. 0, or a value of errno.
int append(Qp &, const ibv_exp_send_wr &);

// post.cpp
int postSend(ibv_qp *, ibv_send_wr *, ibv_send_wr **bad);
int postReceive(ibv_qp *, ibv_recv_wr *, ibv_recv_wr **bad);

// completion.cpp
int poll(ibv_cq *, int count, ibv_wc *);
int arm(ibv_cq *, int solicitedOnly);

// events.cpp
void takeNotice(const hca::Notice &);
/// Until the program has acknowledged what it was told of this one; and it will not be told more.
void forget(Cq &);
void forget(Qp &);

// refused.cpp
extern const ibv_context_ops contextOps;

}  // namespace verbs_exp
