// SPDX-License-Identifier: BSD-3-Clause
// elide_implied_waits.cpp - drop a wait that another wait already implies.
//
//   %1 = copy ... after %0
//   %2 = send ... after %0, %1      =>      %2 = send ... after %1
//
// %1 cannot finish before %0, so waiting for %1 is enough. Each wait that is left
// costs something at run time: a WAIT entry in a CORE-Direct queue, a completion
// to poll for on verbs, a flag to spin on for SCI.
//
// Touches only `after`. From a step's waits the search goes backwards, down to the
// smallest of them, and gives up after kWaitsSearch waits looked at per wait of the
// step: to keep one is never wrong. So it is linear in the waits.

#include <algorithm>
#include <ranges>

#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

constexpr size_t kWaitsSearch = 64;

}  // namespace

void elideImpliedWaits(Schedule &s, const PassContext &) {
  if (s.order != Order::waits) return;
  // seen[d] == i: found to finish before one of the waits of step i.
  std::vector<StepId> seen(s.steps.size(), -1), stack, kept;

  for (StepId i = 0; i < static_cast<StepId>(s.steps.size()); ++i) {
    const std::span<const StepId> after = s.after(s.steps[i]);
    if (after.size() < 2) continue;
    const StepId smallest = after.front();  // they are sorted

    // The latest waits first: they imply most.
    stack.assign(after.begin(), after.end());
    size_t budget = kWaitsSearch * after.size();
    while (!stack.empty() && budget > 0) {
      const StepId at = stack.back();
      stack.pop_back();
      for (const StepId earlier : s.after(s.steps[at]) | std::views::reverse) {
        if (earlier < smallest || budget == 0) break;  // sorted: the rest is smaller yet
        --budget;
        if (seen[earlier] == i) continue;
        seen[earlier] = i;
        if (earlier > smallest) stack.push_back(earlier);
      }
    }

    kept.clear();
    std::ranges::copy_if(after, std::back_inserter(kept), [&](StepId d) { return seen[d] != i; });
    if (kept.size() < after.size()) s.steps[i].after = s.keepWaits(kept);
  }
}

}  // namespace nbcc
