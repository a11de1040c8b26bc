// SPDX-License-Identifier: BSD-3-Clause
// lengths.c - calls in which each block has a length and a place of its own.
//
//   counts 3, 0, 2   displacements 4, 0, 0   =>   blocks (4, 3), (0, 0), (0, 2)
//   pieces of the variant                     =>   offset and bytes of each
//
// nbc_start walks the caller's arrays once to check them; they are walked again when
// the call is admitted, if others were started in between: a plan has memory for the blocks
// of one call only. What is kept while a call is under way is where its pieces are, so
// that all the rest of the runtime looks a piece up and divides nothing. Linear in blocks and
// pieces; but for parts of blocks in a room, which are behind many others.
//
// Programs make the same calls again, with other buffers. So all that is found out counts from the
// buffers' beginnings, and has a number: what the call before was given is kept, and one that is
// given the same has its number, and finds all of it done.

#include <string.h>

#include "runtime/src/plan.h"

// One block; `offset` counts bytes from the buffer's beginning. Whether there is a buffer so far
// is seen of all of them together: place_extents().
static int set_block(struct block *b, uint32_t role, ptrdiff_t offset, uint64_t count,
                     uint64_t size) {
  uint64_t bytes;
  ptrdiff_t end;
  *b = (struct block){.role = role, .count = count, .size = size};
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > INT64_MAX) return NBC_ERROR_TOO_LONG;
  if (bytes == 0) return 0;
  b->offset = offset;
  return __builtin_add_overflow(offset, bytes, &end) ? NBC_ERROR_ARGUMENT : 0;
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
    int status = set_block(b, role, offset, count, size);
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

// Whether the arrays for it are looked at.
static bool reads_row(const nbc_plan *plan, uint32_t role, bool in_place) {
  const struct nbc_template *t = plan->tables.header;
  return is_row(t->kind, role) && plan->significant >> role & 1 &&
         !(in_place && role == in_place_role(t));
}

// `in` and `out`, of which one may be a single block. MPI wants the own block to be equally long
// in both; a plan's copies rely on it.
static int set_blocks(nbc_plan *plan, const struct call *c, bool in_place) {
  const struct nbc_template *t = plan->tables.header;
  uint32_t replaced = in_place ? in_place_role(t) : CALLER_ROLES;
  // Of reduce_scatter, whose result has no place in the row.
  if (in_place && t->kind != NBC_ALLTOALL && is_row(t->kind, replaced))
    return NBC_ERROR_UNSUPPORTED;
  int status = 0;
  for (uint32_t role = 0; role < CALLER_ROLES && !status; ++role)
    if (reads_row(plan, role, in_place)) status = set_row(plan, c, role);
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
    return set_block(&plan->blocks[NBC_ROLE_IN][0], NBC_ROLE_IN, 0, c->count, c->size);
  uint32_t one = is_row(t->kind, NBC_ROLE_IN) ? NBC_ROLE_OUT : NBC_ROLE_IN;
  bool row = plan->significant >> (NBC_ROLE_OUT - one) & 1;
  const struct block *own = own_block(plan);
  if (one == replaced) {
    plan->blocks[one][0] = *own;
    return 0;
  }
  // reduce_scatter says the result's length only in the row.
  uint64_t count = t->kind == NBC_REDUCE_SCATTER ? own->count : c->count;
  status = set_block(&plan->blocks[one][0], one, 0, count, c->size);
  if (status || !row) return status;
  return block_bytes(&plan->blocks[one][0]) == block_bytes(own) ? 0 : NBC_ERROR_ARGUMENT;
}

