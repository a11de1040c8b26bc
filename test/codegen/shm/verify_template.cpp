// SPDX-License-Identifier: BSD-3-Clause
// A template whose pieces, rules or peers were broken is found out. (Records and stages are those
// of target mpi: test/codegen/mpi/verify_template.cpp.)

#include "test/codegen/shm/support.h"

namespace nbcc {
namespace {

const Topology twoNodes({0, 0, 1, 1});

/// Messages of several places to ranks 1 (this node) and 2 (packed, where there are two nodes).
const char *const apart = R"(schedule @a alltoall rank 0 of 4 root 0 order waits rounds 2
  in in[4]
  out out[4]
  scratch tmp[2] like in[0 +: 2]
  %0 = recv out[1], tmp[0], out[3] from 1 round 0
  %1 = send in[1], in[3] to 1 round 0
  %2 = recv out[2], out[0] from 2 round 0
  %3 = copy tmp[0] -> tmp[1] round 1 after %0
  %4 = send in[2], in[0] to 2 round 1
  %5 = send tmp[1], out[3] to 1 round 1 after %0, %3
end
)";

/// Every change of every relocation and peer; what says nothing of it fails.
template <class Change>
int noticed(const TargetOptions &options, const char *what, Change change) {
  const std::vector<Legal> legals = ways(schedule(apart), options);
  const Template good = shm_emit(legals, options);
  EXPECT_EQ(verified(good, legals), "");
  int mutants = 0;
  for (size_t k = 0; k < messages::View(good).relocs.size(); ++k) {
    Template bad = good;
    const messages::View view(bad);
    if (!change(view, changed(view.relocs[k]))) continue;
    seal(bad);
    ++mutants;
    EXPECT_NE(verified(bad, legals), "") << what << " of relocation " << k << "\n" << tasks(good);
  }
  return mutants;
}

TEST(ShmVerifyTemplate, NoticesOtherPieces) {
  for (const Topology *topology : {static_cast<const Topology *>(nullptr), &twoNodes}) {
    const TargetOptions options{.topology = topology};
    int mutants = 0;
    mutants += noticed(options, "one piece more", [](auto &, nbc_reloc &r) { return ++r.extra; });
    mutants += noticed(options, "one piece less",
                       [](auto &, nbc_reloc &r) { return r.extra > 0 && r.extra--; });
    mutants += noticed(options, "first piece", [](auto &, nbc_reloc &r) { return ++r.what; });
    mutants += noticed(options, "length of a piece", [](auto &view, nbc_reloc &r) {
      return ++changed(view.pieces[r.what + r.extra]).count;
    });
    mutants += noticed(options, "place of a piece", [](auto &view, nbc_reloc &r) {
      nbc_piece &piece = changed(view.pieces[r.what + r.extra]);
      if (piece.buffer == piece.shape) return piece.first ? piece.first-- : ++piece.first;
      return ++piece.room;
    });
    mutants += noticed(options, "order of pieces", [](auto &view, nbc_reloc &r) {
      if (r.rule != NBC_RELOC_PIECES) return false;
      std::swap(changed(view.pieces[r.what]), changed(view.pieces[r.what + 1]));
      return true;
    });
    EXPECT_GT(mutants, 20);
  }
}

TEST(ShmVerifyTemplate, NoticesSeveralPlacesThatAreSaidToBeOneRun) {
  EXPECT_EQ(noticed({}, "rule",
                    [](auto &, nbc_reloc &r) {
                      if (r.rule == NBC_RELOC_SGE) return false;
                      r.rule = NBC_RELOC_SGE;
                      return true;
                    }),
            5);
}

TEST(ShmVerifyTemplate, NoticesSeveralPlacesToAnotherNode) {
  const std::vector<Legal> legals = ways(schedule(apart));
  Template t = shm_emit(legals, {});
  messages::View view(t);
  for (const uint32_t &peer : view.peers) changed(peer) |= NBC_PEER_REMOTE;
  seal(t);
  EXPECT_NE(verified(t, legals), "");
  EXPECT_NE(tasks(t).find("send to 1 on another node: in[1], in[3]"), std::string::npos);
}

TEST(ShmVerifyTemplate, NamesItself) {
  const std::vector<Legal> legals = ways(passed(ring(4, 1)));
  Template t = shm_emit(legals, {});
  uint32_t wait = 0;
  while (Editor(t).records[wait].op != NBC_MESSAGE_WAIT) ++wait;
  Editor(t).drop(wait);
  seal(t);
  EXPECT_EQ(verified(t, legals).find("nbcc: error: shm: variant rendezvous: step %"), 0u)
      << verified(t, legals);
}

}  // namespace
}  // namespace nbcc
