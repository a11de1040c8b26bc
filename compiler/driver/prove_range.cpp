// SPDX-License-Identifier: BSD-3-Clause
// prove_range.cpp - every number of ranks, and what is true for all of them.
//
// Cost: see prove_number.h; several numbers of ranks are proven at the same time.

#include "compiler/driver/prove_range.h"

#include <algorithm>
#include <map>
#include <ostream>

#include "compiler/driver/prove_ahead.h"

namespace nbcc {
namespace {

/// Up to here is proven before there are threads: most mistakes show here already,
/// and who makes one is told at once.
constexpr int64_t kAloneUpTo = 8;

void add(RangeProof &range, const NumberProof &p) {
  ++(p.result == NumberProof::Result::skipped ? range.skipped : range.proven);
  range.proofs += p.proofs;
  range.topologies += p.topologies;
  range.graphs += p.graphs;
  range.meet(p);
}

}  // namespace

RangeProof proveRange(Compilation &c, const Options &o, Diag &diag) {
  using enum NumberProof::Result;
  RangeProof result;
  result.from = o.proveFrom, result.to = o.proveTo;
  std::map<int64_t, NumberProof> ahead;
  for (int64_t ranks = o.proveFrom; ranks <= o.proveTo; ++ranks) {
    if (ranks == std::max(o.proveFrom, kAloneUpTo + 1)) ahead = proveAhead(c, ranks, o.proveTo, o);
    NumberProof p = ahead[ranks];
    // What went wrong there was told nobody; here it is.
    if (p.result != proven && p.result != skipped) p = proveNumber(c, ranks, diag);
    if (p.result == unusable) return result;
    if (p.result == failed) {
      noteFailure(
          p, c, ranks, diag,
          ranks > o.proveFrom ? cat("; it is proven for fewer, from ", o.proveFrom, " on") : "");
      return result;
    }
    add(result, p);
  }
  if (result.proven == 0)
    diag.error(Loc(), c.name(), " applies to no number of ranks in ", o.proveFrom, "..", o.proveTo,
               ": `requires` holds for none");
  result.holds = result.proven > 0;
  return result;
}

void print(const RangeProof &p, Compilation &c, std::ostream &out) {
  out << c.name() << " (" << c.collective().name << "): proven for ";
  if (p.from == p.to)
    out << p.from << " rank" << (p.from == 1 ? "" : "s");
  else
    out << p.proven << " numbers of ranks in " << p.from << ".." << p.to;
  if (p.skipped) out << " (the other " << p.skipped << " do not meet `requires`)";
  out << "\n";
  if (c.algorithm())
    out << "  as written, as optimised" << (hasInPlace(c.collective()) ? ", in place" : "")
        << (c.collective().hasRoot() ? ", roots" : "") << ": ";
  else
    out << "  as read" << (c.readInPlace() ? ", in place: " : ": ");
  out << p.proofs << (p.proofs == 1 ? " proof" : " proofs");
  if (p.graphs > 0) out << ", among neighbours of " << p.graphs << " graphs";
  if (p.topologies > 0) out << ", the ranks placed in " << p.topologies << " ways";
  out << "\n";
  const Collective kind = c.collective();
  const bool own = kind.kind == ast::Kind::own && kind.hasBlocks();
  if (kind.hasOwnLengths() || own)
    out << "  lengths of blocks: "
        << (!p.anyLengths        ? "the same on all ranks"
            : kind.hasAllInOut() ? "any; in place the same on all ranks"
                                 : "any, also of v-variants")
        << "\n";
  if (!kind.reduces) return;
  out << "  operators: "
      << (p.rankOrder ? "any, also those that do not commute" : "commutative only") << "\n";
  if (kind.isPrefix() || kind.hasAllInOut()) return;  // no two ranks have the same result
  out << "  results: "
      << (p.bitwiseSame ? "the same bits on all ranks" : "may differ between ranks in rounding")
      << "\n";
}

}  // namespace nbcc
