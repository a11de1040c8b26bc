// SPDX-License-Identifier: BSD-3-Clause
// A template whose order or data were broken is found out, whichever record or stage it was.
//
// A mutant need not be wrong: two receives from two ranks may change places. So each is also
// carried out, step by step, by a replay that knows only what has been waited for. What the replay
// finds wrong has to be noticed.

#include <algorithm>

#include "test/codegen/mpi/support.h"

namespace nbcc {
namespace {

/// Ranks reduce in pairs, and the result goes back: hosts between messages.
std::string pairs(int P, int me) {
  const int peer = me ^ 1;
  std::string text =
      head("allreduce", P, me, 3) + "  in in[1]\n  out out[1]\n  scratch tmp[1] like out\n";
  if (peer >= P) return text + "  copy in -> out round 0\nend\n";
  return text + "  copy in -> out round 0\n" +
         cat("  send out to ", peer, " round 0\n  recv tmp from ", peer, " round 0\n") +
         "  reduce tmp with out -> out round 1\n" +
         cat("  send out[0 of 2] to ", peer, " round 1\n  recv tmp[0 of 2] from ", peer,
             " round 1\n  copy tmp[0 of 2] -> out[0 of 2] round 2\n") +
         cat("  send out[1 of 2] to ", peer, " round 2\n  recv tmp[1 of 2] from ", peer,
             " round 2\nend\n");
}

/// Sections that are packed and unpacked.
std::string packing(int P, int me) {
  const int to = (me + 1) % P, from = (me + P - 1) % P;
  return head("alltoall", P, me, 2) + cat("  in in[", P, "]\n  out out[", P, "]\n") +
         cat("  send in[0], in[2] to ", to, " round 0\n  recv out[0], out[2] from ", from,
             " round 0\n") +
         cat("  send out[2], out[0] to ", to, " round 1\n  recv out[1], out[3] from ", from,
             " round 1\nend\n");
}

struct Case {
  const char *name;
  std::string (*make)(int P, int me);
  std::vector<int> ranks;
};
const Case cases[] = {
    {"ring", ring, {2, 3, 5, 8}},
    {"bruck", bruck, {2, 3, 5, 8, 13}},
    {"standard exchange", standardExchange, {2, 4, 8, 16}},
    {"recursive doubling", recursiveDoubling, {2, 4, 8, 16}},
    {"pairs", pairs, {2, 4, 5}},
    {"packing", packing, {4, 5}},
};

template <class Look>
void forAll(Look look) {
  for (const Case &c : cases)
    for (const int P : c.ranks)
      for (const int me : {0, P / 2, P - 1}) {
        const std::vector<Legal> legals = ways(passed(c.make(P, me)));
        const Template good = mpi_emit(legals, {});
        ASSERT_EQ(verified(good, legals), "") << c.name;
        look(cat(c.name, " ", me, " of ", P), good, legals);
      }
}

/// Whether each step starts when all that it waits for is known to be done.
bool replays(const Template &t, const Schedule &s) {
  Editor e(t);
  std::vector<bool> done(s.steps.size());
  std::vector<StepId> stepOf(e.records.size(), -1);
  const auto start = [&](StepId i) {
    const auto after = s.after(s.steps[i]);
    return std::all_of(after.begin(), after.end(), [&](StepId d) { return done[d]; });
  };
  const auto next = [&](auto is, StepId from) {
    while (from < static_cast<StepId>(s.steps.size()) && !is(s.steps[from])) ++from;
    return from;
  };
  std::vector<StepId> channel(2 * static_cast<size_t>(s.ranks));
  StepId host = 0;
  uint32_t k = 0;
  for (const nbc_stage &stage : e.stages) {
    for (uint32_t h = 0; h < stage.hosts_count; ++h) {
      host = next([](const Step &step) { return step.peer < 0; }, host);
      if (!start(host)) return false;
      done[host++] = true;
    }
    for (; k < stage.records; ++k) {
      const nbc_message_record &r = e.records[k];
      if (r.op == NBC_MESSAGE_WAIT) {
        if (r.record >= k || stepOf[r.record] < 0) return false;
        done[stepOf[r.record]] = true;
        continue;
      }
      const bool receiving = r.op == NBC_MESSAGE_RECV;
      const int64_t peer = e.view.peers[r.peer];
      StepId &at = channel[2 * static_cast<size_t>(peer) + receiving];
      stepOf[k] = next(
          [&](const Step &step) {
            return step.peer == peer && receiving == (step.op == Op::recv || step.op == Op::await);
          },
          at);
      if (!start(stepOf[k])) return false;
      at = stepOf[k] + 1;
    }
  }
  return true;
}

TEST(MpiVerifyTemplate, NoticesEveryDroppedWait) {
  int mutants = 0;
  forAll([&](const std::string &name, const Template &good, const std::vector<Legal> &legals) {
    EXPECT_TRUE(replays(good, legals[0].schedule)) << name;
    for (uint32_t k = 0; k < Editor(good).records.size(); ++k) {
      if (Editor(good).records[k].op != NBC_MESSAGE_WAIT) continue;
      Template bad = good;
      Editor(bad).drop(k);
      seal(bad);
      ++mutants;
      EXPECT_FALSE(replays(bad, legals[0].schedule)) << name << ": WAIT " << k << " is for nothing";
      EXPECT_NE(verified(bad, legals).find("no WAIT is for that"), std::string::npos)
          << name << ": WAIT " << k;
    }
  });
  EXPECT_GT(mutants, 100);
}

TEST(MpiVerifyTemplate, NoticesEveryWaitForAnotherMessage) {
  int mutants = 0;
  forAll([&](const std::string &name, const Template &good, const std::vector<Legal> &legals) {
    const auto count = static_cast<uint32_t>(Editor(good).records.size());
    for (uint32_t k = 0; k < count; ++k)
      for (uint32_t other = 0; other < count; ++other) {
        const nbc_message_record &record = Editor(good).records[k];
        if (record.op != NBC_MESSAGE_WAIT || record.record == other) continue;
        Template bad = good;
        changed(Editor(bad).records[k]).record = other;
        seal(bad);
        ++mutants;
        EXPECT_NE(verified(bad, legals), "") << name << ": WAIT " << k << " for " << other;
      }
  });
  EXPECT_GT(mutants, 1000);
}

TEST(MpiVerifyTemplate, NoticesWhateverChangesPlaces) {
  int wrong = 0, early = 0;
  forAll([&](const std::string &name, const Template &good, const std::vector<Legal> &legals) {
    for (uint32_t k = 0; k + 1 < Editor(good).records.size(); ++k) {
      Template bad = good;
      Editor(bad).swap(k);
      seal(bad);
      const bool right = replays(bad, legals[0].schedule);
      const std::string said = verified(bad, legals);
      wrong += !right;
      if (right && !said.empty()) {
        // Two for one peer are other data then; a WAIT that comes too early is no dependency.
        const bool other = said.find("is of other data") != std::string::npos;
        early += !other;
        EXPECT_TRUE(other || said.find("wait for each other for ever") != std::string::npos)
            << name << ": " << k << "\n"
            << said;
      }
      EXPECT_FALSE(!right && said.empty()) << name << ": " << k;
    }
  });
  EXPECT_GT(wrong, 100);
  EXPECT_GT(early, 10);
}

TEST(MpiVerifyTemplate, NoticesEveryStageThatEndsElsewhere) {
  int wrong = 0, all = 0;
  forAll([&](const std::string &name, const Template &good, const std::vector<Legal> &legals) {
    for (size_t k = 0; k + 1 < Editor(good).stages.size(); ++k)
      for (const int by : {-1, 1}) {
        Template bad = good;
        changed(Editor(bad).stages[k]).records += by;
        seal(bad);
        ++all;
        const std::string said = verified(bad, legals);
        if (said.find("damaged") == std::string::npos && replays(bad, legals[0].schedule)) continue;
        ++wrong;
        EXPECT_NE(said, "") << name << ": stage " << k << " by " << by;
      }
  });
  EXPECT_GT(all, 100);
  EXPECT_GT(wrong, all / 2);
}

TEST(MpiVerifyTemplate, NoticesEveryStepOfTheHostInAnotherStage) {
  int mutants = 0;
  forAll([&](const std::string &name, const Template &good, const std::vector<Legal> &legals) {
    for (size_t k = 0; k + 1 < Editor(good).stages.size(); ++k) {
      if (Editor(good).stages[k + 1].hosts_count == 0) continue;
      Template bad = good;  // the next stage's first is done a stage earlier
      Editor e(bad);
      ++changed(e.stages[k]).hosts_count;
      ++changed(e.stages[k + 1]).hosts_begin;
      --changed(e.stages[k + 1]).hosts_count;
      seal(bad);
      if (replays(bad, legals[0].schedule)) continue;
      ++mutants;
      EXPECT_NE(verified(bad, legals), "") << name << ": stage " << k;
    }
  });
  EXPECT_GT(mutants, 30);
}

TEST(MpiVerifyTemplate, NoticesEveryFieldThatIsAnother) {
  int mutants = 0;
  forAll([&](const std::string &name, const Template &good, const std::vector<Legal> &legals) {
    const auto mutant = [&](const char *what, uint32_t k, auto change) {
      Template bad = good;
      Editor e(bad);
      change(e);
      seal(bad);
      ++mutants;
      EXPECT_NE(verified(bad, legals), "") << name << ": " << what << " of record " << k;
    };
    for (uint32_t k = 0; k < Editor(good).records.size(); ++k) {
      const auto record = [&](Editor &e) -> nbc_message_record & { return changed(e.records[k]); };
      const bool wait = Editor(good).records[k].op == NBC_MESSAGE_WAIT;
      mutant("op", k, [&](Editor &e) { record(e).op ^= 1; });
      mutant("unknown op", k, [&](Editor &e) { record(e).op = 3; });
      mutant("peer", k, [&](Editor &e) { ++record(e).peer; });
      mutant("no peer", k, [&](Editor &e) { record(e).peer = UINT32_MAX; });
      mutant("record", k, [&](Editor &e) { ++record(e).record; });
      mutant("port", k, [&](Editor &e) { ++record(e).port; });
      mutant("address", k, [&](Editor &e) { record(e).address = 8; });
      mutant("bytes", k, [&](Editor &e) { record(e).bytes = 8; });
      if (wait) continue;
      mutant("relocation", k, [&](Editor &e) { e.fill(k)->at -= 16; });
      mutant("rule", k, [&](Editor &e) { e.fill(k)->rule = NBC_RELOC_INDEX, e.fill(k)->what = 0; });
      mutant("extra", k, [&](Editor &e) { ++e.fill(k)->extra; });
    }
  });
  EXPECT_GT(mutants, 3000);
}

TEST(MpiVerifyTemplate, NoticesOtherPieces) {
  int mutants = 0;
  forAll([&](const std::string &name, const Template &good, const std::vector<Legal> &legals) {
    const messages::View view(good);
    const auto alike = [&](uint32_t a, uint32_t b) {
      const nbc_piece &x = view.pieces[a], &y = view.pieces[b];
      return x.buffer == y.buffer && x.shape == y.shape && x.parts == y.parts &&
             x.first == y.first && x.count == y.count && x.room == y.room &&
             x.before.count == y.before.count;
    };
    for (size_t k = 0; k < view.relocs.size(); ++k)
      for (uint32_t other = 0; other + view.relocs[k].extra < view.pieces.size(); ++other) {
        if (alike(other, view.relocs[k].what)) continue;
        Template bad = good;
        changed(messages::View(bad).relocs[k]).what = other;
        seal(bad);
        ++mutants;
        EXPECT_NE(verified(bad, legals), "") << name << ": piece " << other << " in " << k;
      }
    for (size_t k = 0; k < view.hosts.size(); ++k) {
      Template bad = good;
      changed(messages::View(bad).hosts[k]).op ^= 1;
      seal(bad);
      ++mutants;
      EXPECT_NE(verified(bad, legals), "") << name << ": host " << k;
    }
  });
  EXPECT_GT(mutants, 1000);
}

TEST(MpiVerifyTemplate, NamesTheStepThatLostItsOrder) {
  const std::vector<Legal> legals = ways(passed(standardExchange(4, 0)));
  Template t = mpi_emit(legals, {});
  uint32_t wait = 0;
  while (Editor(t).records[wait].op != NBC_MESSAGE_WAIT) ++wait;
  Editor(t).drop(wait);
  seal(t);
  const std::string said = verified(t, legals);
  EXPECT_NE(said.find("mpi: variant rendezvous: step %3 (send to 2) may start before step %2 (recv "
                      "from 1) is done: no WAIT is for that"),
            std::string::npos)
      << said << tasks(t);
}

TEST(MpiVerifyTemplate, NoticesRanksThatWouldWaitForEachOther) {
  // Two ranks exchange, and one waits for what it gets before it sends.
  const std::vector<Legal> legals =
      ways(schedule(R"(schedule @a alltoall rank 0 of 3 root 0 order waits rounds 2
  in in[3]
  out out[3]
  %0 = recv out[1] from 1 round 0
  %1 = send in[1] to 1 round 0
  %2 = send out[1] to 2 round 1 after %0
end
)"));
  Template t = mpi_emit(legals, {});
  Editor(t).swap(1);
  seal(t);
  EXPECT_NE(verified(t, legals).find(
                "step %1 (send to 1) of round 0 is held up by a WAIT for step %0 (recv from "
                "1) of round 0: ranks can wait for each other for ever"),
            std::string::npos)
      << verified(t, legals);
}

TEST(MpiVerifyTemplate, NoticesVariantsOfOtherSchedules) {
  const std::vector<Legal> legals = ways(passed(ring(4, 1)));
  std::vector<Legal> others = ways(passed(standardExchange(4, 1)));
  const Template t = mpi_emit(legals, {});
  EXPECT_NE(verified(t, others).find("there is no record for step"), std::string::npos);
  EXPECT_NE(verified(t, {}).find("1 variants of 0"), std::string::npos);
  others = legals;
  others[0].flags = NBC_VARIANT_IN_PLACE;
  EXPECT_NE(verified(t, others).find("is not what it was emitted from"), std::string::npos);
}

TEST(MpiVerifyTemplate, NoticesDamage) {
  const std::vector<Legal> legals = ways(passed(ring(4, 1)));
  Template t = mpi_emit(legals, {});
  reinterpret_cast<unsigned char *>(t.words.data())[t.bytes / 2] ^= 1;
  EXPECT_NE(verified(t, legals).find("the template is damaged"), std::string::npos);
}

}  // namespace
}  // namespace nbcc
