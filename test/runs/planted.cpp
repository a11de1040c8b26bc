// SPDX-License-Identifier: BSD-3-Clause
// planted.cpp - mistakes planted in what the compiler emitted, and who notices.
//
// An algorithm is compiled for all its ranks; in the template of one rank one thing
// is changed, in the bytes and in what will be filled in there at the call, as a
// compiler that made this mistake would have written both. Two look at it: what
// reads the order back from the bytes (Target::verifyTemplate), and a run on the
// adversarial device, over some seeds: wrong bytes, a queue that never goes on, a
// finding of the device. Prints for each mistake how often it was planted and who
// found how many. Each that nobody finds is a failure, unless harmless() knows why it is none.

#include <gtest/gtest.h>

#include <iomanip>
#include <iostream>
#include <map>

#include "compiler/driver/run.h"
#include "test/runs/compiled.h"
#include "test/runs/editor.h"

namespace nbcc {
namespace {

using crosschannel::Entry;
using crosschannel::View;

/// WAIT, SEND_EN: another queue of the same kind.
bool redirect(Editor &t, const Site &s, uint8_t opcode) {
  if (s.entry.opcode != opcode) return false;
  for (uint32_t q = 0; q < t.view.queues.size(); ++q)
    if (q != s.entry.number && t.view.queues[q].kind == t.view.queues[s.entry.number].kind)
      return rename(t, s, q);
  return false;
}

/// Whether two pieces are as long and lie at the same place: a whole vector in staging may be
/// there twice, once as long as `in` and once as long as `out`.
bool same(const View &view, const nbc_piece &a, const nbc_piece &b) {
  const nbc_buffer &x = view.buffers[a.buffer], &y = view.buffers[b.buffer];
  bool room = x.role == NBC_ROLE_STAGING || x.role == NBC_ROLE_SLOTS;
  return x.role == y.role && a.before.count == b.before.count && a.before.count == 0 &&
         (room ? x.first + a.room == y.first + b.room : a.first == b.first) && a.count == b.count &&
         a.parts == b.parts && (a.parts == 1 || a.first == b.first);
}

/// A data segment names the piece before or behind.
bool otherPiece(Editor &t, const Site &s, int by) {
  const nbc_variant &v = t.view.variants[s.variant];
  for (nbc_reloc *r : t.relocs(v.relocs, s.entry, {NBC_RELOC_SGE, NBC_RELOC_SLOT})) {
    int64_t what = int64_t{r->what} + by;
    if (what < 0 || what + r->extra >= static_cast<int64_t>(t.view.pieces.size())) continue;
    if (r->extra == 0 && same(t.view, t.view.pieces[size_t(what)], t.view.pieces[r->what]))
      continue;
    r->what = static_cast<uint32_t>(what);
    return true;
  }
  return false;
}

/// The first two data segments of an entry change places.
bool swapPieces(Editor &t, const Site &s) {
  const nbc_variant &v = t.view.variants[s.variant];
  auto data = t.relocs(v.relocs, s.entry, {NBC_RELOC_SGE, NBC_RELOC_SLOT});
  if (data.size() < 2 || v.flags & NBC_VARIANT_CALC) return false;  // sums commute
  std::swap(data[0]->what, data[1]->what);
  std::swap(data[0]->extra, data[1]->extra);
  return true;
}

/// Two neighbours in a queue change places, with all that is filled in there but their own index.
bool swapEntries(Editor &t, const Site &s) {
  const nbc_variant &v = t.view.variants[s.variant];
  const nbc_segment *g = t.view.segment(v.segments, s.queue, NBC_RING_SEND);
  std::vector<Entry> entries = t.view.entries(*g);
  for (size_t i = 0; i + 1 < entries.size(); ++i) {
    const Entry &a = entries[i], &b = entries[i + 1];
    if (a.index != s.entry.index || a.blocks != 1 || b.blocks != 1) continue;
    if (a.signalled != b.signalled) return false;                    // more than one mistake
    if (t.view.queues[s.queue].kind == NBC_QUEUE_CTS) return false;  // all are alike
    if (t.view.queues[s.queue].kind == NBC_QUEUE_MANAGEMENT && a.opcode == b.opcode &&
        (a.opcode == MLX5_WAIT || a.number != b.number))
      return false;  // it commutes
    unsigned char *x = t.code(a.offset), *y = t.code(b.offset);
    std::swap_ranges(x, x + MLX5_WQEBB, y);
    mlx5_put16(x + MLX5_CTRL_INDEX, a.wqeIndex);
    mlx5_put16(y + MLX5_CTRL_INDEX, b.wqeIndex);
    for (const nbc_range &run : {v.relocs, v.bind}) {
      auto first = t.view.relocsAt(run, a.offset, MLX5_WQEBB);
      auto second = t.view.relocsAt(run, b.offset, MLX5_WQEBB);
      std::vector<nbc_reloc> swapped;
      for (nbc_reloc r : second) swapped.push_back((r.at -= MLX5_WQEBB, r));
      for (nbc_reloc r : first) swapped.push_back((r.at += MLX5_WQEBB, r));
      for (nbc_reloc &r : swapped)
        if (r.rule == NBC_RELOC_INDEX) r.addend = r.at < b.offset ? a.index : b.index;
      std::copy(swapped.begin(), swapped.end(), &t.edit(first.front()));
    }
    return true;
  }
  return false;
}

/// A send or copy that is signalled is not.
bool silence(Editor &t, const Site &s) {
  const nbc_variant &v = t.view.variants[s.variant];
  if (!s.entry.signalled) return false;
  t.code(s.entry.offset)[MLX5_CTRL_FLAGS] &= static_cast<unsigned char>(~MLX5_CE_MASK);
  const nbc_segment *g = t.view.segment(v.segments, s.queue, NBC_RING_SEND);
  if (t.view.queues[s.queue].kind != NBC_QUEUE_MANAGEMENT) --t.edit(*g).send_cqes;
  return true;
}

struct Mistake {
  const char *name;
  bool (*plant)(Editor &, const Site &);  // false: it cannot be made there
  int by = 0;                             // another piece: which
};

constexpr Mistake kMistakes[] = {
    {"WAIT one early", [](Editor &t, const Site &s) { return shift(t, s, MLX5_WAIT, -1); }},
    {"WAIT one late", [](Editor &t, const Site &s) { return shift(t, s, MLX5_WAIT, 1); }},
    {"WAIT left out", [](Editor &t, const Site &s) { return drop(t, s, MLX5_WAIT); }},
    {"WAIT on another CQ", [](Editor &t, const Site &s) { return redirect(t, s, MLX5_WAIT); }},
    {"SEND_EN one short", [](Editor &t, const Site &s) { return shift(t, s, MLX5_SEND_EN, -1); }},
    {"SEND_EN one more", [](Editor &t, const Site &s) { return shift(t, s, MLX5_SEND_EN, 1); }},
    {"SEND_EN left out", [](Editor &t, const Site &s) { return drop(t, s, MLX5_SEND_EN); }},
    {"SEND_EN of another", [](Editor &t, const Site &s) { return redirect(t, s, MLX5_SEND_EN); }},
    {"piece before", [](Editor &t, const Site &s) { return otherPiece(t, s, -1); }, -1},
    {"piece behind", [](Editor &t, const Site &s) { return otherPiece(t, s, 1); }, 1},
    {"pieces swapped", swapPieces},
    {"entries swapped", swapEntries},
    {"not signalled", silence},
};

struct Case {
  const char *algorithm;
  int64_t ranks, rank;  // whose template is changed
  Blocks blocks = Blocks::equal;
};

constexpr Case kCases[] = {
    {"allgather/ring", 4, 1},
    {"allgather/bruck", 5, 1},
    {"allgather/standard_exchange", 4, 3},
    {"allreduce/recursive_doubling", 5, 1},
    {"bcast/binomial", 5, 2},
    {"gather/binomial", 5, 2},
    {"barrier/dissemination", 5, 0},
    {"alltoall/pairwise", 4, 1},
    {"allgather/bruck", 5, 2, Blocks::each},
    {"alltoall/pairwise", 4, 2, Blocks::each},
};

struct Count {
  int planted = 0, verified = 0, ran = 0, onlyVerified = 0, onlyRan = 0, harmless = 0;
};

/// Why a mistake that nobody notices is none; empty: it is one.
std::string harmless(const Mistake &mistake, const View &view, const Site &site) {
  const nbc_variant &v = view.variants[site.variant];
  bool wait = site.entry.opcode == MLX5_WAIT;
  // Nobody can be a call ahead where each call needs something of everyone, so credits
  // never run out. (A bcast's root can, and there the run does notice.)
  uint32_t kind = view.header.kind;
  if (v.flags & NBC_VARIANT_CREDIT && wait &&
      (kind == NBC_ALLGATHER || kind == NBC_ALLREDUCE || kind == NBC_ALLTOALL ||
       kind == NBC_BARRIER))
    return "credits are implied by the data";
  // A SEND_EN and a WAIT that has nothing to do with it: the order that the bytes enforce
  // is another, and has been shown to contain all of the schedule's. Of credits, both
  // orders do: what is told does not depend on what is waited for.
  if (mistake.plant == swapEntries && view.queues[site.queue].kind == NBC_QUEUE_MANAGEMENT)
    return "the order that is left suffices";
  // What the host copied in nbc_start, and what it copied it from, which stays until the end.
  for (const nbc_reloc &r : view.relocsAt(v.relocs, site.entry.offset, MLX5_WQEBB))
    for (uint32_t h = 0; h < view.hosts.size() && r.rule == NBC_RELOC_SGE; ++h) {
      const nbc_host &host = view.hosts[h];
      uint32_t other = r.what + static_cast<uint32_t>(mistake.by);
      if (mistake.by && host.op == NBC_HOST_COPY && host.from.count == 1 && host.to.count == 1 &&
          same(view, view.pieces[host.to.begin], view.pieces[r.what]) &&
          same(view, view.pieces[host.from.begin], view.pieces[other]))
        return "a copy and its origin";
    }
  return "";
}

class Planting {
 public:
  Planting(const Case &c, Protocol protocol)
      : case_(c),
        compiled_(c.algorithm, c.ranks, protocol, c.rank, c.blocks),
        options_(compiled_.options) {
    options_.adversarial = options_.quiet = true;
  }

