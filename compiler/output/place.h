// SPDX-License-Identifier: BSD-3-Clause
// place.h - the sections of an object file at the addresses at which they will be loaded.
//
// No LLVM header is needed to use it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dsl/diag.h"

namespace nbcc {

/// Where a section came to lie; from the beginning of the image.
struct PlacedSection {
  std::string name;
  uint64_t at = 0, bytes = 0, alignment = 1;
  bool executable = false;
};

/// A symbol that others may use.
struct PlacedSymbol {
  std::string name;
  uint64_t at = 0, bytes = 0;
};

struct Placed {
  /// What is loaded, in one piece: room for headers, data that are only read, on the next page
  /// code. Nothing in it is to be relocated any more, wherever it is loaded.
  std::string image;
  uint64_t codeAt = 0, codeEnd = 0;
  std::vector<PlacedSection> sections;  // ascending
  std::vector<PlacedSymbol> symbols;    // in the order of their names
};

/// Reports where the object needs what is not in it, or wants to be written to.
Placed place(const std::string &object, size_t room, size_t page, Diag &);

}  // namespace nbcc
