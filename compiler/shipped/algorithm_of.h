// SPDX-License-Identifier: BSD-3-Clause
// algorithm_of.h - an algorithm of a library, as elaborate() takes it.

#pragma once

#include "compiler/elaborate/compiled_algorithm.h"
#include "dsl/diag.h"
#include "nbc/library.h"

namespace nbcc {

/// The library has passed nbc_library_use(), and outlives this: names are views into it.
void fill(CompiledAlgorithm &, const nbc_library &, const nbc_library_algorithm &);

/// The entries of one of its tables.
template <class T>
std::span<const T> entries(const nbc_library &lib, nbc_table table) {
  return {static_cast<const T *>(nbc_library_table(&lib, table)), table.count};
}

/// For messages: the names of the library's sources, in the order in which its places number them.
void nameSources(Diag &, const nbc_library &);

}  // namespace nbcc
