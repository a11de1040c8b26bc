// SPDX-License-Identifier: BSD-3-Clause
// algorithms.h - right schedules of known algorithms, to be proven and to be broken.

#pragma once

#include <string>
#include <vector>

#include "compiler/prove/prove.h"
#include "dsl/collectives.h"

namespace nbcc {

/// Writes down what one rank does, as the language would.
class Maker {
 public:
  Maker(ast::Kind kind, int64_t ranks, int64_t rank, int64_t root = 0) {
    s.algorithm = "made";
    s.kind = kind;
    s.ranks = ranks;
    s.rank = rank;
    s.root = root;
    const Collective &c = collective(kind);
    const bool atRoot = rank == root;
    add("in", Role::in, c.in, c.where != Where::in_at_root || atRoot);
    add("out", Role::out, c.out, c.where != Where::out_at_root || atRoot);
    add("data", Role::data, c.data, true);
  }

  BufferId scratch(const std::string &name, int64_t blocks, std::vector<Extent> like) {
    s.buffers.push_back({.name = name, .role = Role::scratch, .blocks = blocks, .like = like});
    return static_cast<BufferId>(s.buffers.size() - 1);
  }
  BufferId buffer(const char *name) const { return s.buffer(name); }

  void round() { round_ += communicates(); }
  void send(std::vector<Extent> from, int64_t to) { step(Op::send, to, from, {}, {}); }
  void recv(std::vector<Extent> to, int64_t from) { step(Op::recv, from, {}, {}, to); }
  void signal(int64_t to) { step(Op::signal, to, {}, {}, {}); }
  void await(int64_t from) { step(Op::await, from, {}, {}, {}); }
  void copy(std::vector<Extent> from, std::vector<Extent> to) {
    round();
    step(Op::copy, -1, from, {}, to);
  }
  void reduce(std::vector<Extent> left, std::vector<Extent> right, std::vector<Extent> to) {
    round();
    step(Op::reduce, -1, left, right, to);
  }

  Schedule done() {
    s.rounds = round_ + communicates();
    return std::move(s);
  }

 private:
  void add(const char *name, Role role, Shape shape, bool significant) {
    if (shape == Shape::none) return;
    const int64_t blocks = shape == Shape::blocks ? s.ranks : 1;
    s.buffers.push_back({.name = name, .role = role, .significant = significant, .blocks = blocks});
  }
  bool communicates() const {
    return !s.steps.empty() && s.steps.back().peer >= 0 && s.steps.back().round == round_;
  }
  Run keep(std::vector<Extent> section) {
    for (Extent &e : section) e = normalize(e);
    return s.keep(section);
  }
  void step(Op op, int64_t peer, const std::vector<Extent> &from, const std::vector<Extent> &with,
            const std::vector<Extent> &to) {
    Step step;
    step.op = op;
    step.peer = static_cast<int32_t>(peer);
    step.round = round_;
    step.from = keep(from);
    step.with = keep(with);
    step.to = keep(to);
    s.steps.push_back(step);
  }

