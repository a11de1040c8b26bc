// SPDX-License-Identifier: BSD-3-Clause
// coredirect.h - CORE-Direct, in the runtime: queues, counters, patches.
//
// codegen/coredirect/coredirect.h says what stands in the queues and why.
// coredirect_check.c looks at the bytes of a template, coredirect_needs.c counts how long queues
// must be, coredirect_create.c makes them and turns relocations into patches, coredirect_calc.c
// agrees on what adapters reduce, coredirect_direct.c tells where messages are to go,
// coredirect_words.c keeps the words that adapters wait for where they do not count completions,
// coredirect_comm.c is what plans share, coredirect.c carries calls out. What stays within the node
// are records, which messages.c carries out over the lanes of near.c.
//
// A call patches the plan's own copy of the code, then copies segments into rings.
// Patches are relocations sorted by rule, with all that is known when the plan
// is made put in: each is a sum and a store. Counters run on from call to call, in
// 64 bits; a ring or an adapter sees their low bits.

#pragma once

#include "nbc/hca.h"
#include "nbc/mlx5_wqe.h"
#include "runtime/src/messages.h"
#include "runtime/src/near.h"
#include "runtime/src/patience.h"
#include "runtime/src/plan.h"
#include "runtime/src/registrations.h"

// An adapter, for all plans of a communicator.
struct endpoint {
  struct nbc_hca *hca;
  struct nbc_hca_facts facts;
  uint8_t address[32];
  struct registrations memory;
};

// Null: no adapter, of a template without queues and peers.
static inline struct endpoint *endpoint_of(const nbc_plan *plan) {
  return plan->on ? (struct endpoint *)plan->on->shared : NULL;
}

// Of a queue: counters[4 * queue + which].
enum counter {
  POSTED,  // WQEBBs in its send queue so far
  SENT,    // completions in its CQ for sends, once all calls so far are done: POSTED comes before
           // calls do, these two likewise
  RECEIVED,
  CREDIT,  // index of the credit of the latest window, in RECEIVED's CQ
  COUNTERS
};

struct counter_patch {
  uint32_t at, counter, addend;
};

struct ring_copy {
  uint32_t queue, at, bytes, entries;
};

// What a variant adds to the counters of a queue.
struct use {
  uint32_t queue, posted, sent, received;
};

// A relocation that names a word (rules NBC_RELOC_WORD_).
struct word_patch {
  uint32_t at, rule, queue, word;
};

struct patches {
  struct counter_patch *indices, *enables, *waits, *credits;
  struct place_patch *sges, *raddrs;
  struct slot_patch *slots;
  struct word_patch *words;
  uint32_t *slow;   // relocations of pieces that need the long way
  uint32_t *modes;  // where the operation of a calc stands
  struct ring_copy *sends, *receives;
  struct use *uses;
  uint32_t index_count, enable_count, wait_count, credit_count, sge_count, slot_count, raddr_count,
      slow_count, mode_count, word_count, send_count, receive_count, use_count;
  uint32_t managed;  // WQEBBs in the management queue
  void *arena;
};

// A receive posted ahead: where its address stands, and how far behind the set's beginning it is.
struct room_patch {
  uint32_t at;
  uint64_t offset;
};

struct queue {
  uint8_t *sq, *rq;
  volatile uint32_t *doorbell;
  uint32_t sq_mask, rq_mask;  // bytes of the rings less one
  uint32_t stride, room;      // bytes from a receive to the next; of it for data segments
  uint32_t received;          // receives posted so far
  uint32_t number;
  bool made;
  bool plain;                       // its receives have no bytes: the ring holds them for ever
  bool own_cq[2];                   // by side; else it is that of the management queue
  uint32_t cq[2];                   // numbers
  const volatile uint8_t *last[2];  // the last byte of the one entry
  // Chained by words: its row, and that of the peer.
  size_t first_word;
  uint32_t words;
  uint32_t named;       // of the peer's
  uint64_t told;        // address of the peer's, for the first call
  uint64_t told_apart;  // from call to call
  uint32_t told_rkey;
};

struct coredirect {
  struct nbc_hca *hca;  // null: as endpoint_of
  struct queue *queues;
  uint64_t *counters;
  struct patches *variants;  // by index
  struct patches *credit;    // null: none
  struct room_patch *rooms;
  uint32_t room_count, mq;  // mq: index; UINT32_MAX: none
  struct nbc_hca_cq done;   // of the management queue
  bool done_made;
  uint32_t polled;           // entries seen in it
  uint32_t glance;           // the queue to be looked at next
  uint64_t rung;             // WQEBBs of the management queue
  struct patience patience;  // for what is in front of them: messages within the node
  struct call *ringing;  // the first whose doorbells are not all rung; null: all that is enabled
  // Of the plan's own memory, and of the caller's: what others may do to it, and where it
  // was registered last.
  uint32_t lkey, rkey;
  bool memory_known;
  uint32_t access[CALLER_ROLES];
  int hint[CALLER_ROLES];
  struct call *bound;  // of a direct plan: it keeps memory known; null: none
  // Chained by words: the rows of all queues, `depth` times; and calls admitted so far.
  uint64_t *words;
  size_t word_count;  // of one time
  uint32_t words_lkey, words_rkey;
  bool words_known;
  uint64_t calls;
};

