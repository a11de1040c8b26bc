// SPDX-License-Identifier: BSD-3-Clause
// reach.cpp - what has finished when a step may start.
//
// What a step waits for has finished, and what had finished when that started: so
// its row of bits is those of its waits, together. Rows are made when they are first
// asked about; each takes a 64th of the steps before it per wait.
//
// Rows are quadratic, so long schedules do without: a step waits for smaller numbers
// only, and a search backwards from `step` need not go below `before`. Linear in the
// waits between the two; a mark per question instead of clearing makes many questions
// cheap.

#include <cassert>

#include "compiler/ir/schedule.h"

namespace nbcc {

Reach::Reach(const Schedule &s) : s_(s) {
  assert(s.order == Order::waits);
  if (s.steps.size() <= kMostKept) words_ = (s.steps.size() + 63) / 64;
}

bool Reach::finishedBefore(StepId before, StepId step) {
  if (before >= step) return false;
  if (words_ == 0) return search(before, step);
  keepUpTo(step);
  return rows_[step * words_ + before / 64] >> (before % 64) & 1;
}

void Reach::keepUpTo(StepId step) {
  if (rows_.empty()) rows_.assign(s_.steps.size() * words_, 0);
  for (; kept_ <= step; ++kept_) {
    uint64_t *row = &rows_[kept_ * words_];
    for (const StepId earlier : s_.after(s_.steps[kept_])) {
      const uint64_t *other = &rows_[earlier * words_];
      const size_t last = earlier / 64;  // no bit behind it is set
      for (size_t word = 0; word <= last; ++word) row[word] |= other[word];
      row[last] |= uint64_t{1} << (earlier % 64);
    }
  }
}

bool Reach::search(StepId before, StepId step) {
  seen_.resize(s_.steps.size(), 0);
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
