// SPDX-License-Identifier: BSD-3-Clause
// tables.h - the tables of a library as bytes, but for the addresses of functions.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/output/output.h"

namespace nbcc {

struct LibraryTables {
  /// A function of one of the files, or an operator; it is in the code table where it is here.
  struct Code {
    size_t file = 0;   // kOperators: none
    std::string name;  // lower.h
  };
  static constexpr size_t kOperators = SIZE_MAX;
  std::vector<Code> code;
  std::vector<std::byte> header;  // struct nbc_library; then come 4 bytes for each of `code`, and
  std::vector<std::byte> rest;    // what follows: begins and ends on a multiple of 8
};

/// Its names come out in order; the content's templates are moved out of it, to hold no two of
/// what may be large.
LibraryTables layOut(LibraryContent &, const Diag &);

}  // namespace nbcc
