// SPDX-License-Identifier: BSD-3-Clause
// sources.cpp - when a source is compiled, and when what was kept is used: whatever is different is
// noticed, whatever is damaged is made anew, and many processes may be at it at once.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/algorithms/cache.h"
#include "compiler/algorithms/digest.h"
#include "test/compiler/algorithms/folder.h"
#include "test/compiler/algorithms/set.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

/// A source, and a cache; each set is as a process of its own would see them.
class Kept {
 public:
  explicit Kept(const std::string &text = kRing)
      : source(here.put("tree/allgather/my.nbc", text)) {}

  enum class Outcome { found, compiled, refused };
  Outcome outcome(const nbc_build_request &r, nbc_algorithms_options options = {}) {
    Set all({source}, cache, options);
    const std::string made = all.build(r);
    said = all.why + all.info().trouble;
    if (!made.empty()) templates.push_back(made);
    return all.compiled() ? Outcome::compiled : all.found() ? Outcome::found : Outcome::refused;
  }
  Outcome outcome() { return outcome(Set::request("allgather.circle")); }
  fs::path only(const std::string &end) const {
    const auto all = here.all("cache", end);
    EXPECT_EQ(all.size(), 1u) << end;
    return all.empty() ? fs::path() : all[0];
  }

  Folder here;
  std::string source, cache = here.file("cache"), said;
  std::vector<std::string> templates;
};
using enum Kept::Outcome;

TEST(Sources, areCompiledOnce) {
  Kept kept;
  EXPECT_EQ(kept.outcome(), compiled);
  EXPECT_EQ(kept.outcome(), found);
  EXPECT_EQ(kept.said, "");
  EXPECT_EQ(kept.templates.at(0), kept.templates.at(1));
  const fs::path library = kept.only(".so");
  EXPECT_EQ(library.stem().string(), digest(Folder::read(library)));
  kept.only(".from");
}

TEST(Sources, thatChangeAreCompiledAnew) {
  Kept kept;
  EXPECT_EQ(kept.outcome(), compiled);
  kept.here.put("tree/allgather/my.nbc", std::string(kRing) + " ");
  EXPECT_EQ(kept.outcome(), compiled);
  kept.here.put("tree/allgather/my.nbc", kRing);
  EXPECT_EQ(kept.outcome(), found);
  kept.source = kept.here.put("tree/allgather/other.nbc", kRing);
  EXPECT_EQ(kept.outcome(), compiled) << "its name is in what errors say";
}

TEST(Sources, areCompiledForTheirRanksAndParameters) {
  Kept kept(
      "allgather circle(k = 1) requires k >= 1, P <= 4 {\n"
      "  copy in -> out[me];\n"
      "  round { for p in 0 ..< P if p != me { send in to p; } }\n"
      "  round { for p in 0 ..< P if p != me { recv out[p] from p; } }\n}\n");
  const auto with = [&](uint32_t ranks, int64_t k) {
    nbc_build_request r = Set::request("allgather.circle", ranks);
    r.parameters = k ? &k : nullptr;
    r.parameter_count = k ? 1 : 0;
    return kept.outcome(r);
  };
  EXPECT_EQ(with(1, 0), compiled) << kept.said;
  EXPECT_EQ(with(1, 0), found) << kept.said;
  EXPECT_EQ(with(1, 1), compiled) << kept.said;
  EXPECT_EQ(with(1, 2), compiled) << kept.said;
  EXPECT_EQ(with(1, 2), found) << kept.said;
  EXPECT_EQ(with(5, 0), compiled) << kept.said;
  EXPECT_NE(kept.said.find("requires this, which does not hold for 5 ranks"), std::string::npos)
      << kept.said;
  EXPECT_EQ(with(5, 0), found) << kept.said;
}

TEST(Sources, areCompiledAnewWhenAnImportChanges) {
  Kept kept(
      "import \"next.nbc\";\n"
      "allgather circle {\n  copy in -> out[me];\n  for i in 1 ..< P { round {\n"
      "    send out[(me - i + 1) mod P] to next(me, P);\n"
      "    recv out[(me - i) mod P] from (me - 1) mod P;\n  } }\n}\n");
  kept.here.put("tree/allgather/next.nbc", "fn next(r, n) = (r + 1) mod n;\n");
  EXPECT_EQ(kept.outcome(), compiled) << kept.said;
  EXPECT_EQ(kept.outcome(), found);
  kept.here.put("tree/allgather/next.nbc", "fn next(r, n) = (r - 1) mod n;\n");
  EXPECT_EQ(kept.outcome(), refused) << "the old one was used";
  EXPECT_NE(kept.said.find("circle fails with 4 ranks"), std::string::npos) << kept.said;
  kept.here.put("tree/allgather/next.nbc", "fn next(r, n) = (1 + r) mod n;\n");
  EXPECT_EQ(kept.outcome(), compiled);
  fs::remove(kept.here.file("tree/allgather/next.nbc"));
  EXPECT_EQ(kept.outcome(), refused);
  EXPECT_NE(kept.said.find("next.nbc"), std::string::npos) << kept.said;
}

