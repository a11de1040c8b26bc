// SPDX-License-Identifier: BSD-3-Clause
// draft.cpp - orders and numbers the steps of a schedule that was rewritten.
//
// n log n in steps; linear if they came in order.

#include "codegen/common/draft.h"

#include <algorithm>
#include <numeric>

namespace nbcc::codegen {
namespace {

/// Where a step stands: everything the host does first, then rounds, and in each
/// what is local before what is communication; then what the host does last.
int64_t position(const Step &step) {
  if (step.unit == Unit::host_before) return -1;
  if (step.unit == Unit::host_after) return INT64_MAX;
  return 2 * int64_t{step.round} + (step.peer >= 0);
}

}  // namespace

Draft::Draft(const Schedule &source) {
  result.algorithm = source.algorithm;
  result.kind = source.kind;
  result.collective = source.collective;  // what it promises was proven before
  result.ranks = source.ranks;
  result.rank = source.rank;
  result.root = source.root;
  result.neighbors = source.neighbors;
  result.inPlace = source.inPlace;
  result.order = Order::waits;
  result.rounds = source.rounds;
  result.buffers = source.buffers;
  result.textFile = source.textFile;
  steps_.reserve(source.steps.size() + 8);
  waits_.reserve(source.steps.size() + 8);
}

StepId Draft::add(const Step &like, Op op, Unit unit) {
  Step step = like;
  step.op = op;
  step.unit = unit;
  step.from = step.with = step.to = step.after = {};
  if (op == Op::copy || op == Op::reduce) step.peer = -1;
  if (unit == Unit::host_before) step.round = 0;
  if (unit == Unit::host_after) step.round = result.rounds;
  steps_.push_back(step);
  waits_.emplace_back();
  return static_cast<StepId>(steps_.size() - 1);
}

BufferId Draft::addRoom(std::string name, Role role, Section like) {
  Buffer room;
  room.name = std::move(name);
  room.role = role;
  room.like.assign(like.begin(), like.end());
  std::erase_if(room.like, [](const Extent &e) { return e.count == 0; });
  for (const Extent &e : room.like) room.blocks += e.count;
  result.buffers.push_back(std::move(room));
  return static_cast<BufferId>(result.buffers.size() - 1);
}

Schedule Draft::finish() {
  std::vector<StepId> order(steps_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&](StepId a, StepId b) {
    const int64_t x = position(steps_[a]), y = position(steps_[b]);
    return x != y ? x < y : a < b;
  };
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::sort(order.begin(), order.end(), before);
  std::vector<StepId> number(steps_.size());
  for (size_t i = 0; i < order.size(); ++i) number[order[i]] = static_cast<StepId>(i);

  result.steps.reserve(steps_.size());
  for (const StepId id : order) {
    Step step = steps_[id];
    for (StepId &d : waits_[id]) d = number[d];
    step.after = result.keepWaits(std::move(waits_[id]));
    result.steps.push_back(step);
  }
  return std::move(result);
}

}  // namespace nbcc::codegen
