// SPDX-License-Identifier: BSD-3-Clause
// warm.h - what a call reads of its plan, asked of memory at once.
//
// Between two calls the application's data push the plan out of the caches. A call's way through it
// is a chain of pointers, each a miss behind another: 2 us where long messages have just been
// moved. So what lies on that way is taken from an arena, in a row (arena.h), and listed when the
// plan is connected; nbc_start asks for all of it before it looks at the first, unless the plan was
// used a few us ago.
//
// A processor asks for a dozen lines or so at a time, so each costs some ns, needed or not: only
// what a usual call comes upon is listed. The code is as cold, but to ask for all of it took as
// long as it saved.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_RANGES = 10, WARM_LINE = 64 };

struct warm_range {
  uintptr_t begin, end;
};
struct warm {
  uint64_t used;  // when
  uint32_t ranges;
  struct warm_range range[MOST_RANGES];
};

// As far as there is room: the first that are named matter most. A line between two ranges costs
// less than another range.
static inline void keep_warm(struct warm *w, const void *memory, size_t bytes) {
  uintptr_t begin = (uintptr_t)memory & ~(uintptr_t)(WARM_LINE - 1);
  uintptr_t end = (uintptr_t)memory + bytes;
  struct warm_range *last = w->ranges ? &w->range[w->ranges - 1] : NULL;
  if (last && begin >= last->begin && begin <= last->end + WARM_LINE) {
    if (end > last->end) last->end = end;
  } else if (w->ranges < MOST_RANGES) {
    w->range[w->ranges++] = (struct warm_range){begin, end};
  }
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
  for (uint32_t i = 0; i < w->ranges; ++i)
    fetch((const void *)w->range[i].begin, w->range[i].end - w->range[i].begin);
}
