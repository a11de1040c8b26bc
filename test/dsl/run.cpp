// SPDX-License-Identifier: BSD-3-Clause
// run.cpp - what `run` reaches: where it is looked for, what check() completes, who asks for the
// topology.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "test/dsl/tree.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;
using namespace ast;

TEST(Run, IsCompleted) {
  Outcome o = compile(R"(
    allgather a {
      group g = { r in 0 ..< P : odd(r) };
      let x = g[1];
      run gather.b(root = x, k = 2) among g with in = in, out[i] = out[g[i]];
      copy out[g] -> out[ranks_on(0)];
    }
    gather b(k) { })");
  ASSERT_TRUE(o.ok) << o.said;
  const Algorithm &a = o.algorithm(), &b = *o.file->algorithms[1];
  const Statement &group = *o.body()[0], &let = *o.body()[1], &run = *o.body()[2];
  EXPECT_EQ(a.locals, 4);  // r g x i
  EXPECT_EQ(group.element->index, 0);
  EXPECT_EQ(group.variable->index, 1);
  EXPECT_EQ(group.variable->type, Type::group);
  EXPECT_EQ(let.value->what, Expr::What::member);
  EXPECT_EQ(let.value->args[0]->variable, group.variable.get());
  EXPECT_EQ(run.callee, &b);
  EXPECT_EQ(run.value->type, Type::group);
  EXPECT_EQ(run.arguments[1].name, "k");
  EXPECT_EQ(run.bindings[0].buffer, b.predefined[3].get());
  EXPECT_EQ(run.bindings[1].buffer, b.predefined[4].get());
  EXPECT_EQ(run.bindings[1].element->index, 3);
  EXPECT_EQ(o.body()[3]->from->what, Section::What::group);
  EXPECT_EQ(o.body()[3]->to->what, Section::What::group);
  EXPECT_EQ(b.symbol, "gather.b");
}

TEST(Run, TopologyIsAskedForByTheBodyTheHeadAFunctionOrACallee) {
  const auto asks = [](const std::string &text) {
    Outcome o = compile(text);
    EXPECT_TRUE(o.ok) << o.said;
    return o.ok && o.algorithm().topology;
  };
  EXPECT_FALSE(asks("barrier a { group g = { r in 0 ..< P }; let n = size(g); }"));
  EXPECT_TRUE(asks("barrier a { let n = nodes; }"));
  EXPECT_TRUE(asks("barrier a { if P > 1 { for i in 0 ..< node_of(me) { } } }"));
  EXPECT_TRUE(asks("barrier a requires nodes > 1 { }"));
  EXPECT_TRUE(asks("barrier a claims rounds <= size(ranks_on(0)) { }"));
  EXPECT_TRUE(asks("barrier a { let n = f(1); } fn f(x) = g(x); fn g(x) = local_rank(x);"));
  EXPECT_FALSE(asks("barrier a { let n = f(1); } fn f(x) = x; fn g(x) = local_rank(x);"));
  EXPECT_TRUE(asks(
      "barrier a { run barrier.b; } barrier b { run barrier.c; } barrier c { let n = nodes; }"));
  EXPECT_FALSE(asks("barrier a { run barrier.b; } barrier b { } barrier c { let n = nodes; }"));
}

class RunFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / cat("nbcc-run-", ::getpid());
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const fs::path &name, const std::string &text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  /// Parses and checks `name`; the library is the folder `library`.
  Outcome read(const fs::path &name) {
    std::ostringstream out;
    Diag diag(out);
    Outcome result;
    result.file = parse(folder_ / name, diag, {folder_ / "library"});
    if (result.file) check(*result.file, diag);
    result.ok = diag.ok();
    result.errors = diag.errors();
    result.said = out.str();
    return result;
  }
  fs::path folder_;
};

std::string symbols(const Outcome &o) {
  if (!o.ok) return o.said;
  std::string all;
  for (const auto &a : o.file->called) all += a->symbol + " ";
  return all;
}

const char *const runsX = "barrier a { run barrier.x; }";

