// SPDX-License-Identifier: BSD-3-Clause
// sci.h - target sci, in the runtime: lanes over memory that peers export.
//
// sci.c is the target, sci_create.c makes segments and lanes, sci_connect.c connects them and takes
// them down, sci_lane.c is the protocol, sci_move.c moves slots, sci_sleep.c waits for interrupts.
// messages.c carries calls out.
//
// A lane has a ring of slots each way (nbc/sci_segment.h), as many as both ends have room for. A
// message is cut into as many as it needs, in order; one of no bytes takes one. So the k-th send
// meets the k-th receive, and nothing is matched. A slot of a lane, counted on and on, goes
//
//   made      it is known what it holds; what goes by DMA is copied into staging
//   moved     its bytes are at the peer's: stored, and the sequence has said that all have arrived;
//             or the transfer is done
//   flagged   its flag is there as well: stored behind the bytes, and checked likewise
//   taken     the peer has copied it out, and said so in a control word: a credit
//
// so taken <= flagged <= moved <= made <= taken + slots. A message is done at its sender's when its
// last slot is flagged, as nobody stores the flag of a rank that tests no more; at its receiver's
// when its bytes are copied out, and the peer knows of at least half of the slots that are free.
// Flags have numbers, so one of a call before, or of a lap before, is never taken for another; and
// both words only grow, so storing one again does nothing.
//
// Faults. Stores since the last check that said OK may be lost: they are made again, flags never
// before their bytes are known to have arrived. After a check that says something else, the
// sequence is started until that is OK; not for ever (nbc_sci_facts.timeout). A transfer that
// failed is started again, TRIES times in a row. What the peer says is checked: a flag has the
// number and the length that are expected, a credit is for what was sent; else the plan ends.
//
// The dead, and those who have gone. A rank that takes down its plan says so (LEFT) to its peers;
// of one that dies the library tells. That is an error for calls that wait for such a peer and find
// nothing more in their own memory; nobody else minds, since a peer that is done with its calls may
// go. Its part of a segment cannot be removed while others are connected to it; so it is kept
// until they are not (sci_connect.c).
//
// Why it cannot deadlock. messages.h asks that a message ends which both ranks have posted, if both
// go on testing. Posts never wait. Transfers end by themselves, or fail: they wait for no peer, so
// it does not matter which lanes share a DMA queue. Of the messages of a lane that both have
// posted, take the first that is not done. The receiver has copied out all before it, so no slot is
// held by another message; of those it has told at least half, so there is one for its next piece;
// the piece is moved and flagged; and the receiver takes it out, having posted all before it. Long
// ones go on so, piece by piece, while both ends test. A lane that is not tested because the cursor
// stands at a message of another one is looked at in turn, some at each test.

#pragma once

#include <stdatomic.h>

#include "nbc/sci.h"
#include "nbc/sci_segment.h"
#include "runtime/src/messages.h"

enum { TRIES = 16, IDS = 4096 };

// What the lane knows of a message beside what all lanes do.
struct sci_message {
  struct sci_message *next;  // in its list
  const struct message *of;
  uint64_t cut;     // sent: bytes that have slots; received: bytes copied out
  uint32_t run;     // where that is among its runs,
  uint64_t within;  // and in that run
  uint64_t end;     // sent, and all cut: slots up to its last
  bool all_cut, done;
};
struct sci_list {
  struct sci_message *first, *last;
};
static inline void sci_list_put(struct sci_list *l, struct sci_message *m) {
  m->next = NULL;
  *(l->first ? &l->last->next : &l->first) = m;
  l->last = m;
}
static inline struct sci_message *sci_list_take(struct sci_list *l) {
  struct sci_message *m = l->first;
  l->first = m->next;
  return m;
}

// What a slot that is on its way holds.
struct sci_slot {
  const struct sci_message *of;
  uint64_t within;  // from where on, in that run
  uint32_t run, bytes;
  bool dma;
};

struct sci_queue {
  sci_desc_t descriptor;
  sci_dma_queue_t queue;
  struct sci_lane *user;  // null: it is free
  dis_dma_vec_t *vector;
};

// To one peer, and from it.
struct sci_lane {
  struct sci *of;
  uint32_t index, rank;

  // Of the own segment: the area that the peer writes into, and staging for what goes to it.
  struct nbc_sci_area area;
  uint64_t area_at, staging_at;
  uint32_t slots_in, slots_out;  // powers of two; 0: nothing goes that way

  // The peer's.
  sci_desc_t descriptor;
  sci_remote_segment_t remote;
  sci_map_t map;
  sci_sequence_t sequence;
  sci_remote_interrupt_t interrupt;  // null: it never asks for one
  uint8_t *there;                    // its area, mapped
  struct nbc_sci_area there_area;
  uint64_t there_at;

  // To it.
  struct sci_list sending;      // not done, in order
  struct sci_message *cutting;  // the first of these that has no slots yet for all its bytes
  struct sci_slot *out;         // [slots_out]
  uint64_t made, moved, flagged, credited;  // taken, as far as it has said
  struct sci_queue *queue;                  // of a transfer under way,
  uint32_t moving;                          // which is so many slots
  uint32_t failures;                        // of it, in a row
  int64_t full_since;                       // the library has taken none, in ns; 0: it does

  // From it.
  struct sci_list expected;
  uint64_t taken, told;

