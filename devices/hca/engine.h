// SPDX-License-Identifier: BSD-3-Clause
// engine.h - the state of a fabric and who works on it; inside devices/hca only.
//
// All state is one Engine. Whoever works on it holds `mutex` (real time) or is the only thread
// (simulated). What hosts touch without it: rings, doorbell records and CQ entries, which are plain
// memory handed over by release and acquire, and the Slot of a queue pair.
//
// A queue pair is driven by at most one event of each kind: Step executes its next entry, Deliver
// hands its oldest undelivered message to the responder, Answer takes the oldest answer in. So
// whatever delays the events are given, the order within a queue pair holds.
//
//   fabric.cpp      what hca.h offers        requester.cpp   execute one entry
//   adapter.cpp     what nbc/hca.h offers    responder.cpp   carry a message out at its target
//   memory.cpp      keys, gather, scatter    completion.cpp  CQ entries, in order; errors, flush
//   wait.cpp        WAIT, on CQs and words
//   calc.cpp        reduce slots             scheduler.cpp   events, costs, the adversary
//   real_time.cpp   worker, doorbell, sleep  simulated.cpp   run until quiet
//   trace.cpp       records, findings
//
// To a queue pair of another process messages go over a wire (wire.h), and answers come back:
//
//   wire.cpp              sockets           remote_requester.cpp   pieces out, answers in
//   remote.cpp            the wire's turn   remote_responder.cpp   pieces in, answers out

#pragma once

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>
#include <unordered_map>

#include "devices/hca/fifo.h"
#include "devices/hca/hca.h"
#include "devices/hca/wire.h"

namespace hca {

/// Zeroed memory on a cache line of its own.
struct Block {
  explicit Block(size_t bytes = 0);
  struct Free {
    void operator()(void *p) const { free(p); }
  };
  std::unique_ptr<void, Free> owner;
  uint8_t *at = nullptr;  // null: there was not enough
};

struct Region {
  uint8_t *begin;
  uint64_t bytes;
  uint32_t access;
};

struct Span {
  uint8_t *at;
  uint64_t bytes;
};

/// The memory of a list of data segments, checked.
struct Spans {
  Span span[64];
  int count = 0;
  uint64_t bytes = 0;
  void add(uint8_t *at, uint64_t n) {
    span[count++] = {at, n};
    bytes += n;
  }
};

struct Adapter : nbc_hca {
  Engine *engine;
  uint32_t rank;
  bool dead = false;
  std::unordered_map<uint32_t, Region> regions;  // by key
  std::vector<uint32_t> queuePairs;
  uint32_t hostQueues = 0;                                // CQs created with NBC_HCA_CQ_HOST
  std::unordered_multimap<uintptr_t, uint32_t> watchers;  // address of a word -> queue pair

  // Simulated time: when each becomes free.
  Time hostFree = 0, pipelineFree = 0;
  struct Port {
    Time sendFree = 0, receiveFree = 0;
  };
  std::vector<Port> ports;

  // Real time: entries written to CQs, and threads in sleep().
  std::atomic<uint32_t> written{0}, sleepers{0};
};

struct CompletionQueue {
  Adapter *adapter;
  uint32_t number, log, flags;
  bool failed = false;
  std::vector<uint32_t> attached;  // queue pairs
  uint32_t producer = 0;           // entries written, mod 2^24
  uint64_t total = 0;              // the same, never wrapped, for people
  uint8_t *entries;
  volatile uint32_t *consumer;
  std::vector<uint32_t> waiters;  // queue pairs
  Block memory;
};

enum class Stage : uint8_t {
  Sent,      // not yet at the responder
  Away,      // on its way to another process, or carried out there: nobody has answered yet
  Answered,  // carried out there; the answer is back at `due`
  Done       // waits only for those before it
};

/// An entry of a send queue that has been started and not yet completed.
struct Message {
  Time due = 0;  // at the responder; when Answered, back at the requester
  uint64_t remote = 0, operand = 0, compare = 0;
  uint32_t key = 0, bytes = 0, segments = 0;
  uint8_t immediate[4] = {};
  uint16_t index = 0;
  uint8_t opcode = 0, syndrome = 0;
  Stage stage = Stage::Sent;
  // To another process: its place among those of its queue pair, the attempt, and bytes that have
  // gone; of a READ that is Away, bytes that have come.
  uint32_t sequence = 0, epoch = 0, moved = 0;
  bool signalled = false, solicited = false;
  bool gatherLate = false;
  std::unique_ptr<uint8_t[]> payload;  // bytes under way
  std::unique_ptr<uint8_t[]> list;     // data segments: to gather late, or to scatter an answer to
};

enum class State : uint8_t { Reset, Ready, Error };

/// What a WAIT on data waits for.
struct Watch {
  uintptr_t word = 0;
  uint32_t key = 0;
  bool inverted = false;
  uint64_t value = 0, mask = 0;
};

struct QueuePair {
  Adapter *adapter;
  uint32_t number, flags, port = 0;
  uint32_t logSend, logReceive, logStride;  // logReceive UINT32_MAX: no receives
  uint32_t room;                            // bytes of a receive's data segments
  CompletionQueue *sendQueue, *receiveQueue;
  Retry retry;
  uint32_t access = NBC_HCA_REMOTE_WRITE | NBC_HCA_REMOTE_READ | NBC_HCA_REMOTE_ATOMIC;
  uint8_t *send, *receive;
  volatile uint32_t *doorbell;
  Block memory;

