// SPDX-License-Identifier: BSD-3-Clause
// hca.h - an HCA made of software: it executes mlx5 work queue entries.
//
//   hca::Fabric fabric({.mode = hca::Mode::Simulated, .adversarial = true, .seed = 7});
//   nbc_hca *rank0 = fabric.addAdapter(), *rank1 = fabric.addAdapter();
//   ... create, connect and fill queues through rank0->ops (nbc/hca.h) ...
//   hca::Run run = fabric.run([&](const hca::Completion &c) { ...; return true; });
//
// What is executed: SEND, WRITE (each with or without immediate data, inline data, calc), READ,
// compare-and-swap, fetch-and-add, NOP, WAIT (on a CQ; on a word being or not being equal),
// SEND_EN and RECV_EN, on ordinary and managed queues of
// reliable connections, with RNR, retries, errors and flushes. Nothing in a ring is trusted: bytes
// that make no sense become an error completion. A buffer is touched only through a key that is
// registered and allows it.
//
// Real time: one thread of the fabric's executes all queues; it sleeps when there is nothing to do.
// Ranks are threads. Ringing a doorbell takes no lock. Costs of LogGP are not charged.
//
// Simulated time: single-threaded; run() executes events in the order of their time. Times follow
// LogGP: an entry occupies its adapter for `perEntry`, whatever its port; a message of n bytes
// occupies the sending and the receiving port for max(gap, n * perByte) each and needs `latency` in
// between; an acknowledgement needs `latency`. A doorbell takes effect after `overhead`, during
// which the rank's host can do nothing else. The same options and calls give the same events, bit
// by bit.
//
// Adversarial: from the seed, queues are served in random order, and messages, acknowledgements,
// read responses and released waits are held back for random times; a send's bytes are gathered
// either when it starts or when it arrives; some receives are seen late, which makes an RNR NAK
// (counted apart). Never against the rules: what one queue pair does stays in order.
//
// Several processes of a machine: in real time and with Options::wire, adapters of other processes
// are connected to by their addresses like those of one's own fabric. Everything holds between
// processes, the adversary included; who does not answer is a process that has ended. Costs, for
// requests and answers, what a local socket costs, and long messages go in pieces.
//
// Not modelled: several paths, packets of a message arriving singly, WAIT on time, or on a word
// that is more or less than another (both end in an error completion), shared receive queues.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nbc/hca.h"
#include "nbc/mlx5_wqe.h"

namespace hca {

struct Engine;

using Time = int64_t;  // picoseconds
constexpr Time nanosecond = 1'000, microsecond = 1'000'000, millisecond = 1'000'000'000;

enum class Mode { RealTime, Simulated };

/// What things cost in simulated time.
struct LogGp {
  Time latency = 1 * microsecond;           // L
  Time overhead = 200 * nanosecond;         // o, of the host
  Time gap = 100 * nanosecond;              // g
  Time perByte = 100;                       // G: 10 GB/s
  Time perEntry = 50 * nanosecond;          // of the adapter
  Time loopbackLatency = 300 * nanosecond;  // instead of L, to oneself
};

/// What a provider of verbs is told besides completions.
struct Notice {
  enum Kind : uint8_t {
    Entry,           // a CQ has a new entry
    SolicitedEntry,  // of an error, or a message whose sender asked for it
    CqOverrun,       // a CQ was full, and takes no more
    QpFatal,         // a queue pair has failed with it, and cannot say so there
    QpAccess,        // a queue pair has failed: a peer asked for what it may not
    QpRequest        // a queue pair has failed: a peer asked for what makes no sense
  } kind;
  uint32_t number;  // of the CQ or queue pair
};

struct Options {
  Mode mode = Mode::RealTime;
  uint64_t seed = 1;
  LogGp cost;
  bool adversarial = false;
  bool trace = false;
  bool wire = false;  // real time only: adapters of other processes can be connected to
  uint16_t lid = 0;   // with wire: others of this user find the process by it (Fabric::addressOf)
  /// With wire: a queue pair whose peer has gone fails also if it sends nothing. An adapter has no
  /// such thing, so programs for verbs do not expect it.
  bool keepAlive = false;
  std::function<void(const Notice &)> told;  // must not call the fabric
  nbc_hca_facts facts = {.max_gather = 30,
                         .max_scatter = 32,
                         .max_log_sq = 15,
                         .max_log_rq = 15,
                         .max_log_cq = 22,
                         .calc = 0x7e,
                         .waits = NBC_HCA_WAITS_CQ | NBC_HCA_WAITS_DATA,
                         .ports = 1,
                         .patience = 0};
};

/// How patient a queue pair is; set before it sends.
struct Retry {
  uint32_t rnrRetry = 7;      // 7: for ever
  uint32_t minRnrTimer = 12;  // code of the time its own RNR NAKs ask for: 0.64 ms
  uint32_t retryCount = 7;
  uint32_t ackTimeout = 14;  // 4.096 us * 2^n: 67 ms
};

enum class Event : uint8_t {
  Doorbell,    // peer: limit
  WaitBegin,   // peer: number of the CQ, index: entry waited for; of a word 0, and of its value
  WaitEnd,     // the same
  Enable,      // peer: number of the queue pair, index: limit
  SendStart,   // peer: rank, index: of the entry; bytes. Of a READ: 0, and at the peer what it
               // answers
  Deliver,     // at the receiver; peer: rank of the sender, bytes. Of a READ likewise twice
  Completion,  // peer: number of the CQ, index: entry written
  Rnr,         // at the sender; peer: rank that had no receive
  Error        // index: syndrome
};
const char *name(Event);

struct Record {
  Time at;
  uint32_t rank;
  Event event;
  uint32_t qp;
  uint32_t peer;
  uint32_t index;
  uint64_t bytes;
  bool operator==(const Record &) const = default;
};

struct Counters {
  uint64_t events = 0;
  uint64_t doorbells = 0;
  uint64_t entries = 0;   // work queue entries executed
  uint64_t messages = 0;  // started
  uint64_t bytes = 0;     // in them, both directions
  uint64_t waits = 0, enables = 0;
  uint64_t completions = 0;
  uint64_t rnrNaks = 0;    // forcedRnr included
  uint64_t forcedRnr = 0;  // by the adversary, though a receive was posted
  uint64_t errors = 0;     // queue pairs that failed
};

/// A CQ that hosts look at has a new entry.
struct Completion {
  uint32_t rank;
  uint32_t cq;
  Time at;
};

enum class Run {
  Quiet,    // nothing is left to do; see waiting()
  Stopped,  // by the callback
  Limit     // of time or events
};

struct RunLimits {
  Time until = INT64_MAX;
  uint64_t events = UINT64_MAX;
};

/// Memory of somebody else's that a queue is made in. `send` null: the adapter's own. Of a CQ:
/// `send` is its entries, as they are at first, `record` its consumer index.
struct Rings {
  uint8_t *send = nullptr, *receive = nullptr;
  volatile uint32_t *record = nullptr;
  uint32_t room = 0;  // of a receive, bytes that may be data segments; 0: all
};

/// Adapters and what connects them. Adapters and all they own end with it. In real time every
/// function may be called from any thread.
class Fabric {
 public:
  /// Throws std::invalid_argument for options that cannot be, std::system_error where the system
  /// has no socket for the wire, or (EADDRINUSE) another process has the LID.
  explicit Fabric(const Options & = {});
  ~Fabric();
  Fabric(const Fabric &) = delete;
  Fabric &operator=(const Fabric &) = delete;

