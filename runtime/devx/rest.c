// SPDX-License-Identifier: BSD-3-Clause
// rest.c - rests that get longer with the time that a thread has been at it.
//
// No CQ is armed: hosts look at one entry for each stage of a call, and come again soon. A call
// takes some microseconds, and what a kernel calls a rest of one is fifty and more: so at first
// others may have the core, and no more.

#include "runtime/devx/rest.h"

enum {
  YIELDED = 100000,      // nanoseconds
  LONGEST_REST = 50000,  // likewise
  PART = 8               // a rest is that part of the time in which nothing has happened
};

int64_t devx_rest_from(struct devx_rests *rests, int64_t now, int64_t longest) {
  if (now - rests->ended > YIELDED / PART) rests->began = now;
  const int64_t waited = now - rests->began;
  if (waited < YIELDED) return 0;
  int64_t rest = waited / PART;
  if (rest > LONGEST_REST) rest = LONGEST_REST;
  return rest < longest ? rest : longest;
}
