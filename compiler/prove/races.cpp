// SPDX-License-Identifier: BSD-3-Clause
// races.cpp - steps of a rank that may overlap in time touch the same bytes only to read.
//
// Each step leaves its number at the cells it reads or writes; who comes next
// must be known to start after it: after the last writer, and, to write, after
// all who have read since. Those further back are ordered by those in between.
//
//   Order::rounds   the operations of one round overlap, all else is in order
//   Order::waits    what Reach finds along `after`, and nothing else
//
// Within a step: no byte is written twice, and what a copy or a reduction reads
// is what it writes, exactly there, or apart from it: shifted, it would read
// what it has just written. And nobody writes `in`: it is the caller's still.
//
// Linear in the cells touched, times what Reach takes; the nearest are asked
// first and an answer is good for all cells of a run.

#include <algorithm>
#include <memory>

#include "compiler/prove/stages.h"

namespace nbcc {

namespace {

constexpr size_t kMostReaders = size_t{1} << 26;

class Races {
 public:
  Races(const Together &all, const Memory &memory, Findings &findings)
      : memory_(memory), findings_(findings) {
    int64_t most = 0;
    for (const Schedule &s : all.ranks) most = std::max(most, memory.cellsOf(s.rank));
    writer_.resize(static_cast<size_t>(most));
    readers_.resize(static_cast<size_t>(most));
    place_.resize(static_cast<size_t>(most), {-1, 0});
  }

  void check(const Schedule &s) {
    s_ = &s;
    const auto cells = static_cast<ptrdiff_t>(memory_.cellsOf(s.rank));
    std::fill_n(writer_.begin(), cells, -1);
    std::fill_n(readers_.begin(), cells, -1);
    std::fill_n(place_.begin(), cells, Place{-1, 0});
    pool_.clear();
    reach_.reset();
    if (s.order == Order::waits) reach_ = std::make_unique<Reach>(s);

    for (StepId i = 0; i < static_cast<StepId>(s.steps.size()); ++i) {
      asked_ = -1;
      const Step &step = s.steps[i];
      checkWithin(i, step);
      for (const Section read : {s.from(step), s.with(step)})
        eachRun(memory_, s.rank, read, [&](Cells run) { touch(i, run, false); });
      eachRun(memory_, s.rank, s.to(step), [&](Cells run) { touch(i, run, true); });
    }
  }

 private:
  struct Reader {
    StepId step;
    int32_t next;  // in pool_; -1: none
  };
  struct Place {
    StepId step;
    int32_t at;  // how far into what the step writes
  };

  void touch(StepId i, Cells run, bool writes) {
    for (int64_t c = run.begin; c < run.end; ++c) {
      if (writer_[c] >= 0 && writer_[c] != i && !ordered(writer_[c], i))
        return report(writer_[c], i, c);
      if (!writes) {
        if (!noteReader(i, c)) return;
        continue;
      }
      for (int32_t r = readers_[c]; r >= 0; r = pool_[r].next)
        if (pool_[r].step != i && !ordered(pool_[r].step, i)) return report(pool_[r].step, i, c);
      readers_[c] = -1;
      writer_[c] = i;
    }
  }

  /// Who waits for this reader waits for those it waits for: they can be forgotten.
  bool noteReader(StepId i, int64_t cell) {
    int32_t &latest = readers_[cell];
    if (latest >= 0 && (pool_[latest].step == i || plainlyOrdered(pool_[latest].step, i))) {
      pool_[latest].step = i;
      return true;
    }
    if (pool_.size() >= kMostReaders) {
      if (findings_.take(s_->steps[i].loc))
        findings_.diag.error(s_->steps[i].loc, "up to here rank ", s_->rank,
                             " reads the same blocks so often at the same time that the proof ",
                             "cannot follow");
      return false;
    }
    pool_.push_back({i, latest});
    latest = static_cast<int32_t>(pool_.size() - 1);
    return true;
  }

  /// Without a search.
  bool plainlyOrdered(StepId before, StepId step) const {
    const Step &a = s_->steps[before], &b = s_->steps[step];
    if (s_->order == Order::rounds) return a.round != b.round || a.peer < 0;
    const std::span<const StepId> after = s_->after(b);
    return std::find(after.begin(), after.end(), before) != after.end();
  }

  bool ordered(StepId before, StepId step) {
    if (before == asked_) return true;
    if (!plainlyOrdered(before, step) && !(reach_ && reach_->finishedBefore(before, step)))
      return false;
    asked_ = before;
    return true;
  }

  void report(StepId before, StepId step, int64_t cell) {
    const Step &a = s_->steps[before], &b = s_->steps[step];
    if (!findings_.take(b.loc)) return;
    const Extent both = memory_.extent(s_->rank, cell);
    findings_.diag.error(b.loc, "rank ", s_->rank, " ", describe(*s_, b), " in round ", b.round,
                         ", while it ", describe(*s_, a),
                         a.round == b.round ? std::string{} : cat(" in round ", a.round), ": ",
                         toString(*s_, Section(&both, 1)), " is in both");
    findings_.diag.note(a.loc, "nothing orders this before it");
  }

  void checkWithin(StepId i, const Step &step) {
    int64_t at = 0;
    bool once = true;
    eachRun(memory_, s_->rank, s_->to(step), [&](Cells run) {
      for (int64_t c = run.begin; c < run.end; ++c) {
        once = once && place_[c].step != i;
        place_[c] = {i, static_cast<int32_t>(at++)};
      }
    });
    const auto report = [&](const char *what) {
      if (findings_.take(step.loc))
        findings_.diag.error(step.loc, "rank ", s_->rank, " ", describe(*s_, step), " in round ",
                             step.round, ": ", what);
    };
    if (!once) return report("it writes the same place twice");
    for (const Extent &e : s_->to(step))
      if (e.count > 0 && s_->buffers[e.buffer].role == Role::in) report("`in` is only read");
    if (step.op == Op::send) return;

    bool shifted = false;
    for (const Section read : {s_->from(step), s_->with(step)}) {
      at = 0;
      eachRun(memory_, s_->rank, read, [&](Cells run) {
        for (int64_t c = run.begin; c < run.end; ++c, ++at)
          shifted = shifted || (place_[c].step == i && place_[c].at != at);
      });
    }
    if (shifted) report("it writes to what it reads, but shifted");
  }

  const Memory &memory_;
  Findings &findings_;
  const Schedule *s_ = nullptr;
  std::unique_ptr<Reach> reach_;  // order waits only
  std::vector<StepId> writer_;
  std::vector<int32_t> readers_;  // since then: the latest, in pool_
  std::vector<Reader> pool_;
  std::vector<Place> place_;
  StepId asked_ = -1;  // is known to be before the present step
};

}  // namespace

void findRaces(const Together &all, const Memory &memory, Findings &findings) {
  Races races(all, memory, findings);
  for (const Schedule &s : all.ranks) races.check(s);
}

}  // namespace nbcc