/// `run gather.linear` means the installed one, until there is one in the source's own tree.
TEST(Sources, areCompiledAnewWhenWhatTheyRunComesFromElsewhere) {
  Kept kept(
      "allgather circle {\n  run gather.linear(root = 0) with in = in, out = out;\n"
      "  run bcast.binomial(root = 0) with data = out;\n}\n");
  const std::string own = "tree/gather/linear.nbc";
  if (kept.outcome() == refused) GTEST_FAIL() << kept.said;
  EXPECT_EQ(kept.outcome(), found);
  kept.here.put(own, Folder::read(fs::path(NBCC_SOURCE_DIR) / "stdlib_algos/gather/linear.nbc"));
  EXPECT_EQ(kept.outcome(), compiled);
  EXPECT_EQ(kept.outcome(), found);
  fs::remove(kept.here.file(own));
  EXPECT_EQ(kept.outcome(), compiled);
}

TEST(Sources, areCompiledAnewWhereTheLibraryIsDamaged) {
  Kept kept;
  EXPECT_EQ(kept.outcome(), compiled);
  const fs::path library = kept.only(".so");
  const std::string whole = Folder::read(library);
  const auto damaged = [&](const char *what, const std::string &bytes) {
    std::ofstream(library, std::ios::binary | std::ios::trunc) << bytes;
    EXPECT_EQ(kept.outcome(), compiled) << what;
    EXPECT_EQ(Folder::read(library), whole) << what;
    EXPECT_EQ(kept.outcome(), found) << what;
  };
  damaged("empty", "");
  damaged("cut off", whole.substr(0, whole.size() / 2));
  damaged("longer", whole + "x");
  damaged("another file",
          "\x7f"
          "ELF");
  for (size_t at = 0; at < whole.size(); at += whole.size() / 7) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    damaged("one bit", flipped);
  }
  fs::remove(library);
  EXPECT_EQ(kept.outcome(), compiled) << "gone";
  for (const std::string &t : kept.templates) EXPECT_EQ(t, kept.templates[0]);
}

TEST(Sources, areCompiledAnewWhereTheListIsDamaged) {
  Kept kept;
  EXPECT_EQ(kept.outcome(), compiled);
  const fs::path from = kept.only(".from");
  const std::string whole = Folder::read(from);
  for (const std::string &bytes : {std::string(), whole.substr(0, whole.size() / 2), whole + "x",
                                   std::string("library ../../evil\n")}) {
    std::ofstream(from, std::ios::binary | std::ios::trunc) << bytes;
    EXPECT_EQ(kept.outcome(), compiled);
    EXPECT_EQ(Folder::read(from), whole);
    EXPECT_EQ(kept.outcome(), found);
  }
}

/// A whole and right library, but another's.
TEST(Sources, doNotTakeTheLibraryOfAnother) {
  Kept kept;
  EXPECT_EQ(kept.outcome(), compiled);
  const fs::path mine = kept.only(".so");
  Kept other(
      "allgather circle {\n  copy in -> out[me];\n"
      "  round { for p in 0 ..< P if p != me { send in to p; recv out[p] from p; } }\n}\n");
  EXPECT_EQ(other.outcome(), compiled) << other.said;
  fs::copy_file(other.only(".so"), mine, fs::copy_options::overwrite_existing);
  EXPECT_EQ(kept.outcome(), compiled);
  EXPECT_EQ(kept.templates.at(1), kept.templates.at(0));
}

TEST(Sources, areCompiledAnewByAnotherCompiler) {
  Kept kept;
  nbc_algorithms_options first = {}, second = {};
  const std::string copy = kept.here.file("libnbc-jit.so");
  fs::copy_file(NBCC_JIT, copy);
  second.compiler = copy.c_str();
  const nbc_build_request r = Set::request("allgather.circle");
  EXPECT_EQ(kept.outcome(r, first), compiled);
  EXPECT_EQ(kept.outcome(r, second), compiled);
  EXPECT_EQ(kept.outcome(r, first), found);
  EXPECT_EQ(kept.outcome(r, second), found);
  fs::last_write_time(copy, fs::last_write_time(copy) + std::chrono::seconds(1));
  EXPECT_EQ(kept.outcome(r, second), compiled) << "it was built anew";
  const std::string nobody = kept.here.put("nobody.so", "");
  second.compiler = nobody.c_str();
  EXPECT_EQ(kept.outcome(r, second), refused);
  EXPECT_EQ(kept.said.find("the compiler cannot be loaded: "), 0u) << kept.said;
}

TEST(Sources, areCompiledWithoutACacheToo) {
  for (const char *cache : {"off", "/proc/nbcc"}) {
    Kept kept;
    kept.cache = cache;
    EXPECT_EQ(kept.outcome(), compiled);
    EXPECT_NE(kept.said, "");
    EXPECT_EQ(kept.outcome(), compiled);
    EXPECT_EQ(kept.templates.at(0), kept.templates.at(1));
  }
}

/// All begin with nothing; whatever the order, each has the right template, nobody sees half a
/// file, and nothing is left over.
TEST(Sources, mayBeCompiledByManyProcessesAtOnce) {
  Kept kept;
  Kept alone;
  EXPECT_EQ(alone.outcome(), compiled);
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const bool right = kept.outcome() != refused && kept.templates.at(0) == alone.templates[0] &&
                         kept.said.empty() && kept.outcome() == found;
      _exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(kept.outcome(), found);
  EXPECT_EQ(kept.here.all("cache", "").size(), 2u);
}

}  // namespace
}  // namespace nbcc
