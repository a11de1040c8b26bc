// SPDX-License-Identifier: BSD-3-Clause
// keep_rounds.cpp - every step waits for all of the round before, whatever it touches.
//
//   order rounds                           order waits
//   %0 = send in to 1 round 0              %0 = send in to 1
//   %1 = recv tmp from 1 round 0      =>   %1 = recv tmp from 1
//   %2 = copy tmp -> out[1] round 1        %2 = copy tmp -> out[1] after %0, %1
//   %3 = send in to 2 round 1              %3 = send in to 2 after %2
//
// This is Order::rounds to the letter, for --rounds=strict: to measure what the
// overlap of rounds is worth. One wait per pair of steps of neighbouring rounds.

#include "compiler/passes/passes.h"

namespace nbcc {

void keepRounds(Schedule &s, const PassContext &) {
  if (s.order != Order::rounds) return;
  const StepId n = static_cast<StepId>(s.steps.size());
  std::vector<StepId> before;  // what ended last: a copy or reduction, or a round's communication
  for (StepId begin = 0; begin < n;) {
    StepId end = begin + 1;
    if (s.steps[begin].peer >= 0)
      while (end < n && s.steps[end].round == s.steps[begin].round) ++end;
    const Run after = s.keepWaits(before);
    before.clear();
    for (StepId i = begin; i < end; ++i) {
      s.steps[i].after = after;  // they may share it: pools are never written to
      before.push_back(i);
    }
    begin = end;
  }
  s.order = Order::waits;
}

}  // namespace nbcc
