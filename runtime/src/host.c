// SPDX-License-Identifier: BSD-3-Clause
// host.c - what the host does to data: copies and reductions, piece by piece.
//
// Sections are lists of pieces. Those of one operation are as long in total but may
// be cut at different places, so each is walked by a cursor and what is common
// to all is done at a time.

#include <string.h>

#include "runtime/src/calc.h"
#include "runtime/src/plan.h"

uint8_t *piece_address(const nbc_plan *plan, const struct call *c, uint32_t piece) {
  if (c->found) return found_at(c, &c->found[piece]);
  const struct place *place = &plan->places[piece];
  if (place->whole) return place_at(c, place);
  uint8_t *base = c->base[place->role] + place->rooms * c->stride;
  const struct nbc_piece *p = &plan->tables.pieces[piece];
  if (place->role < CALLER_ROLES) return base + c->size * position(c, p->first, p->parts);
  uint64_t before = 0;
  for (uint32_t i = 0; i < p->before.count; ++i)
    before += piece_bytes(plan, c, p->before.begin + i);
  // The compiler leaves enough room; a template could have been made otherwise.
  uint64_t room = (plan->tables.buffers[p->buffer].blocks - p->room) * c->stride;
  uint64_t bytes = piece_bytes(plan, c, piece);
  return before <= room && bytes <= room - before ? base + before : NULL;
}

int run_address(const nbc_plan *plan, const struct call *c, const struct nbc_reloc *r,
                uint64_t *address, uint64_t *bytes) {
  const uint32_t more = r->rule == NBC_RELOC_SGE ? r->extra : 0;
  const struct found *found = c->found ? &c->found[r->what] : NULL;
  if (found && !more && found->fits) {
    *address = (uintptr_t)found_at(c, found);
    *bytes = found->bytes;
    return 0;
  }
  *bytes = 0;
  for (uint32_t k = 0; k <= more; ++k) {
    uint64_t n = piece_bytes(plan, c, r->what + k);
    if (n && !piece_address(plan, c, r->what + k)) return NBC_ERROR_TEMPLATE;
    *bytes += n;
  }
  *address = c->block ? (uintptr_t)piece_address(plan, c, r->what) : 0;
  return 0;
}

struct cursor {
  uint32_t piece, end;
  uint8_t *at;
  uint64_t left;
};

static struct cursor begin(struct nbc_range pieces) {
  return (struct cursor){pieces.begin, pieces.begin + pieces.count, NULL, 0};
}

// Bytes at the cursor; 0: the end. Null `at`: damaged.
static uint64_t here(const nbc_plan *plan, const struct call *c, struct cursor *cursor) {
  while (cursor->left == 0 && cursor->piece < cursor->end) {
    cursor->left = piece_bytes(plan, c, cursor->piece);
    if (cursor->left) cursor->at = piece_address(plan, c, cursor->piece);
    ++cursor->piece;
  }
  return cursor->left;
}

// A section that is one block, or blocks in a row, as most are. Null `at`: it is not.
struct row_of_blocks {
  uint8_t *at;
  uint64_t bytes;
};
static inline struct row_of_blocks row(const nbc_plan *plan, const struct call *c,
                                       struct nbc_range pieces) {
  const struct place *place = &plan->places[pieces.begin];
  const struct found *found = c->found ? &c->found[pieces.begin] : NULL;
  if (pieces.count != 1 || (!found && !place->whole) || !c->block)
    return (struct row_of_blocks){NULL, 0};
  if (found) return (struct row_of_blocks){found_at(c, found), found->bytes};
  return (struct row_of_blocks){place_at(c, place), place->count * c->block};
}

static void skip(struct cursor *cursor, uint64_t bytes) {
  cursor->at += bytes;
  cursor->left -= bytes;
}

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

// Of two sides one, or both, have a layout.
static void copy_laid(const struct nbc_layout *out, uint8_t *to, const struct nbc_layout *in,
                      const uint8_t *from, uint64_t bytes) {
  uint8_t room[4096];
  if (!out) {
    in->gather(in, offset_of(from), to, bytes);
    return;
  }
  if (!in) {
    out->scatter(out, offset_of(to), from, bytes);
    return;
  }
  for (uint64_t done = 0, n; done < bytes; done += n) {
    n = least(bytes - done, sizeof room);
    in->gather(in, offset_of(from) + done, room, n);
    out->scatter(out, offset_of(to) + done, room, n);
  }
}

static void copy_bytes(const nbc_plan *plan, const struct call *c, const struct cursor *to,
                       const struct cursor *from, uint64_t bytes) {
  const struct nbc_layout *out = layout_of_piece(plan, c, to->piece - 1);
  const struct nbc_layout *in = layout_of_piece(plan, c, from->piece - 1);
  if (to->at == from->at && out == in) return;
  if (out || in)
    copy_laid(out, to->at, in, from->at, bytes);
  else
    memmove(to->at, from->at, bytes);
}

static int copy_pieces(const nbc_plan *plan, const struct call *c, const struct nbc_host *h) {
  struct cursor from = begin(h->from), to = begin(h->to);
  uint64_t n;
  while ((n = least(here(plan, c, &from), here(plan, c, &to))) != 0) {
    if (!from.at || !to.at) return NBC_ERROR_TEMPLATE;
    copy_bytes(plan, c, &to, &from, n);
    skip(&from, n), skip(&to, n);
  }
  return 0;
}

