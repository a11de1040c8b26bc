// SPDX-License-Identifier: BSD-3-Clause
// ways.h - which way is quicker for long messages of a peer: through the window, or read.
//
// Through the window both ends copy at once, which takes half as long as to read what its sender
// has just written; but what the receiver's cache has already is read in less time than it is
// copied twice, and of processors far from one another each copy costs more. So the receiver times
// messages, by the power of two of their length, and now and then asks for a few that go the other
// way. Messages that go both ways at once are timed by one end, for both, and apart from others.

#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What messages of a length took, by the way that is asked for now.
struct way_times {
  uint64_t sum, slowest;  // ns a KiB, of `count` messages
  uint64_t before;        // those of the other way, while this one is tried
  uint32_t count;
  uint32_t skip, pause;  // messages until some are timed again; and how many that were, 0: none yet
  bool tries;
};

enum { WAY_LENGTHS = 16 };
// Zero at first: all go through the window.
struct ways {
  uint32_t read;  // ways_bit()s of the lengths that are to be read
  bool busy;
  struct way_times of[WAY_LENGTHS];
};

// Thread safe, all three.
uint32_t ways_bit(uint64_t bytes);
uint32_t ways_read(const struct ways *);
// A message has come, read or through the window, in so long.
void ways_took(struct ways *, uint64_t bytes, bool read, uint64_t ns);

#ifdef __cplusplus
}
#endif
