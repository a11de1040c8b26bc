// SPDX-License-Identifier: BSD-3-Clause
// Records where they must be, in the order of mpi.h, and what is filled in.

#include "nbc.h"
#include "test/codegen/mpi/support.h"

namespace nbcc {
namespace {

Template emitted(const Schedule &s, const TargetOptions &options = {}) {
  const std::vector<Legal> legals = ways(s, options);
  Template t = mpi_emit(legals, options);
  EXPECT_EQ(verified(t, legals), "") << printed(s);
  return t;
}

/// The tasks of the one variant, without headings.
std::string listed(const Schedule &s, const TargetOptions &options = {}) {
  const std::string text = tasks(emitted(s, options));
  const std::string heading = "  stage  record  task\n";
  return text.substr(text.find(heading) + heading.size());
}

TEST(MpiEmit, WritesRecordsOf32Bytes) {
  const Template t = emitted(passed(ring(3, 1)));
  Editor e(t);
  ASSERT_EQ(e.view.queues.size(), 1u);
  EXPECT_EQ(e.view.queues[0].kind, uint32_t{NBC_QUEUE_MESSAGES});
  EXPECT_EQ(e.view.queues[0].peer, UINT32_MAX);
  ASSERT_EQ(e.view.segments.size(), 1u);
  EXPECT_EQ(e.view.segments[0].entries, 5u);
  EXPECT_EQ(e.view.segments[0].bytes, 5u * 32);
  EXPECT_EQ(e.view.segments[0].send_cqes, 0u);
  // recv from 0, send to 2, recv from 0, wait for the first, send to 2; rank 2 is the first peer.
  const uint32_t expected[5][4] = {
      {1, 1, 0, 0}, {0, 0, 0, 0}, {1, 1, 0, 0}, {2, 0, 0, 0}, {0, 0, 0, 0}};
  for (size_t k = 0; k < 5; ++k)
    EXPECT_EQ(std::memcmp(&e.records[k], expected[k], sizeof expected[k]), 0) << k;
  std::string filled;
  for (const nbc_reloc &r : e.view.relocs) filled += cat(" ", r.at, ":", int(r.rule));
  EXPECT_EQ(filled, " 16:0 48:0 80:0 144:0");
  EXPECT_EQ(e.variant.bind.count, 0u);
}

TEST(MpiEmit, WhoHasNoPeersNeedsNoDevice) {
  const Template t = emitted(passed(ring(1, 0)));
  EXPECT_EQ(Editor(t).view.queues.size(), 0u);
  nbc_bootstrap alone{};
  alone.ranks = 1;
  nbc_comm *comm = nullptr;
  nbc_plan *plan = nullptr;
  ASSERT_EQ(nbc_comm_create(&alone, nullptr, 0, &comm), 0);
  ASSERT_EQ(nbc_plan_create(comm, t.data(), t.bytes, nullptr, &plan), 0);
  ASSERT_EQ(nbc_plan_connect(plan), 0);
  const int64_t in = 7;
  int64_t out = 0;
  nbc_call call{};
  call.in = &in, call.out = &out, call.count = 1, call.type = NBC_I64;
  nbc_request request;
  ASSERT_EQ(nbc_start(plan, &call, &request), 0);
  EXPECT_EQ(nbc_wait(&request), 0);
  EXPECT_EQ(out, 7);
  EXPECT_EQ(nbc_plan_free(plan), 0);
  EXPECT_EQ(nbc_comm_free(comm), 0);
}

TEST(MpiEmit, ARoomOfSeveralShapesIsOneRun) {
  const Template t =
      emitted(schedule(R"(schedule @a allgather rank 3 of 4 root 0 order waits rounds 2
  in in[1]
  out out[4]
  scratch tmp[4] like out[3], out[0 +: 3]
  %0 = recv tmp[0 +: 3] from 1 round 0
  %1 = send tmp[1] to 2 round 1 after %0
end
)"));
  Editor e(t);
  ASSERT_EQ(e.view.relocs.size(), 2u);
  EXPECT_EQ(e.view.relocs[0].extra, 1u);
  EXPECT_EQ(e.view.relocs[1].extra, 0u);
}

TEST(MpiEmit, ARunMayBeginAndEndInsideAPiece) {
  // The runtime has to see in the table that the pieces lie behind one another.
  const Template t =
      emitted(schedule(R"(schedule @a allgather rank 3 of 6 root 0 order waits rounds 2
  in in[1]
  out out[6]
  scratch tmp[5] like out[3 +: 2], out[0 +: 2], out[5]
  %0 = recv tmp[1 +: 8 of 2] from 1 round 0
  %1 = send tmp[4 +: 3 of 2] to 2 round 1 after %0
  %2 = send tmp[1 +: 6 of 2] to 4 round 1 after %0
end
)"));
  Editor e(t);
  ASSERT_EQ(e.view.relocs.size(), 3u);
  EXPECT_EQ(e.view.relocs[0].extra, 2u);
  EXPECT_EQ(e.view.relocs[1].extra, 0u);
  EXPECT_EQ(e.view.relocs[2].extra, 1u);
}

TEST(MpiEmit, PostsWhateverIsReadyAndWaitsOnlyWhereItMust) {
  // A chain: all receives first, then each segment is passed on when it is there.
  EXPECT_EQ(listed(schedule(R"(schedule @chain bcast rank 1 of 3 root 0 order waits rounds 4
  data data[1]
  %0 = recv data[0 of 3] from 0 round 0
  %1 = recv data[1 of 3] from 0 round 1
  %2 = send data[0 of 3] to 2 round 1 after %0
  %3 = recv data[2 of 3] from 0 round 2
  %4 = send data[1 of 3] to 2 round 2 after %1
  %5 = send data[2 of 3] to 2 round 3 after %3
end
)")),
            R"(      0       0  recv from 0: data[0 of 3]
      0       1  recv from 0: data[1 of 3]
      0       2  recv from 0: data[2 of 3]
      0       3  wait for 0, recv from 0
      0       4  send to 2: data[0 of 3]
      0       5  wait for 1, recv from 0
      0       6  send to 2: data[1 of 3]
      0       7  wait for 2, recv from 0
      0       8  send to 2: data[2 of 3]
)");
}

TEST(MpiEmit, RoundsComeInOrderAndReceivesFirst) {
  EXPECT_EQ(listed(schedule(R"(schedule @all alltoall rank 0 of 3 root 0 order waits rounds 2
  in in[3]
  out out[3]
  %0 = send in[1] to 1 round 0
  %1 = recv out[1] from 1 round 0
  %2 = send in[2] to 2 round 1
  %3 = recv out[2] from 2 round 1
end
)")),
            R"(      0       0  recv from 1: out[1]
      0       1  send to 1: in[1]
      0       2  recv from 2: out[2]
      0       3  send to 2: in[2]
)");
}

TEST(MpiEmit, KeepsTheOrderOfMessagesToOnePeer) {
  // %3 waits for nothing, but is behind %2.
  EXPECT_EQ(listed(schedule(R"(schedule @a alltoall rank 0 of 3 root 0 order waits rounds 2
  in in[3]
  out out[3]
  %0 = recv out[1] from 1 round 0
  %1 = send in[2] to 2 round 0
  %2 = send out[1] to 2 round 1 after %0
  %3 = send in[1] to 2 round 1
  %4 = send in[0] to 1 round 1
end
)")),
            R"(      0       0  recv from 1: out[1]
      0       1  send to 2: in[2]
      0       2  send to 1: in[0]
      0       3  wait for 0, recv from 1
      0       4  send to 2: out[1]
      0       5  send to 2: in[1]
)");
}

TEST(MpiEmit, TheHostWorksWhereItWouldWait) {
  // Nothing is done before the receives are posted; each reduction while the next is awaited.
  EXPECT_EQ(listed(schedule(R"(schedule @linear reduce rank 0 of 3 root 0 order waits rounds 2
  in in[1]
  out out[1]
  scratch tmp[2] like in, in
  %0 = copy in -> out round 0
  %1 = recv tmp[0] from 1 round 0
  %2 = recv tmp[1] from 2 round 0
  %3 = reduce out with tmp[0] -> out round 1 after %0, %1
  %4 = reduce out with tmp[1] -> out round 1 after %2, %3
end
)")),
            R"(      0       0  recv from 1: staging[0] (in)
      0       1  recv from 2: staging[0] + in (in)
      1       -  copy in -> out
      1       2  wait for 0, recv from 1
      2       -  reduce out with staging[0] (in) -> out
      2       3  wait for 1, recv from 2
      3       -  reduce out with staging[0] + in (in) -> out
)");
}

TEST(MpiEmit, TheHostDoesFirstWhatNothingHoldsBack) {
  // No message needs the copy: it is done while the message that one does need is on its way.
  EXPECT_EQ(listed(schedule(R"(schedule @ring allgather rank 1 of 3 root 0 order waits rounds 2
  in in[1]
  out out[3]
  %0 = copy in -> out[1] round 0
  %1 = recv out[0] from 0 round 0
  %2 = send in to 2 round 0
  %3 = recv out[2] from 0 round 1
  %4 = send out[0] to 2 round 1 after %1
end
)")),
            R"(      0       0  recv from 0: out[0]
      0       1  send to 2: in
      0       2  recv from 0: out[2]
      1       -  copy in -> out[1]
      1       3  wait for 0, recv from 0
      1       4  send to 2: out[0]
)");
}

TEST(MpiEmit, ManyMessagesOfOneHostStepTakeOneStage) {
  EXPECT_EQ(listed(schedule(R"(schedule @a bcast rank 0 of 3 root 0 order waits rounds 1
  data data[1]
  scratch tmp[1] like data
  %0 = copy data -> tmp[0] round 0
  %1 = send tmp[0] to 1 round 0 after %0
  %2 = send tmp[0] to 2 round 0 after %0
end
)")),
            R"(      0       -  copy data -> staging[0] (data)
      0       0  send to 1: staging[0] (data)
      0       1  send to 2: staging[0] (data)
)");
}

TEST(MpiEmit, SignalsHaveNoBytesAndNothingToFillIn) {
  const Schedule s = schedule(R"(schedule @a barrier rank 0 of 2 root 0 order waits rounds 2
  %0 = await from 1 round 0
  %1 = signal to 1 round 1 after %0
end
)");
  EXPECT_EQ(listed(s), R"(      0       0  recv from 1: no bytes
      0       1  wait for 0, recv from 1
      0       2  send to 1: no bytes
)");
  EXPECT_EQ(messages::View(emitted(s)).relocs.size(), 0u);
}

TEST(MpiEmit, OneRankHasNoRecords) {
  const Template t = emitted(passed(ring(1, 0)));
  Editor e(t);
  EXPECT_EQ(e.records.size(), 0u);
  ASSERT_EQ(e.stages.size(), 1u);
  EXPECT_EQ(e.stages[0].hosts_count, 1u);
}

TEST(MpiEmit, GrowsLinearly) {
  // What costs n^2 shows here: 100 times the ranks are a few hundred times the bytes at most.
  const auto bytes = [](int P) { return emitted(passed(ring(P, 1))).bytes; };
  EXPECT_LT(bytes(4096), 110 * bytes(40));
}

}  // namespace
}  // namespace nbcc
