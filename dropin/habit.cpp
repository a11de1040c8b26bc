// SPDX-License-Identifier: BSD-3-Clause
// habit.cpp - which calls are a habit, and how one is told.
//
// Ranks may differ in what is their habit: it leads to the plan that a look would lead to.
// choose_plan() alone changes which that is, and drops a communicator's habits then.

#include "dropin/habit.h"

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
  const Side &row = into_row ? o.receive : o.send;
  std::ptrdiff_t offset = rank * row.count * type_of(row.type).extent;
  return into_row ? offset : -offset;
}

}  // namespace

const Habit *habit_of(Communicator &c, const Operation &o, bool blocking) {
  Habit &h = calls_of(c).habits[o.kind][blocking];
  bool same = h.plan && !o.each && h.receive_count == o.receive.count &&
              h.receive_type == o.receive.type && h.send_count == o.send.count &&
              h.send_type == o.send.type && h.op == o.op && h.root == o.root;
  if (!same) return nullptr;
  const void *in = o.send.buffer, *out = o.receive.buffer;
  if ((h.sends && !is_plain(in)) || (h.receives && !is_plain(out))) return nullptr;
  if (h.sends && h.receives) {
    std::ptrdiff_t d = distance(out, in);
    if (d == 0 || d == h.apart) return nullptr;
  }
  if (h.sends) h.call.in = in;
  if (h.receives) (o.kind == NBC_BCAST ? h.call.data : h.call.out) = const_cast<void *>(out);
  return &h;
}

void get_used(Communicator &c, const Operation &o, const Arguments &arguments, Plan *plan,
              const Outline &line) {
  if (o.each || o.kind >= NBC_OWN || line.truncates || !arguments.is_plain()) return;
  bool in = sends(o, c.rank()), out = receives(o, c.rank());
  if ((in && !is_plain(o.send.buffer)) || (out && !is_plain(o.receive.buffer))) return;
  if (in && out && o.send.buffer == o.receive.buffer) return;
  if ((in && !type_of(o.send.type).named) || (out && !type_of(o.receive.type).named)) return;
  calls_of(c).habits[o.kind][line.blocking] = {.plan = plan,
                                               .send_count = o.send.count,
                                               .receive_count = o.receive.count,
                                               .send_type = o.send.type,
                                               .receive_type = o.receive.type,
                                               .op = o.op,
                                               .root = o.root,
                                               .sends = in,
                                               .receives = out,
                                               .apart = in && out ? own_block(o, c.rank()) : 0,
                                               .bytes = line.bytes,
                                               .call = arguments.call()};
}

}  // namespace nbcc::dropin
