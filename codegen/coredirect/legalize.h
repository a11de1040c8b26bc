// SPDX-License-Identifier: BSD-3-Clause
// legalize.h - the ways of coredirect.h, one function each, and what they share.

#pragma once

#include <cstdint>
#include <vector>

#include "codegen/target.h"
#include "compiler/ir/schedule.h"

namespace nbcc::crosschannel {

/// The steps of a schedule that is being rewritten. They get numbers as they
/// come, and their place in the end: what happens before everything, then round
/// by round what is local before what is communication.
class Draft {
 public:
  /// Takes over everything but the steps. Buffers may be added to `result`.
  explicit Draft(const Schedule &source);

  /// A step like `like`, of the same round, with nothing in its sections.
  /// Numbers are the draft's own until finish().
  StepId add(const Step &like, Op, Unit);
  Step &step(StepId id) { return steps_[id]; }
  /// What add() made for host_before goes first, for host_after last.
  void after(StepId id, std::vector<StepId> waits) { waits_[id] = std::move(waits); }
  const std::vector<StepId> &after(StepId id) const { return waits_[id]; }
  StepId size() const { return static_cast<StepId>(steps_.size()); }

  /// A room: a buffer whose blocks are the units of a section, packed.
  BufferId addRoom(std::string name, Role, Section like);
  /// All of a room, as a section.
  Extent whole(BufferId room) const { return {room, 1, 0, result.buffers[room].blocks}; }

  /// Orders and numbers the steps.
  Schedule finish();

  Schedule result;

 private:
  std::vector<Step> steps_;
  std::vector<std::vector<StepId>> waits_;
};

struct EagerOptions {
  bool slotPerBlock = false;
  bool calc = false;  // reductions by the adapter
};

/// legalize_eager.cpp, legalize_rendezvous.cpp, legalize_calc.cpp. Empty: it cannot
/// be expressed, which was reported.
Schedule legalizeEager(const Schedule &, const Device &, const EagerOptions &, Diag &);
Schedule legalizeRendezvous(const Schedule &, const Device &, Diag &);

/// own_lengths.cpp: kinds whose blocks MPI lets differ; those where every rank knows how
/// long all blocks are.
bool hasOwnLengths(ast::Kind);
bool allKnowAllLengths(ast::Kind);
/// Makes a schedule fit for calls in which each block has a length of its own; false: it
/// is not, which was reported.
bool giveOwnLengths(Schedule &, Diag &);
/// From then on no extent names more than one block of a caller's buffer.
void cutAtBlocks(Schedule &);

/// Whether everything that is sent and reduced is one whole vector, so that a
/// vector of one element is one slot of the adapter everywhere.
bool fitsCalc(const Schedule &, const Device &);

}  // namespace nbcc::crosschannel
