// SPDX-License-Identifier: BSD-3-Clause
// glance.h - descriptors of events that no thread sits on: for those who open adapters.

#pragma once

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// A read from it does not block from now on. False: errno.
static inline bool make_nonblocking(int file) {
  const int flags = fcntl(file, F_GETFL);
  return flags >= 0 && fcntl(file, F_SETFL, flags | O_NONBLOCK) == 0;
}

// Once in a tick of the coarse clock, some milliseconds, for one of all who ask: cheap.
static inline bool is_time_to_look(_Atomic int64_t *looked) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const int64_t tick = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
  return atomic_exchange_explicit(looked, tick, memory_order_relaxed) != tick;
}
