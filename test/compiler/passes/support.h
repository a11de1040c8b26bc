// SPDX-License-Identifier: BSD-3-Clause
// support.h - run one pass on a text, and see the steps that come out.

#pragma once

#include <gtest/gtest.h>

#include <sstream>

#include "compiler/passes/passes.h"

namespace nbcc {

inline std::vector<Schedule> readAll(const std::string &text) {
  std::ostringstream said;
  Diag diag(said);
  std::vector<Schedule> schedules = readSchedules(diag.addFile("t", text), diag);
  for (const Schedule &s : schedules) verify(s, diag);
  EXPECT_EQ(said.str(), "") << text;
  return schedules;
}

inline std::string printed(const Schedule &s) {
  std::ostringstream out;
  print(s, out);
  return out.str();
}

/// The schedule after a pass, without its first and last line. It keeps its promises.
inline std::string after(const char *pass, const std::string &text,
                         const PassContext &context = {}) {
  std::vector<Schedule> schedules = readAll(text);
  if (schedules.empty()) return "";
  Schedule &s = schedules[0];
  findPass(pass)->run(s, context);
  std::ostringstream said;
  Diag diag(said);
  diag.addFile("t", text);
  verify(s, diag);
  EXPECT_EQ(said.str(), "") << printed(s);
  std::string all = printed(s);
  all.erase(0, all.find('\n') + 1);
  all.erase(all.rfind("end\n"));
  return all;
}

}  // namespace nbcc
