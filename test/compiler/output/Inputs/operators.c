// SPDX-License-Identifier: BSD-3-Clause
// operators.c - what a library's operators make of elements at an odd address.
#include <stdio.h>
#include <string.h>

#include "hull.c"
#include "nbc/library.h"

struct point {
  float x, y;
  int n;
};

int main(int argc, char **argv) {
  const struct nbc_library *library;
  const char *why;
  if (argc < 2 || nbc_library_open(argv[1], &library, &why)) return printf("%s\n", why);
  size_t bytes = 0;
  nbc_reduce_function *f = nbc_library_reduction(library, "hull", &bytes);
  const span left[] = {{1, 5}, {-3, 4}}, right[] = {{2, 9}, {-7, 1}};
  char memory[1 + sizeof left];
  memcpy(memory + 1, left, sizeof left);
  f(memory + 1, memory + 1, right, 2, NULL);
  span found[2];
  memcpy(found, memory + 1, sizeof found);
  printf("hull of %zu bytes: %d..%d, %d..%d\n", bytes, found[0].low, found[0].high, found[1].low,
         found[1].high);
  const span wanted = hull(left[0], right[0]);
  if (memcmp(&wanted, &found[0], sizeof wanted)) return 1;

  const struct point p[] = {{1, 2, 1}, {0.5f, -2, 3}};
  struct point sum;
  nbc_library_reduction(library, "middle", &bytes)(&sum, &p[0], &p[1], 1, NULL);
  printf("middle of %zu bytes: %g %g %d\n", bytes, sum.x, sum.y, sum.n);
  return nbc_library_reduction(library, "largest", NULL) != NULL;
}
