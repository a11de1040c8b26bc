// SPDX-License-Identifier: BSD-3-Clause
// calls.cpp - which calls of a rank there are, and whether their blocks may have lengths of their
// own.
//
// Linear in extents and in the blocks that they name.

#include "codegen/common/calls.h"

#include "codegen/common/own_lengths.h"
#include "dsl/collectives.h"
#include "nbc/template.h"

namespace nbcc::codegen {
namespace {

/// Whether a call with MPI_IN_PLACE can be made on this rank.
bool isInPlace(const Schedule &s) {
  const Role replaced = s.kind == ast::Kind::scatter ? Role::out : Role::in;
  for (const Step &step : s.steps)
    for (const Section section : {s.from(step), s.with(step), s.to(step)})
      for (const Extent &e : section)
        if (s.buffers[e.buffer].role == replaced) return false;
  return true;
}

bool canDiffer(const Schedule &s, const char *target, Diag &diag) {
  if (collective(s).hasOwnLengths()) return true;
  diag.error({}, target, ": own lengths: ", kindName(s),
             s.kind == ast::Kind::own    ? ", which is declared, has blocks that are equally long"
             : collective(s).hasBlocks() ? " has blocks that are always equally long"
                                         : " has no blocks that could differ in length");
  return false;
}

}  // namespace

Calls::Calls(const Schedule &given, const Schedule *inPlace, const TargetOptions &options,
             const char *target, Diag &diag) {
  if (inPlace && !isInPlace(*inPlace)) inPlace = nullptr;
  const bool own = options.lengths == Blocks::each;
  if (own && !canDiffer(given, target, diag)) return;
  // MPI's row of elements has no P blocks of ours there: see template.h.
  if (own && given.kind == ast::Kind::reduce_scatter) inPlace = nullptr;
  all_.push_back({&given, 0});
  if (inPlace) all_.push_back({inPlace, NBC_VARIANT_IN_PLACE});
  if (!own) return;
  fit_.reserve(all_.size());
  for (Call &call : all_) {
    Schedule &mine = fit_.emplace_back(*call.schedule);
    if (!giveOwnLengths(mine, target, diag)) {
      all_.clear();
      return;
    }
    cutAtBlocks(mine);
    call.schedule = &mine;
  }
}

}  // namespace nbcc::codegen
