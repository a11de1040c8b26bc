// SPDX-License-Identifier: BSD-3-Clause
// ways.c - two ways compared: a few messages of the one, a few of the other.

#include "runtime/shm/ways.h"

enum {
  FEW = 4,     // are compared, without the slowest: it may have lost its processor
  WARM = 4,    // come first: what is read takes twice as long where it was not just before
  FIRST = 16,  // go by: who sends no more would only pay, up to 10 us a page that is read first
  SOON = 4 * FIRST,
  SELDOM = 1024,  // messages between two comparisons, if they end alike
  SHORTEST = 12   // log2 of bytes
};

uint32_t ways_bit(uint64_t bytes) {
  uint32_t log = 63 - (uint32_t)__builtin_clzll(bytes | 1);
  log = log > SHORTEST ? log - SHORTEST : 0;
  return UINT32_C(1) << (log < WAY_LENGTHS ? log : WAY_LENGTHS - 1);
}

uint32_t ways_read(const struct ways *w) {
  return __atomic_load_n(&w->read, __ATOMIC_RELAXED);
}

// The few of the way that is asked for. The other is tried next, or has been before; to change for
// it must be worth it.
static void compare(struct ways *w, struct way_times *t, uint32_t bit) {
  const uint64_t sum = t->sum - t->slowest;
  const bool better = t->tries && sum < t->before - t->before / 8;
  if (t->tries) {
    t->pause = better ? SOON : t->pause < SELDOM ? 4 * t->pause : SELDOM;
    t->skip = t->pause;
  } else {
    t->skip = WARM;
  }
  if (!better) __atomic_fetch_xor(&w->read, bit, __ATOMIC_RELAXED);
  *t = (struct way_times){.before = sum, .skip = t->skip, .pause = t->pause, .tries = !t->tries};
}

void ways_took(struct ways *w, uint64_t bytes, bool read, uint64_t ns) {
  const uint32_t bit = ways_bit(bytes);
  struct way_times *t = &w->of[__builtin_ctz(bit)];
  if (bytes == 0 || read != !!(ways_read(w) & bit)) return;
  if (__atomic_exchange_n(&w->busy, true, __ATOMIC_ACQUIRE)) return;  // another thread
  if (!t->pause) t->skip = t->pause = FIRST;
  if (t->skip) {
    --t->skip;
  } else {
    const uint64_t time = (ns << 10) / bytes;
    t->sum += time;
    if (time > t->slowest) t->slowest = time;
    if (++t->count == FEW) compare(w, t, bit);
  }
  __atomic_store_n(&w->busy, false, __ATOMIC_RELEASE);
}
