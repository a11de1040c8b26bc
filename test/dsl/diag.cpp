// SPDX-License-Identifier: BSD-3-Clause
// diag.cpp - the form of a message, and that nothing a source holds upsets a terminal.

#include "dsl/diag.h"

#include <gtest/gtest.h>

namespace nbcc {
namespace {

/// What is printed for an error at a column of a one-line file.
std::string shown(const std::string &line, uint16_t column, std::string name = "a.nbc") {
  std::ostringstream out;
  Diag diag(out);
  const uint16_t file = diag.addFile(std::move(name), line);
  diag.error({1, column, file}, "m");
  return out.str();
}

TEST(Diag, PlaceLineCaret) {
  EXPECT_EQ(shown("send x;", 6), "a.nbc:1:6: error: m\nsend x;\n     ^\n");
  EXPECT_EQ(shown("", 1), "a.nbc:1:1: error: m\n\n^\n");
  EXPECT_EQ(shown("ab", 3), "a.nbc:1:3: error: m\nab\n  ^\n");
}

TEST(Diag, WithoutPlace) {
  std::ostringstream out;
  Diag diag(out);
  diag.addFile("a.nbc", "text");
  diag.error({}, "no ", 3, " files");
  EXPECT_EQ(out.str(), "nbcc: error: no 3 files\n");
  EXPECT_FALSE(diag.ok());
}

TEST(Diag, TheRightLineOfTheRightFile) {
  std::ostringstream out;
  Diag diag(out);
  diag.addFile("a.nbc", "one\ntwo\n");
  const uint16_t b = diag.addFile("b.nbc", "eins\r\nzwei\r\n");
  diag.error({2, 1, b}, "m");
  diag.error({3, 1, 0}, "after the last line");
  EXPECT_EQ(out.str(),
            "b.nbc:2:1: error: m\nzwei\n^\n"
            "a.nbc:3:1: error: after the last line\n\n^\n");
}

TEST(Diag, TabsAreKept) {
  EXPECT_EQ(shown("\ta\tb", 4), "a.nbc:1:4: error: m\n\ta\tb\n\t \t^\n");
}

TEST(Diag, ColumnsCountCharacters) {
  EXPECT_EQ(shown("ä€𝄞x", 4), "a.nbc:1:4: error: m\nä€𝄞x\n   ^\n");
}

TEST(Diag, WhatATerminalWouldActUponIsEscaped) {
  EXPECT_EQ(shown("a\x1b[2Jb", 6), "a.nbc:1:6: error: m\na\\x1b[2Jb\n        ^\n");
  EXPECT_EQ(shown(std::string("\0x", 2), 2), "a.nbc:1:2: error: m\n\\x00x\n    ^\n");
  EXPECT_EQ(shown("\u202ex", 2), "a.nbc:1:2: error: m\n\\u{202e}x\n        ^\n");
  EXPECT_EQ(shown("\xff\xc3x", 3), "a.nbc:1:3: error: m\n\\xff\\xc3x\n        ^\n");
  EXPECT_EQ(shown("x", 1, "a\nb\x07"), "a\\x0ab\\x07:1:1: error: m\nx\n^\n");
}

TEST(Diag, OfALongLineThePartAroundTheCaret) {
  const std::string line = std::string(1000, 'a') + "X" + std::string(1000, 'b');
  const std::string text = shown(line, 1001);
  std::istringstream lines(text);
  std::string message, shownLine, caret;
  std::getline(lines, message), std::getline(lines, shownLine), std::getline(lines, caret);
  EXPECT_LT(shownLine.size(), 140u);
  EXPECT_TRUE(shownLine.starts_with("...") && shownLine.ends_with("...")) << shownLine;
  EXPECT_EQ(shownLine.at(caret.find('^')), 'X');
}

TEST(Diag, TheSameErrorIsSaidOnceAndItsNotesToo) {
  std::ostringstream out;
  Diag diag(out);
  const uint16_t file = diag.addFile("a.nbc", "x\ny\n");
  for (int i = 0; i < 3; ++i) {
    diag.error({1, 1, file}, "e");
    diag.note({2, 1, file}, "n");
  }
  EXPECT_EQ(diag.errors(), 1);
  EXPECT_EQ(out.str(), "a.nbc:1:1: error: e\nx\n^\na.nbc:2:1: note: n\ny\n^\n");
}

TEST(Diag, AfterTheMostItOnlyCounts) {
  std::ostringstream out;
  Diag diag(out);
  const uint16_t file = diag.addFile("a.nbc", "");
  for (int i = 0; i < Diag::kMost + 10; ++i) {
    diag.error({1, 1, file}, "e", i);
    diag.note({1, 1, file}, "n", i);
  }
  EXPECT_EQ(diag.errors(), Diag::kMost + 10);
  EXPECT_NE(out.str().find("e49"), std::string::npos);
  EXPECT_EQ(out.str().find("e50"), std::string::npos);
  EXPECT_EQ(out.str().find("n50"), std::string::npos);
  EXPECT_NE(out.str().find("more than 50 errors"), std::string::npos);
}

TEST(Diag, AWarningIsNoError) {
  std::ostringstream out;
  Diag diag(out);
  diag.warning({}, "w");
  EXPECT_TRUE(diag.ok());
  EXPECT_EQ(out.str(), "nbcc: warning: w\n");
}

}  // namespace
}  // namespace nbcc
