// SPDX-License-Identifier: BSD-3-Clause
// lengths.c - calls in which each block has a length and a place of its own.
//
//   counts 3, 0, 2   displacements 4, 0, 0   =>   blocks (base + 4, 3), (base, 0), (base, 2)
//   pieces of the variant                     =>   address and bytes of each
//
// nbc_start walks the caller's arrays once to check them; they are walked again when
// the call is admitted, if others were started in between: a plan has memory for the blocks
// of one call only. What is kept while a call is under way is where its pieces are, so
// that all the rest of the runtime looks a piece up and divides nothing. Linear in blocks and
// pieces; but for parts of blocks in a room, which are behind many others.

#include "runtime/src/plan.h"

// One block; `offset` counts bytes from the buffer's beginning.
static int set_block(struct block *b, uint8_t *base, ptrdiff_t offset, uint64_t count,
                     uint64_t size) {
  uint64_t bytes;
  uintptr_t end;
  *b = (struct block){(uintptr_t)base, count, size};
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > INT64_MAX) return NBC_ERROR_TOO_LONG;
  if (bytes == 0) return 0;
  if (!base || __builtin_add_overflow((uintptr_t)base, offset, &b->address) ||
      __builtin_add_overflow(b->address, bytes, &end))
    return NBC_ERROR_ARGUMENT;
  return 0;
}

// A row of blocks, as MPI gives it: counts and displacements in elements, with types
// displacements in bytes. Without counts all blocks are as long as call->count, without
// displacements they lie one behind the other.
static int set_row(const nbc_plan *plan, const struct call *c, uint32_t role) {
  const struct row *row = &c->rows[role];
  ptrdiff_t offset = 0;
  for (uint32_t i = 0; i < plan->block_count[role]; ++i) {
    struct block *b = &plan->blocks[role][i];
    uint64_t count = row->counts ? row->counts[i] : c->count;
    uint64_t size = row->types ? nbc_type_size(row->types[i]) : c->size;
    if (size == 0) return NBC_ERROR_ARGUMENT;
    if (row->displacements && count &&
        __builtin_mul_overflow(row->displacements[i], (ptrdiff_t)(row->types ? 1 : size), &offset))
      return NBC_ERROR_ARGUMENT;
    int status = set_block(b, c->base[role], offset, count, size);
    if (status) return status;
    if (!row->displacements && __builtin_add_overflow(offset, (ptrdiff_t)(count * size), &offset))
      return NBC_ERROR_TOO_LONG;
  }
  return 0;
}

// The one block of this rank, in the row that all of them are in; null: in none.
static const struct block *own_block(const nbc_plan *plan) {
  const struct nbc_template *t = plan->tables.header;
  for (uint32_t role = 0; role < CALLER_ROLES; ++role)
    if (is_row(t->kind, role)) return &plan->blocks[role][t->rank];
  return NULL;
}

// `in` and `out`, of which one may be a single block. MPI wants the own block to be equally long
// in both; a plan's copies rely on it.
static int set_blocks(nbc_plan *plan, const struct call *c, bool in_place) {
  const struct nbc_template *t = plan->tables.header;
  uint32_t replaced = in_place ? in_place_role(t) : CALLER_ROLES;
  int status = 0;
  for (uint32_t role = 0; role < CALLER_ROLES && !status; ++role)
    if (is_row(t->kind, role) && plan->significant >> role & 1 && role != replaced)
      status = set_row(plan, c, role);
  if (status) return status;
  if (t->kind == NBC_ALLTOALL) {
    // In place contributions lie where the results will, and are as long.
    struct block *in = plan->blocks[NBC_ROLE_IN], *out = plan->blocks[NBC_ROLE_OUT];
    if (in_place)
      for (uint32_t i = 0; i < t->ranks; ++i) in[i] = out[i];
    return block_bytes(&in[t->rank]) == block_bytes(&out[t->rank]) ? 0 : NBC_ERROR_ARGUMENT;
  }
  // Who is whose neighbour is not in the template: whether a rank that is its own says one length
  // at both ends cannot be seen.
  if (t->kind == NBC_NEIGHBOR_ALLTOALL) return 0;
  if (t->kind == NBC_NEIGHBOR_ALLGATHER)
    return set_block(&plan->blocks[NBC_ROLE_IN][0], c->base[NBC_ROLE_IN], 0, c->count, c->size);
  uint32_t one = is_row(t->kind, NBC_ROLE_IN) ? NBC_ROLE_OUT : NBC_ROLE_IN;
  bool row = plan->significant >> (NBC_ROLE_OUT - one) & 1;
  const struct block *own = own_block(plan);
  if (one == replaced) {
    plan->blocks[one][0] = *own;
    return 0;
  }
  // reduce_scatter says the result's length only in the row.
  uint64_t count = t->kind == NBC_REDUCE_SCATTER ? own->count : c->count;
  status = set_block(&plan->blocks[one][0], c->base[one], 0, count, c->size);
  if (status || !row) return status;
  return block_bytes(&plan->blocks[one][0]) == block_bytes(own) ? 0 : NBC_ERROR_ARGUMENT;
}

