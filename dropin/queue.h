// SPDX-License-Identifier: BSD-3-Clause
/// queue.h - what calls.cpp, queue.cpp and progress.cpp tell each other. All under the lock.

#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "compiler/selection/table.h"
#include "dropin/calls.h"
#include "dropin/habit.h"

namespace nbcc::dropin {

/// A communicator's calls that wait for it or for a plan, and which plan was chosen for which
/// length.
struct Calls {
  struct Chosen {
    Choice choice;
    std::vector<Plan *> of;  // by root
  };
  std::deque<Request *> queue;
  std::vector<Chosen> chosen[NBC_KINDS][2][2][2];  // by kind, `each`, `commutes`, `blocking`
  Habits habits;
};

inline Calls &calls_of(Communicator &c) {
  if (!c.calls) c.calls = std::make_shared<Calls>();
  return *c.calls;
}

/// Which lengths, in bytes, get the plan that a call has got.
struct Lengths {
  std::uint64_t from = 0, to = 0;
};
Lengths lengths_of(Communicator &, const Operation &, const Outline &);

/// A plan that is ready, by what has been chosen before; null: none yet.
Plan *find_plan(Communicator &, const Operation &, const Outline &);
/// Chooses, and begins to make; the communicator is ready. Null: none can be made.
Plan *choose_plan(Communicator &, const Operation &, const Outline &);
/// The same for a persistent request, which shares it with nobody (communicator.h).
Plan *choose_own_plan(Communicator &, const Operation &, const Outline &);
/// Hands a ready plan the call; an MPI error, after which nothing is under way.
int begin(Request *);
/// Of a call that has ended well: puts what was received where it belongs; an MPI error.
int hand_out(Arguments &, const Outline &);

void append(Communicator &, Request *);
/// Of a queue's first one, which was alone: those behind it may come.
void end_alone(Communicator &);
void advance_queues();

void link(Request *);
/// Of one that is linked: it ends so.
void finish(Request *, int error);
void count_under_way(int change);
/// True: nothing is under way any more.
bool finish_all(double seconds);
void set_over();
/// MPI's word for a status of ours.
int error_of(int status);

}  // namespace nbcc::dropin
