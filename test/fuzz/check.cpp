// SPDX-License-Identifier: BSD-3-Clause
// check.cpp - what parses is checked, and printed where nothing was wrong.
//
// Inputs that do not parse are not kept in the corpus: the target parse is there for them.

#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  nbcc::Attempt run;
  run.parse(bytes, size);
  if (!run.file) return -1;
  nbcc::check(*run.file, run.diag);
  run.spoken();
  if (!run.diag.ok()) return 0;
  std::ostringstream tree;
  nbcc::print(*run.file, tree);
  nbcc::wanted(!tree.str().empty(), "a tree that prints as nothing");
  return 0;
}
