// SPDX-License-Identifier: BSD-3-Clause
// shm.h - a schedule as messages through the memory of one node.
//
// Between two ranks of a node there is a lane each way: a ring of cells that both have mapped. A
// sender puts a cell there, the receiver finds it; short messages lie in the cell or behind it, of
// a long one the cell says where it lies, and who receives reads it from there to its place. Cells
// are found in the order in which they were put, so the k-th send meets the k-th receive and
// nothing is matched. There is no third party: what moves, one of the two ranks moves while it is
// in nbc_test or nbc_wait.
//
// How a call becomes messages: codegen/messages/messages.h. What is peculiar here:
//
// Pieces. Whoever moves a message walks over the runs of memory at both ends, so a message may lie
// in several places at no cost, and nothing is packed: NBC_RELOC_PIECES. Two steps of the host and
// their room are saved for each such message, and those behind it start earlier.
//
// Nodes. Where TargetOptions::topology puts a peer on another node (NBC_PEER_REMOTE), its messages
// go through the communicator's device between nodes, which carries one run of memory: they are
// packed as those of target mpi are. Both kinds are records of one row, so an algorithm that works
// in hierarchies is one plan. Without a topology all ranks are on one node.
//
// Why it cannot deadlock. The argument of messages.h asks one thing of who carries messages: one
// that both ranks have posted ends, provided that both go on testing, whatever other messages there
// are. A lane does it: posting never waits (a cell for each message that may be under way was made
// with the plan), lanes do not share cells, so none can be full of messages of others; and within a
// lane the order of sends is that of receives, so the first that is not over is at both its ends.
// Messages between nodes have that promise from MPI.

#pragma once

#include "codegen/target.h"

namespace nbcc {

extern const Target shm;

std::vector<Legal> shm_legalize(const Schedule &, const Schedule *inPlace, const TargetOptions &,
                                Diag &);
Template shm_emit(std::span<const Legal>, const TargetOptions &);
void shm_printResources(const Template &, std::ostream &);

}  // namespace nbcc
