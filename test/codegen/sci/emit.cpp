// SPDX-License-Identifier: BSD-3-Clause
// What is filled in where a message lies in several places; that a broken template is found out, by
// this target's name. (Records and stages are those of target mpi.)

#include "test/codegen/sci/support.h"

namespace nbcc {
namespace {

TEST(SciEmit, SeveralPlacesAreOneRelocationAtEitherEnd) {
  const std::vector<Legal> legals =
      ways(schedule(R"(schedule @a alltoall rank 0 of 4 root 0 order waits rounds 1
  in in[4]
  out out[4]
  %0 = recv out[1], out[3] from 1 round 0
  %1 = send in[1], in[3] to 1 round 0
  %2 = send in[2] to 2 round 0
end
)"));
  const Template t = sci_emit(legals, {});
  EXPECT_EQ(verified(t, legals), "");
  const messages::View view(t);
  ASSERT_EQ(view.relocs.size(), 3u);
  EXPECT_EQ(view.relocs[0].rule, NBC_RELOC_PIECES);
  EXPECT_EQ(view.relocs[0].extra, 1u);
  EXPECT_EQ(view.relocs[1].rule, NBC_RELOC_PIECES);
  EXPECT_EQ(view.relocs[2].rule, NBC_RELOC_SGE);
  EXPECT_NE(tasks(t).find(R"(      0       0  recv from 1: out[1], out[3]
      0       1  send to 1: in[1], in[3]
      0       2  send to 2: in[2]
)"),
            std::string::npos);
}

TEST(SciEmit, NamesItselfWhereTheOrderIsBroken) {
  const std::vector<Legal> legals = ways(passed(ring(4, 1)));
  Template t = sci_emit(legals, {});
  uint32_t wait = 0;
  while (Editor(t).records[wait].op != NBC_MESSAGE_WAIT) ++wait;
  Editor(t).drop(wait);
  seal(t);
  EXPECT_EQ(verified(t, legals).find("nbcc: error: sci: variant rendezvous: step %"), 0u)
      << verified(t, legals);
}

}  // namespace
}  // namespace nbcc
