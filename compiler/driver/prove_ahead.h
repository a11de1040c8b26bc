// SPDX-License-Identifier: BSD-3-Clause
// prove_ahead.h - prove several numbers of ranks at the same time.

#pragma once

#include <map>

#include "compiler/driver/prove_number.h"

namespace nbcc {

/// Proves `from`..`to` with Options::jobs threads, from small to large, and reports
/// nothing: whoever wants to say why a number failed proves it again. All below the
/// smallest that failed are there; of those above it, some. Nothing at all where one
/// thread has to do, or the schedules were read and not made here.
std::map<int64_t, NumberProof> proveAhead(const Compilation &, int64_t from, int64_t to,
                                          const Options &);

/// Lets proofs run together as long as their memory fits, and one alone always. What
/// a proof takes is foretold from the largest that has ended. Not thread safe.
class Room {
 public:
  explicit Room(size_t bytes) : bytes_(bytes) {}

  bool isFor(int64_t ranks) const { return inside_ == 0 || need(ranks) <= free(); }
  void enter(int64_t ranks);
  /// With the number of ranks it entered with, and what it found.
  void leave(int64_t ranks, const NumberProof &);

 private:
  size_t need(int64_t ranks) const;
  size_t free() const { return bytes_ > taken_ ? bytes_ - taken_ : 0; }

  size_t bytes_, taken_ = 0;
  int inside_ = 0;
  std::map<int64_t, size_t> needs_;  // of those inside, as foretold
  int64_t measuredRanks_ = 0;        // the largest that has ended; 0: none yet
  size_t measuredBytes_ = 0;
};

}  // namespace nbcc
