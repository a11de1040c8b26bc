// SPDX-License-Identifier: BSD-3-Clause
/// able.h - what a compiled library's algorithms can do, for Table::ask().
///
/// The library was proven: its flags say what for. What `requires` wants is worked out by
/// nbc_build_check(), so whoever uses this links libnbc-build.so.

#pragma once

#include <string>
#include <vector>

#include "compiler/selection/table.h"
#include "nbc/library.h"

namespace nbcc {

/// Why a library has no such algorithm or parameter, whatever the call; empty: it has.
std::string missing(const nbc_library &, const Choice &);

/// Why an algorithm cannot do what a call asks for; empty: it can. Takes microseconds.
std::string unable(const nbc_library &, const Choice &, const Situation &);

/// Values of all parameters of an algorithm, in its order: those that are given, else the
/// library's. False: it has no such parameter, as `why` says.
bool parametersOf(const nbc_library &, const nbc_library_algorithm &,
                  const std::vector<std::pair<std::string, std::int64_t>> &given,
                  std::vector<std::int64_t> &values, std::string &why);

}  // namespace nbcc