  void plantAll(std::map<std::string, Count> &counts) {
    ASSERT_EQ(compiled_.said.str(), "");
    const Template right = changed();
    const auto sites = sitesOf(right);
    ASSERT_EQ(verify(), "");
    ASSERT_EQ(ran(100), "");
    constexpr size_t step = NBCC_SANITIZED ? 5 : 1;
    for (const Mistake &mistake : kMistakes)
      for (size_t i = 0; i < sites.size(); i += step) {
        const Site &site = sites[i];
        changed() = right;
        if (!planted(mistake, site, changed())) continue;
        std::string byVerify = verify(), byRun = ran(12);
        if (byVerify.empty() && byRun.empty()) byRun = ran(100);
        Count &n = counts[mistake.name];
        ++n.planted;
        n.verified += !byVerify.empty();
        n.ran += !byRun.empty();
        n.onlyVerified += !byVerify.empty() && byRun.empty();
        n.onlyRan += byVerify.empty() && !byRun.empty();
        if (!byVerify.empty() || !byRun.empty()) continue;
        if (std::string why = harmless(mistake, View(right), site); !why.empty()) {
          ++n.harmless;
          continue;
        }
        ADD_FAILURE() << case_.algorithm << ", rank " << case_.rank << " of " << case_.ranks
                      << ": nobody notices " << mistake.name << ": " << site.where;
      }
  }

