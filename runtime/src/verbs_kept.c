// SPDX-License-Identifier: BSD-3-Clause
// verbs_kept.c - which places of this end's a peer keeps, and under which numbers.
//
// A table of the places that it was told, so that a place is found by its address: it stands at one
// of the NEAR places of the table from the one that its address says. The number under which
// the peer keeps it is the number of its place in the table, so what takes its place here takes it
// there.
//
// Costs: an offer looks at NEAR places of 24 bytes.

#include "runtime/src/verbs.h"

enum { NEAR = 4 };

static uint32_t number_near(const struct verbs_lane *l, const struct offered_run *run, uint32_t k) {
  const uint64_t mixed = run->address * UINT64_C(0x9e3779b97f4a7c15);
  return ((uint32_t)(mixed >> 40) + k) & (l->known_count - 1);
}

// Empty, or the same memory by a key that holds no more.
static bool is_for(const struct offered_run *known, const struct offered_run *run) {
  return known->bytes == 0 || (known->address == run->address && known->bytes == run->bytes);
}

uint16_t verbs_keep_there(struct verbs_lane *l, const struct offered_run *run) {
  if (l->known_count == 0) return 0;
  uint32_t k = 0;
  while (k < NEAR && !is_for(&l->known_there[number_near(l, run, k)], run)) ++k;
  // Where all are taken, they make room in turn.
  const uint32_t at = number_near(l, run, k < NEAR ? k : l->offers_made % NEAR);
  l->known_there[at] = *run;
  return (uint16_t)(at + 1);
}

bool verbs_find_known(const struct verbs_lane *l, const struct offered_run *run, uint8_t *number) {
  for (uint32_t k = 0; k < NEAR; ++k) {
    const uint32_t at = number_near(l, run, k);
    const struct offered_run *known = &l->known_there[at];
    if (known->address != run->address || known->bytes != run->bytes || known->rkey != run->rkey)
      continue;
    *number = (uint8_t)at;
    return true;
  }
  return false;
}