  Schedule s;
  int32_t round_ = 0;
};

inline Schedule ringAllgather(int64_t ranks, int64_t me) {
  Maker m(ast::Kind::allgather, ranks, me);
  const auto out = [&](int64_t i) {
    return std::vector<Extent>{{m.buffer("out"), 1, (i + 2 * ranks) % ranks, 1}};
  };
  m.copy({{m.buffer("in"), 1, 0, 1}}, out(me));
  for (int64_t r = 0; r + 1 < ranks; ++r) {
    m.round();
    m.send(out(me - r), (me + 1) % ranks);
    m.recv(out(me - r - 1), (me + ranks - 1) % ranks);
  }
  return m.done();
}

inline Schedule bruckAllgather(int64_t ranks, int64_t me) {
  Maker m(ast::Kind::allgather, ranks, me);
  const BufferId out = m.buffer("out");
  std::vector<Extent> like{{out, 1, me, ranks - me}};
  if (me > 0) like.push_back({out, 1, 0, me});
  const BufferId tmp = m.scratch("tmp", ranks, like);
  m.copy({{m.buffer("in"), 1, 0, 1}}, {{tmp, 1, 0, 1}});
  for (int64_t d = 1; d < ranks; d *= 2) {
    const int64_t n = std::min(d, ranks - d);
    m.round();
    m.send({{tmp, 1, 0, n}}, (me + ranks - d) % ranks);
    m.recv({{tmp, 1, d, n}}, (me + d) % ranks);
  }
  for (int64_t j = 0; j < ranks; ++j) m.copy({{tmp, 1, j, 1}}, {{out, 1, (me + j) % ranks, 1}});
  return m.done();
}

/// In rank order: for operators that do not commute.
inline Schedule recursiveDoubling(int64_t ranks, int64_t me) {
  Maker m(ast::Kind::allreduce, ranks, me);
  const std::vector<Extent> in{{m.buffer("in"), 1, 0, 1}}, out{{m.buffer("out"), 1, 0, 1}};
  const std::vector<Extent> tmp{{m.scratch("tmp", 1, out), 1, 0, 1}};
  int64_t core = 1;
  while (core * 2 <= ranks) core *= 2;
  const int64_t extra = ranks - core;
  m.copy(in, out);
  if (me < 2 * extra) {
    m.round();
    if (me % 2) {
      m.send(out, me - 1);
    } else {
      m.recv(tmp, me + 1);
      m.reduce(out, tmp, out);
    }
  }
  if (me >= 2 * extra || me % 2 == 0) {
    const int64_t v = me < 2 * extra ? me / 2 : me - extra;
    for (int64_t d = 1; d < core; d *= 2) {
      const int64_t w = v ^ d, peer = w < extra ? 2 * w : w + extra;
      m.round();
      m.send(out, peer);
      m.recv(tmp, peer);
      if (peer < me)
        m.reduce(tmp, out, out);
      else
        m.reduce(out, tmp, out);
    }
  }
  if (me < 2 * extra) {
    m.round();
    if (me % 2)
      m.recv(out, me - 1);
    else
      m.send(out, me + 1);
  }
  return m.done();
}

/// A vector in P parts; scratch that is like one of them.
inline Schedule ringAllreduce(int64_t ranks, int64_t me) {
  Maker m(ast::Kind::allreduce, ranks, me);
  const auto parts = static_cast<int32_t>(ranks);
  const auto part = [&](const char *buffer, int64_t i) {
    return std::vector<Extent>{{m.buffer(buffer), parts, (i + 2 * ranks) % ranks, 1}};
  };
  m.scratch("tmp", ranks, {{m.buffer("in"), parts, 0, ranks}});
  const auto tmp = [&](int64_t i) {
    return std::vector<Extent>{{m.buffer("tmp"), 1, (i + 2 * ranks) % ranks, 1}};
  };
  m.copy({{m.buffer("in"), 1, 0, 1}}, {{m.buffer("out"), 1, 0, 1}});
  const int64_t right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  for (int64_t r = 0; r + 1 < ranks; ++r) {
    m.round();
    m.send(part("out", me - r), right);
    m.recv(tmp(me - r - 1), left);
    m.reduce(tmp(me - r - 1), part("out", me - r - 1), part("out", me - r - 1));
  }
  for (int64_t r = 0; r + 1 < ranks; ++r) {
    m.round();
    m.send(part("out", me + 1 - r), right);
    m.recv(part("out", me - r), left);
  }
  return m.done();
}

inline Schedule binomialBcast(int64_t ranks, int64_t me) {
  const int64_t root = ranks / 2, v = (me - root + ranks) % ranks;
  Maker m(ast::Kind::bcast, ranks, me, root);
  const std::vector<Extent> halves{{m.buffer("data"), 2, 0, 1}, {m.buffer("data"), 2, 1, 1}};
  int64_t d = 1;
  while (d < ranks) d *= 2;
  for (d /= 2; d > 0; d /= 2) {
    m.round();
    if (v % (2 * d) == 0 && v + d < ranks) m.send(halves, (me + d) % ranks);
    if (v % (2 * d) == d) m.recv(halves, (me - d + ranks) % ranks);
  }
  return m.done();
}

inline Schedule linearAlltoall(int64_t ranks, int64_t me) {
  Maker m(ast::Kind::alltoall, ranks, me);
  m.copy({{m.buffer("in"), 1, me, 1}}, {{m.buffer("out"), 1, me, 1}});
  m.round();
  for (int64_t i = 1; i < ranks; ++i) {
    const int64_t to = (me + i) % ranks, from = (me + ranks - i) % ranks;
    m.send({{m.buffer("in"), 1, to, 1}}, to);
    m.recv({{m.buffer("out"), 1, from, 1}}, from);
  }
  return m.done();
}

inline Schedule sequentialGather(int64_t ranks, int64_t me) {
  const int64_t root = ranks - 1;
  Maker m(ast::Kind::gather, ranks, me, root);
  const std::vector<Extent> in{{m.buffer("in"), 1, 0, 1}};
  if (me != root) {
    m.await(root);
    m.round();
    m.send(in, root);
    return m.done();
  }
  m.copy(in, {{m.buffer("out"), 1, root, 1}});
  for (int64_t i = 1; i < ranks; ++i) {
    const int64_t from = (root + i) % ranks;
    m.round();
    m.signal(from);
    m.round();
    m.recv({{m.buffer("out"), 1, from, 1}}, from);
  }
  return m.done();
}

inline Schedule dissemination(int64_t ranks, int64_t me) {
  Maker m(ast::Kind::barrier, ranks, me);
  for (int64_t d = 1; d < ranks; d *= 2) {
    m.round();
    m.signal((me + d) % ranks);
    m.await((me + ranks - d) % ranks);
  }
  return m.done();
}

struct Made {
  const char *name;
  Schedule (*make)(int64_t ranks, int64_t rank);
};
inline constexpr Made kAlgorithms[] = {
    {"ring allgather", ringAllgather},         {"bruck allgather", bruckAllgather},
    {"recursive doubling", recursiveDoubling}, {"ring allreduce", ringAllreduce},
    {"binomial bcast", binomialBcast},         {"linear alltoall", linearAlltoall},
    {"sequential gather", sequentialGather},   {"dissemination", dissemination},
};

inline std::vector<Schedule> makeAll(const Made &made, int64_t ranks) {
  std::vector<Schedule> all;
  for (int64_t r = 0; r < ranks; ++r) all.push_back(made.make(ranks, r));
  return all;
}

/// Waits for what touches the same bytes; a signal for all before it, and all for an await.
inline void waitForBytes(Schedule &s) {
  const auto touches = [&](Section a, Section b) {
    for (const Extent &x : a)
      for (const Extent &y : b)
        if (overlap(x, y)) return true;
    return false;
  };
  for (size_t i = 0; i < s.steps.size(); ++i) {
    std::vector<StepId> after;
    const Step b = s.steps[i];
    for (size_t j = 0; j < i; ++j) {
      const Step &a = s.steps[j];
      if (b.op == Op::signal || a.op == Op::await || touches(s.to(a), s.to(b)) ||
          touches(s.to(a), s.from(b)) || touches(s.to(a), s.with(b)) ||
          touches(s.from(a), s.to(b)) || touches(s.with(a), s.to(b)))
        if (a.peer < 0 || b.peer < 0 || a.round != b.round) after.push_back(static_cast<StepId>(j));
    }
    s.steps[i].after = s.keepWaits(after);
  }
  s.order = Order::waits;
}

}  // namespace nbcc