  State state = State::Reset;
  uint32_t peer = 0;
  Peer *remote = nullptr;  // the process that has it; null: this one
  uint32_t peerRank = 0;   // there

  // Requester. `next` and `limit` count WQEBBs.
  uint16_t next = 0, limit = 0;
  bool stopped = false;  // an error is about to complete; nothing more is started
  bool stepPosted = false, deliverPosted = false, answerPosted = false, flushPosted = false;
  bool waiting = false;  // at a WAIT, in the list of `waitQueue`
  bool fenced = false;   // until `reads` is 0, or, at RECV_EN, inFlight is empty
  bool receiverNotReady = false;
  bool partial = false;  // limit cuts the next entry
  uint8_t retriesLeft = 0, rnrLeft = 0;
  uint32_t waitQueue = 0, waitIndex = 0;  // waitQueue 0: not for a CQ
  Watch watch;                            // for a word, if it has an address
  uint32_t reads = 0;                     // READs and atomics in flight
  uint32_t delivered = 0;                 // of inFlight
  // To another process: waits for a turn at the wire, and the messages that are Away.
  bool wanting = false;
  bool refused = false;  // a message has failed: what is behind it does not go any more
  uint32_t away = 0, epoch = 0, nextSequence = 0;
  Fifo<Message> inFlight;
  Time lastArrival = 0, lastAnswer = 0;

  // Responder. Counts receives; of a queue that is managed those below `receiveLimit` are enabled.
  uint16_t received = 0, receiveLimit = 0;
  uint32_t dropReceives = 0;
  // From another process: the message that is next, and of it bytes that have come, and all.
  uint32_t expected = 0, arrived = 0, arriving = 0;
  Time expires = 0;  // 0: its peer is there
};

/// What the doorbell and `failed` touch without a lock. Slots outlive their queue pairs.
struct Slot {
  std::atomic<QueuePair *> queuePair{nullptr};
  std::atomic<Adapter *> owner{nullptr};
  std::atomic<volatile uint32_t *> doorbell{nullptr};
  std::atomic<uint32_t> rung{0};   // 1: in the list of rung doorbells
  std::atomic<uint32_t> limit{0};  // doorbell record as it was when rung
  std::atomic<uint32_t> nextRung{0};
  std::atomic<uint32_t> failed{0};
};

enum class Kind : uint8_t { Step, Deliver, Answer, Flush, Doorbell, Expire, Other };

struct Pending {
  Time at;
  uint64_t order;      // breaks ties
  uint32_t queuePair;  // Other: a number of Engine::others
  uint16_t limit;      // Doorbell
  Kind kind;
};

/// A work queue entry, copied out of its ring and cut into its parts.
struct Entry {
  const uint8_t *bytes;
  uint32_t segments;  // control segment included
  uint8_t opcode() const { return bytes[MLX5_CTRL_OPCODE]; }
  uint8_t opmod() const { return bytes[MLX5_CTRL_OPMOD]; }
  bool signalled() const { return (bytes[MLX5_CTRL_FLAGS] & MLX5_CE_ALWAYS) != 0; }
  bool solicited() const { return (bytes[MLX5_CTRL_FLAGS] & MLX5_SOLICITED) != 0; }
};

/// Bytes of a receive's data segments, at most.
constexpr uint32_t mostRoom = 512;

/// Longer messages are copied once, when they arrive, not held in between.
constexpr uint64_t longestCopy = 1u << 20;

/// Of one message.
constexpr uint64_t longestMessage = 1u << 30;

inline Time ackTimeout(const Retry &retry) {
  return Time(4096) * nanosecond << (retry.ackTimeout & 31);
}

enum class Response { Answered, NotReady, Silent };
enum class Transmit { More, Idle, Full, Gone };  // Idle: nothing to send now

inline bool isAtomic(uint8_t opcode) {
  return opcode == MLX5_ATOMIC_CS || opcode == MLX5_ATOMIC_FA;
}
inline bool isRead(uint8_t opcode) {
  return opcode == MLX5_READ || isAtomic(opcode);
}
inline bool isWrite(uint8_t opcode) {
  return opcode == MLX5_WRITE || opcode == MLX5_WRITE_IMM;
}
inline bool consumesReceive(uint8_t opcode) {
  return opcode == MLX5_SEND || opcode == MLX5_SEND_IMM || opcode == MLX5_WRITE_IMM;
}

struct Engine {
  explicit Engine(const Options &);
  ~Engine();

