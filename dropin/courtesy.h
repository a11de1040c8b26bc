// SPDX-License-Identifier: BSD-3-Clause
/// courtesy.h - who goes first behind a barrier, where ranks share cores.
///
///   rank 0   barrier: waits, and yields ........................ bcast: sends
///   rank 2      barrier: comes last, is through   bcast: yields      receives
///
/// Whoever comes last finds a barrier over and goes on, while those that share its core are still
/// in it. Where the call behind it can only wait for others, a rank does better to yield within
/// the barrier: that takes as many turns of the core or fewer, and a bcast of 8 bytes, which
/// benchmark suites time by itself, 1 or 2 us instead of 4. What stands behind a barrier is taken
/// to be what stood behind the last one; and who has yielded while nobody wanted the core does not
/// do so again, until a call behind a barrier has had to.
///
/// Of a process's calls with other ranks that block, or are given to MPI_Wait or MPI_Waitall before
/// the next one, whatever their communicators; one thread at a time.

#pragma once

#include "nbc/template.h"

namespace nbcc::dropin {

class Courtesy {
 public:
  /// A call is over. `follows`: it can only wait for ranks that do not wait for this one. `away`:
  /// others may have had the core meanwhile. `yield`: lets others have it; whether any wanted it.
  template <class Yield>
  void leave(nbc_kind kind, bool follows, bool away, Yield yield) {
    if (kind != NBC_BARRIER) {
      begin(this, follows);
      end(this, away);
      return;
    }
    waited_for_ = nullptr;
    if (behind_barrier_)
      yields_ = false;
    else if (yields_ && !away)
      yields_ = yield();
    behind_barrier_ = true;
  }

  /// A call has begun that does not block.
  void begin(const void *call, bool follows) {
    if (behind_barrier_ && !follows) yields_ = false;
    waited_for_ = behind_barrier_ && follows ? call : nullptr;
    behind_barrier_ = false;
  }

  /// It has been waited for; as in leave().
  void end(const void *call, bool away) {
    if (call != waited_for_) return;
    waited_for_ = nullptr;
    yields_ = yields_ || away;
  }

 private:
  bool behind_barrier_ = false;
  bool yields_ = false;               // in the next barrier, if it comes last
  const void *waited_for_ = nullptr;  // a call that began behind a barrier, until another one
};

}  // namespace nbcc::dropin
