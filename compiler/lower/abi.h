// SPDX-License-Identifier: BSD-3-Clause
// abi.h - what the compiled functions and those who call or serve them agree on.
//
// Everything that passes between them is 64 bits wide, so that no calling
// convention has a say in how narrower values are extended.

#pragma once

#include <cstdint>
#include <string>

#include "dsl/ast.h"
#include "dsl/collectives.h"

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
  int64_t iterations = 0;  // of loops and calls of functions, still to be had
  int64_t depth = 0;       // of function calls, still to be had
};

/// Function calls nested in each other: keeps the stack of a run small.
inline constexpr int64_t kMaxCallDepth = 1000;

enum class Fault : int64_t {
#define FAULT(name, ...) name,
#include "compiler/lower/faults.def"
};

/// `build`: walks through what one rank does; of OwnCollective::ensures, what it is promised. Not
/// 0: stopped by an error.
using Build = int64_t(int64_t ranks, int64_t rank, int64_t root, const int64_t *parameters,
                      Counters *sink);
std::string buildName(const ast::Algorithm &);

/// One of `requires`, or the bound of a claim.
using Bound = Checked(int64_t ranks, int64_t root, const int64_t *parameters, Counters *sink);
std::string requirementName(const ast::Algorithm &, size_t index);
std::string claimName(const ast::Algorithm &, size_t index);
/// How many blocks a buffer of a declared collective has, where it says so.
std::string extentName(const ast::OwnCollective &, size_t buffer);

/// What a frame knows of the kind of what runs in it, as one number: which of these hold.
enum KindFact : int64_t {
  kHasIn = 1,
  kHasOut = 2,
  kHasData = 4,
  kHasRoot = 8,
  kInAtRoot = 16,
  kOutAtRoot = 32,
};
int64_t kindFacts(const Collective &);

/// The symbol of a call in calls.def.
inline std::string callName(const char *call) {
  return std::string("nbcc.") + call;
}

}  // namespace nbcc
