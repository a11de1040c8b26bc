// SPDX-License-Identifier: BSD-3-Clause
// What is filled in where a message lies in several places, and how peers are marked.

#include "test/codegen/shm/support.h"

namespace nbcc {
namespace {

Template emitted(const Schedule &s, const TargetOptions &options = {}) {
  const std::vector<Legal> legals = ways(s, options);
  Template t = shm_emit(legals, options);
  EXPECT_EQ(verified(t, legals), "") << printed(s);
  return t;
}

/// "SGE 1" where pieces are behind one another, "PIECES 2" where they are anywhere.
std::string fills(const Template &t) {
  std::string text;
  for (const nbc_reloc &r : messages::View(t).relocs)
    text +=
        cat(text.empty() ? "" : ", ", r.rule == NBC_RELOC_SGE ? "SGE " : "PIECES ", r.extra + 1);
  return text;
}

TEST(ShmEmit, SeveralPlacesAreOneRelocationOfPieces) {
  const Template t =
      emitted(schedule(R"(schedule @a alltoall rank 0 of 4 root 0 order waits rounds 2
  in in[4]
  out out[4]
  scratch tmp[3] like in[0 +: 3]
  %0 = recv out[1], tmp[0 +: 3], out[3] from 1 round 0
  %1 = send in[1] to 1 round 0
  %2 = send in[3], in[0] to 2 round 0
end
)"));
  EXPECT_EQ(fills(t), "PIECES 3, SGE 1, PIECES 2");
  // Of each, its place; the record's own fields stay 0.
  Editor e(t);
  EXPECT_EQ(e.view.relocs[0].at, 16u);
  for (const nbc_message_record &r : e.records) EXPECT_EQ(r.address + r.bytes, 0u);
}

TEST(ShmEmit, OneRunOfSeveralPiecesIsNoMatterOfPlaces) {
  EXPECT_EQ(fills(emitted(schedule(R"(schedule @a allgather rank 3 of 4 root 0 order waits rounds 2
  in in[1]
  out out[4]
  scratch tmp[4] like out[3], out[0 +: 3]
  %0 = recv tmp[0 +: 3] from 1 round 0
end
)"))),
            "SGE 2");
}

TEST(ShmEmit, MarksPeersOnOtherNodes) {
  const Topology topology({0, 1, 0, 1});
  const Schedule s = schedule(R"(schedule @a bcast rank 0 of 4 root 0 order waits rounds 1
  data data[1]
  %0 = send data to 1 round 0
  %1 = send data to 2 round 0
  %2 = send data to 3 round 0
end
)");
  const auto peers = [](const Template &t) {
    const auto all = messages::View(t).peers;
    return std::vector<uint32_t>(all.begin(), all.end());
  };
  EXPECT_EQ(peers(emitted(s, {.topology = &topology})),
            (std::vector<uint32_t>{1 | NBC_PEER_REMOTE, 2, 3 | NBC_PEER_REMOTE}));
  EXPECT_EQ(peers(emitted(s)), (std::vector<uint32_t>{1, 2, 3}));
}

TEST(ShmEmit, NothingIsPackedSoNothingWaitsForIt) {
  const char *const text = R"(schedule @a alltoall rank 0 of 3 root 0 order waits rounds 1
  in in[3]
  out out[3]
  %0 = recv out[2], out[0] from 1 round 0
  %1 = send in[2], in[0] to 1 round 0
end
)";
  EXPECT_NE(tasks(emitted(schedule(text))).find(R"(      0       0  recv from 1: out[2], out[0]
      0       1  send to 1: in[2], in[0]
)"),
            std::string::npos);
}

}  // namespace
}  // namespace nbcc
