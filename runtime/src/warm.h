// SPDX-License-Identifier: BSD-3-Clause
// warm.h - what a call reads of its plan, asked of memory at once.
//
// Between two calls the application's data push the plan out of the caches. A call's way through it
// is a chain of pointers, each a miss behind another: 2 us where long messages have just been
// moved. So the lines on that way are listed when the plan is connected, and nbc_start asks for all
// of them before it looks at the first, unless the plan was used a few us ago. bench-start and
// nbc-bench show what it costs (some ns) and what it saves (half to two thirds of the start, at 1
// MiB).

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_WARM = 96, WARM_LINE = 64 };

struct warm {
  uint64_t used;  // when
  uint32_t count;
  const char *lines[MOST_WARM];
};

// As far as there is room: the first that are named matter most.
static inline void keep_warm(struct warm *w, const void *memory, size_t bytes) {
  uintptr_t end = (uintptr_t)memory + bytes;
  for (uintptr_t line = (uintptr_t)memory & ~(uintptr_t)(WARM_LINE - 1);
       line < end && w->count < MOST_WARM; line += WARM_LINE)
    w->lines[w->count++] = (const char *)line;
}

static inline void fetch(const void *memory, size_t bytes) {
  for (const char *line = (const char *)memory, *end = line + bytes; line < end; line += WARM_LINE)
    __builtin_prefetch(line);
}

// A clock that costs little, in any unit.
static inline uint64_t ticks(void) {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

// In ticks: what was used so lately is still there.
#define WARM_FOR 20000

static inline void fetch_warm(struct warm *w) {
  uint64_t now = ticks();
  bool lately = now - w->used < WARM_FOR;
  w->used = now;
  if (lately && now) return;
  for (uint32_t i = 0; i < w->count; ++i) __builtin_prefetch(w->lines[i]);
}
