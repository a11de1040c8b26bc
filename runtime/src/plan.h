// SPDX-License-Identifier: BSD-3-Clause
// plan.h - a plan and its calls, as the common part and the targets see them.

#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "nbc/p2p.h"
#include "nbc/shm.h"
#include "runtime/src/arena.h"
#include "runtime/src/comm.h"
#include "runtime/src/targets.h"
#include "runtime/src/warm.h"

// What of a template's stage every call looks at.
struct stage {
  uint32_t enabled, records, hosts_begin, hosts_count;
  uint64_t writes;  // blocks that the host writes, at most
};

// Whether stages up to one and up to the other have the same of the device.
static inline bool as_far(const struct stage *a, const struct stage *b) {
  return a->enabled == b->enabled && a->records == b->records;
}

// What nbc_start needs to know of a variant.
struct variant {
  uint64_t limit;    // bytes of a block, at most
  uint64_t scratch;  // blocks of room, of calls that may be long; else 0
  uint64_t longest;  // blocks in one data segment, or message, at most
  uint32_t flags, protocol;
  const struct stage *stages;
  uint32_t stage_count;
  bool begins;          // by target->begin: its first stage is no work of the host
  bool works;           // some stage has some
  uint64_t at_once;     // bytes of a block, at most, for target->at_once; 0: never
  uint32_t touched;     // bit (1 << role): the device touches the caller's buffer
  const void *target;   // the target's
  const void *records;  // messages.h
  uint32_t calc;
  struct nbc_range pieces;  // those that it names lie in this range, and what they are behind
  const struct nbc_variant *v;
};

// Where a piece lies, as far as it is known when the plan is made:
// base[role] + blocks of room * stride + blocks * their length.
struct place {
  uint32_t role;
  bool whole;       // blocks only, no parts: what follows is exact
  uint64_t count;   // blocks
  uint64_t rooms;   // STAGING, SLOTS
  uint64_t blocks;  // of the caller's before it, in its buffer or in its room
  // Lengths of their own: the block of its shape, and whether it is all of it.
  uint32_t block;
  bool all;
  bool follows;  // it is behind the last piece of its `before`, which is behind all the others
};

// For blocks with lengths of their own (lengths.c). A block of the caller's; and where a
// piece is in a call. Offsets count from the call's base[role], for any call of the same arrays.
struct block {
  ptrdiff_t offset;
  uint64_t count, size;  // elements, bytes of one
  uint32_t role;         // in place, another's than it is asked for by
};
struct found {
  uint64_t offset, bytes;
  uint32_t role;
  bool fits;  // into its room
};
// The arrays of a call, see nbc_call.
struct row {
  const size_t *counts;
  const ptrdiff_t *displacements;
  const enum nbc_type *types;
};
enum { OF_A_ROW = 3, ARRAYS = OF_A_ROW * (NBC_ROLE_OUT + 1) };
// What the caller's blocks lie in, by role, from base[role[...]] on.
struct extents {
  uint64_t longest;  // bytes of a block
  ptrdiff_t begin[CALLER_ROLES], end[CALLER_ROLES];
  uint32_t role[CALLER_ROLES];
};
// Arrays of the call before, which belong to `usual`, in the order in which rows have them.
struct kept_lengths {
  uint64_t number;  // 0: there are none
  uint64_t arrays;  // the caller's number of them; 0: it has none
  uint32_t given;   // bit (1 << array): not null;
  uint32_t read;    // and looked at: else it may be any
  void *array[ARRAYS];
  size_t bytes[ARRAYS];
  struct extents extents;
};

// What followed from the arguments of the call before: mostly the next one has the same, or another
// count for which the same follows.
struct usual {
  const struct variant *variant;  // null: there was none
  uint64_t least, most;           // counts
  uint64_t element_bytes;         // as given, like `user`
  nbc_reduce_function *user, *reduce;
  uint64_t size;  // the call's
  uint8_t type, op, calc;
  bool in_place;
};

enum { LITTLE = 512 };

