// SPDX-License-Identifier: BSD-3-Clause
// What is printed is read back, step for step; what is wrong in a text is said with its place.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>

#include "compiler/ir/schedule.h"

namespace nbcc {
namespace {

const char *const kBruck = R"(schedule @bruck allgather rank 3 of 8 root 0 order waits rounds 3
  in in[1]
  out out[8]
  scratch tmp[8] like out[3 +: 5], out[0 +: 3]
  scratch half[2] like tmp[0 +: 2 of 2]
  slots room[4] like in
  data data[1] absent
  %0 = copy in -> tmp[0] round 0
  %1 = send tmp[0 +: 2], tmp[4] to 2 round 1 port 1 after %0 at 12:9
  %2 = recv tmp[2] from 4 round 1
  %3 = signal to 5 round 2 after %1, %2
  %4 = await from 6 round 2
  %5 = reduce tmp[0 +: 3 of 8] with out[0 +: 3 of 8] -> out[0 +: 3 of 8] round 3 by host
  %6 = copy [] -> out[7 +: 0] round 3 by host_after
end
)";

struct Text {
  explicit Text(const std::string &text) {
    schedules = readSchedules(diag.addFile("t.sched", text), diag);
  }
  std::ostringstream said;
  Diag diag{said};
  std::vector<Schedule> schedules;
};

std::string printed(const Schedule &s) {
  std::ostringstream out;
  print(s, out);
  return out.str();
}

TEST(Text, ReadsWhatItPrints) {
  Text text(kBruck);
  ASSERT_EQ(text.said.str(), "");
  ASSERT_EQ(text.schedules.size(), 1u);
  EXPECT_EQ(printed(text.schedules[0]), kBruck);
}

TEST(Text, ReadsEveryField) {
  Text text(kBruck);
  ASSERT_EQ(text.schedules.size(), 1u);
  const Schedule &s = text.schedules[0];
  EXPECT_EQ(s.algorithm, "bruck");
  EXPECT_EQ(s.kind, ast::Kind::allgather);
  EXPECT_EQ(s.rank, 3);
  EXPECT_EQ(s.ranks, 8);
  EXPECT_EQ(s.order, Order::waits);
  EXPECT_EQ(s.rounds, 3);
  EXPECT_FALSE(s.inPlace);
  ASSERT_EQ(s.buffers.size(), 6u);
  EXPECT_FALSE(s.buffers[5].significant);
  EXPECT_EQ(s.buffers[4].role, Role::slots);
  EXPECT_EQ(s.buffers[3].like, (std::vector<Extent>{{2, 2, 0, 2}}));  // as written: units of 1/2
  const Step &send = s.steps[1];
  EXPECT_EQ(send.peer, 2);
  EXPECT_EQ(send.port, 1);
  EXPECT_EQ(send.loc.line, 12u);
  EXPECT_EQ(send.loc.column, 9u);
  EXPECT_EQ(s.from(send).size(), 2u);
  EXPECT_EQ(s.after(s.steps[3]).size(), 2u);
  EXPECT_EQ(s.steps[5].unit, Unit::host);
  EXPECT_EQ(s.steps[2].loc.line, 10u);  // no `at`: its place in the text
}

TEST(Text, ReadsSeveralWithCommentsAndGaps) {
  Text text(
      "# two ranks\n\nschedule @a barrier rank 0 of 2 root 0 order rounds rounds 1\r\n"
      "%0=signal to 1   # defaults\nend\n"
      "schedule @a barrier rank 1 of 2 root 0 order rounds rounds 1 in-place\n"
      "  %0 = await from 0 port 2 round 0\nend # done");
  EXPECT_EQ(text.said.str(), "");
  ASSERT_EQ(text.schedules.size(), 2u);
  EXPECT_TRUE(text.schedules[1].inPlace);
  EXPECT_EQ(text.schedules[1].steps[0].port, 2);
}

Promise randomPromise(Schedule &s) {
  Promise promise;
  promise.to = {0, *rc::gen::inRange<int32_t>(1, 9), *rc::gen::inRange<int64_t>(0, kMaxBlocks),
                *rc::gen::inRange<int64_t>(0, kMaxBlocks)};
  std::vector<Source> sources(*rc::gen::inRange<size_t>(1, 5));
  for (Source &source : sources)
    source = {*rc::gen::element(Role::in, Role::data), *rc::gen::inRange(0, 9),
              *rc::gen::inRange(1, INT32_MAX), *rc::gen::inRange<int64_t>(0, 3)};
  promise.of = s.keepSources(sources);
  promise.loc = {*rc::gen::inRange<uint32_t>(1, 1u << 30), 3, 7};
  return promise;
}

/// Random schedules: any value that a field can have, not only sensible ones.
Schedule randomSchedule() {
  Schedule s;
  s.algorithm = "r";
  s.kind = *rc::gen::element(ast::Kind::allgather, ast::Kind::barrier, ast::Kind::reduce);
  s.ranks = *rc::gen::inRange<int64_t>(1, INT32_MAX);
  s.rank = *rc::gen::inRange<int64_t>(0, 1000);
  s.root = *rc::gen::inRange<int64_t>(0, 1000);
  s.inPlace = *rc::gen::arbitrary<bool>();
  s.order = *rc::gen::element(Order::rounds, Order::waits);
  s.rounds = *rc::gen::inRange(0, 100);
  const auto section = [&](BufferId buffers) {
    std::vector<Extent> extents(*rc::gen::inRange<size_t>(0, 4));
    for (Extent &e : extents)
      e = {*rc::gen::inRange<BufferId>(0, buffers), *rc::gen::inRange<int32_t>(1, 1 << 30),
           *rc::gen::inRange<int64_t>(0, int64_t{1} << 40), *rc::gen::inRange<int64_t>(0, 5)};
    return extents;
  };
  const BufferId buffers = *rc::gen::inRange<BufferId>(1, 5);
  for (BufferId i = 0; i < buffers; ++i) {
    Buffer buffer;
    buffer.name = cat("b.", i);
    buffer.role = *rc::gen::element(Role::in, Role::out, Role::data, Role::scratch, Role::slots);
    buffer.significant = *rc::gen::arbitrary<bool>();
    buffer.blocks = *rc::gen::inRange<int64_t>(0, 3);
    if (i > 0) buffer.like = section(i);
    s.buffers.push_back(buffer);
  }
  if (*rc::gen::arbitrary<bool>()) {
    s.kind = ast::Kind::own;
    s.collective = "mine";
    s.buffers[0].vector = *rc::gen::arbitrary<bool>();
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) s.promises.push_back(randomPromise(s));
  }
  const StepId steps = *rc::gen::inRange<StepId>(0, 10);
  for (StepId i = 0; i < steps; ++i) {
    Step step;
    step.op = *rc::gen::element(Op::send, Op::recv, Op::signal, Op::await, Op::copy, Op::reduce);
    step.unit = *rc::gen::element(Unit::any, Unit::host_before, Unit::nic);
    step.port = *rc::gen::inRange<int16_t>(0, INT16_MAX);
    const bool local = step.op == Op::copy || step.op == Op::reduce;
    if (!local) step.peer = *rc::gen::inRange(-1, 1 << 30);
    step.round = *rc::gen::inRange(0, 1 << 30);
    if (local || step.op == Op::send) step.from = s.keep(section(buffers));
    if (step.op == Op::reduce) step.with = s.keep(section(buffers));
    if (local || step.op == Op::recv) step.to = s.keep(section(buffers));
    step.after = s.keepWaits(*rc::gen::container<std::vector<StepId>>(rc::gen::inRange(0, 100)));
    if (*rc::gen::arbitrary<bool>())
      step.loc = {*rc::gen::inRange<uint32_t>(1, 1u << 30), *rc::gen::inRange<uint16_t>(1, 60000),
                  7};
    s.steps.push_back(step);
  }
  return s;
}

