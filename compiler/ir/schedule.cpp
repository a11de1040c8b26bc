// SPDX-License-Identifier: BSD-3-Clause
// schedule.cpp - names of the closed sets, and the pools that sections and waits are kept in.

#include "compiler/ir/schedule.h"

#include <algorithm>
#include <cassert>
#include <functional>

namespace nbcc {

std::string_view name(Op op) {
  switch (op) {
#define OP(name, ...) \
  case Op::name:      \
    return #name;
#include "compiler/ir/ops.def"
  }
  return "?";
}

std::string_view name(Unit unit) {
  switch (unit) {
    case Unit::any:
      return "any";
    case Unit::host_before:
      return "host_before";
    case Unit::host:
      return "host";
    case Unit::host_after:
      return "host_after";
    case Unit::nic:
      return "nic";
  }
  return "?";
}

std::string_view name(Role role) {
  switch (role) {
    case Role::in:
      return "in";
    case Role::out:
      return "out";
    case Role::data:
      return "data";
    case Role::scratch:
      return "scratch";
    case Role::slots:
      return "slots";
  }
  return "?";
}

std::string_view name(Order order) {
  return order == Order::rounds ? "rounds" : "waits";
}

Run Schedule::keep(Section section) {
  // Positions in the pool are 32 bits: 2^32 extents would take 100 GB.
  assert(extents_.size() + section.size() <= UINT32_MAX);
  const Run run{static_cast<uint32_t>(extents_.size()), static_cast<uint32_t>(section.size())};
  const Extent *pool = extents_.data();
  const bool ownPool = std::greater_equal<>()(section.data(), pool) &&
                       std::less<>()(section.data(), pool + extents_.size());
  if (ownPool) {  // growing the pool would pull the view from under us
    const size_t begin = section.data() - pool;
    extents_.resize(extents_.size() + section.size());
    std::copy_n(extents_.begin() + begin, section.size(), extents_.begin() + run.begin);
  } else {
    extents_.insert(extents_.end(), section.begin(), section.end());
  }
  return run;
}

Run Schedule::keepWaits(std::vector<StepId> waits) {
  if (!std::is_sorted(waits.begin(), waits.end())) std::sort(waits.begin(), waits.end());
  waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
  assert(waits_.size() + waits.size() <= UINT32_MAX);
  const Run run{static_cast<uint32_t>(waits_.size()), static_cast<uint32_t>(waits.size())};
  waits_.insert(waits_.end(), waits.begin(), waits.end());
  return run;
}

Run Schedule::keepSources(std::span<const Source> sources) {
  assert(sources_.size() + sources.size() <= UINT32_MAX);
  const Run run{static_cast<uint32_t>(sources_.size()), static_cast<uint32_t>(sources.size())};
  sources_.insert(sources_.end(), sources.begin(), sources.end());
  return run;
}

void Schedule::renumberBuffers(std::span<const BufferId> to) {
  for (Extent &extent : extents_)
    if (extent.buffer >= 0) extent.buffer = to[extent.buffer];
  for (Promise &promise : promises) promise.to.buffer = to[promise.to.buffer];
  for (Buffer &buffer : buffers)
    for (Extent &extent : buffer.like) extent.buffer = to[extent.buffer];
}

int64_t blocksOf(const Schedule &s, Shape shape) {
  switch (shape) {
    case Shape::none:
      return 0;
    case Shape::block:
    case Shape::vector:
      return 1;
    case Shape::blocks:
      return s.ranks;
    case Shape::sources:
      return static_cast<int64_t>(s.neighbors.sources.size());
    case Shape::destinations:
      return static_cast<int64_t>(s.neighbors.destinations.size());
  }
  return 0;
}

BufferId Schedule::buffer(std::string_view wanted) const {
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].name == wanted) return static_cast<BufferId>(i);
  return -1;
}

BufferId Schedule::buffer(Role role) const {
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].role == role) return static_cast<BufferId>(i);
  return -1;
}

size_t Schedule::bytes() const {
  size_t total = sizeof *this + algorithm.capacity();
  total += steps.capacity() * sizeof(Step) + extents_.capacity() * sizeof(Extent) +
           waits_.capacity() * sizeof(StepId) + buffers.capacity() * sizeof(Buffer) +
           neighbors.sources.capacity() * sizeof(Neighbors::Source) +
           neighbors.destinations.capacity() * sizeof(int32_t) +
           promises.capacity() * sizeof(Promise) + sources_.capacity() * sizeof(Source);
  for (const Buffer &buffer : buffers)
    total += buffer.name.capacity() + buffer.like.capacity() * sizeof(Extent) +
             buffer.likeEnds.capacity() * sizeof(int64_t);
  return total;
}

std::string_view kindName(const Schedule &s) {
  return s.kind == ast::Kind::own ? std::string_view(s.collective) : ast::name(s.kind);
}

Collective collective(const Schedule &s) {
  if (s.kind != ast::Kind::own) return collective(s.kind);
  Collective c{s.kind,      s.collective,      Shape::none, Shape::none,
               Shape::none, Where::everywhere, false};
  for (const Buffer &buffer : s.buffers) {
    const Shape shape = buffer.vector        ? Shape::vector
                        : buffer.blocks == 1 ? Shape::block
                                             : Shape::blocks;
    if (buffer.role == Role::in) c.in = shape;
    if (buffer.role == Role::out) c.out = shape;
    if (buffer.role == Role::data) c.data = shape;
  }
  for (const Promise &promise : s.promises) {
    int64_t ranks = 0;
    for (const Source &source : s.sources(promise)) ranks += source.ranks;
    c.reduces |= ranks > 1;
  }
  return c;
}

}  // namespace nbcc
