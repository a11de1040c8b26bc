// SPDX-License-Identifier: BSD-3-Clause
// sci.h - a schedule as messages into memory that peers have exported, by the SISCI API.
//
// A rank exports a segment of memory; a peer that has connected to it can map it. What the peer
// then stores there (PIO) arrives by itself, some time later and in any order, until a store
// barrier; and its adapter copies into it by itself (DMA) what lies in another segment, piece by
// piece of a vector, also in any order. Nobody is told: who waits for something looks at a word of
// his own memory, a flag, that the peer stores behind the data. Stores may be lost; the peer asks
// whether any were, by a sequence check, and stores them again. Nothing in an adapter waits for
// anything: whatever needs something that was received first waits for the host, in nbc_test, in
// nbc_wait, or in a thread.
//
// How a call becomes messages: codegen/messages/messages.h. What is peculiar here:
//
// Records, not vectors. Whether a message is stored or copied by DMA, and how many go into one
// vector, depends on lengths, which are known at the call, and on what is under way to that peer at
// the time. So a template has the records of target mpi, and the runtime makes stores and vectors
// of them (runtime/src/sci.h), which takes as long as filling in those of a template would.
//
// Pieces. A caller's memory cannot be exported, so a message lies in slots of the receiver's
// segment in between, and is copied at both ends anyway. Who copies walks over the runs of memory,
// so it may lie in several places at either end: NBC_RELOC_PIECES, and nothing is packed.
//
// Slots and DMA. What is copied by DMA has to be in a segment of the sender's first. It has as many
// slots there as the peer has for it, so slots that are full and follow one another are one
// element of a vector at both ends.
//
// Why it cannot deadlock. messages.h asks that a message ends which both ranks have posted,
// provided that both go on testing, whatever other messages there are; runtime/src/sci.h says why
// it does.
//
// After: Kaiser, Hoefler, Bierbaum, Bemmerl, "Implementation and Analysis of Nonblocking Collective
// Operations on SCI Networks", IPDPS 2009, whose card is the device sci_d352.

#pragma once

#include "codegen/target.h"

namespace nbcc {

extern const Target sci;

std::vector<Legal> sci_legalize(const Schedule &, const Schedule *inPlace, const TargetOptions &,
                                Diag &);
Template sci_emit(std::span<const Legal>, const TargetOptions &);
void sci_printResources(const Template &, std::ostream &);

}  // namespace nbcc