  // adapter.cpp
  QueuePair *find(uint32_t number) const;
  CompletionQueue *findQueue(uint32_t number) const;
  Slot *slot(uint32_t number) const;
  uint32_t newSlot();
  void destroy(QueuePair &);
  void destroy(Adapter &);

  // memory.cpp
  static bool check(const Adapter &, uint32_t key, uint64_t at, uint64_t bytes, uint32_t access,
                    Span &);
  enum class Use { Gather, Scatter };
  static uint8_t resolve(const Adapter &, const uint8_t *list, uint32_t segments, Use, Spans &);

  // requester.cpp
  void step(QueuePair &);
  bool execute(QueuePair &, const Entry &, uint32_t blocks);
  uint8_t enable(QueuePair &, const Entry &);
  uint8_t start(QueuePair &, const Entry &);
  uint8_t gather(QueuePair &, const uint8_t *list, uint32_t segments, uint8_t calc, Message &);
  void completeLocally(QueuePair &, const Entry &, uint16_t index, uint8_t syndrome);

  // wait.cpp
  static constexpr uint8_t blocked = 0xff;  // not an error: executed again when woken
  uint8_t wait(QueuePair &, const Entry &);
  uint8_t waitForEntry(QueuePair &, const Entry &);
  uint8_t waitForWord(QueuePair &, const Entry &);
  void stopWaiting(QueuePair &);
  static bool holds(const Adapter &, const Watch &);
  void look(Adapter &, uintptr_t word);
  void changed(Adapter &, const Span &);
  void changed(Adapter &, const Spans &);
  void lookAtWords();

  // responder.cpp
  void deliver(QueuePair &);
  Response respond(QueuePair &from, Message &);
  static uint8_t payload(const QueuePair &from, const Message &, Spans &);
  static uint8_t aim(const QueuePair &to, const Message &, Span &);
  static uint64_t atomically(const Message &, uint8_t *at);
  uint8_t take(QueuePair &to, const Message &, const Spans &source, uint32_t offset, bool last);
  uint32_t posted(QueuePair &);
  bool refusedByReceiver(QueuePair &, Message &, uint32_t rank, uint32_t timer);
  void hearAgain(QueuePair &);
  void retransmit(QueuePair &, Message &);
  void receiverNotReady(QueuePair &, Message &, Time delay);

  // remote.cpp
  bool takePackets();
  bool readSocket(Peer &, int socket, int packets);
  void doom(Peer &, const char *why);
  void bury(Peer &);
  void sayFarewell(QueuePair &);
  void peerIsGone(QueuePair &);
  void expire(QueuePair &);

  // remote_requester.cpp
  void deliverRemotely(QueuePair &);
  void pump(Peer &);
  void sendFarewells(Peer &);
  void waitForRoom(Peer &);
  Transmit transmit(QueuePair &);
  void goBack(QueuePair &, uint32_t message);
  void answered(QueuePair &, uint32_t message, uint8_t syndrome);
  bool takeReply(Peer &, const Packet &, const uint8_t *bytes, uint32_t count);

  // remote_responder.cpp
  bool takeRequest(Peer &, const Packet &, const uint8_t *bytes, uint32_t count);
  void reply(Peer &, const Packet &to, PacketKind, uint8_t syndrome = 0, uint32_t timer = 0);
  Spans dataOf(Peer &, Packet &, uint8_t inlined[8]);
  void sendReplies(Peer &);

  // completion.cpp
  void write(CompletionQueue &, uint8_t entry[MLX5_CQE], uint8_t opcode, bool solicited = false);
  void completeSend(QueuePair &, const Message &, uint8_t syndrome);
  void completeReceive(QueuePair &, const Message *, uint16_t index, uint8_t syndrome);
  void retire(QueuePair &);
  void passFence(QueuePair &);
  uint8_t scatterAnswer(QueuePair &, Message &);
  uint8_t takeAnswer(QueuePair &, Message &);
  void fail(QueuePair &, uint8_t syndrome);
  void failResponder(QueuePair &, uint8_t syndrome);
  void flush(QueuePair &);

