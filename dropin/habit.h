// SPDX-License-Identifier: BSD-3-Clause
/// habit.h - a call that differs from one before in its buffers alone.
///
/// Programs make the same few calls again and again. What follows from a call's counts, types,
/// operator and root is found out once for each kind on a communicator, and kept until a call is
/// another one:
///
///   counts, types, op, root  ->  plan, nbc_call without buffers
///
/// Only of calls whose arguments are handed on as they are: blocks of equal length, named types
/// (a handle that was freed may come again as another type's), MPI's own operators, two buffers,
/// neither of them null or MPI_IN_PLACE. Costs a comparison, and saves 40 to 50 ns a call.

#pragma once

#include "dropin/communicator.h"
#include "dropin/data.h"

namespace nbcc::dropin {

struct Habit {
  Plan *plan = nullptr;  // null: there is none
  std::int64_t send_count, receive_count;
  MPI_Datatype send_type, receive_type;
  MPI_Op op;
  int root;
  bool sends, receives;
  std::ptrdiff_t apart;  // so far in front of what is sent: received there, it would be one buffer
  std::uint64_t bytes;   // as in an Outline
  nbc_call call;
};

/// What to start such a call with; null: it is none, and is looked at. Valid until the next call.
const Habit *habit_of(Communicator &, const Operation &, bool blocking);
/// From a call that was looked at: its arguments, and the ready plan that it gets.
void get_used(Communicator &, const Operation &, const Arguments &, Plan *, const Outline &);

}  // namespace nbcc::dropin
