// SPDX-License-Identifier: BSD-3-Clause
// verbs.h - target verbs, in the runtime: lanes over queue pairs, and what of them is under way.
//
// verbs.c is the target, verbs_create.c makes lanes, verbs_lane.c is the protocol, verbs_kept.c
// knows what was offered before, verbs_place.c moves into receives in place, verbs_detour.c goes
// round what cannot be registered, verbs_queue.c posts work requests and takes completions in.
// messages.c carries calls out.
//
// A message goes as its length says, which both ends know:
//
//   up to eager_bytes   EAGER    its bytes, copied at both ends. The sender is done once they are
//                                in the ring; the receiver keeps them until its RECV is posted.
//                                Several, where a plan's messages all go so: a slot each
//   longer, write       OFFER    of the receiver: where to
//                       DATA     of the sender, into that place
//   longer, read        OFFER    of the sender: where from
//                       FINISHED of the receiver, when it has read
//   either, again       AGAIN    instead of OFFER: of memory that was offered before
//   longer, send        PLACED   its bytes, into receives that are posted where they are to be; on
//                                a queue pair of their own (verbs_place.c)
//   longer, direct      OFFER    of the receiver, besides such receives; DATA where it has come in
//                                time, else PLACED; both end such receives
//
// A plan may say that all go one way (nbc_plan_options.transfer): then eager_bytes are without
// bound, or 0.
//
// So one end offers memory, and the other one moves the data. Each kind is in order by itself: the
// k-th EAGER is the k-th part of the short messages, the k-th OFFER and its answer are the k-th
// long one, however the two are mixed. Nothing that the peer says is believed: kind, number and
// length are looked at before anything is written, and what does not fit ends the plan.
//
// Kept offers. Calls tend to come again with the same buffers: persistent ones always. So an OFFER
// of one run of memory also says under which number the peer is to keep it, and from then on a byte
// stands for it: all that a lane has to offer at once goes in one AGAIN, a byte each. It says
// that the memory is the peer's again, not where it is; the data go to their place by what was
// kept. Who offers alone decides, from a copy of what the peer keeps: a place that is registered
// anew has another key, so it is not what was kept, and is offered anew. Messages of a lane arrive
// in order, so the copy is exact, whatever calls, lengths and variants come between.
//
// PLACED is the third way: nobody offers anything, as receives are posted where messages are to be,
// and the adapters wait for them (verbs_place.c).
//
// Direct is both: who sends writes if the offer is there, and otherwise sends as soon as its host
// is about to go and do something else. While somebody waits or a thread looks, an offer is a
// microsecond away, and what is refused is dear. So an offer may come of what has been sent: it is
// for nothing. And a message may come that was not offered yet: its offer is left out, and the next
// one says in full which it is.
//
// Receives. Any of these but PLACED, and CREDIT, takes a receive of the peer's; all of them are in
// one queue and alike, with a slot each. There is always one, so that no adapter has to try again:
//
//   E   eager messages that are not copied out yet. The sender has a credit for each; credits come
//       back in the immediate value of whatever is sent, and by CREDIT when half of them are to be
//       told and nothing else goes that way. So two CREDIT are unread at most.
//   C   offers and answers, at most WINDOW that are not answered of either direction. What an offer
//       took is posted again before it is answered. An AGAIN takes one for all that it offers.
//
// Why that cannot deadlock. messages.h asks that a message ends which both ranks have posted, if
// both go on testing. Nothing ever waits within a post, and the adapters empty the queues of work
// requests by themselves, as no receive is missing; so what may be sent is sent. Then:
//
//   - offers need no credit, and within the window go in order. Of the long messages that both have
//     posted, the first is offered, as those before it are answered; it is moved, as the other end
//     has posted it and all before it; and it ends.
//   - of the eager messages that both have posted, the receiver has copied all before it out, as it
//     has posted their RECVs; it has told at least half of the credits; so the sender has one.
//
// Memory. Work requests and receives have slots in one block that the adapter knows. The caller's
// memory is registered in acquire, and only where a message of the call is long; of staging as much
// as such calls have needed.

#pragma once

#include "nbc/verbs.h"
#include "runtime/src/messages.h"
#include "runtime/src/patience.h"
#include "runtime/src/registrations.h"

