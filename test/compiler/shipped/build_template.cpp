// SPDX-License-Identifier: BSD-3-Clause
// build_template.cpp - what libnbc-build makes from a shared object is, byte for byte, what nbcc
// makes from the source: for all algorithms of the library; and what it refuses, and how.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>

#include "compiler/driver/compile.h"
#include "compiler/output/output.h"
#include "dsl/parse.h"
#include "nbc/build.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

/// Sources, compiled in this process and as one shared object.
class Both {
 public:
  using Sources = std::vector<std::pair<fs::path, std::string>>;  // path and text; empty: read it
  explicit Both(Sources sources, bool anyLengths = false) : diag_(said) {
    std::string folder = (fs::temp_directory_path() / "nbc-shipped-XXXXXX").string();
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    LibraryContent content;
    content.name = "both";
    for (const Target *t : targets()) {
      platforms.push_back({t, {.device = &t->devices.front()}});
      if (anyLengths)
        platforms.push_back({t, {.device = &t->devices.front(), .lengths = Blocks::each}});
    }
    content.platforms = platforms;
    for (auto &[path, text] : sources) {
      files_.push_back(text.empty() ? parse(path, diag_) : parseText(path, text, diag_));
      if (!files_.back()) break;
      check(*files_.back(), diag_);
      if (!diag_.ok()) break;
      content.files.push_back(files_.back().get());
      for (const auto &a : files_.back()->algorithms) {
        auto &o = options.emplace_back(std::make_unique<Options>());
        o->algorithm = a->name;
        compilations.push_back(std::make_unique<Compilation>(*files_.back(), *o, diag_));
        content.algorithms.push_back({.file = files_.size() - 1,
                                      .algorithm = a.get(),
                                      .parameters = compilations.back()->parameters(),
                                      .anyLengths = anyLengths});
      }
    }
    const std::string path = folder_ / "libboth.so";
    if (diag_.ok()) writeLibrary(std::move(content), LibraryForm::shared, path, diag_);
    EXPECT_EQ(said.str(), "");
    const char *why = nullptr;
    EXPECT_EQ(nbc_library_open(path.c_str(), &library, &why), 0) << why;
  }
  ~Both() {
    nbc_library_close(library);
    fs::remove_all(folder_);
  }

  std::ostringstream said;
  std::vector<LibraryContent::Platform> platforms;
  std::vector<std::unique_ptr<Options>> options;  // by compilation
  std::vector<std::unique_ptr<Compilation>> compilations;
  const nbc_library *library = nullptr;

 private:
  Diag diag_;
  fs::path folder_;
  std::vector<std::unique_ptr<ast::File>> files_;
};

/// The template, or what was said.
std::string built(const nbc_library *library, const nbc_build_request &request,
                  int *status = nullptr) {
  void *made = nullptr;
  size_t bytes = 0;
  char why[512] = "not touched";
  const int result = nbc_build_template(library, &request, &made, &bytes, why, sizeof why);
  if (status) *status = result;
  if (result) return why;
  EXPECT_STREQ(why, "");
  std::string text(static_cast<const char *>(made), bytes);
  std::free(made);
  return text;
}

std::string bytesOf(const std::optional<Template> &t) {
  return t ? std::string(static_cast<const char *>(t->data()), t->bytes) : "";
}

/// Ranks dealt to nodes of 3; and a grid with one periodic dimension.
struct Surroundings {
  explicit Surroundings(uint32_t ranks) {
    for (uint32_t rank = 0; rank < ranks; ++rank) nodeOf.push_back(int32_t(rank / 3));
    sizes[0] = ranks % 2 ? 1 : 2;
    sizes[1] = int32_t(ranks) / sizes[0];
    graph.dimensions = 2;
    graph.sizes = sizes;
    graph.periodic = periodic;
  }
  std::vector<int32_t> nodeOf;
  int32_t sizes[2] = {}, periodic[2] = {0, 1};
  nbc_build_graph graph = {};
};

