// SPDX-License-Identifier: BSD-3-Clause
// devices.c - the list of targets that templates can be carried out on.

#include <string.h>

#include "runtime/src/targets.h"

extern const struct target coredirect, mpi, sci, shm, verbs;

static const struct target *const targets[] = {
    &coredirect, &mpi, &sci, &shm, &verbs,
};

const struct target *find_target(const char *name) {
  for (size_t i = 0; i < sizeof targets / sizeof *targets; ++i)
    if (strcmp(targets[i]->name, name) == 0) return targets[i];
  return NULL;
}
