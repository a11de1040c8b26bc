// SPDX-License-Identifier: BSD-3-Clause
// sink_functions.h - the calls of a Sink as addresses that compiled code can call.

#pragma once

#include <span>
#include <string>

namespace nbcc {

struct SinkFunction {
  std::string name;  // callName()
  void *address;
};

/// In the order of calls.def.
std::span<const SinkFunction> sinkFunctions();
/// The addresses alone: Counters::calls.
void *const *sinkCalls();

}  // namespace nbcc