// What is sent, in the upper bits of the immediate value. Then its number, modulo 2^13, and how
// many eager slots were given back so far, modulo 2^16.
enum verbs_kind {
  VERBS_EAGER = 1,
  VERBS_OFFER,
  VERBS_DATA,
  VERBS_FINISHED,
  VERBS_CREDIT,
  VERBS_AGAIN,
  VERBS_PLACED,
};
enum { KIND_SHIFT = 29, NUMBER_SHIFT = 16, NUMBER_MASK = 0x1fff };

// Offers under way, at most; runs of memory that one names.
enum { WINDOW = 32, MOST_OFFERED = 32 };

struct offered_run {
  uint64_t address, bytes;
  uint32_t rkey, pad;
};
struct offer {
  uint32_t number;
  uint16_t runs, kept;  // kept: the number that it is to be kept under, from 1; 0: it is not
  uint64_t bytes;
  struct offered_run run[MOST_OFFERED];  // as many as there are
};
static inline size_t offer_bytes(uint32_t runs) {
  return offsetof(struct offer, run) + runs * sizeof(struct offered_run);
}

// Of each lane so many are kept, at most: a byte names one. A power of two.
enum { MOST_KEPT = 256 };

// What the lane knows of a message beside what all lanes do.
struct verbs_message {
  struct verbs_message *next;  // in its list
  const struct message *of;
  uint64_t moved;  // bytes for which there are work requests; of one that comes in parts, copied
  bool done, written;  // written: it has an offer, though it need not
};
struct verbs_list {
  struct verbs_message *first, *last;
};
static inline void list_put(struct verbs_list *l, struct verbs_message *m) {
  m->next = NULL;
  *(l->first ? &l->last->next : &l->first) = m;
  l->last = m;
}
static inline struct verbs_message *list_take(struct verbs_list *l) {
  struct verbs_message *m = l->first;
  l->first = m->next;
  return m;
}

// What a work request is for, beside what the adapter has to know.
struct purpose {
  struct verbs_message *ends;  // with it
  uint32_t immediate;          // but for the slots given back
  bool tells, reads, probes;
};

// An eager message without RECV.
struct held {
  uint32_t receive, bytes;
};

// What a receive in place is for.
struct placed {
  struct verbs_message *ends;  // with it
  uint64_t bytes;              // that it is to take
};

// A lane to one peer, or its second queue pair. Rings are powers of two long, and their indices run
// on.
struct verbs_lane {
  struct verbs *of;
  void *qp;
  uint32_t index;  // in the plan
  // Which port of the device's, and the key of the plan's own memory there. Until both ends know
  // it, the one that this end's messages wish for, and a queue pair on each; `qp` is none yet.
  uint32_t rail, lkey;
  void *on_rail[NBC_VERBS_RAILS];
  struct nbc_verbs_address address[NBC_VERBS_RAILS];  // of this end

  // Work requests: the adapter has [done, posted), [posted, made) wait for the doorbell.
  struct ibv_send_wr *requests;
  struct ibv_sge *segments;  // [request][gather]
  struct purpose *purposes;
  uint8_t *slots;
  uint32_t request_count, done, posted, made;
  uint32_t signalled;  // those before it need no completion of their own
  uint32_t reads;      // under way
  bool tells;          // one of those made says what was given back

  struct ibv_recv_wr *receives;
  struct ibv_sge *receive_segments;
  uint8_t *arrivals;
  struct ibv_recv_wr *again, *again_last;  // to be posted
  uint32_t receive_count;

  // Eager: what the peer can take, and what of this end it has been told.
  uint32_t slot_count, peer_slots, credits;
  uint16_t given_by_peer, given, told;
  uint32_t eager_sent, eager_came;
  struct verbs_list unsent, expected;  // without credit or request; without bytes
  struct held *held;                   // [slot_count]
  uint32_t first_held, held_count;

  // Long: messages whose memory is offered here, and those that are moved from here.
  struct verbs_list unoffered, offered, unmoved, unfinished;  // unfinished: read, and not told
  uint32_t offers_made, offers_answered;
  bool skipped;     // an offer, as the message has come without
  uint8_t *offers;  // the peer's
  uint32_t offers_room, offers_came, offers_taken, offers_finished;
  // What the peer keeps of this end's offers, and what is kept of the peer's. No bytes:
  // none.
  struct offered_run *known_there, *kept;
  uint32_t known_count, kept_count;  // powers of two, or 0
  uint64_t longest;                  // bytes of a work request, at both ends

