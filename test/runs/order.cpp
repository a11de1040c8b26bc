// SPDX-License-Identifier: BSD-3-Clause
// order.cpp - a removed or wrong WAIT or SEND_EN, in any template of the library, is found without
// running it.
//
// Every algorithm of stdlib_algos/, for some numbers of ranks: each entry of each variant's
// management queue is left out, has its index one less and one more, and names another queue or
// side. Where queues wait for words of memory, the entries that wait for one, write one or ask for
// one are left out and name the word before and behind, another sort of word and another queue's.
// What reads the order back from the bytes (Target::verifyTemplate) has to refuse each of these.
//
// It may accept those of which two others say that they are as right as before: whatever is started
// still comes behind all that it came behind (a comparison of two lists of entries, which knows
// nothing of schedules), and all ranks end on the adversarial device. Such are a SEND_EN that is
// left out where a later one makes up for it, and a WAIT for what a later one waits for anyway.
//
// One rank's template is changed for each number of ranks. NBC_ORDER_RANKS=3,7,16 has it be each
// rank's of these numbers, which takes minutes.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>
#include <utility>

#include "codegen/coredirect/words.h"
#include "compiler/driver/run.h"
#include "test/runs/compiled.h"
#include "test/runs/editor.h"

namespace nbcc {
namespace {

using crosschannel::Entry;
using crosschannel::View;
using crosschannel::WordEntry;

std::vector<std::string> library() {
  std::vector<std::string> all;
  const std::filesystem::path root = NBCC_SOURCE_DIR "/stdlib_algos";
  for (const auto &file : std::filesystem::recursive_directory_iterator(root))
    if (file.path().extension() == ".nbc")
      all.push_back(std::filesystem::relative(file.path(), root).replace_extension().string());
  std::sort(all.begin(), all.end());
  return all;
}

/// Instead of those that a test has.
std::vector<int64_t> wantedRanks() {
  std::vector<int64_t> ranks;
  const char *text = std::getenv("NBC_ORDER_RANKS");
  std::istringstream list(text ? text : "");
  for (std::string number; std::getline(list, number, ',');) ranks.push_back(std::stol(number));
  return ranks;
}

struct Count {
  uint64_t templates = 0, mutants = 0, accepted = 0;
};

/// What each entry, and each stage of the host, comes behind: how many completions, by queue and
/// side, or words, by row and sort.
using Behind = std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>>;

/// Where a word stands in that list: the number of its row and sort, and its own among these.
std::pair<uint32_t, uint32_t> sourceOf(const View &view, const WordEntry &w) {
  if (view.queues[w.queue].kind != NBC_QUEUE_CHAIN) return {3 * w.queue, w.word};
  return {3 * w.queue + static_cast<uint32_t>(crosschannel::sortOf(w.word)),
          crosschannel::numberOf(w.word)};
}

Behind orderOfWords(const View &view, const nbc_variant &v) {
  Behind behind;
  for (uint32_t q = 0; q < view.queues.size(); ++q) {
    const nbc_segment *queue = view.segment(v.segments, q, NBC_RING_SEND);
    if (!queue) continue;
    std::vector<uint32_t> seen(3 * view.queues.size());
    for (const Entry &e : view.entries(*queue)) {
      const WordEntry w = view.word(e);
      if (w.kind == WordEntry::Kind::wait) {
        const auto [source, number] = sourceOf(view, w);
        seen[source] = std::max(seen[source], number + 1);
      } else {
        behind[{q, e.index}] = seen;
      }
    }
  }
  return behind;
}

Behind orderOf(const Template &t, const nbc_variant &v) {
  const View view(t);
  if (view.byWords()) return orderOfWords(view, v);
  Behind behind;
  std::vector<uint32_t> seen(2 * view.queues.size()), enabled(view.queues.size());
  for (uint32_t q = 0; q < view.queues.size(); ++q) {
    if (view.queues[q].kind != NBC_QUEUE_MANAGEMENT) continue;
    const nbc_segment *mq = view.segment(v.segments, q, NBC_RING_SEND);
    if (!mq) continue;
    for (const Entry &e : view.entries(*mq)) {
      for (const nbc_reloc &r : view.relocsAt(v.relocs, e.offset, MLX5_WQEBB))
        if (r.rule == NBC_RELOC_WAIT && e.opcode == MLX5_WAIT)
          seen[2 * r.what + r.side] = std::max(seen[2 * r.what + r.side], r.addend + 1);
      if (e.opcode == MLX5_SEND_EN)
        while (enabled[e.number] < e.limit) behind[{e.number, enabled[e.number]++}] = seen;
      if (e.signalled) behind[{q, e.index}] = seen;
    }
  }
  return behind;
}

/// Whether all that the first starts starts in the second, behind no less.
bool keepsOrder(const Template &right, const Template &other, uint32_t variant) {
  const auto before = orderOf(right, View(right).variants[variant]);
  auto after = orderOf(other, View(other).variants[variant]);
  for (const auto &[what, completions] : before) {
    const auto found = after.find(what);
    if (found == after.end()) return false;
    for (size_t k = 0; k < completions.size(); ++k)
      if (found->second[k] < completions[k]) return false;
  }
  return true;
}

/// What templates are made for.
struct Made {
  const char *device = "soft";
  Protocol protocol = Protocol::automatic;
  bool within = false;  // ranks of a node exchange by its memory
  Blocks lengths = Blocks::equal;
};

class Planter {
 public:
  Planter(const std::string &algorithm, int64_t ranks, const Made &made, Count &count)
      : algorithm_(algorithm),
        compiled_(algorithm, 0, made.protocol, -1, made.lengths),
        count_(count) {
    EXPECT_EQ(compiled_.said.str(), "");
    compiled_.options.targetOptions.device = findDevice(*compiled_.options.target, made.device);
    Compilation &c = *compiled_.compilation;
    const Topology topology =
        readTopology(ranks % 2 ? cat(ranks, "x1") : cat(ranks / 2, "x2"), diag_);
    const Graph graph = readCartesian(ranks % 2 ? cat(ranks, "p") : cat(ranks / 2, "px2"), diag_);
    if (c.needsTopology() || made.within) c.place(&topology);
    if (made.within) {
      compiled_.options.targetOptions.within = true;
      compiled_.options.topology = topology;
    }
    if (c.needsGraph()) c.connect(&graph);
    const bool each = !wantedRanks().empty();
    if (c.applies(ranks, false).value_or(false))
      for (int64_t rank = each ? 0 : ranks / 2; rank < (each ? ranks : ranks / 2 + 1); ++rank)
        all(ranks, rank);
    c.place(nullptr), c.connect(nullptr);
  }