struct nbc_plan {
  // What nbc_start looks at, in few lines (warm.h).
  struct warm warm;
  const struct target *target;
  void *state;                // the target's
  struct messages *messages;  // null: it has no records
  struct progress *progress;  // the communicator's
  struct turns *turns;        // likewise; null: it takes none
  // Calls in the order in which they were started. [oldest, waiting) are admitted.
  struct call *oldest, *newest, *waiting;
  struct call *ringer;  // the first admitted whose last stage is not enabled
  uint32_t depth, sets;
  uint32_t under_way;    // admitted
  uint32_t left;         // calls that have not ended and are the thread's to move on (progress.h)
  uint32_t instance;     // of the next call admitted
  uint32_t set;          // of the next eager call
  uint32_t window;       // eager calls since the last window was opened
  uint32_t significant;  // bit (1 << role)
  uint32_t replaced;     // the role whose buffer NBC_IN_PLACE stands for
  uint32_t idle;         // looks since something moved
  uint32_t looks;        // at messages of the oldest call, which owes work that they do not need
  bool away;             // others may have had the processor since the device aside was asked
  int status;            // not 0: of no more use
  bool connected;
  bool starting;     // in nbc_start, of a target that lets the host's work wait
  bool postponing;   // in nbc_start, of one that lets some of it wait
  bool own_lengths;  // blocks have lengths of their own
  bool reduces;      // calls need an operator
  bool direct;       // it is for the call `bound`, one at a time
  bool may_at_once;  // some variant
  enum nbc_layouts layouts;
  struct usual usual;
  uint64_t stride[NBC_PROTOCOLS];    // by protocol
  uint8_t *memory;                   // slots, then staging
  uint64_t *fetched;                 // bytes of scratch whose pages there are, by instance
  const struct nbc_variant *credit;  // null: none
  struct variant *variants;
  struct nbc_plan_info info;

  struct arena arena;  // what the plan itself is in, and what calls look at
  nbc_comm *comm;
  const struct attachment *on;  // the target's device; null: none is needed
  struct nbc_p2p *aside;        // not that one, and wants to be called; null: there is none
  struct tables tables;         // of a copy that the plan owns, with the code writable
  uint8_t *code;
  struct stage *stages;
  struct place *places;

  uint32_t number;  // of the plan on its communicator
  const char *why;  // while it is made: what was lacking, if that is known; else null
  uint16_t first_sq_index;
  uint32_t first_cq_index;
  uint64_t eager_bytes, max_bytes, slot_memory;
  enum nbc_transfer transfer;
  bool persistent;
  uint64_t caller_blocks[2][CALLER_ROLES];  // [in place]

  struct nbc_call bound;  // direct
  uint64_t bound_block;   // bytes of its blocks

  // Lengths of their own: blocks of one call, and pieces of all that are under way. Whose these are
  // says the number of a call's lengths; 0: nobody's.
  struct block *blocks[CALLER_ROLES];
  uint32_t block_count[CALLER_ROLES];
  struct extents extents;                  // of the blocks
  struct found *found;                     // [instance][piece]
  uint64_t lengths, blocks_of, *found_of;  // the latest number; and by instance
  struct kept_lengths kept;

  bool memory_in_use;       // the device could not be made to leave it alone: it is never freed
  struct scratch *scratch;  // whose memory that is; null: it is the plan's
  size_t memory_bytes, queue_bytes, slot_set, staging_instance;
  uint8_t *staging;
  uint8_t *little;  // LITTLE bytes for each instance, of short calls: null: they have staging

  // progress.h: where the communicator has a thread.
  pthread_mutex_t own_lock, *lock;
  bool armed;  // it is told of all that happens; else of a call that is started
  nbc_plan *next_of_thread;
};

enum call_state { CALL_DONE, CALL_WAITING, CALL_ADMITTED };

// What an nbc_request holds.
struct __attribute__((may_alias)) call {
  nbc_plan *plan;  // null: free
  struct call *next;
  const struct variant *variant;
  uint8_t *base[ROLES];
  // Elements of a block, bytes of an element, of a block; of own lengths: of the longest.
  uint64_t count, size, block;
  uint64_t stride;
  nbc_reduce_function *reduce;
  void *context;
  struct row rows[NBC_ROLE_OUT + 1];
  const struct nbc_layout *laid[NBC_ROLE_OUT + 1];   // base is NBC_SHM_LAID_OUT; null: is memory
  uintptr_t begin[CALLER_ROLES], end[CALLER_ROLES];  // what the caller's blocks lie in
  const struct found *found;                         // by piece; null: blocks are equally long
  uint64_t lengths;                                  // the number of its own, that `found` has
  int registration[CALLER_ROLES];                    // the target's; -1: none
  uint32_t stage;
  int status;
  uint32_t set;
  uint32_t target[5];  // the target's; its records'
  uint8_t state, type, op, calc;
  bool opens_window;  // the first eager call of one
  bool enabled;       // the current stage
  bool pending;       // and it is not over
  bool empty;         // some piece may have no bytes
  bool acquired;      // and not released
  bool owes;          // the host's work of its stage
  bool left;          // nobody stays with it
};
_Static_assert(sizeof(struct call) <= sizeof(nbc_request), "a request holds a call");

