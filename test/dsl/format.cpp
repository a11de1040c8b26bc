// SPDX-License-Identifier: BSD-3-Clause
// format.cpp - what format.h promises, for the project's own sources and for these with other white
// space and more comments. How a source looks afterwards is in test/dsl/format.

#include "dsl/format.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <filesystem>
#include <fstream>

#include "dsl/source.h"
#include "test/dsl/tree.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

struct Source {
  std::string name, text;
};

/// Tests with planted errors may hold what does not parse; nothing else may.
bool mayBeRefused(const fs::path &path) {
  return path.stem().string().ends_with("-errors") || path.filename() == "broken.nbc";
}

/// All .nbc files of the project that parse.
const std::vector<Source> &project() {
  static const std::vector<Source> sources = [] {
    std::vector<Source> result;
    for (const char *top : {"bench", "stdlib_algos", "test"})
      for (const auto &entry : fs::recursive_directory_iterator(fs::path(NBCC_SOURCE_DIR) / top)) {
        if (entry.path().extension() != ".nbc") continue;
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(file), {});
        std::ostringstream said;
        Diag diag(said);
        const bool parses = parseOne(diag.addFile(entry.path().string(), text), diag) != nullptr;
        EXPECT_TRUE(parses || mayBeRefused(entry.path())) << said.str();
        if (parses) result.push_back({entry.path().string(), text});
      }
    return result;
  }();
  return sources;
}

std::string formatted(const std::string &text) {
  std::ostringstream said;
  Diag diag(said);
  const std::optional<std::string> result = formatText("t.nbc", text, diag);
  EXPECT_EQ(result.has_value(), diag.ok());
  return result ? *result : said.str();
}

std::vector<Word> wordsOf(const std::string &text) {
  std::ostringstream said;
  Diag diag(said);
  return words(diag.addFile("t.nbc", text), diag);
}

/// The words one below the other, without the white space that ends a comment's lines.
std::string spelled(const std::string &text) {
  std::string result;
  for (const Word &word : wordsOf(text)) {
    std::istringstream lines(word.text);
    for (std::string line; std::getline(lines, line);)
      result += line.substr(0, line.find_last_not_of(" \t\r") + 1) + "\n";
  }
  return result;
}

std::string pick(const std::vector<std::string> &from) {
  return *rc::gen::elementOf(from);
}

TEST(Format, TheProjectStaysAsItIs) {
  EXPECT_GE(project().size(), 30u);
  for (const Source &source : project())
    EXPECT_EQ(formatted(source.text), source.text) << source.name << ": ./nbc format";
}

/// Whether two words may touch, for any two tokens: one of them is a bracket, ',' or ';'.
bool mayTouch(const Word &left, const Word &right) {
  constexpr std::string_view separate = "()[]{},;";
  return separate.find(left.text.back()) != separate.npos ||
         separate.find(right.text.front()) != separate.npos;
}

/// The same lines with any white space within and around them.
std::string disturbed(const std::string &text) {
  const std::vector<std::string> spaces = {" ", "  ", "\t", " \t   "};
  const std::vector<std::string> ends = {"\n", "\r\n", "  \n", "\t\r\n"};
  std::string result = pick({"", "\n", "\r\n\n", " \n"});
  const std::vector<Word> all = wordsOf(text);
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && all[i].loc.line > all[i - 1].lastLine) {
      result += pick(ends);
      if (all[i].loc.line > all[i - 1].lastLine + 1)
        result += pick(ends) + pick({"", "\n", "\r\n"});
      result += pick({"", " ", "   ", "\t", "                                            "});
    } else if (i > 0 && all[i].what != Word::What::comment) {
      result += mayTouch(all[i - 1], all[i]) ? pick({"", " ", "\t"}) : pick(spaces);
    } else if (i > 0) {
      result += pick(spaces);
    }
    result += all[i].text;
  }
  return result + pick({"", "\n", "\n\n\n", "\r\n", "  "});
}

TEST(Format, OtherWhiteSpaceWithinLinesChangesNothing) {
  EXPECT_TRUE(rc::check([] {
    const Source source = *rc::gen::elementOf(project());
    RC_ASSERT(formatted(disturbed(source.text)) == source.text);
  }));
}

/// The same words with lines that end anywhere, and comments everywhere.
std::string torn(const std::string &text) {
  const std::vector<std::string> between = {" ",
                                            " ",
                                            " ",
                                            " ",
                                            "\n",
                                            "\n\n\n",
                                            " \r\n",
                                            "// ü\n",
                                            "//  c \t\n",
                                            "/* c */",
                                            "/* € */ ",
                                            "\n  // own\n",
                                            "\n\n//x\n",
                                            "/* a \n b*/",
                                            "/**//***/\n",
                                            "   // d\n",
                                            "\t/*\r\n\r\n*/"};
  std::string result;
  for (const Word &word : wordsOf(text)) {
    if (word.what == Word::What::comment) continue;
    result += pick(between);
    result += ' ' + word.text + ' ';
  }
  return result + pick(between);
}

TEST(Format, KeepsAllWordsAndIsDoneAtOnce) {
  EXPECT_TRUE(rc::check([] {
    const Source source = *rc::gen::elementOf(project());
    const std::string before = torn(source.text), after = formatted(before);
    RC_ASSERT(spelled(after) == spelled(before));
    RC_ASSERT(formatted(after) == after);
  }));
}

TEST(Format, WhatNeedsNoSpaceStaysTwoWords) {
  const std::string text = formatted("allgather a{let x=- -1;let y=not(not(x<- 2));}");
  EXPECT_EQ(text, "allgather a { let x = --1; let y = not (not (x < -2)); }\n");
}

TEST(Format, IsNoLargerThanWhatCanBeReadAgain) {
  const std::string deep = "allgather a {" + repeat("if true {\n", 190);
  const std::string wide = repeat("let x = 1;\n", 20000);
  EXPECT_TRUE(contains(formatted(deep + wide + repeat("}", 191)),
                       "'t.nbc', laid out, is larger than 1048576 bytes"));
  EXPECT_TRUE(contains(formatted(std::string(kMaxSourceBytes + 1, ' ')), "larger than 1048576"));
  EXPECT_TRUE(contains(formatted("// \xff"), "this is not UTF-8"));
}

TEST(Format, PaddingEndsAtTheWidthOfAPage) {
  // Else one long line would widen all the others: 1 MiB could become some 10 GiB.
  const std::string text = "barrier b {\n  let " + std::string(90, 'x') + " = 1;\n" +
                           "  let y = 1;\n" + "  let zz = 1;   // c\n" +
                           "  let z = " + repeat("1 + ", 40) + "1;   // d\n}\n";
  EXPECT_EQ(formatted(text), text);
}

TEST(Format, EmptyFiles) {
  EXPECT_EQ(formatted(""), "");
  EXPECT_EQ(formatted(" \r\n\t\n"), "");
  EXPECT_EQ(formatted("\n\n// c  \r\n\n\n"), "// c\n");
}

}  // namespace
}  // namespace nbcc