  uint64_t answered;  // the number of its last sleep that was interrupted
  bool asked;         // it has been told of a sleep, and nothing has come of that yet

  bool broken;      // the last check was not OK, so the sequence has to be started
  int64_t since;    // when that was tried first, in ns; 0: not yet
  atomic_int gone;  // it has left, or its memory has
  bool heard;       // since the last look
  bool busy;        // in the list of those that were posted to
  struct sci_lane *next_busy;
};

// A plan on an adapter.
struct sci {
  struct nbc_sci *device;
  const struct nbc_sci_api *api;
  nbc_plan *plan;
  uint32_t slot_bytes, first;  // number of the first flag
  uint64_t dma_bytes;          // the least that goes by DMA; UINT64_MAX: nothing
  struct sci_lane *lanes, *busy;
  uint32_t lane_count, turn;
  struct sci_message *under_way;  // [instance][record], as messages are
  struct sci_slot *out;           // all lanes'

  sci_desc_t descriptor;
  sci_local_segment_t segment;
  sci_map_t map;
  uint8_t *memory;  // it
  uint64_t bytes;
  uint32_t id;
  bool available;

  struct sci_queue *queues;
  uint32_t queue_count;

  // Of interrupts.
  sci_local_interrupt_t interrupt;
  unsigned int interrupt_number;
  int bell;  // what is rung; negative: who waits polls
  uint64_t sleeps;
  bool ready;  // to sleep: all has been looked at since peers were told

  bool ended;  // a message, since lanes were settled last
  bool heard;  // something of a peer's, since peers were told of a sleep
  uint32_t idle, glances;
  int64_t looked;  // at who is silent, last
  int status;
};

static inline struct sci *sci_of(const nbc_plan *plan) {
  const struct messages *s = messages_of(plan);
  return s ? (struct sci *)s->own : NULL;
}
static inline struct nbc_sci *sci_device(const nbc_plan *plan) {
  return plan->on ? (struct nbc_sci *)plan->on->device : NULL;
}
static inline void sci_mark_busy(struct sci_lane *l) {
  if (l->busy) return;
  l->busy = true;
  l->next_busy = l->of->busy;
  l->of->busy = l;
}
// The plan is of no more use. Returns the status.
static inline int sci_fail(struct sci *v, int status) {
  if (!v->status) v->status = status;
  return v->status;
}
int64_t sci_now(void);  // ns

// sci_create.c

int sci_create(nbc_plan *);
void sci_destroy(nbc_plan *);

// sci_connect.c

// Exports the segment.
int sci_export(struct sci *);
// Connects to the peer's, with what its card says.
size_t sci_describe(const struct lane *, void *card);
int sci_connect(const struct lane *, const void *card, size_t bytes);
// Says that this rank leaves, and lets go of the peer's memory.
void sci_leave(struct sci_lane *);
// Takes the own segment down, or leaves that to others. `moving`: a transfer may still read it.
void sci_withdraw(struct sci *);
// Removes what nobody holds any more of segments that were left.
void sci_sweep(void);

// sci_lane.c

extern const struct lane_ops sci_lane_ops;
// Takes in what has come, and moves on whatever may go.
void sci_look(struct sci_lane *);
// Of all lanes that were posted to.
int sci_settle(struct messages *);
// Some lanes, in turn.
int sci_others(struct messages *);
// Whether something of a call depends on the peer.
bool sci_waits(const struct sci_lane *);
// Whether the peer does not know of enough free slots.
bool sci_owes_credit(const struct sci_lane *);

// sci_move.c

// So many bytes of the message are copied to memory, or from there; or not. The place moves on.
void sci_gather(uint8_t *to, const struct message *, uint32_t *run, uint64_t *within, uint64_t n);
void sci_scatter(const uint8_t *from, const struct message *, uint32_t *run, uint64_t *within,
                 uint64_t n);
void sci_skip(const struct message *, uint32_t *run, uint64_t *within, uint64_t n);
// Moves slots, stores flags and credits, as far as it goes now.
void sci_move(struct sci_lane *);
// Whether the connection holds, or comes back in time; false: not yet, or never.
bool sci_holds(struct sci_lane *);
// Stores a control word. False: it may not be there.
bool sci_tell(struct sci_lane *, uint64_t at, uint64_t value);
// Whether something is left that waits neither for the peer nor for a transfer under way.
bool sci_has_work(const struct sci_lane *);

// sci_sleep.c

// Makes the bell, if the device has interrupts, and what is to ring it. sci_withdraw takes both
// down.
int sci_listen(struct sci *);
int sci_connect_interrupt(struct sci_lane *, unsigned int node, unsigned int number);
// Interrupts the peer if it sleeps. Behind words that it may wait for, once they have arrived.
void sci_answer(struct sci_lane *);
// Tells all who are waited for, and looks at them. False: there is something to do.
bool sci_may_sleep(struct sci *);
// A little while, after that. Whether the bell was rung.
bool sci_sleep(const struct sci *);
// There is something new to wait for, of which nobody has been told.
void sci_needs_arming(struct sci *);
void sci_ring(const struct sci *);
// What a transfer is started with, so that its end rings the bell.
struct sci_ending {
  sci_cb_dma_t callback;
  void *context;
  unsigned int flag;
};
struct sci_ending sci_when_transfer_ends(const struct sci *);
// After a refusal to remove something: whether its callback was under way, so that it may go now.
bool sci_busy_yet(sci_error_t, int *tries);
