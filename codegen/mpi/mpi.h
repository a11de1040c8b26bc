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
// How a call becomes such messages, and why they cannot deadlock: codegen/messages/messages.h.
//
// Tags and eager limits are not ours: messages are matched by their order alone, one plan of one
// communicator has one tag, and how short messages go MPI knows better. Hence one protocol.
//
// A message is one run of memory: what is several is packed. (Derived datatypes would say it to
// MPI, which then packs as well; but lengths are known at the call only, and making a datatype
// costs more than a copy.)

#pragma once

#include "codegen/target.h"

namespace nbcc {

extern const Target mpi;

std::vector<Legal> mpi_legalize(const Schedule &, const Schedule *inPlace, const TargetOptions &,
                                Diag &);
Template mpi_emit(std::span<const Legal>, const TargetOptions &);

}  // namespace nbcc
