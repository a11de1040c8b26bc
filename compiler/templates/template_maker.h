// SPDX-License-Identifier: BSD-3-Clause
// template_maker.h - from the schedules of all ranks, as written, to the template of one.
//
//   written --passes--> improved --legalize--> legal ways --emit--> template, its order proven
//
// Where the schedules come from is the caller's: a source that was compiled, a text that was read,
// a library. Needs no LLVM.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "codegen/target.h"
#include "compiler/passes/passes.h"
#include "dsl/collectives.h"

namespace nbcc {

class TemplateMaker {
 public:
  /// A rank's schedule; empty: it cannot be had, which was reported to the Diag.
  using Written = std::function<std::optional<Schedule>(int64_t ranks, int64_t rank, int64_t root)>;
  TemplateMaker(Written written, bool strictRounds, Diag &diag)
      : written_(std::move(written)), strictRounds_(strictRounds), diag_(diag) {}

  /// Ranks are placed or connected otherwise from now on: nothing is known of peers any more.
  void forget() { peersRanks_ = 0; }

  PassContext context(const Schedule &);
  /// What the passes make of it. `in place` only changes what the kind has.
  void improve(Schedule &, bool inPlace);

  struct Rank {
    int64_t ranks = 1, rank = 0, root = 0;
  };
  /// The template of one rank, its order proven from the bytes; `legal`, if given, gets what it was
  /// emitted from.
  std::optional<Template> make(Rank, const Collective &, bool inPlace, const Target &,
                               TargetOptions, std::vector<Legal> *legal = nullptr);

 private:
  void aboutPeersOf(int64_t ranks, int64_t root);
  const Schedule *peer(int64_t ranks, int64_t rank, int64_t root);
  /// `nodes`: what stays on one of them does not count; null: all does.
  bool symmetric(int64_t ranks, int64_t rank, int64_t root, const Topology *nodes);

  Written written_;
  bool strictRounds_;
  Diag &diag_;
  std::map<int64_t, Schedule> peers_;   // for merge-sends, of one (ranks, root)
  std::vector<signed char> symmetric_;  // by rank: -1 not known
  int64_t peersRanks_ = 0, peersRoot_ = 0;
};

}  // namespace nbcc
