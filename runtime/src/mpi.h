// SPDX-License-Identifier: BSD-3-Clause
// mpi.h - point-to-point messages, in the runtime: records, and what of them is under way.
//
// nbc/message_record.h says what stands in a template. mpi_check.c looks at the bytes,
// mpi_create.c meets the peers and sorts relocations out, mpi.c carries calls out.
//
// A plan has one cursor: it walks over the records of one call after the other, in the order in
// which calls were admitted, as far as their stages are enabled, and stands still at a WAIT
// whose message is under way.
//
//   call 1                        call 2
//   SEND RECV WAIT 1 SEND         SEND RECV WAIT 1 SEND
//             ^ cursor
//
// All messages of a plan have one tag, the plan's number on its communicator, which is the same
// on all ranks and never used again: what an abandoned plan has left behind can meet no
// other's receives. When tags run out, no more plans are made (NBC_ERROR_RESOURCES, on all
// ranks alike); a new communicator begins anew.

#pragma once

#include "nbc/message_record.h"
#include "nbc/p2p.h"
#include "runtime/src/plan.h"

// In one instance of a plan: of each SEND and RECV.
struct message {
  uint64_t address, bytes;
  union nbc_p2p_message handle;
  bool open;  // posted, and not done
  bool sent;
};

struct slow_piece {
  uint32_t record, reloc;
};

// A variant, with all that is known when the plan is made.
struct records {
  const struct nbc_message_record *record;
  struct place_patch *places;  // `at`: a record
  struct slow_piece *slow;     // pieces that need the long way
  uint32_t *unwaited;          // SENDs and RECVs that no WAIT names
  uint32_t count, place_count, slow_count, unwaited_count;
};

struct mpi {
  struct nbc_p2p *p2p;  // null: there are no messages
  uint32_t tag;
  uint32_t most;             // records of a variant
  struct records *variants;  // by index
  struct message *messages;  // [instance][record]
  void *arena;               // what the arrays of variants are in
  struct call *posting;      // where the cursor is; null: all that is enabled is carried out
  uint32_t ended;            // of the oldest call's `unwaited`, those before are done
  int status;                // negative: a message failed
};

// What call.target holds.
enum { INSTANCE, ENABLED, CARRIED };  // records that may be carried out, and that were

int mpi_check(const struct tables *, const char **why);
int mpi_create(nbc_plan *);
int mpi_connect(nbc_plan *);
void mpi_destroy(nbc_plan *);
