// SPDX-License-Identifier: BSD-3-Clause
// clock.h - microseconds that passed, and those that a process has used.

#pragma once

#include <sys/resource.h>
#include <time.h>

namespace nbcc::bench {

inline double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) * 1e6 + double(t.tv_nsec) * 1e-3;
}

/// User and system, of all threads.
inline double processTime() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  return double(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
         double(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

}  // namespace nbcc::bench
