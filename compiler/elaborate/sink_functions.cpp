// SPDX-License-Identifier: BSD-3-Clause
// sink_functions.cpp - from each member of Sink that compiled code calls to a plain function.
//
//   int64_t Sink::copy(Place)   =>   int64_t call(Counters *, Place) noexcept

#include "compiler/elaborate/sink_functions.h"

#include <new>
#include <type_traits>
#include <vector>

#include "compiler/elaborate/sink.h"

namespace nbcc {
namespace {

/// A member function of Sink as compiled code can call it. Nothing may be thrown
/// through compiled code, which has no tables to unwind it by.
template <auto member>
struct Callable;

template <class Result, class... Arguments, Result (Sink::*member)(Arguments...)>
struct Callable<member> {
  static Result call(Counters *counters, Arguments... arguments) noexcept {
    Sink &sink = *static_cast<Sink *>(counters);
    try {
      return (sink.*member)(arguments...);
    } catch (const std::bad_alloc &) {
      sink.outOfMemory();
      if constexpr (std::is_same_v<Result, Checked>)
        return {};
      else
        return 1;
    }
  }
};

template <class Result, class... Arguments>
void *addressOf(Result (*function)(Counters *, Arguments...) noexcept) {
  return reinterpret_cast<void *>(function);
}

}  // namespace

/// The prototypes that compiled code uses and those of Sink come from one table.
std::span<const SinkFunction> sinkFunctions() {
  static const SinkFunction functions[] = {
#define CALL(result, name, ...)                  \
  {callName(#name),                              \
   addressOf<result __VA_OPT__(, ) __VA_ARGS__>( \
       &Callable<static_cast<result (Sink::*)(__VA_ARGS__)>(&Sink::name)>::call)},
#include "compiler/abi/calls.def"
  };
  return functions;
}

void *const *sinkCalls() {
  static const std::vector<void *> calls = [] {
    std::vector<void *> all;
    for (const SinkFunction &f : sinkFunctions()) all.push_back(f.address);
    return all;
  }();
  return calls.data();
}

}  // namespace nbcc