 private:
  static bool planted(const Mistake &mistake, const Site &site, Template &t) {
    Editor editor(t);
    return mistake.plant(editor, site);
  }

  std::string verify() {
    std::ostringstream said;
    Diag diag(said);
    options_.target->verifyTemplate(changed(), compiled_.legal, options_.targetOptions, diag);
    return said.str();
  }

  /// What a run says over some seeds: of many shapes; then of single elements, for what
  /// the adapter reduces.
  std::string ran(uint64_t seeds) {
    for (bool vary : {true, false})
      for (uint64_t seed = 1; seed <= seeds; ++seed) {
        std::ostringstream said;
        Diag diag(said);
        options_.vary = vary;
        options_.count = 1;
        options_.calls = 7;
        runTemplates(*compiled_.compilation, compiled_.templates, {}, seed, options_, said, diag);
        if (!diag.ok()) return said.str();
      }
    return "";
  }

  Template &changed() { return compiled_.templates[size_t(case_.rank)]; }

  Case case_;
  Compiled compiled_;
  Options &options_;
};

TEST(Planted, EachMistakeIsNoticed) {
  std::map<std::string, Count> counts;
  for (const Case &c : kCases)
    for (Protocol protocol : {Protocol::eager, Protocol::rendezvous}) {
      // Eager is only where all know all lengths.
      const bool is =
          c.blocks == Blocks::equal || std::string_view(c.algorithm).starts_with("allg");
      if (is || protocol == Protocol::rendezvous) Planting(c, protocol).plantAll(counts);
    }
  std::cout << std::left << std::setw(22) << "mistake" << std::right << std::setw(9) << "planted"
            << std::setw(10) << "verified" << std::setw(6) << "ran" << std::setw(15)
            << "only verified" << std::setw(10) << "only ran" << std::setw(10) << "harmless"
            << "\n";
  for (const Mistake &m : kMistakes) {
    const Count &n = counts[m.name];
    std::cout << std::left << std::setw(22) << m.name << std::right << std::setw(9) << n.planted
              << std::setw(10) << n.verified << std::setw(6) << n.ran << std::setw(15)
              << n.onlyVerified << std::setw(10) << n.onlyRan << std::setw(10) << n.harmless
              << "\n";
    EXPECT_GT(n.planted, 0) << m.name;
  }
}

}  // namespace
}  // namespace nbcc