// The least and the greatest that the caller's blocks reach; of a role in place, those of the
// other.
static void find_extents(const nbc_plan *plan, struct extents *all) {
  *all = (struct extents){0};
  for (uint32_t role = 0; role < CALLER_ROLES; ++role) {
    ptrdiff_t begin = PTRDIFF_MAX, end = PTRDIFF_MIN;
    for (uint32_t i = 0; i < plan->block_count[role]; ++i) {
      const struct block *b = &plan->blocks[role][i];
      const uint64_t bytes = block_bytes(b);
      if (bytes > all->longest) all->longest = bytes;
      if (bytes == 0) continue;
      all->role[role] = b->role;
      if (b->offset < begin) begin = b->offset;
      if (b->offset + (ptrdiff_t)bytes > end) end = b->offset + (ptrdiff_t)bytes;
    }
    all->begin[role] = begin < end ? begin : 0;
    all->end[role] = begin < end ? end : 0;
  }
}

// Where they lie in this call. False: they do not fit in there.
static bool place_extents(struct call *c, const struct extents *all) {
  c->block = all->longest;
  for (uint32_t role = 0; role < CALLER_ROLES; ++role) {
    c->begin[role] = c->end[role] = 0;
    if (all->begin[role] == all->end[role]) continue;
    const uintptr_t base = (uintptr_t)c->base[all->role[role]];
    if (!base || __builtin_add_overflow(base, all->begin[role], &c->begin[role]) ||
        __builtin_add_overflow(base, all->end[role], &c->end[role]))
      return false;
  }
  return true;
}

int lengths_set(nbc_plan *plan, struct call *c, bool in_place) {
  plan->blocks_of = 0;
  int status = set_blocks(plan, c, in_place);
  if (status) return status;
  plan->blocks_of = c->lengths;
  find_extents(plan, &plan->extents);
  return place_extents(c, &plan->extents) ? 0 : NBC_ERROR_ARGUMENT;
}

// --- a call like the one before ---

struct arrays {
  const void *at[ARRAYS];
};

static inline struct arrays arrays_of(const struct nbc_call *call) {
  return (struct arrays){{call->in_counts, call->in_displacements, call->in_types, call->out_counts,
                          call->out_displacements, call->out_types}};
}

// Bits.
static inline uint32_t which_are_given(const struct arrays *a) {
  const void *const *at = a->at;
  return (at[0] != NULL) | (at[1] != NULL) << 1 | (at[2] != NULL) << 2 | (at[3] != NULL) << 3 |
         (at[4] != NULL) << 4 | (at[5] != NULL) << 5;
}

// Mostly of a few ranks, where a call of memcmp takes longer than the look.
static inline bool are_same(const void *a, const void *b, size_t bytes) {
  enum { FEW = 64 };
  const char *x = (const char *)a, *y = (const char *)b;
  uint64_t differ = 0, p = 0, q = 0;
  if (bytes > FEW) return !memcmp(a, b, bytes);
  for (; bytes >= sizeof p; bytes -= sizeof p, x += sizeof p, y += sizeof p) {
    memcpy(&p, x, sizeof p), memcpy(&q, y, sizeof q);
    differ |= p ^ q;
  }
  return !differ && (!bytes || !memcmp(x, y, bytes));
}

bool lengths_are_kept(nbc_plan *plan, const struct nbc_call *call) {
  struct kept_lengths *k = &plan->kept;
  if (call->arrays && call->arrays == k->arrays) return true;
  const struct arrays all = arrays_of(call);
  if (!k->number || which_are_given(&all) != k->given) return false;
  for (uint32_t left = k->read; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    if (!are_same(all.at[i], k->array[i], k->bytes[i])) return false;
  }
  k->arrays = call->arrays;  // which the call that was kept need not have had
  return true;
}

void lengths_keep(nbc_plan *plan, const struct nbc_call *call, bool in_place) {
  struct kept_lengths *k = &plan->kept;
  const struct arrays all = arrays_of(call);
  k->given = which_are_given(&all);
  k->read = 0;
  for (uint32_t i = 0; i < ARRAYS; ++i) {
    if (!all.at[i] || !reads_row(plan, i / OF_A_ROW, in_place)) continue;
    k->read |= 1u << i;
    memcpy(k->array[i], all.at[i], k->bytes[i]);
  }
  k->extents = plan->extents;
  k->arrays = call->arrays;
  k->number = plan->lengths;
}