 private:
  void all(int64_t ranks, int64_t rank) {
    const std::optional<Template> right =
        compiled_.compilation->compile(ranks, rank, 0, true, &legal_);
    if (compiled_.said.str().find("right only if all blocks are equally long") != std::string::npos)
      return;
    ASSERT_EQ(compiled_.said.str(), "") << algorithm_ << " on " << ranks;
    if (!right) return;
    ++count_.templates;
    for (const Site &site : sitesOf(*right)) {
      const auto plant = [&](const std::string &what, auto change) {
        Template t = *right;
        {
          Editor editor(t);
          if (!change(editor)) return;
        }
        ++count_.mutants;
        if (!accepts(t)) return;
        ++count_.accepted;
        EXPECT_TRUE(keepsOrder(*right, t, site.variant) && ends(ranks, rank, t))
            << algorithm_ << ", rank " << rank << " of " << ranks << ": nobody notices " << what
            << ": " << site.where;
      };
      if (const View view(*right); view.byWords())
        words(view, site, plant);
      else
        completions(view, site, plant);
    }
  }

  template <class Plant>
  static void completions(const View &view, const Site &site, const Plant &plant) {
    const uint8_t opcode = site.entry.opcode;
    if (opcode != MLX5_WAIT && opcode != MLX5_SEND_EN) return;
    plant("left out", [&](Editor &t) { return drop(t, site, opcode); });
    for (const int by : {-1, 1})
      plant(by < 0 ? "one less" : "one more",
            [&](Editor &t) { return shift(t, site, opcode, by); });
    for (const auto &[q, s] : others(view, site)) {
      const uint32_t queue = q;
      const int side = s;
      plant(cat("of ", view.queueName(queue),
                side < 0 ? ""
                : side   ? " (receives)"
                         : " (sends)"),
            [&](Editor &t) { return rename(t, site, queue, side); });
    }
  }

  template <class Plant>
  static void words(const View &view, const Site &site, const Plant &plant) {
    const Entry &e = site.entry;
    const WordEntry w = view.word(e);
    if (w.kind == WordEntry::Kind::none) return;
    plant("left out", [&](Editor &t) {
      t.code(e.offset)[MLX5_CTRL_OPCODE] = MLX5_NOP;
      return true;
    });
    const auto named = [&](const std::string &what, uint32_t queue, uint32_t word) {
      plant(what, [&](Editor &t) { return renameWord(t, e, queue, word), true; });
    };
    const bool chain = view.queues[w.queue].kind == NBC_QUEUE_CHAIN;
    const uint32_t apart = chain ? 3 : 1;
    if (w.word >= apart) named("one less", w.queue, w.word - apart);
    named("one more", w.queue, w.word + apart);
    for (uint32_t sort = 1; chain && sort < 3; ++sort)
      named("of another sort", w.queue, w.word / 3 * 3 + (w.word + sort) % 3);
    const auto count = static_cast<uint32_t>(view.queues.size());
    if (const uint32_t next = (w.queue + 1) % count; next != w.queue)
      named(cat("of ", view.queueName(next)), next, w.word);
  }