TEST(Shipped, buildsTheSameBytesForTheWholeLibrary) {
  Both::Sources sources;
  for (const auto &entry : fs::recursive_directory_iterator(NBCC_SOURCE_DIR "/stdlib_algos"))
    if (entry.path().extension() == ".nbc") sources.emplace_back(entry.path(), "");
  std::ranges::sort(sources);
  const Both both(std::move(sources));
  ASSERT_GT(both.compilations.size(), 50u);
  size_t compared = 0, applied = 0;
  for (size_t i = 0; i < both.compilations.size(); ++i) {
    Compilation &c = *both.compilations[i];
    Options &o = *both.options[i];
    const std::string name = fullName(*c.algorithm());
    bool once = false;
    for (const uint32_t ranks : {1u, 2u, 3u, 4u, 6u, 8u, 13u}) {
      const Surroundings around(ranks);
      o.topology = Topology(around.nodeOf);
      o.graph = Graph::cartesian({{around.sizes[0], false}, {around.sizes[1], true}});
      if (!c.applies(ranks, false).value_or(false)) continue;
      once = true;
      for (const LibraryContent::Platform &p : both.platforms)
        for (const uint32_t rank : {0u, 1u, ranks - 1})
          for (const uint32_t root : {0u, ranks - 1}) {
            if (rank >= ranks || (root > 0 && !c.collective().hasRoot())) continue;
            o.target = p.target;
            o.targetOptions = p.options;
            const nbc_build_request request = {.algorithm = name.c_str(),
                                               .target = p.target->name,
                                               .lengths = NBC_LENGTHS_EQUAL,
                                               .ranks = ranks,
                                               .rank = rank,
                                               .root = root,
                                               .parameters = nullptr,
                                               .node_of = around.nodeOf.data(),
                                               .graph = &around.graph};
            // Not EXPECT_EQ, which would print both.
            EXPECT_TRUE(built(both.library, request) == bytesOf(c.compile(ranks, rank, root, true)))
                << name << ", " << p.target->name << ", rank " << rank << " of " << ranks
                << ", root " << root << ": " << built(both.library, request).substr(0, 200);
            ++compared;
          }
    }
    applied += once;
  }
  EXPECT_EQ(both.said.str(), "");
  EXPECT_EQ(applied, both.compilations.size());
  EXPECT_GT(compared, 2000u);
}

constexpr const char *kSource = R"(
collective shift { in blocks[P + 1]; out block; ensures { out == in[0] of (me - 1) mod P; } }
shift ring(k = 1) requires P > 2, k < P
{
  round { send in[0] to (me + k) mod P; recv out from (me - k) mod P; }
}
bcast wrong { round { if me == 0 { send data to P; } } }
allgather spread
{
  copy in -> out[me];
  round { for i in 1 ..< P { send in to (me + i) mod P; recv out[(me - i) mod P] from (me - i) mod P; } }
}
)";

nbc_build_request request(const char *algorithm, uint32_t ranks = 4) {
  return {.algorithm = algorithm,
          .target = "coredirect",
          .lengths = NBC_LENGTHS_EQUAL,
          .ranks = ranks,
          .rank = 0,
          .root = 0,
          .parameters = nullptr,
          .node_of = nullptr,
          .graph = nullptr};
}

TEST(Shipped, buildsDeclaredCollectivesAndOtherParameters) {
  const Both both(Both::Sources{{"own.nbc", kSource}});
  Compilation &ring = *both.compilations[0];
  both.options[0]->target = both.platforms[0].target;
  both.options[0]->targetOptions = both.platforms[0].options;
  nbc_build_request r = request("shift.ring");
  EXPECT_TRUE(built(both.library, r) == bytesOf(ring.compile(4, 0, 0, true)));
  const int64_t three = 3;
  r.parameters = &three;
  int status = 1;
  const std::string other = built(both.library, r, &status);
  EXPECT_EQ(status, 0) << other;
  EXPECT_FALSE(other == bytesOf(ring.compile(4, 0, 0, true)));
}

TEST(Shipped, buildsBlocksWithLengthsOfTheirOwn) {
  const Both both(Both::Sources{{"own.nbc", kSource}}, true);
  both.options[2]->target = findTarget("coredirect");
  both.options[2]->targetOptions = {.device = &findTarget("coredirect")->devices.front(),
                                    .lengths = Blocks::each};
  nbc_build_request r = request("allgather.spread");
  const std::string equal = built(both.library, r);
  r.lengths = NBC_LENGTHS_EACH;
  const std::string each = built(both.library, r);
  EXPECT_TRUE(each == bytesOf(both.compilations[2]->compile(4, 0, 0, true)));
  EXPECT_FALSE(each == equal);
}

