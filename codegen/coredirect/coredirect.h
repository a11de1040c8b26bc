// SPDX-License-Identifier: BSD-3-Clause
// coredirect.h - a schedule as work queues that a NIC carries out by itself.
//
// The hardware. A send queue can be *managed*: its entries rest until a SEND_EN
// entry, executed on another queue, moves the queue's limit. A WAIT entry holds
// its queue until a completion queue (CQ) has had a given number of entries; it
// counts and cannot see who sent. So: one CQ per peer and purpose, and one
// management queue (MQ), an ordinary send queue, on which WAIT and SEND_EN stand
// in an order that is the schedule. After the doorbell for the MQ the host is not
// needed until the MQ's last entry completes.
//
//   MQ:      WAIT cq(from 1) #0 | SEND_EN sq(to 2) ..1 | WAIT cq(from 2) #1 | ... WAIT, signalled
//   to 2:    SEND tmp[0 +: 2]     (rests until enabled)
//   from 1:  receives, posted before anyone may send into them
//
// Connections. Per peer three queue pairs, each with a CQ of its own for receives
// and, but for CTS, for sends: EAGER, CTS, DATA. A protocol that was not asked
// for has none. They serve both ways where both ends send to just those they receive
// from (standard exchange); else what goes to a peer and what comes from it have three
// each (ring, Bruck). Beside them the MQ, a queue pair connected to itself that sends
// nothing, and, where there is something to do on the own rank, LOOPBACK, managed
// and connected to itself: RDMA WRITE for copies, SEND with calc for reductions.
//
// Ports. A queue pair is bound to one of the adapter's. Which is dealt: the port that the program
// names (`on port`) for the first message to the peer, or from it, modulo those that there are, at
// each end for itself. Messages to one peer keep to one queue pair, whatever ports they name, since
// the order among them is all that tells them apart.
//
// Eager. A message is received into a room of its own (SLOTS), posted ahead: the
// receiver need not have begun the call. Rooms are never overwritten within a
// call, and neither is staging; so legalize renames: whatever reads bytes that
// were received reads them in the room, as often as it likes, copies vanish, and
// `out` is written once, at the end, by the host. What NIC or reductions read of
// `in` is copied to staging in nbc_start. A send gathers from several rooms; if they are more
// than the device can gather, a host step packs them first.
//
// Slots are finite: S = 3 * depth sets of them. At every depth-th eager call (a
// window) a rank tells those it receives from that it is there, one message of no
// bytes on CTS (variant CREDIT, put before the call's own entries), and waits for
// the same message of the window before from those it sends to. When it says so,
// all calls up to `depth` earlier are over, and their sets are posted again: sets
// for two more windows. Nobody waits for it in step, and no receive is ever missing
// (RNR). e-th eager call of a plan, all variants together: its rooms are set e mod S.
//
// Rendezvous. Data go to their final place. Receives are posted in nbc_start; the
// receiver then sends a message of no bytes on CTS for each, as soon as the bytes
// may be overwritten; the sender's MQ waits for it, then enables the data. CTS
// that nothing holds back come first in the MQ. Within a round all CTS come before
// all waits for CTS, else two ranks that exchange would wait for each other. Copies are RDMA WRITE
// on LOOPBACK. A signal is a message without bytes, in both protocols like any other.
//
// Direct. For one call whose buffers the peers know (nbc_plan_options.call), as persistent ones
// are. One queue pair for each peer, both ways, DIRECT, with a CQ each for receives and sends:
//
//   MQ:      SEND_EN sq(1) ..1 | ... | WAIT cq(1) #0, the token | SEND_EN sq(1) ..2 | WAIT cq(1) #1
//   ... 1:       SEND, no bytes: the token | RDMA WRITE with immediate, to where rank 1 has said
//   ...
//
// The token of a call goes first, to all that this rank receives from, and waits for nothing: so
// that all of the call's places are free from its beginning on, legalize gives a room of its own to
// each message whose place is not. As it is each end's first entry, what is received is the token,
// then messages: one CQ counts both. Receives take no bytes and are posted ahead. Blocks of lengths
// of their own cannot go direct, nor does the adapter reduce.
//
// Words. Where the adapter has no cross-channel queue pairs (connectx7) nothing counts completions
// and nothing is managed, but a WAIT on data holds any queue until a word of memory is what it
// says. One queue pair for each peer, both ways, CHAIN; the doorbells of all are rung in nbc_start:
//
//   to 1:    WRITE word: clear to send | WAIT word: clear | SEND | WRITE word: message | READ it
//   back to 2:    WAIT word: message from 1 | WAIT word: clear | SEND ... MQ:      WAIT word ...
//   WAIT word, signalled    (for the host alone)
//
// It is rendezvous: a message goes to its final place, received there, when its receiver has
// written that it is clear to send. The word behind it, on the same queue pair, says that it has
// come. That a send is over, and its buffer free, a peer's adapter says by answering a READ of that
// word, into a word of this rank's. Copies on LOOPBACK write one of their own; so does the MQ for
// stages of the host that others wait for. program_words.cpp has the order,
// runtime/src/coredirect_words.c where words are and why none is written again before it was seen;
// a WAIT asks for equality alone.
//
// Blocks of lengths of their own (TargetOptions::lengths): lengths and places are looked up at
// the call, block by block (own_lengths.cpp). Which protocol must not depend on what a rank does
// not know: eager is for allgather and reduce_scatter, where all know the longest block.
//
// Order. The MQ follows the schedule's numbers, receives of a round (their CTS) before its
// sends. So it never waits for something that, as the schedule was written, comes
// later, and where the program cannot deadlock the MQ cannot. Calls of a plan share
// the queues, one behind the other.
//
// A reduction that the device cannot do, or a copy that needs the host, ends a
// stage: the MQ's last entry of the stage is a signalled one, the host sees its
// completion, works, and rings the doorbell for the next (nbc_stage).
//
// Within a node (TargetOptions::within). What goes to a rank of the same node, and what comes from
// there, the hosts carry out through memory that both share: records, as those of target shm
// (codegen/messages). A stage is, one behind the other, work of the host, records, entries of the
// MQ. So an algorithm that works in hierarchies is one plan: gather | offloaded middle | release,
// and only in the middle is no host needed.
//
//   stage 0   RECV from 1, RECV from 2, WAIT, WAIT       MQ: SEND_EN .. WAIT .., signalled
//   stage 1   SEND to 1, SEND to 2
//
// A WAIT for a message of round r stands in front of no entry of the MQ that the program reaches in
// round r or before: a stage that has entries ends first. Between two stages ranks are held up as
// by the program's own barriers, and no more. Received bytes go to rooms of STAGING (eager) or to
// their final place; no slots, no credits, no clear-to-send. What is copied by the host where a
// schedule has such messages: all that the adapter is not in the way of. In CALC these messages are
// slots as well, and operands that no adapter has brought are reduced by the host.
//
// Adapter reductions (variants CALC): 64-bit elements, up to 1, 2, 4 or 8 of them, as far as queues
// are long enough. Each lies in a 16-byte slot, big-endian; those of a vector lie one behind the
// other and are one message. reduce A, B -> C gathers A and B in a SEND with calc on
// LOOPBACK for each element, received into the slots of the next room of staging that were posted
// for it: C is renamed to that room. A call of 3 goes as one of 4, whatever is in the fourth.
//
// Resources. Queues are as long as calls under way need in any order that adapters may choose
// (runtime/src/coredirect_needs.c): legalize counts entries before they are bytes, the runtime
// those of the template; both refuse with the numbers, and the compiler asks the runtime's count as
// well.
//
// The end. The last send on each queue pair is signalled, and the MQ waits for
// all of them: buffers may be reused when the call is done. Every RDMA WRITE on
// LOOPBACK that something depends on is signalled too. A call completes with one
// signalled entry of the MQ.

#pragma once

#include "codegen/target.h"
#include "nbc/hca.h"

namespace nbcc {

extern const Target coredirect;

/// Of a legal schedule: a message that stays within the node.
inline bool staysWithin(const Step &step) {
  return step.peer >= 0 && step.unit == Unit::host;
}

/// As an adapter of this kind would report them.
nbc_hca_facts coredirect_facts(const Device &);
std::vector<Legal> coredirect_legalize(const Schedule &, const Schedule *inPlace,
                                       const TargetOptions &, Diag &);
Template coredirect_emit(std::span<const Legal>, const TargetOptions &);
void coredirect_printTasks(const Template &, std::ostream &);
void coredirect_printResources(const Template &, std::ostream &);
void coredirect_verifyTemplate(const Template &, std::span<const Legal>, const TargetOptions &,
                               Diag &);

}  // namespace nbcc
