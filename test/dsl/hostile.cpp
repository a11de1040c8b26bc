// SPDX-License-Identifier: BSD-3-Clause
// hostile.cpp - input that is made to overflow, to hang or to confuse: an error, soon, each time.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "test/dsl/tree.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMany = 10000;

TEST(Hostile, WhatNestsIsRefusedWhereItGetsTooDeep) {
  const std::string open = "allgather a {\n";
  for (const std::string &text : {
           open + "let x = " + repeat("(", kMany) + "1" + repeat(")", kMany) + ";}",
           open + "let x = " + repeat("(", kMany),
           open + "let x = " + repeat("-(", kMany),
           open + "let x = " + repeat("f(", kMany),
           open + "let x = " + repeat("if ", kMany) + "1;}",
           open + "let x = " + repeat("if true then ", kMany) + "1;}",
           open + "let x = " + repeat("fold s = ", kMany) + "1;}",
           open + "let x = " + repeat("fold s = 0 for i in 0 .. ", kMany) + "1;}",
           open + "let x = " + repeat("fold s = 0 for i in 0 .. 1 : ", kMany) + "1;}",
           open + repeat("if true { ", kMany) + repeat("}", kMany),
           open + repeat("if true { } else { ", kMany),
           open + repeat("for i in 0 .. 1 { ", kMany),
           open + repeat("round { ", kMany),
       }) {
    Outcome o = compile(text);
    EXPECT_FALSE(o.file);
    EXPECT_TRUE(contains(o.said, "more than 200 brackets, blocks or 'if' inside each other"))
        << text.substr(0, 60) << "\n"
        << o.said;
  }
}

TEST(Hostile, WhatGrowsWithoutBracketsIsRefusedToo) {
  for (const std::string &text : {
           repeat("- ", kMany) + "1",
           repeat("not ", kMany) + "true",
           repeat("1 + ", kMany) + "1",
           repeat("1 xor ", kMany) + "1",
           repeat("true and ", kMany) + "true",
           repeat("if true then 1 else ", kMany) + "1",
       }) {
    Outcome o = compileBody("let x = " + text + ";");
    EXPECT_FALSE(o.file);
    EXPECT_TRUE(contains(o.said, "more than 500 operators below each other")) << o.said;
  }
  // Each of them is below the limit; what stands in a bound counts as deeper all the same.
  const std::string sum = repeat("1 + ", 400), deep = repeat(" + 1", 400);
  for (const std::string &fold : {
           "(fold s = 0 for i in " + sum + "1 .. P : s)" + deep,
           "(fold s = 0 for i in 0 .. " + sum + "1 : s)" + deep,
           "(fold s = 0 for i in 0 .. 2 if 0 < " + sum + "i : s)" + deep,
           "(fold s = 0 for i in 0 .. 2 : " + sum + "s)" + deep,
       }) {
    Outcome o = compileBody("let x = " + fold + ";");
    EXPECT_TRUE(contains(o.said, "more than 500 operators below each other")) << o.said;
  }
  Outcome o = compileBody("if true { }" + repeat(" else if true { }", kMany));
  EXPECT_TRUE(contains(o.said, "more than 200 times 'else if'")) << o.said;
  o = compileBody("let x = " + repeat("1 < ", kMany) + "1;");
  EXPECT_TRUE(contains(o.said, "comparisons do not chain")) << o.said;
}

TEST(Hostile, JustBelowTheLimitsAllIsWell) {
  EXPECT_TRUE(compileBody("let x = " + repeat("(", 195) + "1" + repeat(")", 195) + ";").ok);
  EXPECT_TRUE(compileBody("let x = " + repeat("1 + ", 490) + "1;").ok);
  EXPECT_TRUE(compileBody("if true { }" + repeat(" else if true { }", 199)).ok);
  EXPECT_TRUE(compileBody(repeat("if true { ", 195) + repeat("}", 195)).ok);
  EXPECT_TRUE(compileBody(repeat("round { send in to me + 1; }", 5000)).ok);
}

TEST(Hostile, LongWords) {
  EXPECT_TRUE(contains(compile(std::string(100000, 'a')).said, "has 100000 characters"));
  EXPECT_TRUE(contains(compileBody("let x = " + std::string(100000, '9') + ";").said,
                       "this number is larger"));
  EXPECT_TRUE(
      contains(compile("import \"" + std::string(5000, 'a') + "\";").said, "5002 characters"));
}

TEST(Hostile, CommentsAndNames) {
  // Each of these is walked once: an unclosed comment is not looked for again from every /*.
  EXPECT_TRUE(contains(compile(repeat("/*", 200000)).said, "not closed"));
  EXPECT_TRUE(contains(compile("/*" + std::string(900000, '*')).said, "not closed"));
  EXPECT_TRUE(contains(compile(repeat("/**/", 200000)).said, "no algorithm"));
  EXPECT_TRUE(contains(compile(std::string(100000, '@')).said, "'@' means nothing here"));
}

TEST(Hostile, NotUtf8) {
  const std::pair<std::string, std::string> wrong[] = {
      {"\xff", "0xff"},         {"\xc0\xaf", "0xc0"},         {"\xe0\x80\xaf", "0xe0"},
      {"\xed\xa0\x80", "0xed"}, {"\xf4\x90\x80\x80", "0xf4"}, {"\xc3", "0xc3"},
      {"\x80", "0x80"},         {"\xf0\x9f\x98", "0xf0"}};
  for (const auto &[bytes, name] : wrong) {
    Outcome o = compile("// ü\n  " + bytes);
    EXPECT_FALSE(o.file);
    EXPECT_TRUE(contains(o.said, "t.nbc:2:3: error: this is not UTF-8: byte " + name)) << o.said;
  }
  EXPECT_TRUE(compile("// ü € 𝄞 \xf4\x8f\xbf\xbf\nbarrier b { }").ok);
  EXPECT_TRUE(contains(compile(std::string("barrier b { \0 }", 15)).said, "'\\x00' means nothing"));
}

