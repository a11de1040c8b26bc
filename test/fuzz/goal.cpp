// SPDX-License-Identifier: BSD-3-Clause
// goal.cpp - any bytes, read as GOAL and checked: refused, or an answer.

#include "compiler/exchange/goal.h"

#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  nbcc::Attempt run;
  const std::string text(reinterpret_cast<const char *>(bytes), size);
  const std::optional<nbcc::Goal> goal =
      nbcc::readGoal(run.diag.addFile("input.goal", text), run.diag);
  nbcc::wanted(goal.has_value() == run.diag.ok(), "read, or refused, not both: ", run.said.str());
  run.spoken();
  if (!goal) return 0;
  nbcc::checkGoal(*goal, run.diag);
  run.spoken();
  return 0;
}
