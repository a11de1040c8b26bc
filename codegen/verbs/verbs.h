// SPDX-License-Identifier: BSD-3-Clause
// verbs.h - a schedule as messages over the reliable connections of an RDMA adapter.
//
// Two ranks that exchange messages have a queue pair each, connected to the other's. The host posts
// work requests; the adapter carries them out one behind the other, without the host, and says so
// in a completion queue. What it sends it gathers from several places; what comes in it puts where
// the sender says, in one run. There is no waiting for another queue (that is what cross-channel
// adapters add, target coredirect), so whatever needs something that was received first waits for
// the host: in nbc_test, in nbc_wait, or in a thread.
//
// How a call becomes messages: codegen/messages/messages.h. What is peculiar here:
//
// Posted ahead. All that no message holds back is posted in nbc_start: that is the whole call of an
// algorithm of one round, of a linear or pairwise exchange, or of a root that sends. Between two
// WAITs, what goes to one peer is one chain of work requests with one doorbell
// (--emit=resources counts them, and the steps of the host).
//
// Pieces. A section of several runs is sent as it lies while the adapter gathers as many
// (Device::maxGather): NBC_RELOC_PIECES. What is received is one run, or else the host takes it
// apart: an RDMA write goes to one place.
//
// Protocols are the runtime's: it knows each message's length, and both ends choose alike
// (runtime/src/verbs.h). Hence one variant for all of them.
//
// Why it cannot deadlock. messages.h asks that a message ends which both ranks have posted,
// provided that both go on testing, whatever other messages there are; runtime/src/verbs.h says why
// it does.
//
// After: Hoefler, Lumsdaine, "Optimizing non-blocking Collective Operations for InfiniBand" (2008).

#pragma once

#include "codegen/target.h"

namespace nbcc {

extern const Target verbs;

std::vector<Legal> verbs_legalize(const Schedule &, const Schedule *inPlace, const TargetOptions &,
                                  Diag &);
Template verbs_emit(std::span<const Legal>, const TargetOptions &);
void verbs_printResources(const Template &, std::ostream &);

}  // namespace nbcc
