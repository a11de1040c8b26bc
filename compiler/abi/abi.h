// SPDX-License-Identifier: BSD-3-Clause
// abi.h - what the compiled functions and those who call or serve them agree on.
//
// Everything that passes between them is 64 bits wide, so that no calling
// convention has a say in how narrower values are extended. It is a folder of its own, since
// who calls compiled functions need not know how they were compiled.

#pragma once

#include <cstdint>
#include <string>

#include "dsl/collectives.h"
#include "dsl/diag.h"

namespace nbcc {

/// A Loc as an immediate value.
using Place = uint64_t;

inline Place toPlace(Loc at) {
  return uint64_t{at.line} << 32 | uint64_t{at.column} << 16 | uint64_t{at.file};
}
inline Loc toLoc(Place at) {
  return {static_cast<uint32_t>(at >> 32), static_cast<uint16_t>(at >> 16),
          static_cast<uint16_t>(at)};
}

/// A value, if there is one. ok == 0: an error was told to the sink.
struct Checked {
  int64_t value = 0, ok = 0;
};

/// What the pointer to a sink points at. Counted down in compiled code: a call
/// for each iteration would cost more than the iteration.
struct Counters {
  int64_t iterations = 0;        // of loops and calls of functions, still to be had
  int64_t depth = 0;             // of function calls, still to be had
  void *const *calls = nullptr;  // where the sink's functions are, in the order of calls.def: for
                                 // code that is linked with no sink
};

/// Function calls nested in each other: keeps the stack of a run small.
inline constexpr int64_t kMaxCallDepth = 1000;

enum class Fault : int64_t {
#define FAULT(name, ...) name,
#include "compiler/abi/faults.def"
};

/// `build`: walks through what one rank does; of OwnCollective::ensures, what it is promised. Not
/// 0: stopped by an error.
using Build = int64_t(int64_t ranks, int64_t rank, int64_t root, const int64_t *parameters,
                      Counters *sink);

/// One of `requires`, the bound of a claim, or how many blocks a buffer of a declared collective
/// has.
using Bound = Checked(int64_t ranks, int64_t root, const int64_t *parameters, Counters *sink);

/// What a frame knows of the kind of what runs in it, as one number: which of these hold.
enum KindFact : int64_t {
  kHasIn = 1,
  kHasOut = 2,
  kHasData = 4,
  kHasRoot = 8,
  kInAtRoot = 16,
  kOutAtRoot = 32,
};
inline int64_t kindFacts(const Collective &c) {
  const auto fact = [](bool holds, KindFact f) { return holds ? int64_t{f} : 0; };
  return fact(c.in != Shape::none, kHasIn) | fact(c.out != Shape::none, kHasOut) |
         fact(c.data != Shape::none, kHasData) | fact(c.hasRoot(), kHasRoot) |
         fact(c.where == Where::in_at_root, kInAtRoot) |
         fact(c.where == Where::out_at_root, kOutAtRoot);
}

/// The symbol of a call in calls.def.
inline std::string callName(const char *call) {
  return std::string("nbcc.") + call;
}

}  // namespace nbcc
