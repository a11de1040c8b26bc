// SPDX-License-Identifier: BSD-3-Clause
// messages.h - what targets have in common whose device does nothing but carry messages.
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
// Messages are matched by their order alone: the k-th sent to a rank is the k-th that it receives
// from here. Data go to their final place, no slots, nothing is renamed; the template calls that
// rendezvous.
//
// Pieces. Where a message has to be one run of memory, a section that is several is packed by the
// host into STAGING before it is sent, or received there and unpacked; this is local, since only
// lengths have to agree with the other end.
//
// Order. Per peer and direction, messages are in the schedule's order, on both ranks. Otherwise
// whatever is ready is posted, round by round, receives of a round before its sends. Only when
// nothing is ready is the first thing waited for that the next message in the schedule's order
// needs. Why that cannot deadlock where the program does not: a WAIT for a message of round r
// stands behind all messages of rounds up to r. Take the messages in an order in which they can end
// as the program was proven (round by round on each rank, nothing buffered), and of those not done
// the first: any rank that is held up by a WAIT waits for it or for a later one, so both ends have
// posted it, and it ends. Nothing is asked of who carries them but that a message ends when both
// ends have posted it: no buffering.
//
// The host works in the order of its steps, at the latest when a message needs it, at the earliest
// when it would have to wait anyway. What no message needs (unpacking what is not sent on, the copy
// of the own block) thus overlaps with messages. Nothing of it is done before the first messages
// are posted, so that nbc_start is short and the network busy.

#pragma once

#include <functional>
#include <iosfwd>

#include "codegen/target.h"

namespace nbcc::messages {

/// Some of the ranks; empty: none.
using Ranks = std::function<bool(int64_t rank)>;

/// Whether the target carries this message as it lies, in `runs` runs of memory; empty: none does.
using Carries = std::function<bool(const Step &message, size_t runs)>;

/// Errors name `target`.
std::vector<Legal> legalize(const Schedule &, const Schedule *inPlace, const TargetOptions &,
                            const char *target, const Carries &, Diag &);
/// `remote`: peers that are marked so in the template.
Template emit(std::span<const Legal>, const TargetOptions &, const Target &, const Ranks &remote);
void printTasks(const Template &, std::ostream &);
void printResources(const Template &, std::ostream &);
void verifyTemplate(const Template &, std::span<const Legal>, const char *target, Diag &);

}  // namespace nbcc::messages
