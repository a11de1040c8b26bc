// SPDX-License-Identifier: BSD-3-Clause
// goal.h - GOAL, the language in which the simulator LogGOPSim is told what ranks do.
//
//     num_ranks 2
//     rank 0 {
//     l0: send 40b to 1 tag 0
//     l1: calc 4
//     l1 requires l0
//     }
//     rank 1 {
//     l0: recv 40b from 0 tag 0
//     }
//
// `a requires b`: a starts when b has ended; `a irequires b`: when b has started.
// An operation may have no label, and may end in `cpu C` and `nic N`: whom it
// occupies, which costs time and orders nothing.
//
// GOAL has lengths but no data. A schedule can be written in it; what is read can
// be checked for matching, sizes and deadlock, never for its result.

#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/schedule.h"
#include "dsl/diag.h"

namespace nbcc {

struct GoalOperation {
  enum class Kind : uint8_t { send, recv, calc } kind{};
  int32_t peer = -1;                  // calc: none
  uint32_t tag = 0;                   // calc: none
  int64_t amount = 0;                 // bytes; calc: nanoseconds
  uint32_t label = 0, labelSize = 0;  // in Goal::text; size 0: none
  Loc loc;
};

/// An operation's requirement, both of one rank, by their place in Goal::operations.
struct GoalWait {
  int32_t operation = 0, before = 0;
  bool untilStart = false;  // irequires
  Loc loc;
};

/// Operations and waits of a rank stand together, ranks in order.
struct Goal {
  std::string text;
  std::vector<GoalOperation> operations;
  std::vector<GoalWait> waits;
  std::vector<int32_t> firstOperation{0};  // of each rank, and one more

  int64_t ranks() const { return static_cast<int64_t>(firstOperation.size()) - 1; }
};

/// Reads a text that `Diag` knows; empty: something was wrong, which was reported.
/// Every peer is a rank and not the own; every label that is required exists.
std::optional<Goal> readGoal(uint16_t file, Diag &);

/// Reports messages that never meet, or meet at different lengths, or could meet
/// others than the k-th the k-th; and what never ends, though nothing is buffered.
void checkGoal(const Goal &, Diag &);

/// How long a block is, in elements and bytes of one.
struct BlockLength {
  uint64_t elements = 0;
  uint64_t elementBytes = 0;
};

/// What copying and combining take in `calc`, per byte: 10 and 5 GB/s, what one core
/// does with data beyond its caches. Rounded up to whole nanoseconds.
inline constexpr int64_t kCopyPicoseconds = 100;
inline constexpr int64_t kReducePicoseconds = 200;

/// Writes the schedules of all ranks, in order. Order::rounds: all of a round requires
/// all of the one before, through a `calc 0` where that is shorter. Order::waits:
/// `requires`, and `irequires` for the order of each channel. The k-th message of a
/// pair has tag k. A message of no bytes, a signal too, is sent as one byte: the model
/// counts the bytes behind the first. Reports lengths beyond 63 bits.
void writeGoal(std::span<const Schedule>, BlockLength, std::ostream &, Diag &);

}  // namespace nbcc