int lengths_set(nbc_plan *plan, struct call *c, bool in_place) {
  plan->blocks_of = NULL;
  int status = set_blocks(plan, c, in_place);
  if (status) return status;
  plan->blocks_of = c;
  c->block = 0;
  for (uint32_t role = 0; role < CALLER_ROLES; ++role) {
    uintptr_t begin = UINTPTR_MAX, end = 0;
    for (uint32_t i = 0; i < plan->block_count[role]; ++i) {
      const struct block *b = &plan->blocks[role][i];
      uint64_t bytes = block_bytes(b);
      if (bytes > c->block) c->block = bytes;
      if (bytes == 0) continue;
      if (b->address < begin) begin = b->address;
      if (b->address + bytes > end) end = b->address + bytes;
    }
    c->begin[role] = begin < end ? begin : 0;
    c->end[role] = begin < end ? end : 0;
  }
  return 0;
}

// --- pieces ---

// Elements of a block before part `at` of so many.
static uint64_t before_part(const struct block *b, uint64_t at, uint32_t parts) {
  __extension__ typedef unsigned __int128 wide;
  return (uint64_t)((wide)b->count * at / parts);
}

// Bytes in a piece's room before it; UINT64_MAX: too many for it. Mostly it is behind one that is
// itself behind the others.
static uint64_t bytes_before(const struct nbc_piece *p, const struct place *place,
                             const struct found *found, const uint8_t *room) {
  if (p->before.count == 0) return 0;
  if (place->follows) {
    const struct found *last = &found[p->before.begin + p->before.count - 1];
    return last->address ? (uint64_t)(last->address - room) + last->bytes : UINT64_MAX;
  }
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < p->before.count; ++i) bytes += found[p->before.begin + i].bytes;
  return bytes;
}

int lengths_find(nbc_plan *plan, struct call *c) {
  if (plan->blocks_of != c) {
    int status = lengths_set(plan, c, c->variant->v->flags & NBC_VARIANT_IN_PLACE);
    if (status) return status;
  }
  struct found *found = plan->found + (size_t)plan->instance * plan->tables.header->pieces.count;
  c->found = found;
  for (uint32_t i = c->variant->pieces.begin;
       i < c->variant->pieces.begin + c->variant->pieces.count; ++i) {
    const struct nbc_piece *p = &plan->tables.pieces[i];
    const struct nbc_buffer *shape = &plan->tables.buffers[p->shape];
    const struct place *place = &plan->places[i];
    const struct block *b = &plan->blocks[shape->role][place->block];
    uint64_t begin = 0, end = b->count;
    if (!place->all) {
      uint64_t at = p->first % p->parts;
      begin = before_part(b, at, p->parts);
      end = before_part(b, at + p->count, p->parts);
    }
    uint64_t bytes = b->size * (end - begin);
    if (place->role < CALLER_ROLES) {
      found[i] = (struct found){(uint8_t *)(b->address + b->size * begin), bytes};
      continue;
    }
    uint8_t *base = c->base[place->role] + place->rooms * c->stride;
    uint64_t before = bytes_before(p, place, found, base);
    // The compiler leaves enough room; a template could have been made otherwise.
    uint64_t room = (plan->tables.buffers[p->buffer].blocks - p->room) * c->stride;
    bool fits = before <= room && bytes <= room - before;
    found[i] = (struct found){fits ? base + before : NULL, bytes};
  }
  return 0;
}