TEST(Text, ReadsAnyScheduleItPrints) {
  EXPECT_TRUE(rc::check([] {
    const Schedule s = randomSchedule();
    const std::string first = printed(s);
    Text text(first);
    RC_ASSERT(text.said.str() == "");
    RC_ASSERT(text.schedules.size() == 1u);
    const Schedule &back = text.schedules[0];
    RC_ASSERT(printed(back) == first);
    for (size_t i = 0; i < s.steps.size(); ++i) {
      RC_ASSERT(std::ranges::equal(s.from(s.steps[i]), back.from(back.steps[i])));
      RC_ASSERT(std::ranges::equal(s.to(s.steps[i]), back.to(back.steps[i])));
      RC_ASSERT(std::ranges::equal(s.after(s.steps[i]), back.after(back.steps[i])));
    }
    for (size_t i = 0; i < s.buffers.size(); ++i) {
      RC_ASSERT(s.buffers[i].like == back.buffers[i].like);
      RC_ASSERT(s.buffers[i].vector == back.buffers[i].vector);
    }
    RC_ASSERT(s.collective == back.collective);
    RC_ASSERT(s.promises.size() == back.promises.size());
    for (size_t i = 0; i < s.promises.size(); ++i) {
      RC_ASSERT(s.promises[i].to == back.promises[i].to);
      RC_ASSERT(std::ranges::equal(s.sources(s.promises[i]), back.sources(back.promises[i])));
    }
  }));
}

/// The first complaint about a text that is one schedule with these lines in it.
std::string complaint(const std::string &lines) {
  Text text(
      "schedule @a allgather rank 0 of 2 root 0 order rounds rounds 1\n  in in[1]\n  out out[2]\n" +
      lines + "\nend\n");
  EXPECT_TRUE(text.schedules.empty()) << lines;
  const std::string said = text.said.str();
  return said.substr(0, said.find('\n'));
}