  // Of long messages that are sent: the second queue pair. And of that one: what its receives are
  // for, and the peer's word, which is read to know that one is there.
  struct verbs_lane *second;
  struct placed *placed;          // [receive_count]
  struct verbs_message *placing;  // some of it
  uint32_t placed_count, placed_came;
  uint64_t word;
  uint32_t word_rkey;

  bool heard, probing;  // from the peer, since the last look; a probe is under way
  bool busy;            // in the list of those that have something to do
  struct verbs_lane *next_busy;
};

// What a call's messages lie in, and the adapter's keys of it, by rail.
struct verbs_keys {
  uintptr_t begin, end;
  uint32_t lkey[NBC_VERBS_RAILS], rkey[NBC_VERBS_RAILS];
};
enum { STAGING_KEY = CALLER_ROLES, DETOUR_KEY, KEYS };
// call.registration: it cannot be registered.
enum { NOT_REGISTERED = -2 };

// Where a message lies that goes by way of the instance's place; no address: it does not.
struct verbs_detour {
  uint64_t address;
  uint32_t runs;
};
struct verbs_place {
  struct known_memory as;
  uint8_t *memory;
  uint64_t bytes;
};

// Of a variant and role: the longest message, in blocks, by 2^16 and rounded up; and how many
// pieces are parts of blocks, which end with an element.
struct verbs_longest {
  uint64_t blocks;
  uint32_t parts;
};

// An adapter, for all plans of a communicator.
struct verbs_adapter {
  struct nbc_verbs *device;
  struct nbc_verbs_facts facts;
  bool on_demand;  // all that `memory` knows
  struct registrations memory;
};

// Scratch of one instance: so many of its first bytes the adapter knows.
struct verbs_staging {
  struct known_memory as;
  uint64_t bytes;
};

struct verbs {
  struct verbs_adapter *adapter;
  const struct nbc_verbs_ops *ops;
  nbc_plan *plan;
  enum nbc_verbs_rendezvous way;  // of long messages
  uint64_t eager_bytes;           // of a message, at most; it goes in parts
  uint32_t part_bytes;            // of these, at most
  uint32_t gather, inline_bytes, slot_bytes;
  void *cq;
  struct verbs_lane *lanes, *busy;  // [queue_count]: behind those of peers their second queue pairs
  uint32_t lane_count, queue_count, rails;
  void *arena;  // what the lanes' arrays are in
  uint8_t *memory;
  size_t memory_bytes;
  struct known_memory known;
  bool memory_known;
  // Of two words behind the slots, one takes what is read of the peer's other one.
  uint64_t *words;
  struct known_memory word;
  bool word_known;
  struct verbs_staging *staging;    // [instance]
  struct verbs_message *under_way;  // [instance][record], as messages are
  struct verbs_keys *keys;          // [instance][KEYS]
  struct verbs_detour *detours;     // [instance][record]; null until there is one
  struct verbs_place *places;       // [instance]; likewise
  struct verbs_longest *longest;    // [variant][KEYS]
  uint32_t access[KEYS];            // of caller's memory, by role; of staging
  int hint[CALLER_ROLES];           // where it was found last
  bool ended;                       // a message, since lanes were settled last
  uint32_t stalled;                 // messages that could be moved, had the peer offered memory
  bool leaves;                      // nobody will look for offers for a while
  struct patience patience;         // for such offers
  uint32_t idle, glances;
  int64_t looked;  // at who is silent, last
  int status;
  struct nbc_verbs_counts counts;
};

static inline struct verbs *verbs_of(const nbc_plan *plan) {
  const struct messages *s = messages_of(plan);
  return s ? (struct verbs *)s->own : NULL;
}
// Whether long messages have receives where they are to be, on queue pairs of their own.
static inline bool verbs_places(enum nbc_verbs_rendezvous way) {
  return way == NBC_VERBS_SEND || way == NBC_VERBS_DIRECT;
}
// Whether who sends may write, and cuts a message as it likes.
static inline bool verbs_writes(enum nbc_verbs_rendezvous way) {
  return way == NBC_VERBS_WRITE || way == NBC_VERBS_DIRECT;
}
static inline bool is_second(const struct verbs_lane *l) {
  return l->index >= l->of->lane_count;
}
// Data segments of a receive.
static inline uint32_t scatter_of(const struct verbs_lane *l) {
  return is_second(l) ? l->of->gather : 1;
}
static inline void verbs_mark_busy(struct verbs_lane *l) {
  if (l->busy) return;
  l->busy = true;
  l->next_busy = l->of->busy;
  l->of->busy = l;
}
// The plan is of no more use. Returns the status.
static inline int verbs_fail(struct verbs *v, int status) {
  if (!v->status) v->status = status;
  return v->status;
}

