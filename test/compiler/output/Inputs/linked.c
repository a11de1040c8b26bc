// SPDX-License-Identifier: BSD-3-Clause
// linked.c - uses a library that it is linked with: finds one rank's templates, and has them
// checked.
#include <stdio.h>

#include "libmy-colls.h"

static int look(const char *algorithm) {
  size_t bytes = 0;
  const char *why = "there is none";
  const void *found = nbc_library_find(nbc_library_my_colls(), algorithm, "coredirect",
                                       NBC_LENGTHS_EQUAL, 3, 2, 0, &bytes);
  if (!found || nbc_template_check(found, bytes, &why)) return printf("%s: %s\n", algorithm, why);
  const struct nbc_template *t = (const struct nbc_template *)found;
  printf("%s: rank %u of %u\n", algorithm, t->rank, t->ranks);
  return 0;
}

int main(void) {
  const char *why;
  if (nbc_library_use(nbc_library_my_colls(), &why)) return printf("%s\n", why);
  return look(NBC_MY_COLLS_ALLGATHER_BRUCK) | look(NBC_MY_COLLS_BCAST_CHAIN);
}
