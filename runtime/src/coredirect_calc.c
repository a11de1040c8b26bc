// SPDX-License-Identifier: BSD-3-Clause
// coredirect_calc.c - all ranks of a plan agree on what their adapters reduce.
//
// Each puts a mask of operations, in place or not; what all have is taken. One
// word a rank, and only for collectives that reduce.

#include <stdio.h>

#include "runtime/src/coredirect.h"

// The operations that the adapter may reduce in calls of this rank, in place or not.
static uint32_t own_calc(const nbc_plan *plan) {
  uint32_t masks[2] = {0, 0}, variants[2] = {0, 0};
  for (uint32_t i = 0; i < plan->tables.header->variants.count; ++i) {
    const struct variant *v = &plan->variants[i];
    if (v->v->flags & NBC_VARIANT_CREDIT) continue;
    bool in_place = v->v->flags & NBC_VARIANT_IN_PLACE;
    ++variants[in_place];
    if (v->v->flags & NBC_VARIANT_CALC) masks[in_place] |= v->calc;
  }
  return masks[0] & (variants[1] ? masks[1] : ~0u);
}

static bool reduces(const nbc_plan *plan) {
  return kind_reduces(plan->tables.header->kind) && plan->comm->bootstrap.ranks > 1;
}

int coredirect_publish_calc(nbc_plan *plan) {
  const struct nbc_bootstrap *b = &plan->comm->bootstrap;
  const struct endpoint *e = endpoint_of(plan);
  for (uint32_t i = 0; i < plan->tables.header->variants.count && e; ++i)
    plan->variants[i].calc &= e->facts.calc;
  if (!reduces(plan)) return 0;
  char key[32];
  snprintf(key, sizeof key, "nbc.%u.calc", plan->number);
  uint32_t mask = own_calc(plan);
  return b->put(b->context, key, &mask, sizeof mask) ? NBC_ERROR_BOOTSTRAP : 0;
}

// All ranks must choose alike, and not every rank's template may have such a variant
// nor every adapter the operation: what all have is taken. A rank that has nothing
// need not ask.
int coredirect_agree_on_calc(nbc_plan *plan) {
  const struct nbc_bootstrap *b = &plan->comm->bootstrap;
  if (!reduces(plan)) return 0;
  char key[32];
  snprintf(key, sizeof key, "nbc.%u.calc", plan->number);
  uint32_t all = own_calc(plan);
  for (int rank = 0; rank < b->ranks && all; ++rank) {
    uint32_t mask = 0;
    size_t bytes = 0;
    if (rank == b->rank) continue;
    if (b->get(b->context, rank, key, &mask, sizeof mask, &bytes) || bytes != sizeof mask)
      return NBC_ERROR_BOOTSTRAP;
    all &= mask;
  }
  for (uint32_t i = 0; i < plan->tables.header->variants.count; ++i) plan->variants[i].calc &= all;
  return 0;
}
