// SPDX-License-Identifier: BSD-3-Clause
// shm.h - shared memory between ranks of one node: what lies in it, and what each rank keeps.
//
//   open.c    who is on this node, who may read whose memory, who has a core
//   object.c  one file of shared memory: made, found, and gone again
//   pool.c    the memory of this process' plans in a few of them, and those of its peers
//   lanes.c   the lanes of a plan: how large, made, connected, closed
//   move.c    messages through them
//   pull.c    long ones: straight from the sender's memory
//   ways.c    which of the two is quicker
//   rest.c    waiting, and who has died meanwhile
//   process.c which processes are peers, and whether they have died
//   numa.c    memory near the rank that reads it
//
// A plan has one piece of memory on each rank: its inboxes, one for each peer. Those that take
// turns have one together, and one more for each plan that came with peers of its own. The pieces
// of all plans of a process lie in one object, or few, which each of its peers maps once.
//
//   object   roll | piece | piece | ...
//   piece    inbox | inbox | ...
//   inbox    note | window's count | cell 0 | cell 1 | ... | ring | window
//
// Message k of a lane takes cell k mod cells, whatever its length; what does not fit into a cell
// has a slot, too: so many bytes of the ring, behind those of the message before. The sender fills
// them and then the cell's flag, with k + 1; the receiver, once all bytes are where they belong,
// has taken it. How many it has taken it says in the note, at once of a long message and else twice
// a round of the cells, or of the ring. Both ends know where a slot begins from the lengths. Who
// writes what is in lines of its own, so a short message costs one line from one core's cache to
// the other's, and one back when the ring has come round.

#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "nbc/shm.h"
#include "runtime/shm/ways.h"

enum { LINE = 64, INLINE = LINE - 16, MOST_CELLS = 64, MOST_RUNS = 64, NAME = 56, PAGE = 4096 };
enum { ROLL = PAGE / 8 - 8 };
enum { WORTH_IT = 8192 };  // bytes of a window: in smaller parts copying twice takes longer

// --- shared ---

// Who has the object in its memory. Its maker says how many have to; who makes up the number takes
// the name away. One word has both, so who is added is there in time or finds it gone.
struct roll {
  _Alignas(LINE) _Atomic uint64_t awaited;  // one, and processes; 0: there is no name any more
  _Atomic uint64_t processes[ROLL];         // their tokens; 0: free
};

_Static_assert(sizeof(struct roll) <= PAGE, "pieces begin behind it");

// Each part of a piece begins with it. In memory that is used anew the ticket is another; and it is
// used anew when no peer has it.
struct guard {
  _Atomic uint64_t users;  // peers, whether there ever was one (EVER), and in the upper half the
                           // ticket, until the maker has closed it
  uint64_t bytes;          // of the part
};

// Which way long messages go between two ranks at a time.
enum direction { ONE_WAY, BOTH_WAYS, DIRECTIONS };

// What the receiver writes.
struct note {
  _Alignas(LINE) struct guard guard;
  atomic_uint taken;              // messages
  atomic_uint asked;              // k + 1: of message k it wants the bytes through the window
  atomic_uint reading;            // k + 1: it is about to read message k from the sender's memory
  atomic_uint never;              // it cannot read the sender's memory
  atomic_uint reads[DIRECTIONS];  // which long messages are to be read: ways_bit()s of lengths
  atomic_uint closed;             // it takes no more
  _Atomic uint64_t drawn;         // bytes from the window, ever
};

// What the sender writes.
struct supply {
  _Alignas(LINE) _Atomic uint64_t filled;  // bytes into the window, ever
  atomic_uint closed;                      // it sends no more
};

enum kind {
  KIND_CELL,    // in the cell
  KIND_SLOT,    // in the slot; it may have been KIND_MEMORY before
  KIND_MEMORY,  // in the sender's memory: `from`, or the runs that are in the slot
  KIND_READ,    // there, and the receiver is to read it: it was KIND_MEMORY, as either end found
  KIND_WINDOW,  // through the window; it may have been KIND_MEMORY, as the sender found
  KIND_GONE     // it was, but the sender has given up
};
struct cell {
  _Alignas(LINE) atomic_uint flag;
  _Atomic uint16_t kind;
  uint16_t runs;
  uint64_t bytes;
  union {
    unsigned char data[INLINE];
    struct iovec from;
  };
};
_Static_assert(sizeof(struct cell) == LINE && sizeof(struct note) == LINE, "lines");

// --- private ---

