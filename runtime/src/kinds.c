// SPDX-License-Identifier: BSD-3-Clause
// kinds.c - what a template's kind says of its buffers: dsl/collectives.def for the runtime.

#include "runtime/src/tables.h"

enum in_place { NEVER, EVERYWHERE, AT_ROOT };

static const struct {
  uint8_t shapes[CALLER_ROLES];
  uint8_t reduces;
  uint8_t in_place, replaced;  // where MPI_IN_PLACE may stand, and for which role
  uint8_t own_lengths;         // MPI lets its blocks differ
} kinds[NBC_KINDS] = {
    [NBC_ALLGATHER] = {{ONE, RANKS, NONE}, 0, EVERYWHERE, NBC_ROLE_IN, 1},
    [NBC_ALLTOALL] = {{RANKS, RANKS, NONE}, 0, EVERYWHERE, NBC_ROLE_IN, 1},
    [NBC_ALLREDUCE] = {{ONE, ONE, NONE}, 1, EVERYWHERE, NBC_ROLE_IN, 0},
    [NBC_REDUCE] = {{ONE, ONE, NONE}, 1, AT_ROOT, NBC_ROLE_IN, 0},
    [NBC_BCAST] = {{NONE, NONE, ONE}, 0, NEVER, 0, 0},
    [NBC_GATHER] = {{ONE, RANKS, NONE}, 0, AT_ROOT, NBC_ROLE_IN, 1},
    [NBC_SCATTER] = {{RANKS, ONE, NONE}, 0, AT_ROOT, NBC_ROLE_OUT, 1},
    [NBC_BARRIER] = {{NONE, NONE, NONE}, 0, NEVER, 0, 0},
    [NBC_REDUCE_SCATTER] = {{RANKS, ONE, NONE}, 1, EVERYWHERE, NBC_ROLE_IN, 1},
    [NBC_REDUCE_SCATTER_BLOCK] = {{RANKS, ONE, NONE}, 1, EVERYWHERE, NBC_ROLE_IN, 0},
    [NBC_SCAN] = {{ONE, ONE, NONE}, 1, EVERYWHERE, NBC_ROLE_IN, 0},
    [NBC_EXSCAN] = {{ONE, ONE, NONE}, 1, EVERYWHERE, NBC_ROLE_IN, 0},
    [NBC_NEIGHBOR_ALLGATHER] = {{ONE, LISTED, NONE}, 0, NEVER, 0, 1},
    [NBC_NEIGHBOR_ALLTOALL] = {{LISTED, LISTED, NONE}, 0, NEVER, 0, 1},
    [NBC_OWN] = {{LISTED, LISTED, LISTED}, 0, NEVER, 0, 0},
};

bool kind_reduces(uint32_t kind) {
  return kinds[kind].reduces;
}

bool kind_has_own_lengths(uint32_t kind) {
  return kinds[kind].own_lengths;
}

enum shape shape_of(uint32_t kind, uint32_t role) {
  return (enum shape)kinds[kind].shapes[role];
}

bool is_row(uint32_t kind, uint32_t role) {
  return shape_of(kind, role) == RANKS || shape_of(kind, role) == LISTED;
}

uint64_t blocks_of(const struct tables *s, uint32_t role, bool in_place) {
  const struct nbc_template *t = s->header;
  // In place `out` begins as `in`: of reduce_scatter it is longer than the result.
  if (in_place && role == NBC_ROLE_OUT && kind_reduces(t->kind)) role = NBC_ROLE_IN;
  switch (shape_of(t->kind, role)) {
    case NONE:
      break;
    case ONE:
      return 1;
    case RANKS:
      return t->ranks;
    case LISTED:
      return s->caller[role] ? s->caller[role]->blocks : 0;
  }
  return 0;
}

uint32_t in_place_role(const struct nbc_template *t) {
  bool may = kinds[t->kind].in_place == EVERYWHERE ||
             (kinds[t->kind].in_place == AT_ROOT && t->rank == t->root);
  return may ? kinds[t->kind].replaced : CALLER_ROLES;
}