static int copy(const nbc_plan *plan, const struct call *c, const struct nbc_host *h) {
  const struct row_of_blocks from = row(plan, c, h->from), to = row(plan, c, h->to);
  if (has_layouts(c) || !from.at || !to.at || from.bytes != to.bytes)
    return copy_pieces(plan, c, h);
  if (from.at != to.at) memmove(to.at, from.at, to.bytes);
  return 0;
}

// Elements of a vector between the caller's memory and slots of 16 bytes, or between slots.
static int copy_slots(const nbc_plan *plan, const struct call *c, const struct nbc_host *h) {
  struct cursor from = begin(h->from), to = begin(h->to);
  const enum nbc_type type = (enum nbc_type)c->type;
  const enum nbc_op op = (enum nbc_op)c->op;
  while (here(plan, c, &from) && here(plan, c, &to)) {
    if (!from.at || !to.at || from.left != c->block || to.left != c->block)
      return NBC_ERROR_TEMPLATE;
    bool slot_from = plan->places[from.piece - 1].role >= CALLER_ROLES;
    bool slot_to = plan->places[to.piece - 1].role >= CALLER_ROLES;
    if (slot_from == slot_to) memmove(to.at, from.at, slot_to ? 2 * c->block : c->block);
    for (uint64_t i = 0; i < c->count && slot_from != slot_to; ++i)
      if (slot_to)
        calc_encode(to.at + i * SLOT_BYTES, from.at + i * c->size, type, op);
      else
        calc_decode(to.at + i * c->size, from.at + i * SLOT_BYTES, type, op);
    skip(&from, c->block), skip(&to, c->block);
  }
  return 0;
}

// Of two vectors of slots, in the operands' own type.
static int reduce_slots(const nbc_plan *plan, const struct call *c, const struct nbc_host *h) {
  struct cursor left = begin(h->from), right = begin(h->with), to = begin(h->to);
  const enum nbc_type type = (enum nbc_type)c->type;
  const enum nbc_op op = (enum nbc_op)c->op;
  if (!c->reduce) return NBC_ERROR_TEMPLATE;
  while (here(plan, c, &left) && here(plan, c, &right) && here(plan, c, &to)) {
    if (!left.at || !right.at || !to.at || left.left != c->block || right.left != c->block ||
        to.left != c->block)
      return NBC_ERROR_TEMPLATE;
    for (uint64_t i = 0; i < c->count; ++i) {
      uint64_t a, b;
      calc_decode((uint8_t *)&a, left.at + i * SLOT_BYTES, type, op);
      calc_decode((uint8_t *)&b, right.at + i * SLOT_BYTES, type, op);
      c->reduce(&a, &a, &b, 1, c->context);
      calc_encode(to.at + i * SLOT_BYTES, (uint8_t *)&a, type, op);
    }
    skip(&left, c->block), skip(&right, c->block), skip(&to, c->block);
  }
  return 0;
}

static int reduce_pieces(const nbc_plan *plan, const struct call *c, const struct nbc_host *h) {
  struct cursor left = begin(h->from), right = begin(h->with), to = begin(h->to);
  uint64_t n;
  while ((n = least(here(plan, c, &left), least(here(plan, c, &right), here(plan, c, &to)))) != 0) {
    if (!left.at || !right.at || !to.at) return NBC_ERROR_TEMPLATE;
    c->reduce(to.at, left.at, right.at, n / c->size, c->context);
    skip(&left, n), skip(&right, n), skip(&to, n);
  }
  return 0;
}

static int reduce(const nbc_plan *plan, const struct call *c, const struct nbc_host *h) {
  if (!c->reduce) return NBC_ERROR_TEMPLATE;  // of a collective that reduces nothing
  const struct row_of_blocks left = row(plan, c, h->from), right = row(plan, c, h->with);
  const struct row_of_blocks to = row(plan, c, h->to);
  if (!left.at || !right.at || !to.at || left.bytes != to.bytes || right.bytes != to.bytes)
    return reduce_pieces(plan, c, h);
  c->reduce(to.at, left.at, right.at, c->size == to.bytes ? 1 : to.bytes / c->size, c->context);
  return 0;
}

int host_run(nbc_plan *plan, const struct call *c) {
  const struct stage *stage = &c->variant->stages[c->stage];
  const struct nbc_host *h = plan->tables.hosts + stage->hosts_begin;
  bool calc = c->variant->flags & NBC_VARIANT_CALC;
  bool between = c->stage && !as_far(stage, stage - 1);
  for (uint32_t i = 0; i < stage->hosts_count; ++i, ++h) {
    bool reduces = h->op == NBC_HOST_REDUCE;
    int status = calc      ? (reduces ? reduce_slots(plan, c, h) : copy_slots(plan, c, h))
                 : reduces ? reduce(plan, c, h)
                           : copy(plan, c, h);
    if (status) return status;
    if (between || h->op == NBC_HOST_REDUCE) ++plan->info.host_steps;
  }
  return 0;
}