struct sizes {
  uint32_t cells, ring, slot, window;  // powers of two, but for the longest slot
};

// The parts of an inbox, in this rank's address space.
struct inbox {
  struct note *note;
  struct supply *supply;
  struct cell *cells;
  unsigned char *ring, *window;
  struct sizes sizes;
};

static inline struct cell *cell_of(const struct inbox *in, uint32_t number) {
  return &in->cells[number & (in->sizes.cells - 1)];
}

struct queue {
  struct nbc_shm_message *first, *last;
};

struct peer;
struct lot;
struct round {
  int64_t begin;    // ns
  uint32_t length;  // ways_bit() of its message's
};
struct lane {
  // What posting a message looks at, in three lines; and one of `ends`.
  struct inbox out;      // sending: the peer's memory
  struct queue posted;   // long ones that have their cell
  struct queue owed;     // likewise those that fit into their slot, and are to be copied there
  struct queue waiting;  // for a cell
  struct queue receives;
  uint32_t sent, seen;             // cells used, and known to be taken
  uint32_t end, free;              // of the ring: where what was posted ends, and what is taken
  uint32_t out_pages, in_pages;    // of the rings: what has its pages; UINT32_MAX: all
  bool never;                      // the peer said that it cannot read our memory
  bool asked;                      // for the message that is next
  bool in_vain;                    // likewise: its sender did not copy it for as long as was waited
  enum direction goes, comes;      // the long message that was posted last, either way
  uint32_t reads[DIRECTIONS];      // of long messages, those that the peer wants to be read
  uint32_t taken, told;            // cells, and as the note has it
  uint32_t ring_taken, ring_told;  // bytes of the ring, likewise
  uint32_t ends[MOST_CELLS];       // by cell that was sent: where its slot does
  struct inbox in;                 // receiving: our memory
  uint64_t drawn, filled;
  int64_t since;       // ns; when the next message, a long one, was seen; 0: not yet
  struct round round;  // since the last message of those that go both ways
  const struct peer *peer;
  uint32_t rank;
  struct mapped *mapped;  // the peer's object; null: it is not connected, or was given up
  bool pulls;             // we may read the peer's memory
  bool connected;         // once
  uint64_t offset;        // where its inbox lies there,
  uint32_t ticket;        // and whose it is
  struct lot *lot;        // of our inbox
};

struct object {
  unsigned char *memory;
  size_t bytes;
  int file;         // locked; -1: none
  char name[NAME];  // which may have been taken away
};

// Memory of a plan's.
struct piece {
  struct own *of;  // which of this process' objects
  struct range *range;
  unsigned char *memory;
  size_t bytes;
  uint32_t ticket;
};

// Of lanes that were made at once.
struct lot {
  struct lot *next;
  struct piece piece;
};

struct nbc_shm_lanes {
  struct shm *shm;
  struct lot *lots;
  struct sizes sizes;
  uint32_t count, room;
  uint32_t owed;      // messages that are to be copied
  uint32_t longs;     // lanes with posted messages, which are longer
  struct lane *only;  // the first of those
  uint32_t idle;      // rests since something moved
  uint32_t glances;
  uint32_t looks;  // without a way for a long message, since the last one was sent
  int64_t looked;  // when, for those who have died
  struct lane lanes[];
};

struct peer {
  bool near;
  bool same;   // a thread of this process
  bool pulls;  // its memory can be read
  int64_t pid;
  uint64_t token;
  struct process *process;  // null: nobody knows whether it is alive
};

// One for all devices that have it for a peer.
struct process {
  struct process *next;
  uint64_t token;
  int file;            // -1: none
  bool gone;           // when it was to be watched
  atomic_bool pulled;  // its memory could be read
  struct ways ways[DIRECTIONS];
  unsigned users;
};

struct shm {
  struct nbc_shm base;
  int rank, ranks;
  uint32_t near;   // of these, this one among them
  bool own_cores;  // each rank of the node has one
  bool met;
  void *topology;  // numa.c's
  struct peer peers[];
};

static inline struct shm *shm_of(const struct nbc_shm *base) {
  return (struct shm *)base;
}

// Threads of one process have a lane at two addresses, so tsan cannot see that what one has
// released the other acquires: here they say so.
#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define NBC_SHM_TOLD 1
extern char lanes_order;
void __tsan_acquire(void *);
void __tsan_release(void *);
#endif
#endif
static inline void told_release(void) {
#ifdef NBC_SHM_TOLD
  __tsan_release(&lanes_order);
#endif
}
static inline void told_acquire(void) {
#ifdef NBC_SHM_TOLD
  __tsan_acquire(&lanes_order);
#endif
}

