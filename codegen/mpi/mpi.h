// SPDX-License-Identifier: BSD-3-Clause
// mpi.h - a schedule as messages that any MPI can carry.
//
// Point-to-point MPI. MPI_Isend and MPI_Irecv post a message and return; that it is done is asked
// for later, message by message. What MPI promises is order: two messages from one rank to another,
// on one communicator and with one tag, are received in the order in which they were sent, into
// receives in the order in which those were posted. What it does not promise is buffering (a
// send may be done only when the receive was posted, whatever its length) and progress (a message
// may stand still until its rank is in some call of MPI again). So nothing here relies on either:
// a rank is never waited for before all was posted that the other rank may wait for.
//
// A call is a row of records (runtime/include/nbc/message_record.h), carried out one after the
// other:
//
//   RECV from 0: out[0]      posted
//   SEND to 2: out[1]        posted
//   RECV from 0: out[3]      posted: nothing holds it back
//   WAIT record 0            until out[0] is there
//   SEND to 2: out[0]
//
// and between them, in stages, what the host does: copies and reductions. WAIT holds up all that is
// behind it, so it stands only where something behind it needs the message, and everything that
// can be posted before stands before. When all messages are done, waited for or not, the call is.
//
// Tags and eager limits are not ours: messages are matched by their order alone, one plan of one
// communicator has one tag, and how short messages go MPI knows better. Hence one protocol, which
// the template calls rendezvous: data go to their final place, no slots, nothing is renamed.
//
// Pieces. A message is one run of memory. A section that is several is packed by the host into
// STAGING before it is sent, or received there and unpacked; this is local, since only lengths
// have to agree with the other end. (Derived datatypes would say it to MPI, which then packs as
// well; but lengths are known at the call only, and making a datatype costs more than a copy.)
//
// Order. Per peer and direction, messages are in the schedule's order, on both ranks. Otherwise
// whatever is ready is posted, round by round, receives of a round before its sends. Only when
// nothing is ready is the first thing waited for that the next message in the schedule's order
// needs. Why that cannot deadlock where the program does not: a WAIT for a message of round r
// stands behind all messages of rounds up to r. Take the messages in an order in which they can end
// as the program was proven (round by round on each rank, nothing buffered), and of those not done
// the first: any rank that is held up by a WAIT waits for it or for a later one, so both ends have
// posted it, and it ends.
//
// The host works in the order of its steps, at the latest when a message needs it, at the earliest
// when it would have to wait anyway. What no message needs (unpacking what is not sent on, the copy
// of the own block) thus overlaps with messages. Nothing of it is done before the first messages
// are posted, so that nbc_start is short and the network busy.

#pragma once

#include "codegen/target.h"

namespace nbcc {

extern const Target mpi;

std::vector<Legal> mpi_legalize(const Schedule &, const Schedule *inPlace, const TargetOptions &,
                                Diag &);
Template mpi_emit(std::span<const Legal>, const TargetOptions &);
void mpi_printTasks(const Template &, std::ostream &);
void mpi_printResources(const Template &, std::ostream &);
void mpi_verifyTemplate(const Template &, std::span<const Legal>, Diag &);

}  // namespace nbcc