// verbs.c

// Makes memory known to the adapter, which lets go of what no call uses if it has to. 0 or a
// negative status.
int verbs_know(struct verbs_adapter *, void *begin, size_t bytes, uint32_t access,
               struct known_memory *);
void verbs_put_keys(const struct verbs *, struct verbs_keys *, const void *begin, uint64_t bytes,
                    const struct known_memory *);

// verbs_create.c

int verbs_create(nbc_plan *);
int verbs_connect(nbc_plan *);
// The lane's rail is known: of the queue pairs that of others are gone, and receives are to be
// posted.
void verbs_choose_rail(struct verbs_lane *);
void verbs_destroy(nbc_plan *);

// verbs_lane.c

extern const struct lane_ops verbs_lane_ops;
// Makes work requests of whatever waits and may go.
void verbs_move_on(struct verbs_lane *);
// A receive has ended, with something of the peer's.
void verbs_arrive(struct verbs_lane *, uint32_t receive, const struct ibv_wc *);
// Whether something of a call depends on the peer.
bool verbs_waits(const struct verbs_lane *);

// The segments of this end from byte `moved` of the message on: `most` bytes, or as many as go into
// a work request, whose *count grows. Returns how many.
uint64_t verbs_segments(const struct verbs_lane *, const struct message *, uint64_t moved,
                        uint64_t most, struct ibv_sge *, int *count);
bool verbs_in_order(uint32_t immediate, uint32_t number);
// What the peer has offered for the message that is moved next; null: nothing yet.
const struct offer *verbs_next_offer(const struct verbs_lane *);

// verbs_place.c: of a lane's second queue pair

// Posts receives, and sends, as far as there is room.
void verbs_move_places(struct verbs_lane *);
// False: it is not what is expected.
bool verbs_place_came(struct verbs_lane *, uint32_t receive, const struct ibv_wc *);
// Direct: sends what no peer has offered a place for.
void verbs_send_unoffered(struct verbs *);

// verbs_kept.c

// Chooses the number under which the peer is to keep a place that it is told now; from 1. 0: it
// keeps none.
uint16_t verbs_keep_there(struct verbs_lane *, const struct offered_run *);
// Whether the peer keeps it, and which byte stands for it.
bool verbs_find_known(const struct verbs_lane *, const struct offered_run *, uint8_t *number);

// verbs_detour.c

// Of the call that is about to get the plan's instance: its long messages in memory that is not
// registered are in the instance's place from now on.
int verbs_make_detours(struct verbs *, const struct call *);
void verbs_forget_place(struct verbs *, struct verbs_place *);

// verbs_queue.c

// What of the lane's requests and receives never changes; all receives are free, but for those in
// place.
void verbs_lay_out(struct verbs_lane *);
// Room for a work request, without segments; null: the queue is full. Its slot.
struct ibv_send_wr *verbs_request(struct verbs_lane *);
struct purpose *verbs_purpose(struct verbs_lane *, const struct ibv_send_wr *);
uint8_t *verbs_slot(struct verbs_lane *, const struct ibv_send_wr *);
// Makes it a message with so many bytes of its slot.
void verbs_say(struct verbs_lane *, struct ibv_send_wr *, enum verbs_kind, uint32_t number,
               size_t bytes);
void verbs_signal(struct verbs_lane *, struct ibv_send_wr *);
// The receive may be used again.
void verbs_receive_again(struct verbs_lane *, uint32_t receive);
// Receives, then work requests, of all lanes that have some, to the adapter.
int verbs_settle(struct messages *);
// What the adapter has done, all of it: of what is left nobody who sleeps then is told again.
int verbs_take_in(struct verbs *);
// Writes nothing to the peer, to see whether it is there.
void verbs_probe(struct verbs_lane *);
