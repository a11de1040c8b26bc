// SPDX-License-Identifier: BSD-3-Clause
// habit.cpp - which calls are a habit, and how one is told.
//
// Ranks may differ in what is their habit: it leads to the plan that a look would lead to.
// choose_plan() alone changes which that is, and drops a communicator's habits then.

#include "dropin/habit.h"

#include <algorithm>
#include <new>

#include "dropin/operators.h"
#include "dropin/queue.h"
#include "dropin/shapes.h"
#include "dropin/types.h"

namespace nbcc::dropin {

namespace {

bool is_plain(const void *buffer) {
  return buffer && buffer != MPI_IN_PLACE;
}

std::ptrdiff_t distance(const void *from, const void *to) {
  return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(to) -
                                     reinterpret_cast<std::uintptr_t>(from));
}

// Where a block and a row of them would be one buffer: at this rank's block. For each count of
// equal blocks; of others, all of it.
std::ptrdiff_t own_block(const Operation &o, int rank) {
  const Shapes &s = shapes_of(o.kind);
  bool from_row = s.send == Shape::ranks, into_row = s.receive == Shape::ranks;
  if (from_row == into_row) return 0;
  Side row = into_row ? o.receive : o.send;
  if (!o.each) row.count = 1;
  return into_row ? own_offset(row, rank) : -own_offset(row, rank);
}

// Of equal blocks and vectors.
std::int64_t count_of(const Habit &h, const Operation &o) {
  return h.has_received() ? o.receive.count : o.send.count;
}

bool is_same(const Habit &h, const Operation &o) {
  return h.plan && h.root == o.root && (h.own || h.op == o.op) &&
         (!h.has_sent() || h.send_type == o.send.type) &&
         (!h.has_received() || h.receive_type == o.receive.type) &&
         (!h.own || (op_of(o.op) == NBC_USER && commutes(o.op) == h.commutes));
}

// False: it would not be the same call.
bool take_counts(Habit &h, const Operation &o) {
  const bool same = (!h.has_sent() || h.send_count == o.send.count) &&
                    (!h.has_received() || h.receive_count == o.receive.count);
  if (same) return true;
  const std::int64_t count = count_of(h, o);
  if (!h.any_count || count <= 0 || count > INT32_MAX) return false;
  if (h.has_sent() && o.send.count != count) return false;
  const auto bytes = static_cast<std::uint64_t>(count * h.bytes_each);
  if (bytes < h.least || bytes > h.most) return false;
  h.send_count = h.receive_count = count;
  h.bytes = bytes;
  h.call.count = static_cast<std::size_t>(count * h.units_each);
  return true;
}

bool has_same_rows(const Habit &h, const Operation &o) {
  return h.send_counts.is(o.send.counts) && h.send_displacements.is(o.send.displacements) &&
         h.send_types.is(numbers(o.send.types)) && h.receive_counts.is(o.receive.counts) &&
         h.receive_displacements.is(o.receive.displacements) &&
         h.receive_types.is(numbers(o.receive.types));
}

bool are_named(const Side &side, int blocks) {
  if (blocks == 0) return true;  // any types may stand there, or none
  const auto is_named = [](MPI_Datatype type) { return type_of(type).named; };
  return side.types ? std::all_of(side.types, side.types + blocks, is_named) : is_named(side.type);
}

// Whether buffers stand where they did, and MPI_IN_PLACE where it did.
bool are_like(const Habit &h, const Operation &o) {
  const void *in = o.send.buffer, *out = o.receive.buffer;
  if (h.sends && (h.in_place_of_sent ? in != MPI_IN_PLACE : !is_plain(in))) return false;
  if (h.receives && (h.in_place_of_received ? out != MPI_IN_PLACE : !is_plain(out))) return false;
  if (!h.has_sent() || !h.has_received()) return true;
  const std::ptrdiff_t d = distance(out, in);
  return d != 0 && d != h.apart_each * (o.each ? 1 : o.receive.count);
}

// Of a block; 0: MPI would object, or there are none.
std::uint64_t block_bytes(const Side &side) {
  std::int64_t all;
  if (side.type == MPI_DATATYPE_NULL || side.count <= 0) return 0;
  return __builtin_mul_overflow(side.count, type_of(side.type).size, &all)
             ? 0
             : static_cast<std::uint64_t>(all);
}

bool is_one_or_row(const Side &side, Shape shape) {
  return is_plain(side.buffer) && (shape == Shape::one || shape == Shape::ranks);
}

// Whether a block and a row may have memory in common, which some libraries object to.
bool may_alias(const Operation &o, int ranks) {
  const auto *in = static_cast<const char *>(o.send.buffer);
  const auto *out = static_cast<const char *>(o.receive.buffer);
  const bool into_row = shapes_of(o.kind).receive == Shape::ranks;
  const Side &row = into_row ? o.receive : o.send;
  const std::ptrdiff_t d = into_row ? distance(out, in) : distance(in, out);
  std::int64_t all;
  return d == 0 || __builtin_mul_overflow(row.count * ranks, type_of(row.type).extent, &all) ||
         all <= 0 || (d > 0 && d < all);
}

// Which is packed as well, in a way.
bool is_pair_with_gaps(MPI_Datatype type, nbc_op op) {
  if (type == MPI_DATATYPE_NULL || op == NBC_OPS) return false;
  const Type t = type_of(type);
  return has_gaps(t) && (t.operators >> op & 1) && nbc_reduction(t.element, op);
}

// By which the plan is told; 0: there is more to be known of the call.
std::uint64_t telling_bytes(const Communicator &c, const Operation &o) {
  const Shapes &s = shapes_of(o.kind);
  if (o.kind >= NBC_OWN || o.each) return 0;
  const bool in = sends(o, c.rank()), out = receives(o, c.rank());
  if (s.reduces) {
    const bool may = s.send == Shape::one && s.receive == Shape::one && o.kind != NBC_EXSCAN;
    if (!may || !is_plain(o.send.buffer) || (out && o.send.buffer == o.receive.buffer) ||
        (out && !is_plain(o.receive.buffer)) || o.op == MPI_OP_NULL)
      return 0;
    const nbc_op op = op_of(o.op);
    if (op != NBC_USER && !is_pair_with_gaps(o.receive.type, op)) return 0;
    return block_bytes(o.receive);
  }
  if ((in && !is_one_or_row(o.send, s.send)) || (out && !is_one_or_row(o.receive, s.receive)))
    return 0;
  const std::uint64_t sent = in ? block_bytes(o.send) : 0;
  const std::uint64_t received = out ? block_bytes(o.receive) : 0;
  if (in && out && (sent != received || sent == 0 || may_alias(o, c.ranks()))) return 0;
  return in ? sent : received;
}

void get_used_to_bytes(Communicator &c, const Operation &o, Plan *plan, const Outline &line) {
  if (!line.blocking || line.bytes == 0 || line.bytes != telling_bytes(c, o)) return;
  std::unique_ptr<HabitOfBytes> &habit = calls_of(c).habits.bytes_of(o);
  if (!habit) habit = std::make_unique<HabitOfBytes>();
  const Lengths lengths = lengths_of(c, o, line);
  *habit = {plan, o.root, line.commutes, std::max<std::uint64_t>(lengths.from, 1),
            std::min(lengths.to, plan->most)};
}

}  // namespace

