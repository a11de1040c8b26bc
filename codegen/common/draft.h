// SPDX-License-Identifier: BSD-3-Clause
// draft.h - a schedule while it is rewritten: steps come in any order and leave in the right one.

#pragma once

#include <string>
#include <vector>

#include "compiler/ir/schedule.h"

namespace nbcc::codegen {

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

}  // namespace nbcc::codegen
