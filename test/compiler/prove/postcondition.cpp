// SPDX-License-Identifier: BSD-3-Clause
// Each collective once right and once wrong, as called and in place.

#include "saying.h"

namespace nbcc {
namespace {

TEST(Postcondition, Allgather) {
  const std::string right = text("allgather", {"in in[1]\nout out[2]\n%0 = copy in -> out[0]\n"
                                               "%1 = send in to 1\n%2 = recv out[1] from 1\n",
                                               "in in[1]\nout out[2]\n%0 = copy in -> out[1]\n"
                                               "%1 = send in to 0\n%2 = recv out[0] from 0\n"});
  EXPECT_EQ(said(right), "");
  EXPECT_EQ(broken(right, "copy in -> out[0]", "copy in -> out[1]"),
            "error: rank 0 never writes out[0], where at the end the block of rank 0 belongs\n");
  EXPECT_EQ(
      broken(right, "copy in -> out[1]\n%1 = send in to 0\n%2 = recv out[0] from 0\n",
             "copy in -> out[0]\n%1 = send in to 0\n%2 = recv out[1] from 0\n"),
      "error: at the end out[0] of rank 1 holds the block of rank 1, not the block of rank 0, "
      "last written in round 0\n");
}

TEST(Postcondition, AllgatherInPlace) {
  const std::string right =
      text("allgather in-place", {"out out[2]\n%1 = send out[0] to 1\n%2 = recv out[1] from 1\n",
                                  "out out[2]\n%1 = send out[1] to 0\n%2 = recv out[0] from 0\n"});
  std::string numbered = right;
  for (size_t at; (at = numbered.find("%1 =")) != numbered.npos;) numbered.replace(at, 4, "%0 =");
  for (size_t at; (at = numbered.find("%2 =")) != numbered.npos;) numbered.replace(at, 4, "%1 =");
  EXPECT_EQ(said(numbered), "");
  EXPECT_EQ(
      broken(numbered, "send out[1] to 0", "send out[0] to 0"),
      "error: rank 1 receives out[0] from rank 0 in round 0, while it sends out[0] to rank 0: "
      "out[0] is in both\nnote: nothing orders this before it\n");
  EXPECT_EQ(
      broken(numbered, "send out[1] to 0\n%1 = recv out[0] from 0",
             "send out[1] to 0 round 0\n%1 = recv out[1] from 0 round 0"),
      "error: rank 1 receives out[1] from rank 0 in round 0, while it sends out[1] to rank 0: "
      "out[1] is in both\nnote: nothing orders this before it\n");
}

TEST(Postcondition, Alltoall) {
  const std::string right = text("alltoall", {"in in[2]\nout out[2]\n%0 = copy in[0] -> out[0]\n"
                                              "%1 = send in[1] to 1\n%2 = recv out[1] from 1\n",
                                              "in in[2]\nout out[2]\n%0 = copy in[1] -> out[1]\n"
                                              "%1 = send in[0] to 0\n%2 = recv out[0] from 0\n"});
  Proof proof;
  EXPECT_EQ(said(right, &proof), "");
  EXPECT_TRUE(proof.anyLengths);
  EXPECT_EQ(
      broken(right, "send in[0] to 0", "send in[1] to 0"),
      "error: at the end out[1] of rank 0 holds the block of rank 1 for rank 1, not the block "
      "of rank 1 for rank 0, last written in round 0\n");
}

TEST(Postcondition, AlltoallInPlace) {
  const std::string right = text(
      "alltoall in-place", {"out out[2]\nscratch t[1] like out[1]\n%0 = copy out[1] -> t round 0\n"
                            "%1 = send t to 1 round 0\n%2 = recv out[1] from 1 round 0\n",
                            "out out[2]\nscratch t[1] like out[0]\n%0 = copy out[0] -> t round 0\n"
                            "%1 = send t to 0 round 0\n%2 = recv out[0] from 0 round 0\n"});
  Proof proof;
  EXPECT_EQ(said(right, &proof), "");
  EXPECT_TRUE(proof.anyLengths);
  EXPECT_EQ(
      broken(right, "copy out[0] -> t", "copy out[1] -> t"),
      "error: at the end out[1] of rank 0 holds the block of rank 1 for rank 1, not the block "
      "of rank 1 for rank 0, last written in round 0\n");
}

TEST(Postcondition, Bcast) {
  const std::string right = text("bcast root 1", {"data data[1]\n%0 = recv data from 1\n",
                                                  "data data[1]\n%0 = send data to 0\n"});
  EXPECT_EQ(said(right), "");
  EXPECT_EQ(broken(right, "send data", "send data[1 of 2]").find("error: rank 0 receives data"),
            0u);
  EXPECT_EQ(said(text("bcast root 1", {"data data[1]\n", "data data[1]\n"})),
            "error: rank 0 never writes data, where at the end the root's data belongs\n");
}

TEST(Postcondition, Gather) {
  const std::string right = text(
      "gather root 1", {"in in[1]\nout out[2] absent\n%0 = send in to 1\n",
                        "in in[1]\nout out[2]\n%0 = copy in -> out[1]\n%1 = recv out[0] from 0\n"});
  EXPECT_EQ(said(right), "");
  EXPECT_EQ(broken(right, "%0 = copy in -> out[1]\n%1", "%0"),
            "error: rank 1 never writes out[1], where at the end the block of rank 1 belongs\n");
  EXPECT_EQ(said(text("gather root 1 in-place", {"in in[1]\nout out[2] absent\n%0 = send in to 1\n",
                                                 "out out[2]\n%0 = recv out[0] from 0\n"})),
            "");
}

TEST(Postcondition, Scatter) {
  const std::string right = text(
      "scatter root 0", {"in in[2]\nout out[1]\n%0 = copy in[0] -> out\n%1 = send in[1] to 1\n",
                         "in in[2] absent\nout out[1]\n%0 = recv out from 0\n"});
  EXPECT_EQ(said(right), "");
  EXPECT_EQ(
      broken(right, "send in[1]", "send in[0]"),
      "error: at the end out of rank 1 holds the root's block for rank 0, not the root's block "
      "for rank 1, last written in round 0\n");
  const std::string inPlace = text(
      "scatter root 0 in-place",
      {"in in[2]\n%0 = send in[1] to 1\n", "in in[2] absent\nout out[1]\n%0 = recv out from 0\n"});
  EXPECT_EQ(said(inPlace), "");
  // There is no receive buffer at the root.
  EXPECT_EQ(broken(inPlace, "in in[2]\n%0 =", "in in[2]\nout out[1]\n%0 = copy in[0] -> out\n%1 ="),
            "error: rank 0 copies in[0] to out in round 0, but in place the root has no `out`\n");
}

/// Two ranks exchange and combine, lower rank first.
const std::string allreduce = text("allreduce", {"in in[1]\nout out[1]\nscratch t[1] like in\n"
                                                 "%0 = send in to 1\n%1 = recv t from 1\n"
                                                 "%2 = reduce in with t -> out round 1\n",
                                                 "in in[1]\nout out[1]\nscratch t[1] like in\n"
                                                 "%0 = send in to 0\n%1 = recv t from 0\n"
                                                 "%2 = reduce t with in -> out round 1\n"});

TEST(Postcondition, Allreduce) {
  Proof proof;
  EXPECT_EQ(said(allreduce, &proof), "");
  EXPECT_TRUE(proof.rankOrder);
  EXPECT_TRUE(proof.bitwiseSame);
}

TEST(Postcondition, ASwappedOperandIsSeen) {
  std::string swapped = allreduce;
  swapped.replace(swapped.find("reduce t with in"), 16, "reduce in with t");
  Proof proof;
  EXPECT_EQ(said(swapped, &proof), "");
  EXPECT_FALSE(proof.rankOrder);
  EXPECT_TRUE(proof.bitwiseSame);
}

TEST(Postcondition, EachContributionOnce) {
  EXPECT_EQ(
      broken(allreduce, "reduce t with in", "reduce t with t"),
      "error: contribution of rank 0 is counted twice in out of rank 1, and that of rank 1 is "
      "missing, last written in round 1\n");
  EXPECT_EQ(broken(allreduce, "%2 = reduce in with t -> out", "%2 = copy in -> out"),
            "error: contribution of rank 1 is missing in out of rank 0, last written in round 1\n");
  EXPECT_EQ(
      broken(allreduce, "reduce in with t -> out round 1\n",
             "reduce in with t -> out round 1\n%3 = reduce out with t -> out round 1\n"),
      "error: contribution of rank 1 is counted twice in out of rank 0, last written in round "
      "1\n");
  EXPECT_EQ(broken(allreduce, "reduce in with t -> out round 1\n",
                   "reduce in with t -> out round 1\n"
                   "%3 = reduce out[2 of 8] with t[2 of 8] -> out[2 of 8] round 1\n"),
            "error: contribution of rank 1 is counted twice in out[2 of 8] of rank 0, last written "
            "in round 1\n");
}

TEST(Postcondition, AllreduceInPlace) {
  const std::string right = text("allreduce in-place", {"out out[1]\nscratch t[1] like out\n"
                                                        "%0 = send out to 1\n%1 = recv t from 1\n"
                                                        "%2 = reduce out with t -> out round 1\n",
                                                        "out out[1]\nscratch t[1] like out\n"
                                                        "%0 = send out to 0\n%1 = recv t from 0\n"
                                                        "%2 = reduce t with out -> out round 1\n"});
  EXPECT_EQ(said(right), "");
  EXPECT_NE(broken(right, "%2 = reduce out with t -> out", "%2 = reduce t with t -> out"), "");
}

TEST(Postcondition, Reduce) {
  const auto reduce = [](const char *at0, bool inPlace) {
    return said(text(cat("reduce root 1", inPlace ? " in-place" : ""),
                     {cat("in in[1]\nout out[1] absent\n", at0),
                      cat(inPlace ? "" : "in in[1]\n", "out out[1]\nscratch t[1] like out\n",
                          "%0 = recv t from 0\n%1 = reduce t with ", inPlace ? "out" : "in",
                          " -> out round 1\n")}));
  };
  for (const bool inPlace : {false, true}) {
    EXPECT_EQ(reduce("%0 = send in to 1\n", inPlace), "");
    EXPECT_NE(reduce("", inPlace), "");
  }
}

/// Two ranks send each other the other's block.
std::string reduceScatter(const std::string &kind) {
  const bool inPlace = kind.find("in-place") != kind.npos;
  const std::string buffers = inPlace ? "out out[2]\nscratch t[1] like out[0]\n"
                                      : "in in[2]\nout out[1]\nscratch t[1] like out[0]\n";
  const std::string in = inPlace ? "out" : "in";
  const std::string to = inPlace ? "out[0]" : "out";
  return text(kind,
              {cat(buffers, "%0 = send ", in, "[1] to 1 round 0\n%1 = recv t from 1 round 0\n",
                   "%2 = reduce ", in, "[0] with t -> ", to, " round 1\n"),
               cat(buffers, "%0 = send ", in, "[0] to 0 round 0\n%1 = recv t from 0 round 0\n",
                   "%2 = reduce t with ", in, "[1] -> ", to, " round 1\n")});
}

TEST(Postcondition, ReduceScatter) {
  for (const char *kind : {"reduce_scatter", "reduce_scatter_block", "reduce_scatter in-place",
                           "reduce_scatter_block in-place"}) {
    Proof proof;
    EXPECT_EQ(said(reduceScatter(kind), &proof), "");
    EXPECT_TRUE(proof.rankOrder);
    EXPECT_TRUE(proof.bitwiseSame);
    EXPECT_TRUE(proof.anyLengths);
  }
}

TEST(Postcondition, ReduceScatterSeesAnotherBlock) {
  const std::string right = reduceScatter("reduce_scatter_block");
  // As many contributions as there are to be, from all ranks; one is another block's.
  EXPECT_EQ(broken(right, "reduce t with in[1]", "reduce t with in[0]"),
            "error: contribution of rank 1 to block 0 is in out of rank 1, where it does not "
            "belong, last written in round 1\n");
  EXPECT_EQ(
      broken(right, "reduce t with in[1] -> out round 1\n",
             "reduce t with in[1] -> out round 1\n%3 = reduce out with in[0] -> out round 1\n"),
      "error: contribution of rank 1 to block 0 is in out of rank 1, where it does not "
      "belong, last written in round 1\n");
  EXPECT_EQ(broken(right, "%2 = reduce t with in[1] -> out", "%2 = copy in[1] -> out"),
            "error: contribution of rank 0 is missing in out of rank 1, last written in round 1\n");
  EXPECT_EQ(broken(right, "reduce t with in[1]", "reduce t with t"),
            "error: contribution of rank 0 is counted twice in out of rank 1, and that of rank 1 "
            "is missing, last written in round 1\n");
}

TEST(Postcondition, ReduceScatterIsInRankOrderPerBlock) {
  std::string swapped = reduceScatter("reduce_scatter");
  swapped.replace(swapped.find("reduce t with in[1]"), 19, "reduce in[1] with t");
  EXPECT_EQ(said(swapped, nullptr, {{ast::Claim::What::rank_order, ast::Operator::eq, 0, {}}}),
            "error: claims rank_order, but with 2 ranks rank 1 combines out as (1 0)\n");
}

TEST(Postcondition, ReduceScatterKnowsLengths) {
  // A block as long as another rank's: right only where all are equally long.
  const std::string other = reduceScatter("reduce_scatter");
  Proof proof;
  std::string text = other;
  text.replace(text.find("scratch t[1] like out[0]"), 24, "scratch t[1] like in[1]");
  EXPECT_EQ(said(text, &proof), "");
  EXPECT_FALSE(proof.anyLengths);
  text.replace(text.find("reduce_scatter"), 14, "reduce_scatter_block");
  text.replace(text.rfind("reduce_scatter "), 15, "reduce_scatter_block ");
  EXPECT_EQ(said(text, &proof), "");
  EXPECT_TRUE(proof.anyLengths);
}

TEST(Postcondition, ReduceScatterInPlaceHasAllInOut) {
  const std::string right = reduceScatter("reduce_scatter in-place");
  EXPECT_EQ(broken(right, "reduce t with out[1] -> out[0]", "reduce t with out[1] -> out[1]"),
            "error: contribution of rank 1 to block 0 is in out[0] of rank 1, where it does not "
            "belong\n");
  // As long as the result alone: the input has no place.
  EXPECT_EQ(said(text("reduce_scatter in-place", {"out out[1]\n", "out out[1]\n"})),
            "error: out of rank 0 has 1 block, but in reduce_scatter among 2 ranks it has 2\n");
}

const std::string scan = text("scan", {"in in[1]\nout out[1]\n%0 = copy in -> out\n"
                                       "%1 = send in to 1 round 0\n",
                                       "in in[1]\nout out[1]\nscratch t[1] like in\n"
                                       "%0 = recv t from 0 round 0\n"
                                       "%1 = reduce t with in -> out round 1\n"
                                       "%2 = send out to 2 round 1\n",
                                       "in in[1]\nout out[1]\nscratch t[1] like in\n"
                                       "%0 = recv t from 1 round 1\n"
                                       "%1 = reduce t with in -> out round 2\n"});

TEST(Postcondition, Scan) {
  Proof proof;
  EXPECT_EQ(said(scan, &proof), "");
  EXPECT_TRUE(proof.rankOrder);
  EXPECT_EQ(broken(scan, "send out to 2", "send in to 2"),
            "error: contribution of rank 0 is missing in out of rank 2, last written in round 2\n");
  EXPECT_EQ(broken(scan, "send out to 2", "send t to 2"),
            "error: contribution of rank 1 is missing in out of rank 2, last written in round 2\n");
  // Too much is wrong too: what is right for rank 1 is not for rank 0.
  EXPECT_EQ(said(text("scan", {"in in[1]\nout out[1]\nscratch t[1] like in\n"
                               "%0 = recv t from 1\n%1 = reduce in with t -> out round 1\n",
                               "in in[1]\nout out[1]\n%0 = send in to 0\n"})),
            "error: contribution of rank 1 is in out of rank 0, where it does not belong, last "
            "written in round 1\nerror: rank 1 never writes out, where the result belongs\n");
}

TEST(Postcondition, ScanInPlace) {
  const std::string right = text("scan in-place", {"out out[1]\n%0 = send out to 1\n",
                                                   "out out[1]\nscratch t[1] like out\n"
                                                   "%0 = recv t from 0\n"
                                                   "%1 = reduce t with out -> out round 1\n"});
  Proof proof;
  EXPECT_EQ(said(right, &proof), "");
  EXPECT_TRUE(proof.rankOrder);
  EXPECT_EQ(broken(right, "%1 = reduce t with out -> out", "%1 = reduce t with t -> out"),
            "error: contribution of rank 0 is counted twice in out of rank 1, and that of rank 1 "
            "is missing, last written in round 1\n");
}

TEST(Postcondition, Exscan) {
  const std::string right =
      text("exscan", {"in in[1]\n%0 = send in to 1 round 0\n",
                      "in in[1]\nout out[1]\n%0 = recv out from 0 round 0\n"});
  EXPECT_EQ(said(right), "");  // rank 0 has no result, nor need it have an `out`
  EXPECT_EQ(broken(right, "%0 = recv out from 0 round 0\n",
                   "scratch t[1] like in\n%0 = recv t from 0 round 0\n"
                   "%1 = reduce t with in -> out round 1\n"),
            "error: contribution of rank 1 is in out of rank 1, where it does not belong, last "
            "written in round 1\n");
  EXPECT_EQ(broken(right, "%0 = recv out from 0 round 0\n",
                   "scratch t[1] like in\n%0 = recv t from 0 round 0\n"),
            "error: rank 1 never writes out, where the result belongs\n");
}

TEST(Postcondition, ManyMissing) {
  Lines ranks(7, "in in[1]\nout out[1]\n%0 = copy in -> out at 3:5\n");
  EXPECT_EQ(said(text("allreduce", ranks)),
            "error: contribution of ranks 1, 2, 3, 4 and 2 more is missing in out of rank 0, last "
            "written in round 0\n");
}

TEST(Postcondition, BuffersOfAnotherShape) {
  EXPECT_EQ(said(text("allgather", {"in in[1]\nout out[3]\n", "in in[1]\nout out[3]\n"})),
            "error: out of rank 0 has 3 blocks, but in allgather among 2 ranks it has 2\n");
  EXPECT_EQ(said(text("allgather", {"in in[1]\n", "in in[1]\n"})),
            "error: rank 0 has no buffer `out`, where the result belongs\n");
  EXPECT_EQ(said(text("bcast", {"data data[1]\ndata more[1]\n"})),
            "error: rank 0 has a second buffer `data`\n");
}

TEST(Postcondition, SchedulesOfOneCall) {
  std::ostringstream out;
  Diag diag(out);
  std::vector<Schedule> ranks(2);
  for (Schedule &s : ranks) s.ranks = 2, s.kind = ast::Kind::barrier;
  EXPECT_FALSE(prove(ranks, {}, diag).holds);
  EXPECT_NE(out.str().find("schedule 1 of 2 is that of rank 0 of 2"), std::string::npos);
  ranks[1].rank = 1;
  ranks[1].order = Order::waits;
  EXPECT_FALSE(prove(ranks, {}, diag).holds);
  EXPECT_NE(out.str().find("the schedules of rank 0 and rank 1 differ in"), std::string::npos);
  EXPECT_FALSE(prove({}, {}, diag).holds);
}

}  // namespace
}  // namespace nbcc
