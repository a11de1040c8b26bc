// SPDX-License-Identifier: BSD-3-Clause
// values.cpp - moves what the ranks contribute from cell to cell, as the steps say.
//
// Races are excluded, so each legal order moves the same; this follows one.
// Scratch and `out` begin undefined: from the call before they may hold
// anything. As nothing undefined is read, and no step writes `in`, a second
// start of the same plan behaves as the first.
//
// A few nanoseconds for each cell moved.

#include <algorithm>

#include "compiler/prove/stages.h"

namespace nbcc {

namespace {

class Flow {
 public:
  Flow(const Together &all, const Memory &memory, const Partners &partners, Findings &findings)
      : all_(all), memory_(memory), partners_(partners), findings_(findings) {
    values_.held.assign(static_cast<size_t>(memory.allCells()), kUndefined);
    values_.trees = Trees(contributions(all));
    for (const Schedule &s : all.ranks) {
      checkNamed(s);
      placeContributions(s);
    }
  }

  void happen(const Event &event) {
    const Schedule &s = all_.schedule(event.rank);
    const Step &step = s.steps[event.step];
    switch (step.op) {
      case Op::recv: {
        const StepId partner = partners_[all_.number(event.rank, event.step)];
        const Schedule &sender = all_.schedule(step.peer);
        const Step &send = sender.steps[partner];
        move(sender, send, sender.from(send), s, s.to(step));
        return;
      }
      case Op::copy:
        move(s, step, s.from(step), s, s.to(step));
        return;
      case Op::reduce:
        reduce(s, step);
        return;
      case Op::await:
      case Op::send:
      case Op::signal:
        return;
    }
  }

  Values take() { return std::move(values_); }

 private:
  /// What is nobody's is not updated, as MPI says of MPI_PROC_NULL.
  void checkNobodys(const Schedule &s) {
    for (const Step &step : s.steps)
      for (const Extent &e : s.to(step)) {
        const Buffer &buffer = s.buffers[e.buffer];
        if (buffer.role != Role::out || e.count == 0) continue;
        for (int64_t b = e.first / e.parts; b <= (e.first + e.count - 1) / e.parts; ++b)
          if (isNobodys(s, buffer, b) && findings_.take(step.loc))
            findings_.diag.error(step.loc, "rank ", s.rank, " ", describe(s, step), " in round ",
                                 step.round, ", but source ", b,
                                 " is nobody: there the buffer is left as it is");
      }
  }

  /// Scatter in place: the root's own block stays where it is, in `in`.
  void checkNamed(const Schedule &s) {
    if (collective(s).hasGraph()) checkNobodys(s);
    if (!s.inPlace || s.kind != ast::Kind::scatter || s.rank != s.root) return;
    for (const Step &step : s.steps)
      for (const Section section : {s.from(step), s.to(step)})
        for (const Extent &e : section)
          if (s.buffers[e.buffer].role == Role::out && findings_.take(step.loc))
            findings_.diag.error(step.loc, "rank ", s.rank, " ", describe(s, step), " in round ",
                                 step.round, ", but in place the root has no `out`");
  }

  void placeContributions(const Schedule &s) {
    for (size_t b = 0; b < s.buffers.size(); ++b)
      for (int64_t i = 0; i < s.buffers[b].blocks; ++i) {
        const Value v = contribution(all_, s, s.buffers[b], i);
        if (v == kUndefined) {
          if (s.buffers[b].role == Role::scratch) break;
          continue;
        }
        const Cells cells = memory_.block(s.rank, static_cast<BufferId>(b), i).cells;
        std::fill_n(values_.held.begin() + memory_.firstCell(s.rank) + cells.begin, cells.size(),
                    v);
      }
  }

  /// A section's cells, in order, as places in `held`.
  void collect(const Schedule &s, Section section, std::vector<Cells> &runs) const {
    runs.clear();
    const int64_t first = memory_.firstCell(s.rank);
    eachRun(memory_, s.rank, section,
            [&](Cells run) { runs.push_back({first + run.begin, first + run.end}); });
  }

  void move(const Schedule &fromRank, const Step &reader, Section from, const Schedule &toRank,
            Section to) {
    collect(fromRank, from, reads_);
    collect(toRank, to, writes_);
    std::vector<Value> &held = values_.held;
    size_t w = 0;
    for (Cells read : reads_)
      while (read.size() > 0) {
        while (writes_[w].size() == 0) ++w;
        const int64_t both = std::min(read.size(), writes_[w].size());
        Value least = 0;
        for (int64_t i = 0; i < both; ++i) {
          const Value v = held[read.begin + i];
          least = std::min(least, v);
          held[writes_[w].begin + i] = v;
        }
        if (least < 0) taint(fromRank, reader, read.begin, writes_[w].begin, both);
        read.begin += both;
        writes_[w].begin += both;
      }
  }

  /// What came from nowhere is told once, where it is read first.
  void taint(const Schedule &s, const Step &reader, int64_t read, int64_t written, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      Value &v = values_.held[written + i];
      if (v == kUndefined) reportUndefined(s, reader, read + i);
      if (v < 0) v = kTainted;
    }
  }

  void reportUndefined(const Schedule &s, const Step &reader, int64_t at) {
    if (!findings_.take(reader.loc)) return;
    const Extent e = memory_.extent(s.rank, at - memory_.firstCell(s.rank));
    findings_.diag.error(reader.loc, "rank ", s.rank, " ", describe(s, reader), " in round ",
                         reader.round, ", but ", toString(s, Section(&e, 1)),
                         " has not been written");
  }

  void reduce(const Schedule &s, const Step &step) {
    collect(s, s.from(step), reads_);
    collect(s, s.with(step), with_);
    collect(s, s.to(step), writes_);
    std::vector<Value> &held = values_.held;
    Value left = kUndefined, right = kUndefined, result = kUndefined;  // of the cell before
    size_t w = 0, r = 0;
    for (const Cells read : reads_)
      for (int64_t a = read.begin; a < read.end; ++a) {
        while (with_[r].size() == 0) ++r;
        while (writes_[w].size() == 0) ++w;
        const int64_t b = with_[r].begin++, to = writes_[w].begin++;
        if (held[a] != left || held[b] != right || result < 0) {
          left = held[a];
          right = held[b];
          if (left == kUndefined) reportUndefined(s, step, a);
          if (right == kUndefined) reportUndefined(s, step, b);
          result = values_.trees.combine(left, right);
          if (values_.trees.full() && findings_.take(step.loc))
            findings_.diag.error(step.loc, "up to here the ranks combine in so many different ",
                                 "ways that the proof cannot follow");
        }
        held[to] = result;
      }
  }

  const Together &all_;
  const Memory &memory_;
  const Partners &partners_;
  Findings &findings_;
  Values values_;
  std::vector<Cells> reads_, with_, writes_;  // kept: a step needs them for a moment
};

}  // namespace

Values follow(const Together &all, const Memory &memory, const Partners &partners,
              const std::vector<Event> &events, Findings &findings) {
  Flow flow(all, memory, partners, findings);
  for (const Event &event : events) flow.happen(event);
  return flow.take();
}

}  // namespace nbcc
