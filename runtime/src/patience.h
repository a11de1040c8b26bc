// SPDX-License-Identifier: BSD-3-Clause
// patience.h - how long nbc_start looks for what others say who start at the same time.
//
// Ranks tend to start a call together. What one of them says then takes a microsecond or two, and
// would be heard at the next nbc_test, after whatever the program computes: so a start that
// lacks only that looks for it a while. Where nobody ever comes so soon it is seldom tried.

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct patience {
  int64_t until;
  uint32_t in_vain;  // starts that have looked for nothing, in a row
};

// As targets.h has `expects`. `lacks`: there is still something that would help.
static inline bool is_patient(struct patience *p, uint32_t nanoseconds, bool first, bool lacks) {
  enum { IN_VAIN = 4, SELDOM_TRIED = 16 };
  if (nanoseconds == 0) return false;
  if (!lacks) {
    if (!first) p->in_vain = 0;
    return false;
  }
  if (first && p->in_vain >= IN_VAIN && ++p->in_vain % SELDOM_TRIED) return false;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  const int64_t time = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
  if (first) p->until = time + nanoseconds;
  if (time < p->until) return true;
  ++p->in_vain;
  return false;
}
