// SPDX-License-Identifier: BSD-3-Clause
// stages.h - a schedule through the stages of a target.
//
// Which target, who includes this has said before: nbcc::tested.

#pragma once

#include "codegen/target.h"
#include "test/codegen/schedules.h"

namespace nbcc {

/// Legal ways; whatever is wrong with them is a failure.
inline std::vector<Legal> ways(const Schedule &s, const TargetOptions &options = {},
                               const Schedule *inPlace = nullptr) {
  std::ostringstream said;
  Diag diag(said);
  std::vector<Legal> legals = tested.legalize(s, inPlace, options, diag);
  for (const Legal &legal : legals) verify(legal.schedule, diag);
  EXPECT_EQ(said.str(), "") << printed(s);
  return legals;
}

inline std::string verified(const Template &t, const std::vector<Legal> &legals,
                            const TargetOptions &options = {}) {
  std::ostringstream said;
  Diag diag(said);
  tested.verifyTemplate(t, legals, options, diag);
  return said.str();
}

/// What legalize says of a schedule that it refuses.
inline std::string refused(const Schedule &s, const TargetOptions &options = {}) {
  std::ostringstream said;
  Diag diag(said);
  EXPECT_TRUE(tested.legalize(s, nullptr, options, diag).empty()) << printed(s);
  return said.str();
}

/// The steps of the last way, without the first line and `end`.
inline std::string legal(const Schedule &s, const TargetOptions &options = {}) {
  const std::vector<Legal> all = ways(s, options);
  if (all.empty()) return "";
  std::string text = printed(all.back().schedule);
  text.erase(0, text.find('\n') + 1);
  return text.erase(text.rfind("end\n"));
}

inline std::string tasks(const Template &t) {
  std::ostringstream out;
  tested.printTasks(t, out);
  return out.str();
}

}  // namespace nbcc