TEST(TextErrors, SaysPlaceAndValues) {
  const std::pair<const char *, const char *> cases[] = {
      {"  %0 = sned in to 1", "t.sched:4:8: error: `sned` is not an operation"},
      {"  %1 = send in to 1", "t.sched:4:3: error: step %1 where %0 is next"},
      {"  %0 = send tmp to 1", "t.sched:4:13: error: there is no buffer `tmp`"},
      {"  %0 = send out to 1",
       "t.sched:4:13: error: `out` alone is for a buffer of one block, this one has 2"},
      {"  %0 = send in 1", "t.sched:4:16: error: `to` is wanted, but here is `1`"},
      {"  %0 = send in to",
       "t.sched:4:18: error: a rank is wanted, but here is the end of the line"},
      {"  %0 = send in[ to 1", "t.sched:4:17: error: a position is wanted, but here is `to`"},
      {"  %0 = send in to 99999999999999999999",
       "t.sched:4:19: error: a rank 99999999999999999999 is not in -1..2147483646"},
      {"  %0 = send out[0 +: 1 of 0] to 1", "t.sched:4:27: error: parts 0 is not in 1..2147483647"},
      {"  %0 = send in to 1 round 1 then",
       "t.sched:4:29: error: nothing more is wanted on this line, but here is `then`"},
      {"  %0 = copy in -> out[0] by magic", "t.sched:4:29: error: `magic` executes nothing"},
      {"  %0 = copy in", "t.sched:4:15: error: `->` is wanted, but here is the end of the line"},
      {"  %0 = send in to 1 after 3", "t.sched:4:27: error: `%` is wanted, but here is `3`"},
      {"  scratch big[99999999999]",
       "t.sched:4:15: error: the number of blocks 99999999999 is not in 0..16777216"},
      {"  scratch in[1] like out[0]", "t.sched:4:11: error: there is a buffer `in` already"},
      {"  scratch t[1] like t", "t.sched:4:21: error: there is no buffer `t`"},
      {"  nonsense",
       "t.sched:4:3: error: a buffer, a step or `end` is wanted, but here is `nonsense`"},
      {"  \xff\xfe",
       "t.sched:4:3: error: a buffer, a step or `end` is wanted, but here is byte 255"},
      {"  %0 = send in to 1\n  data d[1]",
       "t.sched:5:3: error: buffers come before promises and steps"},
      {"schedule @b", "t.sched:4:1: error: the schedule before this one has no `end`"},
      {"end of all", "t.sched:4:5: error: nothing more is wanted on this line, but here is `of`"},
  };
  for (const auto &[lines, wanted] : cases) EXPECT_EQ(complaint(lines), wanted);
}

TEST(TextErrors, NoEndNoScheduleBadHead) {
  EXPECT_EQ(Text("schedule @a barrier rank 0 of 2 root 0 order rounds rounds 1\n")
                .said.str()
                .substr(0, 52),
            "t.sched:1:1: error: this schedule has no `end`\nsched");
  EXPECT_NE(Text("# nothing").said.str().find("1:1: error: there is no schedule here"),
            std::string::npos);
  EXPECT_NE(Text("schedule @a allthing rank")
                .said.str()
                .find("1:13: error: `allthing` is not a collective"),
            std::string::npos);
  EXPECT_NE(Text("schedule @a barrier rank 0 of 0")
                .said.str()
                .find("1:31: error: the number of ranks 0 is not in 1..2147483647"),
            std::string::npos);
}

TEST(TextErrors, ReportsAllOfThemAndKeepsTheGood) {
  Text text(
      "schedule @a barrier rank 0 of 2 root 0 order rounds rounds 1\n  %0 = x\n  %1 = signal on "
      "1\nend\n"
      "schedule @b barrier rank 0 of 2 root 0 order rounds rounds 1\n  %0 = signal to 1\nend\n");
  EXPECT_EQ(text.diag.errors(), 2);
  ASSERT_EQ(text.schedules.size(), 1u);
  EXPECT_EQ(text.schedules[0].algorithm, "b");
}

TEST(TextErrors, NoTextCrashesTheReader) {
  // Damaged good texts: every character replaced, every prefix.
  const std::string good = kBruck;
  for (size_t i = 0; i < good.size(); ++i) {
    Text cut(good.substr(0, i));
    std::string text = good;
    for (const char c : {'\0', '%', '9', '[', '\n', '-'}) {
      text[i] = c;
      Text damaged(text);
      std::ostringstream quiet;
      Diag diag(quiet);
      for (const Schedule &s : damaged.schedules) verify(s, diag);
    }
  }
}

}  // namespace
}  // namespace nbcc
