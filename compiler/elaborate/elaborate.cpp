// SPDX-License-Identifier: BSD-3-Clause
// elaborate.cpp - runs the compiled functions against a sink, and reports what it refused.
//
//   (bruck, P = 8, rank 3, k = 1)   =>   the steps of rank 3, Order::rounds
//
// A run costs tens of nanoseconds a step.

#include "compiler/elaborate/elaborate.h"

#include <cassert>

#include "compiler/elaborate/sink.h"

namespace nbcc {
namespace {

bool report(const Sink &sink, Diag &diag) {
  const std::optional<Sink::Mistake> &mistake = sink.mistake();
  if (mistake) {
    diag.error(mistake->at, mistake->text);
    for (Loc at : mistake->runFrom) diag.note(at, "run from here");
    if (mistake->other.known()) diag.note(mistake->other, mistake->why);
  }
  return mistake.has_value();
}

std::optional<int64_t> evaluate(const CompiledAlgorithm &a, Bound *bound, const Request &request,
                                const Limits &limits, Diag &diag) {
  Sink sink(a, request, limits, Sink::Bounds());
  Checked value = bound(request.ranks, request.root, request.parameters.data(), &sink);
  if (report(sink, diag) || !value.ok) return std::nullopt;
  return value.value;
}

/// Of a declared collective: how many blocks its buffers have, where it says so.
std::optional<std::vector<std::optional<int64_t>>> blocks(const CompiledAlgorithm &a,
                                                          const Request &request,
                                                          const Limits &limits, Diag &diag) {
  std::vector<std::optional<int64_t>> result;
  for (const CompiledAlgorithm::Extent &extent : a.extents) {
    result.emplace_back();
    if (!extent.blocks) continue;
    result.back() = evaluate(a, extent.blocks, request, limits, diag);
    if (!result.back()) return std::nullopt;
    if (*result.back() <= kMaxBlocks) continue;
    diag.error(extent.loc, extent.buffer, " has ", *result.back(), " blocks; there are at most ",
               kMaxBlocks);
    return std::nullopt;
  }
  return result;
}

}  // namespace

std::optional<bool> applies(const CompiledAlgorithm &a, const Request &request,
                            const Limits &limits, Diag &diag, Loc *why) {
  assert(request.parameters.size() == a.parameters);
  for (const CompiledAlgorithm::Requirement &r : a.requirements) {
    std::optional<int64_t> holds = evaluate(a, r.holds, request, limits, diag);
    if (!holds) return std::nullopt;
    if (*holds) continue;
    if (why) *why = r.loc;
    return false;
  }
  return true;
}

std::optional<std::vector<ClaimValue>> claims(const CompiledAlgorithm &a, const Request &request,
                                              const Limits &limits, Diag &diag) {
  assert(request.parameters.size() == a.parameters);
  std::vector<ClaimValue> values;
  for (const CompiledAlgorithm::Claim &c : a.claims) {
    ClaimValue v{c.what, c.op, 0, c.loc};
    if (c.bound) {
      std::optional<int64_t> bound = evaluate(a, c.bound, request, limits, diag);
      if (!bound) return std::nullopt;
      v.bound = *bound;
    }
    values.push_back(v);
  }
  return values;
}

std::optional<Schedule> elaborate(const CompiledAlgorithm &a, const Request &request,
                                  const Limits &limits, Diag &diag) {
  assert(request.parameters.size() == a.parameters);
  assert(request.rank >= 0 && request.rank < request.ranks);
  assert(request.root >= 0 && request.root < request.ranks);
  assert(!request.topology || request.topology->ranks() == request.ranks);
  assert(!request.graph || request.graph->ranks() == request.ranks);
  if (request.ranks > kMaxBlocks) {  // a buffer has a block for each
    diag.error(a.loc, "a schedule for ", request.ranks, " ranks; there are at most ", kMaxBlocks);
    return std::nullopt;
  }
  if (a.collective.hasGraph() && !request.graph) {
    diag.error(a.loc, a.kindName, " is among neighbours: say who they are with --cart=4x3p",
               " (ranks of each dimension, p: periodic) or --graph=FILE");
    return std::nullopt;
  }

  const auto extents = blocks(a, request, limits, diag);
  if (!extents) return std::nullopt;
  Sink sink(a, request, limits, *extents);
  sink.reserve(a.steps.load(std::memory_order_relaxed));
  if (a.ensures) a.ensures(request.ranks, request.rank, request.root, nullptr, &sink);
  if (!sink.mistake())
    a.build(request.ranks, request.rank, request.root, request.parameters.data(), &sink);
  if (report(sink, diag)) return std::nullopt;
  Schedule schedule = sink.take();
  a.steps.store(schedule.steps.size(), std::memory_order_relaxed);
  return schedule;
}

}  // namespace nbcc
