// SPDX-License-Identifier: BSD-3-Clause
// messages.h - targets whose templates are records of messages: what of them is under way.
//
// nbc/message_record.h says what stands in a template. messages_check.c looks at the bytes,
// messages_create.c meets the peers and sorts relocations out, messages.c carries calls out. How
// a message gets to a peer is a lane's business: mpi.c has those over p2p devices, verbs_lane.c
// those over queue pairs.
//
// A plan has one cursor: it walks over the records of one call after the other, in the order in
// which calls were admitted, as far as their stages are enabled, and stands still at a WAIT
// whose message is under way.
//
//   call 1                        call 2
//   SEND RECV WAIT 1 SEND         SEND RECV WAIT 1 SEND
//             ^ cursor

#pragma once

#include <sys/uio.h>

#include "nbc/message_record.h"
#include "nbc/p2p.h"
#include "runtime/src/plan.h"

// In one instance of a plan: of each SEND and RECV.
struct message {
  uint64_t address, bytes;  // of several runs: the address of a list of them
  const struct nbc_layout *layout;
  union nbc_p2p_message handle;  // the lane's
  uint32_t peer;                 // once it is posted
  uint32_t runs;                 // 0: it is one
  bool open;                     // posted, and not done
  bool sent;
};

// Of a record, what is looked at in a call.
struct step {
  uint32_t op;
  uint32_t other;  // SEND, RECV: the peer; WAIT: a record
  uint32_t place;  // SEND, RECV of one run: its own among the places,
  bool slow;       // or the slow ones
};

struct slow_piece {
  uint32_t record, reloc;
};
// A message of pieces that lie anywhere: its runs begin here in those of the instance.
struct scattered {
  uint32_t record, reloc, first;
};

// A variant, with all that is known when the plan is made.
struct records {
  struct step *steps;
  struct place_patch *places;  // `at`: a record
  struct slow_piece *slow;     // pieces that need the long way
  struct scattered *scattered;
  uint32_t *unwaited;  // SENDs and RECVs that no WAIT names
  uint32_t count, place_count, slow_count, scattered_count, unwaited_count;
};

struct lane;

// Each is done with a message once it returns something but 0.
struct lane_ops {
  // 0: under way. 1: done. Or a negative status.
  int (*send)(const struct lane *, struct message *);
  int (*receive)(const struct lane *, struct message *);
  int (*test)(const struct lane *, struct message *);
  // One of one run of so many bytes at most, where it can be done at once: then nothing is kept of
  // it. 0: it cannot, and nothing has happened.
  uint64_t most_now;
  int (*send_now)(const struct lane *, const void *, uint64_t bytes);
  int (*receive_now)(const struct lane *, void *, uint64_t bytes);
  // Gives it up. 1: its memory may still be touched.
  int (*forget)(const struct lane *, struct message *);
  // What the peer has to know of this end of the lane; its bytes, at most MOST_CARD. And taking
  // that in. Null: nothing.
  size_t (*describe)(const struct lane *, void *card);
  int (*connect)(const struct lane *, const void *card, size_t bytes);
};
enum { MOST_CARD = 512 };

// How messages go to one peer, and come from it: in the order in which they were posted.
struct lane {
  const struct lane_ops *ops;
  void *device;
  uint32_t rank, number;  // of the peer; what tells the lane from others of the device
};

struct messages {
  struct lane *lanes;      // by peer, of the first `peers` of the template
  struct pledge *pledges;  // likewise
  uint32_t peers;
  struct message *messages;  // [instance][record]
  struct call *posting;      // where the cursor is; null: all that is enabled is carried out
  uint32_t most;             // records of a variant
  uint32_t ended;            // of the oldest call's `unwaited`, those before are done
  uint32_t ahead;            // messages of the call that begins that are done already
  int status;                // negative: a message failed
  uint32_t most_runs;        // of the scattered messages of a variant
  void *own;                 // the target's
  // Lets lanes move that nobody asks for, if they need it: at each poll, a little. 0, or a
  // negative status. Null: nothing.
  int (*others)(struct messages *);
  // After messages were posted or tested: does what lanes have put off until the cursor stops. 1
  // where a message that was tested in vain has ended by it; 0; or a negative status. Null:
  // nothing.
  int (*settle)(struct messages *);
  struct records *variants;  // by index
  struct iovec *runs;        // [instance]
};

// What call.target holds.
enum { INSTANCE, ENABLED, CARRIED, OF_RECORDS };  // records that may be carried out, and that were

static inline struct messages *messages_of(const nbc_plan *plan) {
  return plan->messages;
}

// Messages of one call, to a peer and from it.
struct traffic {
  uint64_t sends, receives;
};
// Of each peer, in the variant that has most with it. The caller's, to be freed; null: no memory.
struct traffic *messages_traffic(const nbc_plan *);

// What such targets have in common; see targets.h.
int messages_check(const struct tables *, const char **why);
// Of one segment of records alone, with its relocations.
int messages_check_segment(const struct tables *, const struct nbc_variant *, uint32_t segment,
                           const char **why);
// Lanes are the target's to fill in: between these two, and before `connect`.
int messages_create(nbc_plan *, uint32_t peers);
int messages_publish(nbc_plan *);
int messages_connect(nbc_plan *);
int messages_prepare(nbc_plan *, struct call *);
void messages_admit(nbc_plan *, struct call *);
int messages_begin(nbc_plan *, struct call *);
uint64_t messages_most_at_once(const nbc_plan *, const struct variant *);
int messages_at_once(nbc_plan *, struct call *);
bool messages_enable(nbc_plan *, struct call *);
int messages_poll(nbc_plan *);
bool messages_linger(nbc_plan *, struct call *);
int messages_complete(nbc_plan *, struct call *);
bool messages_failed(nbc_plan *);
// Whether no message has parts of two buffers, of which one could have a layout.
bool messages_take_layouts(const nbc_plan *);
void messages_keep_warm(nbc_plan *);
void messages_destroy(nbc_plan *);

// mpi.c: a lane over a p2p device. NBC_ERROR_RESOURCES: it has no tag for this plan.
int p2p_lane(const nbc_plan *, struct nbc_p2p *, uint32_t rank, struct lane *);