void KeptRow::keep(const Row &row, int blocks) {
  values.clear();
  if (!row) return;
  auto *given = static_cast<const std::byte *>(row.values);
  wide = row.wide;
  values.assign(given, given + static_cast<std::size_t>(blocks) * (wide ? 8 : 4));
}

Habit *habit_of(Communicator &c, const Operation &o, bool blocking) {
  const std::unique_ptr<Habit> &habit = calls_of(c).habits.of(o, blocking);
  if (!habit) return nullptr;
  Habit &h = *habit;
  if (!is_same(h, o) || !are_like(h, o)) return nullptr;
  if (o.each && !has_same_rows(h, o)) return nullptr;
  if (!take_counts(h, o)) return nullptr;
  if (h.has_sent()) h.call.in = o.send.buffer;
  if (h.has_received() && !h.discards)
    (o.kind == NBC_BCAST ? h.call.data : h.call.out) = const_cast<void *>(o.receive.buffer);
  return &h;
}

Plan *habit_of_bytes(Communicator &c, const Operation &o, std::uint64_t &bytes) {
  const std::unique_ptr<HabitOfBytes> &habit = calls_of(c).habits.bytes_of(o);
  if (!habit || !habit->plan || habit->root != o.root) return nullptr;
  if (c.ranks() == 1 && o.kind == NBC_BCAST) {  // whatever the type is, nothing is moved
    const Side &side = o.receive;
    int size = 0;
    if (side.type == MPI_DATATYPE_NULL || side.count < 0 || !is_plain(side.buffer)) return nullptr;
    PMPI_Type_size(side.type, &size);
    bytes = static_cast<std::uint64_t>(std::max(size, 0)) * static_cast<std::uint64_t>(side.count);
    return habit->plan;
  }
  bytes = telling_bytes(c, o);
  if (shapes_of(o.kind).reduces && bytes && commutes(o.op) != habit->commutes) return nullptr;
  return habit->least <= bytes && bytes <= habit->most ? habit->plan : nullptr;
}

