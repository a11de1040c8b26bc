// SPDX-License-Identifier: BSD-3-Clause
// habit.cpp - which calls are a habit, and how one is told.
//
// Ranks may differ in what is their habit: it leads to the plan that a look would lead to.
// choose_plan() alone changes which that is, and drops a communicator's habits then.

#include "dropin/habit.h"

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

// Where a block and a row of them would be one buffer: at this rank's block.
std::ptrdiff_t own_block(const Operation &o, int rank) {
  const Shapes &s = shapes_of(o.kind);
  bool from_row = s.send == Shape::ranks, into_row = s.receive == Shape::ranks;
  if (from_row == into_row) return 0;
  return into_row ? own_offset(o.receive, rank) : -own_offset(o.send, rank);
}

}  // namespace

void KeptRow::keep(const Row &row, int blocks) {
  values.clear();
  if (!row) return;
  auto *given = static_cast<const std::byte *>(row.values);
  wide = row.wide;
  values.assign(given, given + static_cast<std::size_t>(blocks) * (wide ? 8 : 4));
}

const Habit *habit_of(Communicator &c, const Operation &o, bool blocking) {
  const std::unique_ptr<Habit> &habit = calls_of(c).habits[o.kind][o.each][blocking];
  if (!habit) return nullptr;
  Habit &h = *habit;
  bool same = h.plan && h.receive_count == o.receive.count && h.receive_type == o.receive.type &&
              h.send_count == o.send.count && h.send_type == o.send.type && h.op == o.op &&
              h.root == o.root;
  if (!same) return nullptr;
  const void *in = o.send.buffer, *out = o.receive.buffer;
  if ((h.sends && !is_plain(in)) || (h.receives && !is_plain(out))) return nullptr;
  if (h.sends && h.receives) {
    std::ptrdiff_t d = distance(out, in);
    if (d == 0 || d == h.apart) return nullptr;
  }
  if (o.each &&
      !(h.send_counts.is(o.send.counts) && h.send_displacements.is(o.send.displacements) &&
        h.receive_counts.is(o.receive.counts) &&
        h.receive_displacements.is(o.receive.displacements)))
    return nullptr;
  if (h.sends) h.call.in = in;
  if (h.receives && !h.discards)
    (o.kind == NBC_BCAST ? h.call.data : h.call.out) = const_cast<void *>(out);
  return &h;
}

void get_used(Communicator &c, const Operation &o, const Arguments &arguments, Plan *plan,
              const Outline &line) try {
  if (o.kind >= NBC_OWN || o.send.types || o.receive.types) return;
  if (line.truncates || !arguments.serves_again()) return;
  bool in = sends(o, c.rank()), out = receives(o, c.rank());
  if ((in && !is_plain(o.send.buffer)) || (out && !is_plain(o.receive.buffer))) return;
  if (in && out && o.send.buffer == o.receive.buffer) return;
  if ((in && !type_of(o.send.type).named) || (out && !type_of(o.receive.type).named)) return;
  const Shapes &s = shapes_of(o.kind);
  int sent = !in ? 0 : s.send == Shape::neighbors ? c.outdegree() : c.ranks();
  int received = !out ? 0 : s.receive == Shape::neighbors ? c.indegree() : c.ranks();
  std::unique_ptr<Habit> &habit = calls_of(c).habits[o.kind][o.each][line.blocking];
  if (!habit) habit = std::make_unique<Habit>();
  Habit &h = *habit;
  h.plan = nullptr;
  h.send_counts.keep(o.send.counts, sent);
  h.send_displacements.keep(o.send.displacements, sent);
  h.receive_counts.keep(o.receive.counts, received);
  h.receive_displacements.keep(o.receive.displacements, received);
  h.plan = plan;
  h.send_count = o.send.count;
  h.receive_count = o.receive.count;
  h.send_type = o.send.type;
  h.receive_type = o.receive.type;
  h.op = o.op;
  h.root = o.root;
  h.sends = in;
  h.receives = out;
  h.discards = o.kind == NBC_EXSCAN && c.rank() == 0;
  h.apart = in && out ? own_block(o, c.rank()) : 0;
  h.bytes = line.bytes;
  h.call = arguments.call();
  h.held = arguments.held();
} catch (const std::bad_alloc &) {
}

}  // namespace nbcc::dropin