// object.c

// Of so many bytes, none of them reserved. 0, or an error number.
int object_make(struct object *, size_t bytes);
// Bytes of it, in whole pages; they are zero. 0, or an error number.
int object_reserve(const struct object *, size_t offset, size_t bytes, void *topology);
void object_release(const struct object *, size_t offset, size_t bytes);
int object_find(const char name[NAME], size_t bytes, void **memory);
void object_unname(const char name[NAME]);
void object_close(struct object *);  // not its name
void objects_clean(void);
void objects_clean_seldom(void);  // once a second at most

// pool.c. Thread safe. The pool is there while there are devices, or pieces.
struct offer {
  char name[NAME];  // empty: none
  uint64_t bytes;
};
void pool_enter(struct offer *);                        // a device; then there is
const uint64_t *pool_token(void);                       // this process' token
void pool_visit(uint64_t token, const struct offer *);  // a peer's; best effort
void pool_met(void);                                    // the device has all its peers
void pool_leave(void);
void pool_await(size_t processes);  // as many as are peers now
void pool_forget(uint64_t token);   // one that is no more
// Inboxes for those ranks, one behind the other, of so many bytes each. The first ones of each are
// zero but for the guard. *why: as of make() in nbc/shm.h.
int pool_take(const struct shm *, const uint32_t *ranks, uint32_t count, size_t bytes, size_t first,
              struct piece *, const char **why);
// `awaited`: peers that have not come yet will.
void pool_give_back(struct piece *, bool awaited);
bool pool_has(const struct piece *, const struct peer *);  // it has the object in its memory
void pool_describe(const struct piece *, struct nbc_shm_address *);  // but for the inbox
// `first`: bytes of the inbox that are about to be used.
int pool_map(uint64_t token, const struct nbc_shm_address *, size_t first, struct mapped **,
             unsigned char **inbox);
void pool_unmap(struct mapped *, void *inbox);

// lanes.c
size_t inbox_bytes(const struct sizes *);
void ring_fetch(const struct inbox *, uint32_t *pages, uint32_t end);
extern const struct nbc_shm_ops shm_ops;

// move.c
int lane_send(struct nbc_shm_lanes *, uint32_t lane, struct nbc_shm_message *);
int lane_receive(struct nbc_shm_lanes *, uint32_t lane, struct nbc_shm_message *);
int lane_send_now(struct nbc_shm_lanes *, uint32_t lane, const void *, uint64_t bytes);
int lane_receive_now(struct nbc_shm_lanes *, uint32_t lane, void *, uint64_t bytes);
int lane_move(struct nbc_shm_lanes *, uint32_t lane);
// Whether the next message to receive is there, or its beginning.
static inline bool lane_filled(const struct lane *l) {
  return atomic_load_explicit(&cell_of(&l->in, l->taken)->flag, memory_order_acquire) ==
         l->taken + 1;
}
// What the peer wants to be read.
static inline void lane_heed(struct lane *l) {
  for (int d = 0; d < DIRECTIONS; ++d)
    l->reads[d] = atomic_load_explicit(&l->out.note->reads[d], memory_order_relaxed);
}
static inline bool lane_busy(const struct lane *l) {
  return l->receives.first || l->posted.first || l->owed.first || l->waiting.first;
}

// Between `bytes` of a message, from `offset` on, and flat memory.
void gather_runs(const struct nbc_shm_message *, uint64_t offset, void *to, uint64_t bytes);
void scatter_runs(const struct nbc_shm_message *, uint64_t offset, const void *from,
                  uint64_t bytes);

// pull.c

// 1: all bytes are there. PART_OF_IT: they are not yet. 0: the system does not allow it. Or a
// negative status.
enum { PART_OF_IT = 2 };
int pull_message(struct lane *, const struct cell *, const void *slot, struct nbc_shm_message *);

// rest.c

// Looks after which, or after a rest, it counts as waiting: who only tests comes by less often.
enum { WAITS = 8 };
int lanes_rest(struct nbc_shm_lanes *);
int lanes_lost(struct nbc_shm_lanes *);

// process.c
struct process *process_watch(uint64_t token, int64_t pid);  // pid 0: it means nothing here
void process_leave(struct process *);
bool process_died(const struct process *);  // null: not that we know

// numa.c
void *numa_open(void);  // null: there is nothing to choose
void numa_near(void *topology, void *memory, size_t bytes);
void numa_close(void *topology);
