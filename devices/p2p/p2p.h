// SPDX-License-Identifier: BSD-3-Clause
// p2p.h - messages between the ranks of one process, as an MPI would carry them.
//
//   p2p::Fabric fabric({.mode = p2p::Mode::Simulated, .adversarial = true, .seed = 7});
//   nbc_p2p *rank0 = fabric.addEndpoint(), *rank1 = fabric.addEndpoint();
//   ... send, receive and test through rank0->ops (nbc/p2p.h) ...
//   p2p::Run run = fabric.run([&](uint32_t rank) { ...; return true; });
//
// Messages between two ranks with one tag meet in the order in which they were posted. What no MPI
// program may do is found (findings): a receive that is not as long as its message, memory that a
// message writes while another one uses it.
//
// Real time: ranks are threads. A message moves when its second end is posted.
//
// Simulated time: single-threaded; run() executes events in the order of their time. Times follow
// LogGP: posting takes the host `overhead`; a message of n bytes occupies the sending and the
// receiving port for max(gap, n * perByte) each and needs `latency` in between. Sends are
// buffered: they end when the bytes have left. The same options and calls give the same events.
//
// Adversarial: from the seed, some sends are buffered and some end only when their receive was
// posted and the bytes are there, and are read only then; messages arrive and ends are seen late,
// in any order; a receive's memory is overwritten when it is posted. Never against MPI's rules.
//
// Not modelled: the unexpected messages of an MPI, which take memory; the cost of matching.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nbc/p2p.h"

namespace p2p {

struct Engine;

using Time = int64_t;  // picoseconds
constexpr Time nanosecond = 1'000, microsecond = 1'000'000;

enum class Mode { RealTime, Simulated };

/// What things cost in simulated time.
struct LogGp {
  Time latency = 1 * microsecond;    // L
  Time overhead = 200 * nanosecond;  // o, of the host
  Time gap = 100 * nanosecond;       // g
  Time perByte = 100;                // G: 10 GB/s
};

struct Options {
  Mode mode = Mode::RealTime;
  uint64_t seed = 1;
  LogGp cost;
  bool adversarial = false;
  bool trace = false;
  uint32_t largestTag = 32767;  // the least that MPI promises
  uint64_t longest = INT64_MAX;
};

struct Transfer {
  uint32_t from, to;
  Time sent, arrived;
  uint64_t bytes;
  bool operator==(const Transfer &) const = default;
};

struct Counters {
  uint64_t events = 0;    // simulated time; and posts
  uint64_t messages = 0;  // arrived
  uint64_t bytes = 0;     // in them
  uint64_t buffered = 0;  // sends, of all that were posted
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

/// Endpoints and what connects them; they and all messages end with it. In real time every
/// function may be called from any thread.
class Fabric {
 public:
  explicit Fabric(const Options & = {});
  ~Fabric();
  Fabric(const Fabric &) = delete;
  Fabric &operator=(const Fabric &) = delete;

  /// That of the next rank, counted from 0.
  nbc_p2p *addEndpoint();

  /// Simulated time only. Executes events until nothing is left that could happen without a
  /// host. `seen` is called when an end of a message of this rank's is done; in it anything may be
  /// called but run(); it returns whether to go on.
  Run run(const std::function<bool(uint32_t rank)> &seen = {}, const RunLimits & = {});

  /// Since the fabric was made.
  Time now() const;

  /// Simulated time only: the host of this rank works for `work` from now, or from the end of what
  /// it is doing; what it posts from here on it posts afterwards.
  void hostBusy(uint32_t rank, Time work);

  /// Ends that nobody has met, in the order in which they were posted:
  /// "rank 3: a receive of 16 bytes from rank 1, tag 0: nobody has sent it".
  std::vector<std::string> waiting() const;

  std::vector<Transfer> trace() const;
  Counters counters() const;

  /// What MPI forbids and might silently do. At most 1,000 are kept.
  std::vector<std::string> findings() const;

  /// A fault: whatever has this rank at one end fails, also what is posted from now on.
  void kill(uint32_t rank);

 private:
  std::unique_ptr<Engine> engine_;
};

}  // namespace p2p