void get_used(Communicator &c, const Operation &o, const Arguments &arguments, Plan *plan,
              const Outline &line) try {
  if (o.kind >= NBC_OWN || line.truncates) return;
  const bool own = arguments.call().op == NBC_USER;
  // Of one that may be freed while this goes on, or beside memory of the call's: no.
  const bool may = !own || (line.blocking && !has_threads() && !o.each && o.kind != NBC_EXSCAN);
  if (!may || !arguments.serves_again()) return get_used_to_bytes(c, o, plan, line);
  const bool in = sends(o, c.rank()), out = receives(o, c.rank());
  const bool in_place_of_sent = in && o.send.buffer == MPI_IN_PLACE;
  const bool in_place_of_received = out && o.receive.buffer == MPI_IN_PLACE;
  const bool sent = in && !in_place_of_sent, received = out && !in_place_of_received;
  if ((sent && !o.send.buffer) || (received && !o.receive.buffer)) return;
  if (sent && received && o.send.buffer == o.receive.buffer) return;
  const bool discards = o.kind == NBC_EXSCAN && c.rank() == 0;
  if (discards && in_place_of_sent) return;  // what is received there is sent, after all
  const Shapes &s = shapes_of(o.kind);
  const int blocks_in = !sent ? 0 : s.send == Shape::neighbors ? c.outdegree() : c.ranks();
  const int blocks_out = !received ? 0 : s.receive == Shape::neighbors ? c.indegree() : c.ranks();
  if ((sent && !are_named(o.send, blocks_in)) || (received && !are_named(o.receive, blocks_out)))
    return get_used_to_bytes(c, o, plan, line);
  std::unique_ptr<Habit> &habit = calls_of(c).habits.of(o, line.blocking);
  if (!habit) habit = std::make_unique<Habit>();
  Habit &h = *habit;
  h.plan = nullptr;
  h.send_counts.keep(o.send.counts, blocks_in);
  h.send_displacements.keep(o.send.displacements, blocks_in);
  h.send_types.keep(numbers(o.send.types), blocks_in);
  h.receive_counts.keep(o.receive.counts, blocks_out);
  h.receive_displacements.keep(o.receive.displacements, blocks_out);
  h.receive_types.keep(numbers(o.receive.types), blocks_out);
  h.plan = plan;
  h.send_count = o.send.count;
  h.receive_count = o.receive.count;
  h.send_type = o.send.type;
  h.receive_type = o.receive.type;
  h.op = o.op;
  h.root = o.root;
  h.sends = in;
  h.receives = out;
  h.in_place_of_sent = in_place_of_sent;
  h.in_place_of_received = in_place_of_received;
  h.discards = discards;
  h.alone = is_alone(o, c.ranks());
  h.follows = follows(o, c.rank());
  h.own = own;
  h.commutes = line.commutes;
  h.apart_each = sent && received ? own_block(o, c.rank()) : 0;
  h.bytes = line.counted();
  h.call = arguments.call();
  static std::uint64_t arrays = 0;
  h.call.arrays = o.each ? ++arrays : 0;
  h.held = own ? nullptr : arguments.held();
  const Lengths lengths = lengths_of(c, o, line);
  const std::int64_t count = count_of(h, o);
  const bool alike = !sent || !received || (o.send.count == count && h.send_type == h.receive_type);
  h.any_count = !o.each && !h.held && alike && count > 0 && lengths.to > 0 && line.bytes > 0;
  if (!h.any_count) return;
  h.least = lengths.from;
  h.most = std::min(lengths.to, plan->most);
  h.bytes_each = static_cast<std::int64_t>(line.bytes) / count;
  h.units_each = static_cast<std::int64_t>(h.call.count) / count;
} catch (const std::bad_alloc &) {
}

}  // namespace nbcc::dropin