  // scheduler.cpp
  void post(Kind, uint32_t queuePair, Time at, uint16_t limit = 0);
  void wake(QueuePair &);
  void postDeliver(QueuePair &);
  void postAnswer(QueuePair &);
  void postFlush(QueuePair &);
  Pending popTimed();
  void handle(const Pending &);
  void doorbell(QueuePair &, uint16_t limit);
  void other(uint32_t number);
  Time transit(const QueuePair &from, const QueuePair &to, uint64_t bytes);
  Time answerTime(const QueuePair &from, const QueuePair &to, uint64_t bytes);
  uint64_t random();
  Time holdBack();
  bool oneIn(uint32_t n) { return options.adversarial && random() % n == 0; }

  // real_time.cpp
  std::unique_lock<std::mutex> lock();
  void ring(Adapter &, uint32_t number);
  void wakeWorker();
  void rest(uint32_t seen, int64_t nanoseconds);
  void wakeHost(Adapter &);
  void takeDoorbells();
  bool runReady(uint32_t most);
  void work();
  void sleep(Adapter &, int64_t nanoseconds);
  Time clock() const;

  // simulated.cpp
  Run run(const std::function<bool(const Completion &)> &seen, const RunLimits &);
  bool retriesInVain();

  void tell(Notice::Kind kind, uint32_t number) const {
    if (options.told) options.told({kind, number});
  }

  // trace.cpp
  /// Of whom a queue pair is connected to; its own where that one is gone.
  uint32_t rankOfPeer(const QueuePair &);
  void record(Event, const QueuePair &, uint32_t peer, uint32_t index, uint64_t bytes = 0);
  template <class... Part>
  void finding(const QueuePair &qp, const Part &...parts) {
    if (findings.size() >= 1000) return;
    std::ostringstream text;
    text << "rank " << qp.adapter->rank << ": queue pair " << qp.number << ": ";
    (text << ... << parts);
    findings.push_back(text.str());
  }

  const Options options;
  const bool simulated;
  std::vector<std::unique_ptr<Adapter>> adapters;
  std::vector<std::unique_ptr<CompletionQueue>> queues;  // by number
  static constexpr uint32_t slotsPerChunk = 1024, chunks = (1u << 24) / slotsPerChunk;
  std::unique_ptr<std::atomic<Slot *>[]> slots;
  uint32_t slotCount = 0;
  uint32_t keys = 0;
  const uint64_t fabric;       // tells fabrics apart
  std::unique_ptr<Wire> wire;  // null: nobody else can reach it
  std::vector<Peer *> doomed;
  uint32_t watching = 0;  // queue pairs that wait for a word

  Time now = 0;
  uint64_t sequence = 0;
  uint64_t generator;
  std::vector<Pending> timed;   // heap, earliest first
  Fifo<Pending> ready;          // real time: due at once
  std::set<uint32_t> notReady;  // queue pairs whose receiver is not ready
  std::vector<Completion> unseen;
  // Simulated time: what other devices have under way (Fabric::at).
  struct OtherDevice {
    uint32_t rank;
    std::function<void()> what;
  };
  std::unordered_map<uint32_t, OtherDevice> others;
  uint32_t othersCount = 0;

  Counters counters;
  std::vector<Record> records;
  std::vector<std::string> findings;

  // Real time.
  const int64_t epoch;
  mutable std::mutex mutex;
  std::atomic<uint32_t> wanted{0};  // threads that want `mutex`
  std::atomic<uint32_t> rung{0};    // list of rung doorbells, by Slot::nextRung; 0: empty
  std::atomic<uint32_t> wakes{0};
  std::atomic<bool> asleep{false}, ending{false};
  std::thread worker;
};

extern const nbc_hca_ops adapterOps;

/// Reduces n slots of 16 bytes to one; `op` is one of enum mlx5_calc but NONE.
void reduceSlots(uint8_t op, const Spans &slots, uint8_t result[16]);

/// Copies the first from.bytes bytes; `to` has room for them.
void copySpans(const Spans &from, const Spans &to);

/// So many bytes of it, from `offset` on.
Spans part(const Spans &whole, uint64_t offset, uint64_t bytes);

inline int16_t ahead(uint16_t a, uint16_t b) {
  return static_cast<int16_t>(a - b);
}

// be32 words shared with hosts.
inline uint32_t loadShared(const volatile uint32_t *p) {
  return __builtin_bswap32(__atomic_load_n(p, __ATOMIC_ACQUIRE));
}

}  // namespace hca