TEST_F(RunFiles, TheNearestIsTaken) {
  write("library/barrier/x.nbc", "barrier x { let ofTheLibrary = 1; }");
  write("mine/a.nbc", runsX);
  const auto taken = [&] {
    const Outcome o = read("mine/a.nbc");
    EXPECT_TRUE(o.ok) << o.said;
    return o.ok ? o.body()[0]->callee->body.at(0)->variable->name : "";
  };
  EXPECT_EQ(taken(), "ofTheLibrary");
  write("barrier/x.nbc", "barrier x { let besideTheFolder = 1; }");
  EXPECT_EQ(taken(), "besideTheFolder");
  write("mine/more.nbc", "barrier x { let imported = 1; }");
  write("mine/a.nbc", cat("import \"more.nbc\";", runsX));
  EXPECT_EQ(taken(), "imported");
  write("mine/a.nbc", cat("import \"more.nbc\"; ", runsX, "barrier x { let own = 1; }"));
  EXPECT_EQ(taken(), "own");
}

TEST_F(RunFiles, AreReadOnceHoweverTheyAreReached) {
  write("library/barrier/x.nbc", "barrier x { run barrier.y; run barrier.z; }");
  write("library/barrier/y.nbc", "barrier y { run barrier.z; }");
  write("library/barrier/z.nbc", "barrier z { }");
  write("library/barrier/a.nbc", runsX);
  EXPECT_EQ(symbols(read("library/barrier/a.nbc")), "barrier.x barrier.y barrier.z ");
}

TEST_F(RunFiles, KeepFunctionsAndNamesOfTheirOwn) {
  write("library/barrier/x.nbc",
        "fn f(x, y) = x + y; barrier x { let v = f(1, 2); run barrier.a; } barrier a { }");
  write("mine/a.nbc", cat("fn f(x) = odd(x); barrier b { let v = f(1) or true; }", runsX));
  const Outcome o = read("mine/a.nbc");
  EXPECT_EQ(symbols(o), "barrier.x barrier.a.1 ");
  ASSERT_TRUE(o.ok);
  EXPECT_EQ(o.file->functions.size(), 2u);

  write("library/barrier/x.nbc", "barrier x { let v = f(1); }");
  EXPECT_TRUE(contains(read("mine/a.nbc").said, "x.nbc:1:21: error: there is no function 'f'"));
}

TEST_F(RunFiles, ErrorsNameTheirFile) {
  write("library/barrier/x.nbc", "barrier x { let v = w; }");
  write("mine/a.nbc", runsX);
  EXPECT_TRUE(contains(read("mine/a.nbc").said, "x.nbc:1:21: error: 'w' is not declared"));
  write("library/barrier/x.nbc", "barrier x { let v = ; }");
  const Outcome o = read("mine/a.nbc");
  EXPECT_TRUE(contains(o.said, "x.nbc:1:21: error: expected an expression"));
  EXPECT_EQ(o.errors, 1) << o.said;
  write("library/barrier/x.nbc", "barrier y { }");
  EXPECT_TRUE(contains(read("mine/a.nbc").said, "x.nbc' holds no algorithm barrier.x"));
}

TEST_F(RunFiles, CirclesThroughTheLibraryAreFound) {
  write("library/barrier/x.nbc", "barrier x { run barrier.a; }");
  write("library/barrier/a.nbc", runsX);
  const std::string said = read("library/barrier/a.nbc").said;
  EXPECT_TRUE(contains(said, "barrier.a -> barrier.x -> barrier.a") ||
              contains(said, "barrier.x -> barrier.a -> barrier.x"))
      << said;
}

TEST_F(RunFiles, ThereMayNotBeTooMany) {
  for (int i = 0; i < 300; ++i)
    write(cat("library/barrier/x", i, ".nbc"),
          cat("barrier x", i, " { run barrier.x", i + 1, "; }"));
  write("mine/a.nbc", "barrier a { run barrier.x0; }");
  const Outcome o = read("mine/a.nbc");
  EXPECT_TRUE(contains(o.said, "x255; }")) << o.said;
  EXPECT_TRUE(contains(o.said, "more than 256 files")) << o.said;
  EXPECT_EQ(o.errors, 1) << o.said;
}

}  // namespace
}  // namespace nbcc
