// SPDX-License-Identifier: BSD-3-Clause
// parse.cpp - any bytes, parsed: a tree or errors with their places, soon.

#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  nbcc::Attempt run;
  run.parse(bytes, size);
  return 0;
}