int lengths_take(const nbc_plan *plan, struct call *c) {
  c->lengths = plan->kept.number;
  return place_extents(c, &plan->kept.extents) ? 0 : NBC_ERROR_ARGUMENT;
}

int lengths_make(nbc_plan *plan) {
  static const size_t each[OF_A_ROW] = {sizeof(size_t), sizeof(ptrdiff_t), sizeof(enum nbc_type)};
  struct arena *a = &plan->arena;
  bool all = true;
  for (uint32_t role = 0; role < CALLER_ROLES; ++role) {
    const uint32_t count = plan->block_count[role] = (uint32_t)plan->caller_blocks[0][role];
    plan->blocks[role] = (struct block *)arena_take(a, count * sizeof **plan->blocks);
    all &= plan->blocks[role] != NULL;
  }
  for (uint32_t i = 0; i < ARRAYS; ++i) {
    plan->kept.bytes[i] = plan->block_count[i / OF_A_ROW] * each[i % OF_A_ROW];
    plan->kept.array[i] = arena_take(a, plan->kept.bytes[i]);
    all &= plan->kept.array[i] != NULL;
  }
  const size_t pieces = (size_t)plan->tables.header->pieces.count * plan->depth;
  plan->found = (struct found *)arena_take(a, pieces * sizeof *plan->found);
  plan->found_of = (uint64_t *)arena_take(a, plan->depth * sizeof *plan->found_of);
  return all && plan->found && plan->found_of ? 0 : NBC_ERROR_MEMORY;
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
                             const struct found *found, uint64_t room) {
  if (p->before.count == 0) return 0;
  if (place->follows) {
    const struct found *last = &found[p->before.begin + p->before.count - 1];
    return last->fits ? last->offset - room + last->bytes : UINT64_MAX;
  }
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < p->before.count; ++i) bytes += found[p->before.begin + i].bytes;
  return bytes;
}

static void find_piece(const nbc_plan *plan, const struct call *c, uint32_t piece,
                       struct found *found) {
  const struct nbc_piece *p = &plan->tables.pieces[piece];
  const struct nbc_buffer *shape = &plan->tables.buffers[p->shape];
  const struct place *place = &plan->places[piece];
  const struct block *b = &plan->blocks[shape->role][place->block];
  uint64_t begin = 0, end = b->count;
  if (!place->all) {
    uint64_t at = p->first % p->parts;
    begin = before_part(b, at, p->parts);
    end = before_part(b, at + p->count, p->parts);
  }
  const uint64_t bytes = b->size * (end - begin);
  if (place->role < CALLER_ROLES) {
    const uint64_t offset = (uint64_t)b->offset + b->size * begin;
    found[piece] = (struct found){offset, bytes, b->role, true};
    return;
  }
  const uint64_t base = place->rooms * c->stride, before = bytes_before(p, place, found, base);
  // The compiler leaves enough room; a template could have been made otherwise.
  const uint64_t room = (plan->tables.buffers[p->buffer].blocks - p->room) * c->stride;
  const bool fits = before <= room && bytes <= room - before;
  found[piece] = (struct found){base + before, bytes, place->role, fits};
}

int lengths_find(nbc_plan *plan, struct call *c) {
  struct found *found = plan->found + (size_t)plan->instance * plan->tables.header->pieces.count;
  c->found = found;
  if (plan->found_of[plan->instance] == c->lengths) return 0;
  plan->found_of[plan->instance] = 0;
  if (plan->blocks_of != c->lengths) {
    int status = lengths_set(plan, c, c->variant->v->flags & NBC_VARIANT_IN_PLACE);
    if (status) return status;
  }
  const struct nbc_range pieces = c->variant->pieces;
  for (uint32_t i = pieces.begin; i < pieces.begin + pieces.count; ++i)
    find_piece(plan, c, i, found);
  plan->found_of[plan->instance] = c->lengths;
  return 0;
}
