// SPDX-License-Identifier: BSD-3-Clause
// program.h - a program in a string, compiled once; what it builds, and what it refuses, as text.

#pragma once

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "compiler/jit/elaborator.h"
#include "dsl/parse.h"

namespace nbcc {

class Program {
 public:
  explicit Program(const std::string &text, Limits limits = {}) : diag_(said_) {
    file_ = parseText("test.nbc", text, diag_);
    if (file_) check(*file_, diag_);
    EXPECT_TRUE(diag_.ok()) << said_.str();
    if (diag_.ok()) elaborator_ = std::make_unique<Elaborator>(*file_, diag_, limits);
  }

  bool ok() const { return elaborator_ != nullptr; }
  const ast::Algorithm &algorithm(size_t i = 0) const { return *file_->algorithms[i]; }
  Elaborator &elaborator() { return *elaborator_; }

  std::optional<Schedule> schedule(const Request &request) {
    if (!ok()) return std::nullopt;
    std::optional<Schedule> s = elaborator_->elaborate(algorithm(), request);
    if (s) verify(*s, diag_);
    EXPECT_TRUE(!s || diag_.ok()) << said_.str();
    return s;
  }

  /// Buffers and steps as they are printed, without indentation and places.
  std::string steps(const Request &request) {
    std::optional<Schedule> s = schedule(request);
    if (!s) return "refused: " + said_.str();
    for (Step &step : s->steps) step.loc = {};
    std::ostringstream out;
    print(*s, out);
    std::istringstream lines(out.str());
    std::string line, result;
    std::getline(lines, line);  // the head
    while (std::getline(lines, line) && line != "end") result += line.substr(2) + "\n";
    return result;
  }

  /// "line:column: message" of the error of one run; its second and third line,
  /// which show the place, are left out.
  std::string mistake(const Request &request) {
    if (!ok()) return "does not compile";
    said_.str("");
    if (elaborator_->elaborate(algorithm(), request)) return "";
    return firstError();
  }

  /// The first error since the last.
  std::string firstError() {
    std::string all = said_.str();
    said_.str("");
    size_t begin = all.find(':') + 1, end = all.find('\n');
    std::string line = all.substr(begin, end - begin);
    size_t error = line.find("error: ");
    return error == std::string::npos ? line : line.erase(error, 7);
  }

 private:
  std::ostringstream said_;
  Diag diag_;
  std::unique_ptr<ast::File> file_;
  std::unique_ptr<Elaborator> elaborator_;
};

}  // namespace nbcc
