// SPDX-License-Identifier: BSD-3-Clause
// An operator in C.
#include <stdint.h>

typedef struct {
  int32_t low, high;
} span;

static span hull(span a, span b) {
  span r = {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
  return r;
}
