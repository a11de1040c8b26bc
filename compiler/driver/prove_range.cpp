// SPDX-License-Identifier: BSD-3-Clause
// prove_range.cpp - every number of ranks, every root, every way to call it.
//
// Cost: the schedules of all ranks are held for one number of ranks at a time.

#include "compiler/driver/prove_range.h"

#include <ostream>
#include <set>

namespace nbcc {
namespace {

constexpr int64_t kAllRootsUpTo = 16;
constexpr int kMostFailures = 4;  // ranks: an endless loop takes a while on each

std::set<int64_t> roots(ast::Kind kind, int64_t ranks) {
  if (!collective(kind).hasRoot()) return {0};
  std::set<int64_t> some{0, 1 % ranks, ranks / 2, ranks - 1};
  if (ranks <= kAllRootsUpTo)
    for (int64_t r = 0; r < ranks; ++r) some.insert(r);
  return some;
}

/// Proves one number of ranks and one root. False: reported.
bool proveOne(Compilation &c, int64_t ranks, int64_t root, RangeProof &result, Diag &diag) {
  auto claims = c.claims(ranks, root);
  if (!claims) return false;
  std::vector<Schedule> written;
  written.reserve(ranks);
  int failed = 0;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    std::optional<Schedule> s = c.written(ranks, rank, root);
    if (s)
      written.push_back(std::move(*s));
    else if (++failed == kMostFailures)
      break;
  }
  if (!diag.ok()) return false;

  auto run = [&](std::span<const Schedule> schedules) {
    Proof p = prove(schedules, *claims, diag);
    ++result.proofs;
    result.rankOrder &= p.rankOrder;
    result.bitwiseSame &= p.bitwiseSame;
    result.anyLengths &= p.anyLengths;
    return p.holds && diag.ok();
  };
  if (!run(written)) return false;
  if (written.front().order == Order::waits) return true;  // read so: nothing is left to the passes

  std::vector<Schedule> placed;
  if (hasInPlace(c.kind())) placed = written;
  for (Schedule &s : written) c.improve(s, false);
  if (!diag.ok() || !run(written)) return false;
  if (placed.empty()) return true;
  written.clear();
  for (Schedule &s : placed) c.improve(s, true);
  return diag.ok() && run(placed);
}

}  // namespace

RangeProof proveRange(Compilation &c, const Options &o, Diag &diag) {
  RangeProof result{.from = o.proveFrom, .to = o.proveTo};
  for (int64_t ranks = o.proveFrom; ranks <= o.proveTo; ++ranks) {
    std::optional<bool> applies = c.applies(ranks, false);
    if (!applies) return result;
    if (!*applies) {
      ++result.skipped;
      continue;
    }
    for (int64_t root : roots(c.kind(), ranks))
      if (!proveOne(c, ranks, root, result, diag)) {
        diag.note(
            Loc(), c.name(), " fails with ", ranks, " rank", ranks == 1 ? "" : "s",
            collective(c.kind()).hasRoot() ? cat(", root ", root) : "",
            ranks > o.proveFrom ? cat("; it is proven for fewer, from ", o.proveFrom, " on") : "");
        return result;
      }
    ++result.proven;
  }
  if (result.proven == 0)
    diag.error(Loc(), c.name(), " applies to no number of ranks in ", o.proveFrom, "..", o.proveTo,
               ": `requires` holds for none");
  result.holds = result.proven > 0;
  return result;
}

void print(const RangeProof &p, Compilation &c, std::ostream &out) {
  out << c.name() << " (" << ast::name(c.kind()) << "): proven for ";
  if (p.from == p.to)
    out << p.from << " rank" << (p.from == 1 ? "" : "s");
  else
    out << p.proven << " numbers of ranks in " << p.from << ".." << p.to;
  if (p.skipped) out << " (the other " << p.skipped << " do not meet `requires`)";
  out << "\n";
  if (c.algorithm())
    out << "  as written, as optimised" << (hasInPlace(c.kind()) ? ", in place" : "")
        << (collective(c.kind()).hasRoot() ? ", roots" : "") << ": ";
  else
    out << "  as read: ";
  out << p.proofs << (p.proofs == 1 ? " proof\n" : " proofs\n");
  const Collective &kind = collective(c.kind());
  if (kind.in == Shape::blocks || kind.out == Shape::blocks)
    out << "  lengths of blocks: "
        << (p.anyLengths ? "any, also of v-variants" : "the same on all ranks") << "\n";
  if (!kind.reduces) return;
  out << "  operators: "
      << (p.rankOrder ? "any, also those that do not commute" : "commutative only")
      << "\n  results: "
      << (p.bitwiseSame ? "the same bits on all ranks" : "may differ between ranks in rounding")
      << "\n";
}

}  // namespace nbcc
