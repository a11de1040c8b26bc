// SPDX-License-Identifier: BSD-3-Clause
// reach.cpp - what has finished when a step may start.
//
// A step waits for smaller numbers only, so a search backwards from `step` need
// not go below `before`. Linear in the waits between the two; a mark per question
// instead of clearing makes many questions cheap.

#include <cassert>

#include "compiler/ir/schedule.h"

namespace nbcc {

Reach::Reach(const Schedule &s) : s_(s), seen_(s.steps.size(), 0) {
  assert(s.order == Order::waits);
}

bool Reach::finishedBefore(StepId before, StepId step) {
  if (before >= step) return false;
  if (++mark_ == 0) {  // after 2^32 questions
    seen_.assign(seen_.size(), 0);
    mark_ = 1;
  }
  stack_.assign(1, step);
  while (!stack_.empty()) {
    const StepId at = stack_.back();
    stack_.pop_back();
    for (const StepId earlier : s_.after(s_.steps[at])) {
      if (earlier == before) return true;
      if (earlier < before || seen_[earlier] == mark_) continue;
      seen_[earlier] = mark_;
      stack_.push_back(earlier);
    }
  }
  return false;
}

}  // namespace nbcc
