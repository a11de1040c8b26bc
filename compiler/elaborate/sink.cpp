// SPDX-License-Identifier: BSD-3-Clause
// sink.cpp - sections, operations and rounds: from the calls of `build` to steps.
//
//   range(tmp, 0, 2)       =>   pending: tmp[0 +: 2]
//   send(1)                =>   %n = send tmp[0 +: 2] to 1 round r
//
// A step costs a check of its peer, one of each section, and two appends. The
// declarations (scratch, split) are in sink_declare.cpp, what `ensures` promises in
// sink_promise.cpp, groups and `run` in sink_group.cpp, views that are no row of equal
// elements in sink_layout.cpp.

#include "compiler/elaborate/sink.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "compiler/elaborate/sink_functions.h"
#include "compiler/elaborate/sink_refuse.h"
#include "dsl/collectives.h"

namespace nbcc {

namespace {

constexpr int64_t kStop = 1;

}  // namespace

Sink::Sink(const CompiledAlgorithm &algorithm, const Request &request, const Limits &limits, Bounds)
    : limits_(limits), topology_(request.topology) {
  iterations = limits.iterations;
  depth = kMaxCallDepth;
  calls = sinkCalls();
  schedule_.algorithm = algorithm.name;
  schedule_.kind = algorithm.collective.kind;
  if (algorithm.collective.kind == ast::Kind::own) schedule_.collective = algorithm.kindName;
  schedule_.ranks = request.ranks;
  schedule_.rank = -1;
  Frame &f = frames_.emplace_back();
  f.name = cat(algorithm.kindName, ".", algorithm.name);
  f.kind = kindFacts(algorithm.collective);
  f.ranks = request.ranks;
}

Sink::Sink(const CompiledAlgorithm &algorithm, const Request &request, const Limits &limits,
           const std::vector<std::optional<int64_t>> &blocks)
    : Sink(algorithm, request, limits, Bounds()) {
  schedule_.rank = frame().rank = request.rank;
  schedule_.root = frame().root = request.root;
  schedule_.order = Order::rounds;
  const Collective &shape = algorithm.collective;
  if (request.graph && shape.hasGraph()) schedule_.neighbors = request.graph->of(request.rank);
  views_.resize(algorithm.views);

  bool atRoot = request.rank == request.root;
  auto add = [&](Shape s, Role role, bool significant) {
    if (s == Shape::none) return;
    Buffer b;
    b.name = unusedName(name(role));
    b.role = role;
    b.significant = significant;
    b.blocks = blocksOf(schedule_, s);
    if (const size_t i = schedule_.buffers.size(); i < blocks.size() && blocks[i])
      b.blocks = *blocks[i];
    b.vector = shape.kind == ast::Kind::own && s == Shape::vector;
    b.loc = algorithm.loc;
    View &v = views_[schedule_.buffers.size()];
    v.buffer = static_cast<BufferId>(schedule_.buffers.size());
    v.elements = b.blocks;
    v.name = name(role);
    v.absentIn = significant ? -1 : 0;
    addBuffer(std::move(b), 1);
  };
  add(shape.in, Role::in, shape.where != Where::in_at_root || atRoot);
  add(shape.out, Role::out, shape.where != Where::out_at_root || atRoot);
  add(shape.data, Role::data, true);
}

void Sink::outOfMemory() noexcept {
  if (!mistake_) mistake_ = Mistake{{}, "out of memory", {}};  // short enough to need none
}

Schedule Sink::take() {
  return std::move(schedule_);
}

// Sections

int64_t Sink::open(int64_t view, int64_t elements, int64_t atoms, int64_t width, Place at) {
  operands_.push_back({view, elements, atoms, width, pending_.size(), at});
  return 0;
}

/// Elements first ..< first + count.
int64_t Sink::append(const View &v, int64_t first, int64_t count) {
  return appendExtent({v.buffer, v.parts, v.first + first * v.stride, count * v.stride});
}

/// Joined to what stands before where it continues it.
int64_t Sink::appendExtent(const Extent &e) {
  if (pending_.size() > operands_.back().begin) {
    Extent &last = pending_.back();
    if (last.first + last.count == e.first || e.count == 0) {
      last.count += e.count;
      return 0;
    }
    if (last.count == 0) {
      last = e;
      return 0;
    }
  }
  if (extents_ + static_cast<int64_t>(pending_.size()) >= limits_.extents)
    return refuse(operands_.back().at, "more than ", limits_.extents, " extents", where());
  pending_.push_back(e);
  return 0;
}

int64_t Sink::whole(int64_t index, Place at) {
  const View &v = view(index);
  if (v.layout) {
    openIrregular(index, at);
    return appendLayout(v, 0, v.elements);
  }
  open(index, v.elements, v.atoms, v.width, at);
  return append(v, 0, v.elements);
}

int64_t Sink::element(int64_t index, int64_t element, Place at) {
  const View &v = view(index);
  if (element < 0 || element >= v.elements)
    return refuse(at, v.name, "[", element, "] is outside ", v.name, ", which has ",
                  plural(v.elements, v.unit), where());
  if (v.layout) {
    openIrregular(index, at);
    return appendAtoms(v, element);
  }
  open(index, v.atoms, 1, v.width, at);
  return append(v, element, 1);
}

int64_t Sink::range(int64_t index, int64_t first, int64_t count, Place at) {
  const View &v = view(index);
  if (count < 0)
    return refuse(at, v.name, "[", first, " +: ", count, "] has a negative count", where());
  if (first < 0 || count > v.elements - first)
    return refuse(at, v.name, "[", first, " +: ", count, "] reaches outside ", v.name,
                  ", which has ", plural(v.elements, v.unit), where());
  if (v.layout) {
    openIrregular(index, at);
    return appendLayout(v, first, count);
  }
  open(index, count, v.atoms, v.width, at);
  return append(v, first, count);
}

int64_t Sink::setBegin(int64_t index, Place at) {
  const View &v = view(index);
  // A set may be empty; a section names its buffer all the same.
  if (v.layout) {
    openIrregular(index, at);
    return appendLayout(v, 0, 0);
  }
  open(index, 0, v.atoms, v.width, at);
  return append(v, 0, 0);
}

int64_t Sink::setAdd(int64_t index) {
  Operand &set = operands_.back();
  const View &v = view(set.view);
  if (index < 0 || index >= v.elements)
    return refuse(set.at, v.name, "[", index, "] in this set is outside ", v.name, ", which has ",
                  plural(v.elements, v.unit), where());
  if (v.layout) return appendLayout(v, index, 1);
  ++set.elements;
  return append(v, index, 1);
}

int64_t Sink::elementsOf(int64_t index, int64_t of, Place at) {
  if (of < 0) return whole(index, at);
  if (setBegin(index, at)) return kStop;
  iterations -= groupSize(of);
  const View &v = view(index);
  for (int32_t rank : group(of).members) {
    if (rank >= v.elements)
      return refuse(at, v.name, "[", rank, "] of rank ", rank, " in this group is outside ", v.name,
                    ", which has ", plural(v.elements, v.unit), where());
    if (setAdd(rank)) return kStop;
  }
  return 0;
}

Section Sink::extents(size_t operand) const {
  size_t begin = operands_[operand].begin;
  size_t end = operand + 1 < operands_.size() ? operands_[operand + 1].begin : pending_.size();
  return {pending_.data() + begin, end - begin};
}

void Sink::close() {
  operands_.clear();
  pending_.clear();
  atoms_.clear();
  runs_.clear();
  port_ = 0;
}

// Operations

int64_t Sink::checkPeer(const char *verb, int64_t peer, Place at) {
  const Frame &f = frame();
  if (peer < 0 || peer >= f.ranks)
    return refuse(at, whoDoes(), " ", verb, " rank ", peer, ", which is not in 0..", f.ranks - 1,
                  ofRoot(" (", ")"));
  if (peer == f.rank) return refuse(at, whoDoes(), " ", verb, " itself", ofRoot(" (", ")"));
  return 0;
}

int64_t Sink::checkOperand(size_t operand, bool writes) {
  const Operand &o = operands_[operand];
  const View &v = view(o.view);
  if (v.absentIn >= 0) {
    const Frame &f = frames_[static_cast<size_t>(v.absentIn)];
    bool here = &f == &frame();
    // A part of it is told by the buffer's name; a callee's buffer has its name there only.
    const std::string_view named =
        frames_.size() == 1 ? schedule_.buffers[static_cast<size_t>(v.buffer)].name : v.name;
    return refuse(o.at, named, here ? "" : cat(" stands for a buffer of ", f.name, " that"),
                  " is significant only at the root, rank ", f.root, here ? "" : " there", ": ",
                  whoDoes(), " has none");
  }
  // Of the statement itself check() has seen it.
  if (writes && schedule_.buffers[static_cast<size_t>(v.buffer)].role == Role::in)
    return refuse(o.at, v.name, " stands for `in` of ", frames_.front().name,
                  ", which cannot be written", where());
  return 0;
}

int64_t Sink::room(Place at) {
  if (static_cast<int64_t>(schedule_.steps.size()) >= limits_.steps)
    return refuse(at, "more than ", limits_.steps, " steps", where());
  return 0;
}

/// Appends a step; the caller has checked everything.
Step &Sink::add(Op op, Place at) {
  Step &s = schedule_.steps.emplace_back();
  s.op = op;
  s.round = schedule_.rounds;
  s.loc = toLoc(at);
  return s;
}

Run Sink::keep(size_t operand) {
  Section section = extents(operand);
  extents_ += static_cast<int64_t>(section.size());
  // All of one view, so cut alike.
  if (section.front().parts == 1 || section.front().count == 0) return schedule_.keep(section);
  lowest_.assign(section.begin(), section.end());
  for (Extent &e : lowest_) e = normalize(e);
  return schedule_.keep(lowest_);
}

int64_t Sink::roundBegin() {
  roundUsed_ = false;
  return 0;
}

int64_t Sink::roundEnd() {
  schedule_.rounds += roundUsed_;
  return 0;
}

int64_t Sink::port(int64_t port, Place at) {
  if (port < 0 || port > ast::kMaxPort)
    return refuse(at, "port ", port, " is not in 0..", ast::kMaxPort, where());
  port_ = static_cast<int16_t>(port);
  return 0;
}

int64_t Sink::communicate(Op op, int64_t peer, Place at, size_t operand) {
  if (room(at)) return kStop;
  Step &s = add(op, at);
  const std::vector<int32_t> &members = frame().members;
  s.peer = members.empty() ? static_cast<int32_t>(peer) : members[static_cast<size_t>(peer)];
  s.port = port_;
  if (op == Op::send) s.from = keep(operand);
  if (op == Op::recv) s.to = keep(operand);
  roundUsed_ = true;
  return 0;
}

int64_t Sink::send(int64_t peer, Place at, Place peerAt) {
  if (checkOperand(0, false) || checkPeer("sends to", peer, peerAt) ||
      communicate(Op::send, peer, at, 0))
    return kStop;
  close();
  return 0;
}

int64_t Sink::recv(int64_t peer, Place at, Place peerAt) {
  if (checkOperand(0, true) || checkPeer("receives from", peer, peerAt) ||
      communicate(Op::recv, peer, at, 0))
    return kStop;
  close();
  return 0;
}

int64_t Sink::exchange(int64_t peer, Place at, Place peerAt) {
  if (checkOperand(0, false) || checkOperand(1, true) ||
      checkPeer("exchanges with", peer, peerAt) || communicate(Op::send, peer, at, 0) ||
      communicate(Op::recv, peer, at, 1))
    return kStop;
  close();
  return 0;
}

int64_t Sink::signal(int64_t peer, Place at, Place peerAt) {
  if (checkPeer("signals", peer, peerAt) || communicate(Op::signal, peer, at, 0)) return kStop;
  close();
  return 0;
}

int64_t Sink::await(int64_t peer, Place at, Place peerAt) {
  if (checkPeer("awaits", peer, peerAt) || communicate(Op::await, peer, at, 0)) return kStop;
  close();
  return 0;
}

int64_t Sink::copy(Place at) {
  if (checkOperand(0, false) || checkOperand(1, true) || room(at)) return kStop;
  Amount from = length(0), to = length(1);
  if (from != to) return refuse(at, "copies ", toString(from), " to ", toString(to), where());
  if (sameSection()) {  // `run ... with in = out, out = out`: it is there already
    close();
    return 0;
  }
  Step &s = add(Op::copy, at);
  s.from = keep(0);
  s.to = keep(1);
  close();
  return 0;
}

/// Whether operands 0 and 1 are the same bytes in the same order.
bool Sink::sameSection() const {
  Section from = extents(0), to = extents(1);
  if (from.front().buffer != to.front().buffer) return false;
  return std::ranges::equal(
      from, to, [](const Extent &a, const Extent &b) { return normalize(a) == normalize(b); });
}

int64_t Sink::reduce(Place at) {
  if (checkOperand(0, false) || checkOperand(1, false) || checkOperand(2, true) || room(at))
    return kStop;
  Amount from = length(0), with = length(1), to = length(2);
  if (from != with || from != to)
    return refuse(at, "reduces ", toString(from), " with ", toString(with), " to ", toString(to),
                  where());
  Step &s = add(Op::reduce, at);
  s.from = keep(0);
  s.with = keep(1);
  s.to = keep(2);
  close();
  return 0;
}

/// As amount() has it, without following `like`.
Amount Sink::length(size_t operand) const {
  Section section = extents(operand);
  int64_t parts = section.front().parts * cuts_[static_cast<size_t>(section.front().buffer)];
  int64_t count = 0;
  for (const Extent &e : section) count += e.count;
  int64_t shared = std::gcd(count, parts);
  Amount length{count / shared, parts / shared};
  assert(length == amount(schedule_, section));
  return length;
}

}  // namespace nbcc