  /// What an entry might name instead: the next queue, the next of its kind, the other side.
  static std::vector<std::pair<uint32_t, int>> others(const View &view, const Site &site) {
    std::vector<std::pair<uint32_t, int>> all;
    const auto count = static_cast<uint32_t>(view.queues.size());
    const uint32_t own = site.entry.number;
    const auto next = [&](auto fits) {
      for (uint32_t k = 1; k < count; ++k)
        if (const uint32_t q = (own + k) % count; fits(view.queues[q]))
          return all.emplace_back(q, -1), void();
    };
    next([](const nbc_queue &q) { return q.kind != NBC_QUEUE_MANAGEMENT; });
    next([&](const nbc_queue &q) { return q.kind == view.queues[own].kind; });
    if (all.size() == 2 && all[0] == all[1]) all.pop_back();
    if (site.entry.opcode == MLX5_WAIT)
      for (const nbc_reloc &r :
           view.relocsAt(view.variants[site.variant].relocs, site.entry.offset, MLX5_WQEBB))
        if (r.rule == NBC_RELOC_WAIT || r.rule == NBC_RELOC_CREDIT)
          all.emplace_back(own, r.side == NBC_SIDE_SEND ? NBC_SIDE_RECV : NBC_SIDE_SEND);
    return all;
  }

  bool accepts(const Template &t) {
    std::ostringstream said;
    Diag diag(said);
    compiled_.options.target->verifyTemplate(t, legal_, compiled_.options.targetOptions, diag);
    return diag.ok();
  }

  /// On the adversarial device, with all ranks.
  bool ends(int64_t ranks, int64_t rank, const Template &changed) {
    if (templates_.empty())
      for (int64_t r = 0; r < ranks; ++r)
        templates_.push_back(*compiled_.compilation->compile(ranks, r, 0, true));
    const Template right = std::exchange(templates_[size_t(rank)], changed);
    Options &o = compiled_.options;
    o.ranks = ranks;
    o.adversarial = o.quiet = true;
    o.count = 3;
    o.calls = 4;
    bool all = true;
    const Options before = o;
    const bool direct = o.targetOptions.protocol == Protocol::direct;
    for (const Protocol protocol : {Protocol::eager, Protocol::rendezvous})
      for (const bool inPlace : {false, true})
        for (uint64_t seed = 1; seed <= 6; ++seed) {
          std::ostringstream said;
          Diag diag(said);
          if (!direct) o.targetOptions.protocol = protocol;
          o.inPlace = inPlace && hasInPlace(compiled_.compilation->collective());
          runTemplates(*compiled_.compilation, templates_, {}, seed, o, said, diag);
          all &= diag.ok();
          if (!diag.ok()) std::cout << said.str() << std::endl;
        }
    o = before;  // for who compiles the next rank's
    templates_[size_t(rank)] = right;
    return all;
  }

  std::string algorithm_;
  Compiled compiled_;
  std::vector<Template> templates_;
  std::ostringstream said_;
  Diag diag_{said_};
  std::vector<Legal> legal_;
  Count &count_;
};

void plantAll(const Made &made, std::vector<int64_t> ranks, uint64_t least, uint64_t part) {
  Count count;
  if (const std::vector<int64_t> wanted = wantedRanks(); !wanted.empty()) {
    ranks = wanted;
    part /= 2;  // of direct plans of 3 and 4 ranks 211 of 38,391 are none
  }
  for (const std::string &algorithm : library()) {
    const bool has = algorithm.starts_with("allgather/") || algorithm.starts_with("alltoall/");
    if (made.lengths == Blocks::each && !has) continue;
    for (const int64_t r : ranks) Planter(algorithm, r, made, count);
  }
  std::cout << count.mutants << " mistakes in " << count.templates << " templates, "
            << count.accepted << " of them are none\n";
  EXPECT_GT(count.mutants, least);
  EXPECT_LT(count.accepted, count.mutants / part);
}

/// 8 ranks have most of the entries, and the code that looks at them is the same.
std::vector<int64_t> someRanks() {
  return NBCC_SANITIZED ? std::vector<int64_t>{2, 5} : std::vector<int64_t>{2, 5, 8};
}
constexpr uint64_t kLeast = NBCC_SANITIZED ? 5000 : 20000;

TEST(Order, eachWrongEntryOfTheLibraryIsFound) {
  plantAll({}, someRanks(), kLeast, 200);
}

TEST(Order, eachWrongEntryOfADirectPlanIsFound) {
  plantAll({.protocol = Protocol::direct}, {2, 5}, 2000, 200);
}

TEST(Order, eachWrongEntryIsFoundWhereBlocksHaveLengthsOfTheirOwn) {
  plantAll({.lengths = Blocks::each}, {2, 5}, 2000, 200);
}

TEST(Order, eachWrongEntryBetweenNodesIsFound) {
  plantAll({.within = true}, {4}, 2000, 200);
}

TEST(Order, eachWrongEntryIsFoundWhereQueuesWaitForWords) {
  plantAll({.device = "connectx7"}, someRanks(), kLeast, 50);
}

}  // namespace
}  // namespace nbcc