  /// The adapter of the next rank, counted from 0.
  nbc_hca *addAdapter();
  /// Ends it, and all it owns.
  void removeAdapter(nbc_hca *);

  /// Simulated time only. Executes events until nothing is left that could ever happen without
  /// a host (queues that retry in vain for ever included). `seen` is called for each entry of a CQ
  /// that hosts look at; in it anything may be called but run(); it returns whether to go on.
  Run run(const std::function<bool(const Completion &)> &seen = {}, const RunLimits & = {});

  /// Since the fabric was made.
  Time now() const;

  /// Simulated time only: the host of this rank works for `work` from now, or from the end of what
  /// it is doing; doorbells it rings from here on take effect afterwards.
  void hostBusy(uint32_t rank, Time work);

  /// Simulated time only: until when the host of this rank is busy, at least now.
  Time hostFree(uint32_t rank) const;
  /// Simulated time only: what other devices of this rank do at that time, or now. Afterwards
  /// `seen` is called, as for an entry of a CQ (of none: UINT32_MAX).
  void at(Time, uint32_t rank, std::function<void()>);

  /// What each queue that cannot go on waits for, one line each:
  /// "rank 3: queue pair 70 waits for entry 4 of cq 17, which has had 4".
  std::vector<std::string> waiting() const;

  std::vector<Record> trace() const;
  Counters counters() const;

  /// What hardware would silently do and no program should ask for. At most 1,000 are kept.
  std::vector<std::string> findings() const;

  /// Faults. A killed adapter does nothing more and answers nobody.
  void kill(uint32_t rank);
  /// The next receives of this queue pair vanish unused.
  void dropReceives(uint32_t qp, uint32_t count);
  void setRetry(uint32_t qp, const Retry &);

  /// What verbs have and nbc/hca.h has no use for. An address of the process that has a LID, for
  /// connect_qp: whichever adapter there has the queue pair is meant.
  static void addressOf(uint16_t lid, uint8_t address[32]);
  /// As create_cq and create_qp, in memory that is given, and outlives them.
  static int createCq(const Rings &, nbc_hca *, uint32_t log, uint32_t flags, nbc_hca_cq *);
  static int createQp(const Rings &, nbc_hca *, const nbc_hca_qp_request *, nbc_hca_qp *);
  /// From here on this CQ may overrun, or may not.
  void ignoreOverrun(uint32_t cq, bool);
  /// What peers may do through this queue pair, whatever the keys they have: bits of
  /// NBC_HCA_REMOTE_; at first all.
  void setAccess(uint32_t qp, uint32_t access);
  /// Into the error state, by its owner's will: all that is posted is flushed. Of one that is
  /// there, what was posted since.
  void failQueuePair(uint32_t qp);

 private:
  std::unique_ptr<Engine> engine_;
};

/// As nbc_hca_open has it: what is not said here the environment may say. False: `why` says it,
/// until this thread's next call.
bool complete(const nbc_hca_options *given, Options &, const char *&why);

/// Of an adapter that --device and NBC_HCA_DEVICE name; false: there is none.
bool factsOf(const char *device, nbc_hca_facts &);

/// What an RNR NAK with this timer code asks for (IBTA; 5 bits are looked at).
Time rnrDelay(uint32_t code);

}  // namespace hca
