// SPDX-License-Identifier: BSD-3-Clause
// Right algorithms pass; and what passes does the right thing, in whatever order it runs.

#include "compiler/prove/prove.h"

#include <gtest/gtest.h>

#include <sstream>

#include "algorithms.h"
#include "executor.h"

namespace nbcc {
namespace {

struct Verdict {
  Proof proof;
  bool sound = true;  // verify() has nothing against it
  std::string said;
};

Verdict judge(const std::vector<Schedule> &all) {
  std::ostringstream out;
  Diag diag(out);
  Verdict verdict;
  for (const Schedule &s : all) verify(s, diag);
  verdict.sound = diag.ok();
  if (verdict.sound) verdict.proof = prove(all, {}, diag);
  verdict.said = out.str();
  return verdict;
}

TEST(Prove, RightAlgorithmsPass) {
  for (const Made &made : kAlgorithms)
    for (int64_t ranks = 1; ranks <= 33; ++ranks) {
      std::vector<Schedule> all = makeAll(made, ranks);
      Verdict verdict = judge(all);
      EXPECT_TRUE(verdict.proof.holds) << made.name << ", " << ranks << ": " << verdict.said;
      for (Schedule &s : all) waitForBytes(s);
      verdict = judge(all);
      EXPECT_TRUE(verdict.proof.holds) << made.name << ", " << ranks << ": " << verdict.said;
      EXPECT_TRUE(verdict.proof.anyLengths) << made.name;
      const std::string name = made.name;
      EXPECT_EQ(verdict.proof.rankOrder, name != "ring allreduce" || ranks == 1) << ranks;
      EXPECT_TRUE(verdict.proof.bitwiseSame) << name;
    }
}

/// The executor finds what it should, or its silence below would mean nothing.
TEST(Prove, TheExecutorAgrees) {
  for (const Made &made : kAlgorithms)
    for (const int64_t ranks : {1, 2, 5, 8})
      for (const bool eager : {false, true}) {
        std::vector<Schedule> all = makeAll(made, ranks);
        EXPECT_EQ(Executor(all, 3, eager, 1).run(false), "") << made.name << ", " << ranks;
        for (Schedule &s : all) waitForBytes(s);
        EXPECT_EQ(Executor(all, 3, eager, 1).run(false), "") << made.name << ", " << ranks;
      }
  std::vector<Schedule> wrong = makeAll(kAlgorithms[0], 3);
  wrong[1].steps[0].to = wrong[1].steps[1].from = wrong[1].steps[2].to;
  EXPECT_NE(Executor(wrong, 3, false, 1).run(false), "");
}

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : dice_(seed) {}

  int64_t roll(size_t n) { return static_cast<int64_t>(dice_() % n); }

  /// One change at one place, of the kinds that people make.
  void mutate(Schedule &s) {
    const std::string before = toText(s);
    for (int tries = 0; tries < 20 && toText(s) == before; ++tries)
      if (!s.steps.empty()) s.order == Order::rounds ? mutateRounds(s) : mutateWaits(s);
  }

 private:
  static std::string toText(const Schedule &s) {
    std::ostringstream out;
    print(s, out);
    return out.str();
  }

  void mutateRounds(Schedule &s) {
    const auto at = s.steps.begin() + roll(s.steps.size());
    switch (roll(7)) {
      case 0:
        s.steps.erase(at);
        break;
      case 1:  // said twice
        s.steps.insert(at, Step(*at));
        break;
      case 2:
        at->round += roll(2) ? 1 : -1;
        break;
      case 3:
        swapWithEarlier(s, *at);
        break;
      default:
        mutateStep(s, *at);
    }
  }

  void mutateWaits(Schedule &s) {
    Step &step = s.steps[static_cast<size_t>(roll(s.steps.size()))];
    if (roll(2)) return mutateStep(s, step);
    std::vector<StepId> after(s.after(step).begin(), s.after(step).end());
    if (after.empty()) return;
    after.erase(after.begin() + roll(after.size()));
    step.after = s.keepWaits(after);
  }

  void swapWithEarlier(Schedule &s, Step &step) {
    if (&step == s.steps.data()) return;
    Step &earlier = *(&step - 1);
    std::swap(step, earlier);
    if (roll(2)) std::swap(step.round, earlier.round);
  }

  void mutateStep(Schedule &s, Step &step) {
    switch (roll(5)) {
      case 0:
        if (step.peer >= 0) step.peer = static_cast<int32_t>(roll(static_cast<size_t>(s.ranks)));
        break;
      case 1:
        if (step.op == Op::reduce) std::swap(step.from, step.with);
        break;
      case 2:
        step.from = change(s, s.from(step));
        break;
      case 3:
        step.with = change(s, s.with(step));
        break;
      case 4:
        step.to = change(s, s.to(step));
        break;
    }
  }

  Run change(Schedule &s, Section old) {
    std::vector<Extent> section(old.begin(), old.end());
    if (section.empty()) return {};
    Extent &e = section[static_cast<size_t>(roll(section.size()))];
    const int64_t most = s.buffers[e.buffer].blocks * e.parts;
    switch (roll(4)) {
      case 0:
        e.first = (e.first + 1) % most;
        break;
      case 1:
        e.first = (e.first + most - 1) % most;
        break;
      case 2:
        e.count += roll(2) ? 1 : -1;
        break;
      case 3:
        e.buffer = static_cast<BufferId>(roll(s.buffers.size()));
        break;
    }
    if (e.count > 0) e = normalize(e);
    return s.keep(section);
  }

  std::mt19937 dice_;
};

TEST(Prove, WhatPassesIsRight) {
  Mutator mutator(7);
  int refused = 0, passed = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    const Made &made = kAlgorithms[mutator.roll(std::size(kAlgorithms))];
    std::vector<Schedule> all = makeAll(made, 2 + mutator.roll(6));
    if (mutator.roll(2))  // as the passes would leave it
      for (Schedule &s : all) waitForBytes(s);
    for (int64_t changes = 1 + mutator.roll(2); changes > 0; --changes)
      mutator.mutate(all[static_cast<size_t>(mutator.roll(all.size()))]);

    const Verdict verdict = judge(all);
    if (!verdict.proof.holds) {
      refused += verdict.sound;
      continue;
    }
    ++passed;
    for (uint32_t seed = 0; seed < 6; ++seed) {
      const std::string wrong = Executor(all, 1 + seed % 3 * 3, seed % 2, 7919 * trial + seed)
                                    .run(verdict.proof.rankOrder);
      ASSERT_EQ(wrong, "") << made.name << " of " << all.size() << " ranks, trial " << trial;
    }
  }
  // Most changes are mistakes; those that are none must be let through as well.
  EXPECT_GT(refused, 2000) << passed;
  EXPECT_GT(passed, 300) << refused;
  RecordProperty("refused", refused);
  RecordProperty("passed", passed);
}

}  // namespace
}  // namespace nbcc
