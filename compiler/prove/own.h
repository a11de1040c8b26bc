// SPDX-License-Identifier: BSD-3-Clause
// own.h - a user's own collective in a proof: what its promises say of contributions and lengths.
//
// Each block of `in` (or `data`) on each rank is a contribution, rank by rank: (r, i) has number
// r n + i. So contributions of ascending ranks ascend, whichever blocks they are, and the order of
// ranks is seen in the numbers as it is for other kinds.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/prove/trees.h"

namespace nbcc {

/// How many contributions a rank has.
int64_t contributionsOfRank(const Schedule &);

/// What block `block` of a promise is to hold, each once; ascending.
std::vector<Value> promised(const Schedule &, const Promise &, int64_t block);

/// "in[1] of rank 2"
std::string nameOfContribution(const Schedule &, Value);

/// Which of the caller's blocks are equally long, in v-variants: those that a promise sets equal,
/// and all of a vector. Near-linear in blocks and promises.
class OwnLengths {
 public:
  explicit OwnLengths(std::span<const Schedule> ranks);

  /// Equal for blocks that are equally long; 0 for all if all are.
  int64_t of(int64_t rank, Role, int64_t block) const;

 private:
  int64_t number(int64_t rank, Role, int64_t block) const;
  int64_t find(int64_t) const;
  void unite(int64_t, int64_t);

  int64_t begin_[3] = {};  // of a role's blocks on a rank
  int64_t perRank_ = 0;
  mutable std::vector<int64_t> like_;  // a lower number that is as long, or its own
};

}  // namespace nbcc