TEST(Shipped, refusesAndSaysWhy) {
  const Both both(Both::Sources{{"own.nbc", kSource}});
  struct Case {
    const char *why;
    int status;
    std::function<void(nbc_build_request &)> change;
  };
  const int64_t four = 4;
  const Case cases[] = {
      {"the library both holds no algorithm shift.none", NBC_ERROR_ARGUMENT,
       [](auto &r) { r.algorithm = "shift.none"; }},
      {"the library both was not made for gm with blocks equally long", NBC_ERROR_ARGUMENT,
       [](auto &r) { r.target = "gm"; }},
      {"rank 4 of 4", NBC_ERROR_ARGUMENT, [](auto &r) { r.rank = 4; }},
      {"rank 0 of 0", NBC_ERROR_ARGUMENT, [](auto &r) { r.ranks = 0; }},
      {"rank 0 of 4, root 4", NBC_ERROR_ARGUMENT,
       [](auto &r) { r.algorithm = "bcast.wrong", r.root = 4; }},
      {"own.nbc:3:30: error: ring requires this, which does not hold for 2 ranks\n",
       NBC_ERROR_UNSUPPORTED, [](auto &r) { r.ranks = 2; }},
      {"own.nbc:3:37: error: ring requires this, which does not hold for 4 ranks\n",
       NBC_ERROR_UNSUPPORTED, [&](auto &r) { r.parameters = &four; }},
      {"own.nbc:7:49: error: rank 0 of 4 sends to rank 4, which is not in 0..3 (root 0)\n",
       NBC_ERROR_UNSUPPORTED, [](auto &r) { r.algorithm = "bcast.wrong"; }},
      {"shift.ring was not proven to be right where blocks differ in length", NBC_ERROR_UNSUPPORTED,
       [](auto &r) { r.lengths = NBC_LENGTHS_EACH; }},
  };
  for (const Case &c : cases) {
    nbc_build_request r = request("shift.ring");
    c.change(r);
    int status = 0;
    EXPECT_EQ(built(both.library, r, &status), c.why);
    EXPECT_EQ(status, c.status) << c.why;
    char said[512] = "not touched";
    const bool shownBySteps = std::strstr(c.why, "sends to") != nullptr;
    EXPECT_EQ(nbc_build_check(both.library, &r, said, sizeof said),
              shownBySteps ? NBC_OK : c.status);
    EXPECT_STREQ(said, shownBySteps ? "" : c.why);
  }
  EXPECT_EQ(nbc_build_check(nullptr, nullptr, nullptr, 0), NBC_ERROR_ARGUMENT);
  char why[9] = "";
  void *made = nullptr;
  size_t bytes = 0;
  nbc_build_request r = request("nothing");
  EXPECT_EQ(nbc_build_template(both.library, &r, &made, &bytes, why, sizeof why),
            NBC_ERROR_ARGUMENT);
  EXPECT_STREQ(why, "the libr");
  EXPECT_EQ(nbc_build_template(both.library, &r, nullptr, &bytes, nullptr, 0), NBC_ERROR_ARGUMENT);
}

TEST(Shipped, refusesPlacesAndNeighboursThatCannotBe) {
  const Both both(
      Both::Sources{{NBCC_SOURCE_DIR "/stdlib_algos/allgather/leader.nbc", ""},
                    {NBCC_SOURCE_DIR "/stdlib_algos/neighbor_allgather/linear.nbc", ""}});
  const auto says = [&](const nbc_build_request &r) { return built(both.library, r); };
  nbc_build_request r = request("allgather.leader");
  EXPECT_EQ(says(r), "allgather.leader asks where the ranks are: node_of is to say it");
  const int32_t nodes[] = {0, 0, 1, -1};
  r.node_of = nodes;
  EXPECT_EQ(says(r), "rank 3 is on node -1");

  r = request("neighbor_allgather.linear", 2);
  EXPECT_EQ(says(r), "neighbor_allgather.linear asks who are neighbours: graph is to say it");
  nbc_build_graph graph = {};
  r.graph = &graph;
  EXPECT_EQ(says(r), "a graph without dimensions or neighbours");
  const int32_t sizes[] = {3, 0}, periodic[] = {0, 0};
  graph.dimensions = 1;
  graph.sizes = sizes;
  graph.periodic = periodic;
  EXPECT_EQ(says(r), "a grid of 3 for 2 ranks");
  graph.dimensions = 2;
  EXPECT_EQ(says(r), "a dimension of 0");
  graph.dimensions = 0;
  const int32_t peers[] = {1, 7};
  nbc_build_neighbors of[2] = {};
  of[0] = {nullptr, peers, 0, 1};
  graph.of = of;
  EXPECT_EQ(says(r), "rank 0 names 1 as destination 1 times, which names it as source 0 times");
  of[0].outdegree = 2;
  EXPECT_EQ(says(r), "rank 0 has a neighbour 7 of 2");
  of[0].destinations = nullptr;
  EXPECT_EQ(says(r), "rank 0 has a null list of neighbours");
}

TEST(Shipped, refusesALibraryOfAnotherVersion) {
  const Both both(Both::Sources{{"own.nbc", kSource}});
  std::vector<uint64_t> copy(both.library->bytes / 8);
  std::memcpy(copy.data(), both.library, both.library->bytes);
  auto *other = reinterpret_cast<nbc_library *>(copy.data());
  other->build_version ^= 1;
  int status = 0;
  const std::string why = built(other, request("shift.ring"), &status);
  EXPECT_EQ(status, NBC_ERROR_LIBRARY);
  EXPECT_TRUE(why.starts_with("the library both was made by nbcc ")) << why;
}

}  // namespace
}  // namespace nbcc