// What call.target holds behind what is of records: where the call begins in the management queue,
// and how much of it may be rung.
enum { FIRST = OF_RECORDS, MANAGED };

// Peers of the template that are on this node; they come first.
static inline uint32_t near_peers(const nbc_plan *plan) {
  const struct nbc_table *peers = &plan->tables.header->peers;
  uint32_t n = 0;
  while (n < peers->count && plan->tables.peers[n] & NBC_PEER_NEAR) ++n;
  return n;
}

// What a piece of memory is called by: of each role, for this rank and for its peers.
struct keys {
  uint32_t l[ROLES], r[ROLES];
};
struct keys coredirect_keys(const nbc_plan *, const struct call *);
int coredirect_prepare(nbc_plan *, struct call *);

// coredirect_comm.c
int coredirect_attach(struct nbc_device *, void **shared);
void coredirect_detach(void *shared);
int coredirect_make_known(void *shared, void *begin, size_t bytes);
int coredirect_forget(void *shared, const void *begin, size_t bytes);
int coredirect_acquire(nbc_plan *, struct call *);
void coredirect_release(nbc_plan *, struct call *);

// What calls need of a queue.
struct need {
  uint32_t posted, received;  // by the variant that has most: WQEBBs, receives
  uint32_t credit_posted, credit_received;
  uint32_t stride;                 // bytes of a receive; 0: none has bytes
  bool completes[2];               // by side: something is counted in the CQ, or named
  uint64_t sends, receives, room;  // of all calls under way: WQEBBs; receives posted ahead of
                                   // calls, or with them; those there must be room for
};
// coredirect_needs.c. Of variants for vectors of at most `scalars` elements. `needs` has an entry
// of zeros for each queue; *polled: entries of the CQ that the host looks at.
int coredirect_needs(const struct tables *, uint32_t depth, uint32_t scalars, struct need *needs,
                     uint64_t *polled);
// Whether an adapter has all that, or NBC_ERROR_RESOURCES.
int coredirect_fits(const struct tables *, uint32_t depth, const struct need *, uint64_t polled,
                    const struct nbc_hca_facts *, const char **why);

// coredirect_calc.c: before and after the ranks have met.
int coredirect_publish_calc(nbc_plan *);
int coredirect_agree_on_calc(nbc_plan *);

// coredirect_direct.c: of direct plans, else nothing. `messages` counts those of a queue that go to
// its peer, or come from there.
int coredirect_bind_call(nbc_plan *);
void coredirect_unbind_call(nbc_plan *);
uint32_t coredirect_messages(const nbc_plan *, uint32_t queue, enum nbc_ring);
int coredirect_tell_places(nbc_plan *, uint32_t queue);
int coredirect_hear_places(nbc_plan *, uint32_t queue, uint32_t told);

// coredirect_words.c: of templates chained by words, else nothing.
static inline bool is_chained_by_words(const struct tables *s) {
  return s->header->chaining == NBC_CHAINED_BY_WORDS;
}
// Where a row is that a peer writes, as it is told.
struct row_told {
  uint64_t at, apart;  // bytes from call to call
  uint32_t rkey, words;
  uint32_t times;  // calls that have rows of their own
  uint32_t named;  // words of the peer's row that this rank names
};
int coredirect_make_words(nbc_plan *);
void coredirect_free_words(nbc_plan *);
struct row_told coredirect_tell_row(const nbc_plan *, uint32_t queue);
int coredirect_hear_row(nbc_plan *, uint32_t queue, const struct row_told *);
// The next call's: its number, and where its words are, into the code.
void coredirect_count_call(nbc_plan *, const struct patches *);
void coredirect_ring_chains(nbc_plan *, const struct patches *);

int coredirect_check(const struct tables *, const char **why);
int coredirect_create(nbc_plan *);
int coredirect_connect(nbc_plan *);
void coredirect_destroy(nbc_plan *);
// Posts the receives of one set of slots. Used by create and complete.
void coredirect_post_set(nbc_plan *, uint32_t set);
void coredirect_post_receives(nbc_plan *, const struct ring_copy *);