static inline uint64_t position(const struct call *c, uint64_t at, uint32_t parts) {
  __extension__ typedef unsigned __int128 wide;
  return parts == 1 ? c->count * at : (uint64_t)((wide)c->count * at / parts);
}

// Bytes of a piece in this call.
static inline uint64_t piece_bytes(const nbc_plan *plan, const struct call *c, uint32_t piece) {
  if (c->found) return c->found[piece].bytes;
  const struct nbc_piece *p = &plan->tables.pieces[piece];
  return c->size * (position(c, p->first + p->count, p->parts) - position(c, p->first, p->parts));
}
// Within a layout, of what stands for it as an address.
static inline uint64_t offset_of(const uint8_t *at) {
  return (uintptr_t)at - (uintptr_t)NBC_SHM_LAID_OUT;
}
// Null: it is memory.
static inline const struct nbc_layout *layout_of(const struct call *c, uint32_t role) {
  return role <= NBC_ROLE_OUT ? c->laid[role] : NULL;
}
static inline bool has_layouts(const struct call *c) {
  return c->laid[NBC_ROLE_IN] || c->laid[NBC_ROLE_OUT];
}
static inline const struct nbc_layout *layout_of_piece(const nbc_plan *plan, const struct call *c,
                                                       uint32_t piece) {
  return layout_of(c, c->found ? c->found[piece].role : plan->places[piece].role);
}
// lengths.c
static inline uint64_t block_bytes(const struct block *b) {
  return b->count * b->size;
}
// 0, or NBC_ERROR_MEMORY.
int lengths_make(nbc_plan *);
// Looks at a call's counts and displacements: sets block, begin and end. Or a negative status.
int lengths_set(nbc_plan *, struct call *, bool in_place);
// Whether these are those of the call that was kept, and all that follows from them. For that call:
// after lengths_set() and the choice of a variant. And the same as lengths_set() for one that has
// them.
bool lengths_are_kept(nbc_plan *, const struct nbc_call *);
void lengths_keep(nbc_plan *, const struct nbc_call *, bool in_place);
int lengths_take(const nbc_plan *, struct call *);
// Sets `found`: of the instance that the call is about to get.
int lengths_find(nbc_plan *, struct call *);

// call.c

// Of the call that a direct plan is for: what nbc_start would find, but that nothing is admitted.
int plan_describe_bound(nbc_plan *, struct call *);
// What nbc_test does for the plan's calls. Returns whether something was moved on.
bool plan_move(nbc_plan *);
// Whether its calls can end at all; asked seldom. If they cannot, they have ended.
void plan_look_after(nbc_plan *);

// plan.c

// The same on all ranks of a plan: for targets to compare.
uint64_t plan_identity(const nbc_plan *);
// Memory of the caller's buffer that the device touches in this call; 0 bytes: none.
uint64_t touched_bytes(const nbc_plan *, const struct call *, uint32_t role, const void **begin);

// Null: it does not fit.
static inline uint8_t *found_at(const struct call *c, const struct found *f) {
  return f->fits ? (uint8_t *)((uintptr_t)c->base[f->role] + f->offset) : NULL;
}

// Of one that is `whole`.
static inline uint8_t *place_at(const struct call *c, const struct place *p) {
  return c->base[p->role] + p->rooms * c->stride + p->blocks * c->block;
}

// What a relocation says of its pieces, if they are blocks without parts: they lie at
// base[role] + rooms * the call's stride + blocks * the length of one, and are `count` blocks long.
struct place_patch {
  uint32_t at, role;
  uint64_t rooms, blocks, count;
};
static inline uint64_t place_address(const struct call *c, const struct place_patch *p) {
  return (uint64_t)(uintptr_t)c->base[p->role] + p->rooms * c->stride + p->blocks * c->block;
}
// Slots of a vector: `count` from `first` on.
struct slot_patch {
  struct place_patch vector;
  uint32_t first, count;
};
enum { SLOT_BYTES = 16 };
// False: they must be looked up at each call.
bool place_of(const nbc_plan *, const struct nbc_reloc *, struct place_patch *);

// host.c

// The same for any pieces: of this call. NBC_ERROR_TEMPLATE: one does not fit into its room.
int run_address(const nbc_plan *, const struct call *, const struct nbc_reloc *, uint64_t *address,
                uint64_t *bytes);
// A piece's address; null if it does not fit into its room (a damaged template).
uint8_t *piece_address(const nbc_plan *, const struct call *, uint32_t piece);
// Does the host operations of call->stage. Returns 0 or a negative status.
int host_run(nbc_plan *, const struct call *);
