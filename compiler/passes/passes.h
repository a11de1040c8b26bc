// SPDX-License-Identifier: BSD-3-Clause
// passes.h - schedule in, better schedule out. No pass can fail; none changes what arrives.

#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "compiler/ir/schedule.h"

namespace nbcc {

/// What a pass may ask about the other ranks.
struct PassContext {
  /// The schedule of a rank as it was elaborated (Order::rounds); null: not to
  /// be had. Only merge-sends asks, and only where a rank sends twice to one
  /// peer in a round: both ends must come to the same answer.
  std::function<const Schedule *(int64_t rank)> peer;
};

#define PASS(function, ...) void function(Schedule &, const PassContext &);
#include "compiler/passes/passes.def"

struct Pass {
  void (*run)(Schedule &, const PassContext &);
  const char *name;
  bool byDefault;
  const char *holds;  // what is true from here on
};

const std::vector<Pass> &passes();
const Pass *findPass(std::string_view name);  // null: none

struct PassOptions {
  bool strictRounds = false;
  bool inPlace = false;
};

/// All that run by default, in order, each followed by verify(). A finding of
/// verify() after a pass is our own mistake and is reported as such.
void runPasses(Schedule &, const PassOptions &, const PassContext &, Diag &);

}  // namespace nbcc
