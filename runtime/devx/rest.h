// SPDX-License-Identifier: BSD-3-Clause
// rest.h - how long a thread rests that has found nothing done.

#pragma once

#include <stdint.h>

// A thread's rests, one after another; nanoseconds of one clock. Zeros: none yet.
struct devx_rests {
  int64_t began, ended;  // the first of them, the last
};

// A rest from `now` on, `longest` at most; 0: others may have the core for a moment. The caller
// sets `ended` when it is over. Who comes again at once goes on with the rest before.
int64_t devx_rest_from(struct devx_rests *, int64_t now, int64_t longest);