TEST(Hostile, ManyErrorsAreCountedNotPrinted) {
  Outcome o = compileBody(repeat("let a = b;\n", 20000));
  EXPECT_GT(o.errors, 20000);
  EXPECT_LT(o.said.size(), 20000u);
}

TEST(Hostile, LongChainsOfFunctions) {
  std::string chain = "fn f0(x) = x;", circle = "fn f0(x) = f20000(x);";
  for (int i = 1; i <= 20000; ++i) {
    const std::string next = cat("fn f", i, "(x) = f", i - 1, "(x);");
    chain += next, circle += next;
  }
  EXPECT_TRUE(compile(chain + "barrier b { let x = f20000(me); }").ok);
  Outcome o = compile(circle + "barrier b { }");
  EXPECT_EQ(o.errors, 1) << o.said;
  EXPECT_TRUE(contains(o.said, "cannot call itself"));
}

TEST(Hostile, CutAnywhereOrWithAByteChangedItIsAnErrorOrNot) {
  const std::string text = R"(fn p(v) = fold s = v for i in 0 ..< 9 if bit(s, i) : (s - 1) / 2;
allreduce a(k = 1) requires P > 0 claims rounds <= ceil_log(2, P) {
  scratch t[j in 0 ..< P] like out; let n = if k > 1 then -k else p(k);
  for d = 1; d < P; d *= 2 { round { exchange out -> t[{ j in 0 .. 1 : j == 0 }] with me xor d; } }
  if me == 0 { reduce t[0], out -> out; } else if not odd(me) { copy in -> out; } else { }
  group g = { r in 0 ..< P : r > 0 }; group h[i in 0 ..< size(g)] = g[size(g) - 1 - i];
  run gather.c(root = 0, k = 1) among h with in = in, out[i] = t[h[i]];
}
gather c(k) { copy in -> out[ranks_on(nodes - 1)]; })";
  ASSERT_TRUE(compile(text).ok) << compile(text).said;
  for (size_t i = 0; i < text.size(); ++i) {
    Outcome cut = compile(text.substr(0, i));
    EXPECT_EQ(cut.ok, cut.said.empty()) << i;
    EXPECT_FALSE(cut.ok) << i << cut.said;
  }
  std::mt19937 random(1);
  const std::string_view bytes = "(){}[];,=<>+-*/.: x1\n\"e";
  for (int i = 0; i < 1000; ++i) {
    std::string changed = text;
    for (int k = 0; k <= i % 3; ++k)
      changed[random() % changed.size()] = bytes[random() % bytes.size()];
    Outcome o = compile(changed);
    EXPECT_EQ(o.ok, o.errors == 0) << changed;
    EXPECT_EQ(o.ok, o.said.empty()) << changed;
  }
}

class HostileFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / cat("nbcc-hostile-", ::getpid());
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string &name, const std::string &text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  /// What parsing a file says; empty: nothing.
  std::string said(const fs::path &path) {
    std::ostringstream out;
    Diag diag(out);
    const bool parsed = parse(path, diag) != nullptr;
    EXPECT_EQ(parsed, diag.ok());
    return out.str();
  }
  fs::path folder_;
};

TEST_F(HostileFiles, AreNotReadWhole) {
  const std::string path = write("big.nbc", "");
  fs::resize_file(path, 100 << 20);  // of zeros, which take no room
  EXPECT_TRUE(contains(said(path), "is larger than 1048576 bytes"));
  EXPECT_TRUE(contains(said("/dev/zero"), "is larger than 1048576 bytes"));
}

TEST_F(HostileFiles, ThatAreNone) {
  EXPECT_TRUE(contains(said(folder_), "it is a directory"));
  EXPECT_TRUE(contains(said(folder_ / "no.nbc"), "No such file"));
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  EXPECT_TRUE(contains(said(write("a.nbc", "import \"fifo\";")), "it is not a regular file"));
}

TEST_F(HostileFiles, ThatImportThemselvesOrTooMuch) {
  EXPECT_TRUE(contains(said(write("self.nbc", "import \"./x/../self.nbc\";")),
                       "these files import each other: self.nbc -> self.nbc"));
  for (int i = 0; i < 40; ++i) write(cat("d", i), cat("import \"d", i + 1, "\";"));
  EXPECT_TRUE(contains(said(folder_ / "d0"), "more than 32 files deep"));
  std::string wide;
  for (int i = 0; i < 300; ++i) {
    write(cat("w", i), "fn f(x) = x;");
    wide += cat("import \"w", i, "\";");
  }
  EXPECT_TRUE(contains(said(write("wide.nbc", wide)), "more than 256 files"));
}

TEST_F(HostileFiles, AByteOrderMarkMayBeginAFileOnce) {
  const std::string mark = "\xef\xbb\xbf", text = "barrier b { }\r\n";
  EXPECT_EQ(said(write("bom.nbc", mark + text)), "");
  EXPECT_TRUE(contains(said(write("two.nbc", mark + mark + text)),
                       "two.nbc:1:1: error: a byte order mark means nothing here"));
  for (const std::string &late : {mark, mark + text, text + mark})
    EXPECT_FALSE(compile(late).ok) << late;
}

}  // namespace
}  // namespace nbcc
