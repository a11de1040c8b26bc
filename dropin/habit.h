// SPDX-License-Identifier: BSD-3-Clause
/// habit.h - a call that differs from one before in its buffers alone, or in a count that leads to
/// the same plan.
///
/// Programs make the same few calls again and again. What follows from a call's counts,
/// displacements, types, operator and root is found out once for each kind and root on a
/// communicator, and kept until a call is another one:
///
///   counts, displacements, types, op, root  ->  plan, nbc_call without buffers
///
/// Of equal blocks and vectors any count serves whose bytes the plan was chosen for. Only of calls
/// whose buffers are handed on as they are: named types, one on each side (a handle that was freed
/// may come again as another type's), two buffers, or MPI_IN_PLACE where it was before. MPI's own
/// operator is the same one; a program's may be another each time that commutes as the first did.
/// Costs a comparison.

#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "dropin/communicator.h"
#include "dropin/data.h"

namespace nbcc::dropin {

/// A row of the caller's, as it was: of numbers, or of types.
struct KeptRow {
  std::vector<std::byte> values;  // none: there is no row, or MPI does not look at it here
  bool wide = false;

  void keep(const Row &, int blocks);  // may throw std::bad_alloc
  bool is(const Row &row) const {
    return values.empty() ||
           (row && row.wide == wide && std::memcmp(values.data(), row.values, values.size()) == 0);
  }
};

struct Habit {
  Plan *plan = nullptr;  // null: there is none
  std::int64_t send_count, receive_count;
  MPI_Datatype send_type, receive_type;
  MPI_Op op;
  int root;
  KeptRow send_counts, send_displacements, send_types;
  KeptRow receive_counts, receive_displacements, receive_types;
  bool sends, receives;                         // what MPI looks at here
  bool in_place_of_sent, in_place_of_received;  // MPI_IN_PLACE stands there
  bool discards;  // what is received goes to memory of ours: exscan's first rank
  bool alone;     // is_alone(), shapes.h
  bool follows;   // follows(), likewise
  bool own;       // the operator is the program's: `call` has none, nor is `op` looked at
  bool commutes;
  bool any_count;
  std::uint64_t least, most;  // bytes of any other count
  std::int64_t bytes_each;    // of a count, as in an Outline
  std::int64_t units_each;    // and as in an nbc_call
  std::ptrdiff_t apart_each;  // for each count so far in front of what is sent: received there, it
                              // would be one buffer
  std::uint64_t bytes;        // counted() of an Outline
  nbc_call call;
  std::shared_ptr<const void> held;  // what `call` uses: a call that others may run beside keeps it

  bool has_sent() const { return sends && !in_place_of_sent; }
  bool has_received() const { return receives && !in_place_of_received; }
};

/// A blocking call of blocks of one length, of types that the program has made, or a reduction of
/// such elements by its own operator, or of pairs with gaps. Types and operators may be others each
/// time; the plan is the same as long as the bytes are about as many.
struct HabitOfBytes {
  Plan *plan = nullptr;  // null: there is none
  int root;
  bool commutes;
  std::uint64_t least, most;
};

/// Those of a communicator.
struct Habits {
  enum : unsigned { roots = 4 };                       // that are told apart
  std::unique_ptr<Habit> all[NBC_KINDS][2][2][roots];  // by kind, `each`, `blocking`
  std::unique_ptr<HabitOfBytes> bytes[NBC_KINDS][roots];
  std::unique_ptr<Habit> &of(const Operation &o, bool blocking) {
    return all[o.kind][o.each][blocking][static_cast<unsigned>(o.root) % roots];
  }
  std::unique_ptr<HabitOfBytes> &bytes_of(const Operation &o) {
    return bytes[o.kind][static_cast<unsigned>(o.root) % roots];
  }
};

/// What to start such a call with; null: it is none, and is looked at. Valid until the next call.
Habit *habit_of(Communicator &, const Operation &, bool blocking);
/// The plan for such a call, and its bytes; null: it is none, and is looked at. Within a
/// OneCall.
Plan *habit_of_bytes(Communicator &, const Operation &, std::uint64_t &bytes);
/// From a call that was looked at: its arguments, and the ready plan that it gets. Without memory
/// there is no habit.
void get_used(Communicator &, const Operation &, const Arguments &, Plan *, const Outline &);

}  // namespace nbcc::dropin
