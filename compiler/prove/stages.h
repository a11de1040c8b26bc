// SPDX-License-Identifier: BSD-3-Clause
// stages.h - what the stages of a proof hand on to each other; prove.cpp calls them in order.

#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/claim.h"
#include "compiler/ir/topology.h"
#include "compiler/prove/memory.h"
#include "compiler/prove/prove.h"
#include "compiler/prove/trees.h"

namespace nbcc {

/// All ranks make the same mistake in the same line: it is told once, for the
/// first of them, and of different ones only the first few.
class Findings {
 public:
  explicit Findings(Diag &d) : diag(d) {}

  /// Takes note of a finding; whether it is to be reported.
  bool take(Loc at) {
    ++count_;
    return places_.size() < kMost && places_.insert(at).second;
  }
  bool none() const { return count_ == 0; }

  Diag &diag;

 private:
  static constexpr size_t kMost = 4;
  std::set<Loc> places_;
  int64_t count_ = 0;
};

/// "sends out[0 +: 2] to rank 3"
std::string describe(const Schedule &, const Step &);

/// The schedules of all ranks, their steps under one numbering.
class Together {
 public:
  explicit Together(std::span<const Schedule>);

  std::span<const Schedule> ranks;
  const Schedule &schedule(int64_t rank) const { return ranks[rank]; }
  const Step &step(int64_t rank, StepId id) const { return ranks[rank].steps[id]; }
  int64_t number(int64_t rank, StepId id) const { return first_[rank] + id; }
  int64_t steps() const { return first_.back(); }
  /// The destination slots of all ranks under one numbering: those of a rank begin here.
  int64_t firstSlot(int64_t rank) const { return firstSlot_[rank]; }
  int64_t slots() const { return firstSlot_.back(); }

 private:
  std::vector<int64_t> first_, firstSlot_;
};

/// Whether these are the schedules of one call, with the buffers its kind has, and neighbours
/// that are each other's.
bool belongTogether(const Together &, Diag &);

/// By number of a communication step: the step at its peer that it meets.
using Partners = std::vector<StepId>;

/// Fills in partners; `unequal` gets the first step where two lengths agree only if
/// all blocks are equally long. Finds what never meets, and unequal lengths.
Partners matchMessages(const Together &, const Memory &, Unequal &unequal, Findings &);

/// A local step, or a message: then `step` is the receiving one.
struct Event {
  int32_t rank = 0;
  StepId step = 0;
};

/// One legal order in which all happens. Finds deadlocks.
std::vector<Event> execute(const Together &, const Partners &, Findings &);

/// Finds steps that may overlap in time and in bytes, and those that write to
/// what they read, shifted.
void findRaces(const Together &, const Memory &, Findings &);

/// What each cell of each rank holds, by Memory::firstCell(rank) + cell.
struct Values {
  std::vector<Value> held;
  Trees trees;
};

/// Moves contributions along the events. Finds reads of what was never written.
Values follow(const Together &, const Memory &, const Partners &, const std::vector<Event> &,
              Findings &);

/// What a block is to hold at the end: contributions first, first + 1, ..., each once;
/// several only of kinds that reduce. None: nothing is expected.
struct Expected {
  Value first = 0, count = 0;
  bool nothing() const { return count == 0; }
};

/// What is contributed by, and expected of, a block; see postcondition.cpp.
Value contribution(const Together &, const Schedule &, const Buffer &, int64_t block);
Expected expected(const Together &, const Schedule &, const Buffer &, int64_t block);
int64_t contributions(const Together &);
/// Whether nobody's data belong in a block of `out`, so that it is not to be written.
bool isNobodys(const Schedule &, const Buffer &, int64_t block);

/// How a reduction combines, and where that is seen; empty where it is true.
struct Combining {
  std::string outOfOrder;  // not in rank order: which and how
  std::string unlike;      // not the same on all ranks: which and how
};

/// Finds results that are not what the collective says.
Combining checkResult(const Together &, const Memory &, Values &, Findings &);

/// Barrier: finds ranks that may leave before another has entered.
void checkBarrier(const Together &, const Partners &, const std::vector<Event> &, Findings &);

/// Fills in rounds, messages, mostMessages, mostSent.
void count(const Together &, Proof &, Findings &);
/// Which links messages take, by steps. A message takes one, and a rank enters its next round when
/// all of the present one is over: so a step is what happens at once where all messages take
/// equally long, as papers about networks of rings count. Ranks' rounds are not alike.
struct LinkUse {
  struct Message {
    int64_t step;
    int64_t sender, receiver;  // ranks
    Loc loc;                   // of the receive
  };
  std::vector<Message> messages;  // by step, then by sender

  /// The link with the most messages in one step, the first such: between these nodes.
  int64_t shared = 0, step = 0;
  int32_t from = 0, to = 0;
  Loc loc;  // of a message there
};

/// Of schedules in rounds: takes as long as all ways together.
LinkUse findLinks(const Together &, const Partners &, const std::vector<Event> &, const Topology &);

/// `messages` and `link_sharing` are claimed of the program as written: passes merge some. The use
/// of links has been looked at where something is claimed of it.
void checkClaims(std::span<const ClaimValue>, Order, const Proof &, const Combining &,
                 const LinkUse &, Findings &);

}  // namespace nbcc
