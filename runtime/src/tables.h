// SPDX-License-Identifier: BSD-3-Clause
// tables.h - the tables of a template as arrays, and what its kind says.

#pragma once

#include <stdbool.h>

#include "nbc.h"
#include "nbc/template.h"

enum { CALLER_ROLES = NBC_ROLE_DATA + 1, ROLES = NBC_ROLE_SLOTS + 1 };

struct tables {
  const struct nbc_template *header;
  const struct nbc_buffer *buffers;
  const uint32_t *peers;
  const struct nbc_queue *queues;
  const struct nbc_variant *variants;
  const struct nbc_piece *pieces;
  const struct nbc_host *hosts;
  const struct nbc_stage *stages;
  const struct nbc_segment *segments;
  const struct nbc_reloc *relocs;
  const uint8_t *code;
  const struct nbc_buffer *caller[CALLER_ROLES];  // among the buffers; null: it has none there
};

struct tables tables_of(const void *data);
// Whether it is for one call: all its variants are direct, or none.
static inline bool is_direct(const struct tables *s) {
  return s->header->variants.count && s->variants[0].protocol == NBC_DIRECT;
}

// kinds.c, of a kind below NBC_KINDS and a caller's role.

// No buffer, a block or vector, a block for each rank; as many as the buffer's entry says.
enum shape { NONE, ONE, RANKS, LISTED };
enum shape shape_of(uint32_t kind, uint32_t role);
// Blocks of a caller's buffer; 0: the kind has no such buffer, or this rank no neighbours.
uint64_t blocks_of(const struct tables *, uint32_t role, bool in_place);
// Whether it has a block of each rank or neighbour, also where there is one.
bool is_row(uint32_t kind, uint32_t role);
bool kind_reduces(uint32_t kind);
// Whether MPI lets its blocks differ.
bool kind_has_own_lengths(uint32_t kind);

// The role whose buffer is replaced by NBC_IN_PLACE; CALLER_ROLES: none, on this rank.
uint32_t in_place_role(const struct nbc_template *);

// The one of these segments, which ascend, that [at, at + width) lies in. Null: none.
const struct nbc_segment *segment_at(const struct tables *, struct nbc_range segments, uint32_t at,
                                     uint32_t width);

// A variant's records, those of the queue MESSAGES. Null: it has none.
const struct nbc_segment *records_of_variant(const struct tables *, const struct nbc_variant *);
// Whether a relocation fills one of them in.
static inline bool is_in(const struct nbc_segment *g, const struct nbc_reloc *r) {
  return g && r->at >= g->offset && r->at - g->offset < g->bytes;
}

// Sets *why and returns NBC_ERROR_TEMPLATE. For nbc_template_check and targets.
int damaged(const char **why, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Likewise NBC_ERROR_RESOURCES.
int lacking(const char **why, const char *format, ...) __attribute__((format(printf, 2, 3)));
