// SPDX-License-Identifier: BSD-3-Clause
// fuzz.h - what the targets here share. Each is one function that libFuzzer calls with bytes.
//
// A target fails by a crash, by a sanitizer's finding, by taking longer than -timeout, or because
// something that must hold does not: wanted() then says what, and aborts.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "dsl/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

namespace nbcc {

/// Aborts with a reason unless `holds`. Unlike assert() it is there in every build.
template <class... Part>
void wanted(bool holds, const Part &...why) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", cat(why...).c_str());
  std::abort();
}

/// One run of the compiler: what it is told, and what it says.
struct Attempt {
  std::ostringstream said;
  Diag diag{said};
  std::unique_ptr<ast::File> file;

  /// The folder does not exist, so that an import finds nothing.
  void parse(const uint8_t *bytes, size_t size) {
    const std::string text(reinterpret_cast<const char *>(bytes), size);
    file = parseText("/nowhere/to/be/found/input.nbc", text, diag);
    wanted((file != nullptr) == diag.ok(), "a tree, or errors, but not both: ", said.str());
    spoken();
  }

  /// An error that is counted is also told, and nothing is told without one.
  void spoken() const {
    wanted(diag.ok() == said.str().empty(), diag.errors(), " errors, and this said: ", said.str());
  }
};

}  // namespace nbcc
