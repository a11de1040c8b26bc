// SPDX-License-Identifier: BSD-3-Clause
// version.h - which `build` functions and which sinks understand each other.
//
// Compiled functions that lie in a library may be older or newer than the sink that serves them.
// Both hold this number; it changes by itself with the names, order and prototypes of the calls and
// with the list of faults. What else they agree on (Place, KindFact, Counters) is counted by hand.

#pragma once

#include <cstdint>
#include <string_view>

namespace nbcc {

inline constexpr uint32_t kBuildVersion = [] {
  constexpr std::string_view agreed = "1;"  // by hand
#define CALL(...) #__VA_ARGS__ ";"
#include "compiler/abi/calls.def"
#define FAULT(name, ...) #name ";"
#include "compiler/abi/faults.def"
      ;
  uint32_t hash = 0x811c9dc5;  // FNV-1a, 32 bit
  for (const char c : agreed) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193u;
  return hash;
}();

}  // namespace nbcc
