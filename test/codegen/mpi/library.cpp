// SPDX-License-Identifier: BSD-3-Clause
// The whole library, all ranks: whatever the program does without buffering, the records do.
//
// Ranks carry out their records side by side, as slowly as MPI may: a message is done when both
// ends have posted it, and no rank gets past a WAIT before. That the data are right the proof of
// the schedules and verifyTemplate() say.

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "compiler/driver/compile.h"
#include "dsl/parse.h"
#include "test/codegen/mpi/support.h"

namespace nbcc {
namespace {

/// One variant of each rank, under way.
class Progress {
 public:
  explicit Progress(const std::vector<Template> &ranks) {
    for (const Template &t : ranks) editors_.emplace_back(t);
    at_.resize(ranks.size());
    number_.resize(ranks.size());
  }

  /// Whether all get to their ends.
  bool run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t rank = 0; rank < at_.size(); ++rank)
        while (step(rank)) moved = true;
    }
    for (size_t rank = 0; rank < at_.size(); ++rank)
      if (at_[rank] < editors_[rank].records.size()) return false;
    for (const auto &[ends, posted] : posted_)
      if (posted[0] != posted[1]) return false;
    return true;
  }

 private:
  using Ends = std::pair<size_t, size_t>;  // sender, receiver

  Ends endsOf(size_t rank, const nbc_message_record &r) const {
    const size_t peer = editors_[rank].view.peers[r.peer];
    return r.op == NBC_MESSAGE_SEND ? Ends(rank, peer) : Ends(peer, rank);
  }

  bool step(size_t rank) {
    const auto records = editors_[rank].records;
    if (at_[rank] == records.size()) return false;
    const nbc_message_record &r = records[at_[rank]];
    if (r.op == NBC_MESSAGE_WAIT) {
      const auto posted = posted_[endsOf(rank, records[r.record])];
      if (std::min(posted[0], posted[1]) <= number_[rank][r.record]) return false;
    }
    number_[rank].push_back(r.op == NBC_MESSAGE_WAIT ? 0 : posted_[endsOf(rank, r)][r.op]++);
    ++at_[rank];
    return true;
  }

  std::vector<Editor> editors_;
  std::vector<size_t> at_;                          // records that were carried out
  std::vector<std::vector<uint32_t>> number_;       // record -> its number between its ends
  std::map<Ends, std::array<uint32_t, 2>> posted_;  // by sender, by receiver
};

/// A receive that waits for nothing, nor does one before it from that rank, is posted before
/// anything is waited for.
bool postsEarly(const Template &t, const Schedule &s) {
  Editor e(t);
  std::map<int64_t, int> free;  // by peer; those that were posted are taken off
  std::set<int64_t> held;
  for (const Step &step : s.steps) {
    if (step.op != Op::recv && step.op != Op::await) continue;
    if (step.after.size > 0) held.insert(step.peer);
    free[step.peer] += !held.contains(step.peer);
  }
  for (const nbc_message_record &r : e.records) {
    if (r.op == NBC_MESSAGE_WAIT) break;
    if (r.op == NBC_MESSAGE_RECV) --free[e.view.peers[r.peer]];
  }
  return std::all_of(free.begin(), free.end(), [](const auto &left) { return left.second <= 0; });
}

TEST(MpiLibrary, EveryAlgorithmEndsWithoutBuffering) {
  int tried = 0;
  for (const auto &entry :
       std::filesystem::recursive_directory_iterator(NBCC_SOURCE_DIR "/stdlib_algos")) {
    if (entry.path().extension() != ".nbc") continue;
    std::ostringstream said;
    Diag diag(said);
    Options options;
    options.file = entry.path().string();
    options.target = findTarget("mpi");
    options.targetOptions.device = &options.target->devices.front();
    const std::unique_ptr<ast::File> file = parse(options.file, diag);
    ASSERT_TRUE(file) << said.str();
    check(*file, diag);
    Compilation compilation(*file, options, diag);
    for (const int64_t ranks : {1, 2, 3, 4, 5, 8, 9}) {
      const Topology topology =
          readTopology(ranks % 2 ? cat("1x", ranks) : cat(ranks / 2, "x2"), diag);
      const Graph graph = readCartesian(ranks % 3 ? cat(ranks, "p") : cat(ranks / 3, "px3"), diag);
      compilation.place(&topology);
      compilation.connect(&graph);
      if (!compilation.applies(ranks, false).value_or(false)) continue;
      for (const int64_t root : {int64_t{0}, ranks - 1}) {
        std::vector<Template> templates;
        for (int64_t rank = 0; rank < ranks; ++rank) {
          std::vector<Legal> legals;
          auto t = compilation.compile(ranks, rank, root, false, &legals);
          ASSERT_TRUE(t) << options.file << " on " << ranks << "\n" << said.str();
          EXPECT_TRUE(postsEarly(*t, legals[0].schedule)) << options.file << " on " << ranks;
          templates.push_back(std::move(*t));
        }
        EXPECT_TRUE(Progress(templates).run()) << options.file << " on " << ranks;
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 500);
}

}  // namespace
}  // namespace nbcc
