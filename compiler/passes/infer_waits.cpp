// SPDX-License-Identifier: BSD-3-Clause
// infer_waits.cpp - from "round by round" to "when the bytes are there".
//
//   order rounds                                order waits
//   %0 = recv tmp[0] from 1 round 0             %0 = recv tmp[0] from 1
//   %1 = copy tmp[0] -> out[1] round 1     =>   %1 = copy tmp[0] -> out[1] after %0
//   %2 = send in to 2 round 1                   %2 = send in to 2
//
// A step waits for the last step that wrote what it reads or writes, and for those
// that have read since what it writes; so rounds overlap where the data allow it.
// Reading what others read waits for nobody. Communication of one round runs at
// the same time and never waits for each other.
//
// signal and await have no bytes but a meaning: a signal says that all before it
// is done, so it waits for every step of earlier rounds that nothing else waits
// for yet; what comes in later rounds than an await waits for it, if only through
// another step.
//
// Messages of a channel keep their order by themselves (Order::waits), and every
// wait was already there in Order::rounds: what did not block before cannot now.
//
// Near-linear in extents and waits; there can be (receives of a round) x (sends of
// the next) of the latter where all of a round's sends need all that was received.

#include <algorithm>

#include "compiler/passes/intervals.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

/// Who touched a run of bytes last.
struct Touched {
  StepId writer = -1;
  int32_t readers = -1;  // since then: a list in `Inference::readers_`
};

class Inference {
 public:
  explicit Inference(Schedule &s)
      : s_(s),
        where_(s),
        touched_(where_.size(), {}),
        epoch_(s.steps.size(), 0),
        isLast_(s.steps.size(), false) {
    signals_ = std::ranges::any_of(s.steps, [](const Step &t) { return t.op == Op::signal; });
  }

  void run() {
    const StepId n = static_cast<StepId>(s_.steps.size());
    for (StepId begin = 0; begin < n;) {
      const Step &first = s_.steps[begin];
      StepId end = begin + 1;
      if (first.peer >= 0)
        while (end < n && s_.steps[end].round == first.round) ++end;
      together(begin, end);
      begin = end;
    }
    s_.order = Order::waits;
  }

 private:
  /// Steps that run at the same time: all see what was before the first of them.
  void together(StepId begin, StepId end) {
    if (signals_) std::erase_if(last_, [&](StepId i) { return !isLast_[i]; });
    std::vector<StepId> awaits;
    for (StepId i = begin; i < end; ++i) {
      std::vector<StepId> waits = waitsFor(s_.steps[i]);
      // Whatever waits for a step behind the awaits is behind them itself.
      if (!std::ranges::any_of(waits, [&](StepId d) { return epoch_[d] == now_; }))
        waits.insert(waits.end(), gate_.begin(), gate_.end());
      epoch_[i] = now_;
      s_.steps[i].after = s_.keepWaits(std::move(waits));
      if (s_.steps[i].op == Op::await) awaits.push_back(i);
    }
    for (StepId i = begin; i < end; ++i) touch(i);
    if (signals_) {
      for (StepId i = begin; i < end; ++i) {
        for (const StepId d : s_.after(s_.steps[i])) isLast_[d] = false;
        isLast_[i] = true;
        last_.push_back(i);
      }
    }
    if (!awaits.empty()) {
      gate_ = std::move(awaits);
      ++now_;
    }
  }

  std::vector<StepId> waitsFor(const Step &step) {
    if (step.op == Op::signal) return last_;
    std::vector<StepId> waits;
    const auto add = [&](StepId d) {
      if (d >= 0 && (waits.empty() || waits.back() != d)) waits.push_back(d);
    };
    for (const Section section : {s_.from(step), s_.with(step)})
      for (const Extent &extent : section)
        touched_.look(where_(extent), [&](const Touched &t) { add(t.writer); });
    for (const Extent &extent : s_.to(step))
      touched_.look(where_(extent), [&](const Touched &t) {
        // Each reader has waited for the writer.
        if (t.readers < 0) add(t.writer);
        for (int32_t r = t.readers; r >= 0; r = readers_[r].next) add(readers_[r].step);
      });
    return waits;
  }

  void touch(StepId i) {
    const Step &step = s_.steps[i];
    for (const Section section : {s_.from(step), s_.with(step)})
      for (const Extent &extent : section)
        touched_.change(where_(extent), [&](Touched &t) {
          if (t.readers >= 0 && readers_[t.readers].step == i) return;
          readers_.push_back({i, t.readers});
          t.readers = static_cast<int32_t>(readers_.size() - 1);
        });
    for (const Extent &extent : s_.to(step)) touched_.assign(where_(extent), {i, -1});
  }

  struct Reader {
    StepId step;
    int32_t next;
  };

  Schedule &s_;
  const Coordinates where_;
  IntervalMap<Touched> touched_;
  std::vector<Reader> readers_;

  // Steps of `epoch_` now_ have all of gate_, the latest round's awaits, behind them.
  std::vector<StepId> gate_;
  std::vector<int32_t> epoch_;
  int32_t now_ = 1;

  // Kept only where there are signals: the steps that no other waits for.
  bool signals_ = false;
  std::vector<StepId> last_;
  std::vector<char> isLast_;
};

}  // namespace

void inferWaits(Schedule &s, const PassContext &) {
  if (s.order == Order::rounds) Inference(s).run();
}

}  // namespace nbcc
