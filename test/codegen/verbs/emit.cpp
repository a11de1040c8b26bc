// SPDX-License-Identifier: BSD-3-Clause
// What is filled in where a send is gathered; that a broken template is found out, at this target's
// own rule. (Records and stages are those of target mpi, pieces those of shm.)

#include <span>

#include "nbc/template.h"
#include "test/codegen/verbs/support.h"

namespace nbcc {
namespace {

const char *const gathered = R"(schedule @a alltoall rank 0 of 4 root 0 order waits rounds 1
  in in[4]
  out out[4]
  %0 = recv out[1] from 1 round 0
  %1 = send in[1], in[3] to 1 round 0
end
)";

TEST(VerbsEmit, SeveralPlacesOfASendAreOneRelocation) {
  const std::vector<Legal> legals = ways(schedule(gathered));
  const Template t = verbs_emit(legals, {});
  EXPECT_EQ(verified(t, legals), "");
  const messages::View view(t);
  ASSERT_EQ(view.relocs.size(), 2u);
  EXPECT_EQ(view.relocs[0].rule, NBC_RELOC_SGE);
  EXPECT_EQ(view.relocs[1].rule, NBC_RELOC_PIECES);
  EXPECT_EQ(view.relocs[1].extra, 1u);
  EXPECT_NE(tasks(t).find(R"(      0       0  recv from 1: out[1]
      0       1  send to 1: in[1], in[3]
)"),
            std::string::npos);
}

TEST(VerbsEmit, APortGoesWithTheMessage) {
  const std::vector<Legal> legals =
      ways(schedule(R"(schedule @a alltoall rank 0 of 4 root 0 order waits rounds 1
  in in[4]
  out out[4]
  %0 = recv out[1] from 1 round 0
  %1 = send in[1] to 1 round 0 port 2
end
)"));
  Template t = verbs_emit(legals, {});
  EXPECT_EQ(verified(t, legals), "");
  EXPECT_NE(tasks(t).find("recv from 1: out[1]\n      0       1  send to 1 on port 2: in[1]\n"),
            std::string::npos)
      << tasks(t);
  changed(Editor(t).records[1]).port = 1;
  seal(t);
  EXPECT_EQ(verified(t, legals),
            "nbcc: error: verbs: variant rendezvous: step %1 (send to 1) goes by port 1, not 2\n");
}

TEST(VerbsEmit, NamesItselfWhereTheOrderIsBroken) {
  const std::vector<Legal> legals = ways(passed(ring(4, 1)));
  Template t = verbs_emit(legals, {});
  uint32_t wait = 0;
  while (Editor(t).records[wait].op != NBC_MESSAGE_WAIT) ++wait;
  Editor(t).drop(wait);
  seal(t);
  EXPECT_EQ(verified(t, legals).find("nbcc: error: verbs: variant rendezvous: step %"), 0u)
      << verified(t, legals);
}

}  // namespace
}  // namespace nbcc
