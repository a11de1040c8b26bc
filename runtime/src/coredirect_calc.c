// SPDX-License-Identifier: BSD-3-Clause
// coredirect_calc.c - all ranks of a plan agree on what their adapters reduce.
//
// Each puts masks of operations, in place or not, by how many elements a vector may have; what all
// have is taken. A word a rank, and only for collectives that reduce.

#include <stdio.h>

#include "runtime/src/coredirect.h"

// The operations that the adapter may reduce in calls of this rank, in place or not: of a vector of
// 1, 2, 4, 8 elements.
enum { WIDTHS = 4 };
_Static_assert(1 << (WIDTHS - 1) == NBC_MOST_SCALARS, "all that templates may have");

struct operations {
  uint8_t of[WIDTHS];  // bit (1 << enum mlx5_calc)
};
_Static_assert(MLX5_CALC_XOR < 8, "the last of them");

static unsigned width(const struct variant *v) {
  return (unsigned)__builtin_ctz(v->v->scalars);
}

static bool any(const struct operations *o) {
  uint32_t all = 0;
  for (int w = 0; w < WIDTHS; ++w) all |= o->of[w];
  return all;
}

static bool is_calc(const struct variant *v) {
  return v->v->flags & NBC_VARIANT_CALC;
}

static struct operations own_calc(const nbc_plan *plan) {
  struct operations masks[2] = {{{0}}, {{0}}};
  bool in_place = false;
  for (uint32_t i = 0; i < plan->tables.header->variants.count; ++i) {
    const struct variant *v = &plan->variants[i];
    if (v->v->flags & NBC_VARIANT_IN_PLACE) in_place = true;
    if (is_calc(v)) masks[!!(v->v->flags & NBC_VARIANT_IN_PLACE)].of[width(v)] |= (uint8_t)v->calc;
  }
  for (int w = 0; w < WIDTHS && in_place; ++w) masks[0].of[w] &= masks[1].of[w];
  return masks[0];
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
  const struct operations own = own_calc(plan);
  return b->put(b->context, key, &own, sizeof own) ? NBC_ERROR_BOOTSTRAP : 0;
}

// All ranks must choose alike, and not every rank's template may have such a variant
// nor every adapter the operation: what all have is taken. A rank that has nothing
// need not ask.
int coredirect_agree_on_calc(nbc_plan *plan) {
  const struct nbc_bootstrap *b = &plan->comm->bootstrap;
  if (!reduces(plan)) return 0;
  char key[32];
  snprintf(key, sizeof key, "nbc.%u.calc", plan->number);
  struct operations all = own_calc(plan);
  for (int rank = 0; rank < b->ranks && any(&all); ++rank) {
    struct operations other;
    size_t bytes = 0;
    if (rank == b->rank) continue;
    if (b->get(b->context, rank, key, &other, sizeof other, &bytes) || bytes != sizeof other)
      return NBC_ERROR_BOOTSTRAP;
    for (int w = 0; w < WIDTHS; ++w) all.of[w] &= other.of[w];
  }
  for (uint32_t i = 0; i < plan->tables.header->variants.count; ++i) {
    struct variant *v = &plan->variants[i];
    if (is_calc(v)) v->calc &= all.of[width(v)];
  }
  return 0;
}
