// SPDX-License-Identifier: BSD-3-Clause
// run_calls.cpp - memory and arguments of calls, and whether they ended as the reference says.

#include "compiler/driver/run_calls.h"

#include <algorithm>

#include "compiler/driver/compile.h"
#include "compiler/driver/elements.h"

namespace nbcc {
namespace {

std::string blockAt(const Layout &layout, size_t byte) {
  for (size_t b = 0; b < layout.at.size(); ++b)
    if (layout.at[b] <= byte && byte - layout.at[b] < layout.bytes[b]) return cat("of block ", b);
  return "beside all blocks";
}

}  // namespace

Calls::Calls(const Collective &collective, const Options &o, uint64_t seed,
             const Variation &variation, std::span<const Neighbors> neighbors,
             std::span<const Schedule> own)
    : collective_(collective),
      o_(o),
      seed_(seed),
      variation_(variation),
      neighbors_(neighbors),
      type_(*typeNamed(o.type)),
      op_(*operatorNamed(o.op)) {
  for (const Variation::Call &call : variation.calls)
    references_.emplace_back(collective.kind, o.ranks, o.root, call.lengths, type_, op_,
                             call.inPlace, neighbors, own, o.user);
}

/// Where MPI_IN_PLACE says that the contribution lies, from which block of `out` on; empty: not
/// in place here.
std::optional<size_t> Calls::placedAt(int64_t rank, int call) const {
  if (!shape(call).inPlace || !hasInPlace(collective_)) return std::nullopt;
  const auto own = static_cast<size_t>(rank);
  switch (collective_.kind) {
    case ast::Kind::allgather:
      return own;
    case ast::Kind::alltoall:
    case ast::Kind::allreduce:
    case ast::Kind::reduce_scatter:
    case ast::Kind::reduce_scatter_block:
    case ast::Kind::scan:
    case ast::Kind::exscan:
      return 0;
    case ast::Kind::reduce:
      return rank == o_.root ? std::optional<size_t>(0) : std::nullopt;
    case ast::Kind::gather:
      return rank == o_.root ? std::optional(own) : std::nullopt;
    case ast::Kind::scatter:
    case ast::Kind::bcast:
    case ast::Kind::barrier:
    case ast::Kind::neighbor_allgather:
    case ast::Kind::neighbor_alltoall:
    case ast::Kind::own:
      return std::nullopt;
  }
  return std::nullopt;
}

bool Calls::scatterInPlace(int64_t rank, int call) const {
  return shape(call).inPlace && collective_.kind == ast::Kind::scatter && rank == o_.root;
}

/// For this rank's `in` or `out`: blocks that MPI lets lie anywhere may do so, those of
/// `alltoall` may be of types of their own; with equal lengths they lie one behind the other.
Layout Calls::layout(int64_t rank, int n, bool isOut) const {
  const std::vector<uint64_t> blocks =
      isOut ? reference(n).outBlocks(rank) : reference(n).inBlocks(rank);
  const bool row = isRow(isOut ? collective_.out : collective_.in);
  if (!shape(n).lengths.each() || !row) return packedLayout(blocks, type_);
  const uint64_t key = mix(seed_) + static_cast<uint64_t>(n);
  std::vector<bool> isBytes;
  if (collective_.kind == ast::Kind::alltoall && mix(key) % 2)
    for (int64_t i = 0; i < o_.ranks; ++i) {  // both ends alike, also in place
      const auto pair = std::minmax(i, rank);
      isBytes.push_back(mix(key ^ mix(static_cast<uint64_t>(pair.first * o_.ranks + pair.second))) %
                        2);
    }
  if (collective_.kind == ast::Kind::neighbor_alltoall && mix(key) % 2) {  // likewise
    const Neighbors &mine = neighbors_[static_cast<size_t>(rank)];
    const auto edge = [&](int64_t from, int64_t slot) {
      return mix(key ^ mix(static_cast<uint64_t>((from << 32) + slot))) % 2 == 1;
    };
    for (const auto &[source, slot] : mine.sources)
      if (isOut) isBytes.push_back(source != kNobody && edge(source, slot));
    for (size_t slot = 0; slot < mine.destinations.size() && !isOut; ++slot)
      isBytes.push_back(edge(rank, static_cast<int64_t>(slot)));
  }
  return layoutOf(blocks, type_, isBytes, mix(key ^ mix(static_cast<uint64_t>(2 * rank + isOut))));
}

std::vector<std::byte> Calls::inMemory(int64_t rank, int n, const Layout &layout) const {
  std::vector<std::byte> memory(layout.size, std::byte{0x3c});
  layout.spread(reference(n).in(rank, n), memory);
  return memory;
}

/// Before the call, with what lies there already in place.
std::vector<std::byte> Calls::outMemory(int64_t rank, int n, const Layout &layout) const {
  std::vector<std::byte> out(layout.size, std::byte{0xa5});
  layout.spread(reference(n).before(rank, n), out);
  const std::optional<size_t> placed = placedAt(rank, n);
  if (!placed) return out;
  const std::vector<std::byte> in = reference(n).in(rank, n);
  if (collective_.kind == ast::Kind::alltoall) {
    layout.spread(in, out);
    return out;
  }
  // reduce_scatter: more than the result; where that has no block, from the beginning.
  const size_t at = *placed < layout.at.size() ? layout.at[*placed] : 0;
  out.resize(std::max(out.size(), at + in.size()));
  std::ranges::copy(in, out.begin() + static_cast<ptrdiff_t>(at));
  return out;
}

std::unique_ptr<Call> Calls::make(int64_t r, int n) const {
  Layout inLayout = layout(r, n, false), outLayout = layout(r, n, true);
  const std::vector<std::byte> out = outMemory(r, n, outLayout);
  std::vector<std::byte> wanted;
  if (!scatterInPlace(r, n)) wanted = reference(n).after(r, n);
  if (shape(n).lengths.each() && !wanted.empty()) {  // and what is beside the blocks stays
    std::vector<std::byte> all = out;
    outLayout.spread(wanted, all);
    wanted = std::move(all);
  }
  auto call =
      std::make_unique<Call>(Call{Guarded(inMemory(r, n, inLayout)), Guarded(out),
                                  std::move(inLayout), std::move(outLayout), std::move(wanted)});
  nbc_call &a = call->arguments;
  a.in = call->in.data();
  (collective_.data != Shape::none ? a.data : a.out) = call->out.data();
  if (placedAt(r, n)) a.in = NBC_IN_PLACE;
  if (scatterInPlace(r, n)) a.out = NBC_IN_PLACE;
  a.count = shape(n).count;
  a.type = type_;
  a.op = op_;
  if (op_ == NBC_USER) a.user = o_.user ? o_.user : userOperator();
  if (shape(n).lengths.each()) giveRows(*call, r, n);
  return call;
}

/// What MPI's v- and w-variants have.
void Calls::giveRows(Call &call, int64_t r, int n) const {
  nbc_call &a = call.arguments;
  const auto orNull = [](const auto &list) { return list.empty() ? nullptr : list.data(); };
  a.in_counts = orNull(call.inLayout.counts);
  a.in_displacements = orNull(call.inLayout.displacements);
  a.in_types = orNull(call.inLayout.types);
  a.out_counts = orNull(call.outLayout.counts);
  a.out_displacements = orNull(call.outLayout.displacements);
  a.out_types = orNull(call.outLayout.types);
  // Of the single block, where there is one and the row does not say it; else not looked at.
  if (collective_.in == Shape::block) a.count = reference(n).inBlocks(r)[0];
  if (collective_.out == Shape::block && !collective_.reduces)
    a.count = reference(n).outBlocks(r)[0];
}

bool Calls::mayHoldAnything(int64_t r, int n, const Call &call, size_t byte) const {
  if (collective_.kind != ast::Kind::own) return false;
  return reference(n).mayHoldAnything(r, static_cast<int64_t>(byte / call.outLayout.bytes[0]));
}

void Calls::check(int64_t r, int n, Call &call, Diag &diag) const {
  auto where = [&] { return cat("rank ", r, ", call ", n, ": "); };
  if (!call.in.guardsIntact() || !call.out.guardsIntact())
    diag.error(Loc(), where(), "bytes beside a buffer were written");
  if (!call.in.holds(inMemory(r, n, call.inLayout))) diag.error(Loc(), where(), "`in` was changed");
  for (size_t i = 0; i < call.wanted.size(); ++i)
    if (call.out.at(i) != call.wanted[i] && !mayHoldAnything(r, n, call, i)) {
      diag.error(Loc(), where(), "byte ", i, " (", blockAt(call.outLayout, i), ") is 0x", std::hex,
                 std::to_integer<int>(call.out.at(i)), " instead of 0x",
                 std::to_integer<int>(call.wanted[i]), std::dec);
      return;
    }
}

}  // namespace nbcc
