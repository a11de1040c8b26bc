// SPDX-License-Identifier: BSD-3-Clause
// read_table.cpp - what is no table, and what is said of it.

#include <gtest/gtest.h>

#include "compiler/selection/table.h"

namespace nbcc {
namespace {

std::string refusal(const std::string &text) {
  std::string why;
  EXPECT_FALSE(Table::read(text, "t.json", why)) << text;
  return why;
}

/// Of a table with this row in line 2, and one that fits every call.
std::string ofRow(const std::string &row) {
  return refusal("{\"rows\": [\n" + row +
                 ",\n{\"collective\": \"bcast\", \"algorithm\": \"linear\"}]}");
}

TEST(ReadTable, TakesWhatItSays) {
  std::string why;
  EXPECT_TRUE(Table::read("{\"about\": \"text\", \"rows\": []}", "t.json", why)) << why;
  EXPECT_TRUE(
      Table::read("\xef\xbb\xbf{\"about\": [\"two\", \"lines\"], \"rows\": [{\"collective\": "
                  "\"bcast\", \"note\": \"h\xc3\xb6her\", \"algorithm\": \"linear\"}]}",
                  "t.json", why))
      << why;
}

TEST(ReadTable, NamesLineKeyAndValue) {
  EXPECT_EQ(ofRow(R"({"collective": "bcast", "ranks": "8..2", "algorithm": "chain"})"),
            "t.json:2: ranks: the range 8..2 is empty");
  EXPECT_EQ(ofRow("{\"collective\": \"bcast\",\n \"bytes\": \"64 K\",\n\"algorithm\": \"chain\"}"),
            "t.json:3: bytes: '64 K' is no range; wanted is one as 8, 2..8, 64K.. or ..1M");
  EXPECT_EQ(ofRow(R"({"collective": "bcast", "nodes": 1.5, "algorithm": "chain"})"),
            "t.json:2: nodes: found 1.5; wanted is a number or a range, as \"2..8\"");
  EXPECT_EQ(ofRow(R"({"collective": "bcast", "ranks": -8, "algorithm": "chain"})"),
            "t.json:2: ranks: found -8; wanted is a number or a range, as \"2..8\"");
  EXPECT_EQ(ofRow(R"({"collective": "bcast", "ranks": 0, "algorithm": "chain"})"),
            "t.json:2: ranks: 0 fits no call; there is at least 1");
  EXPECT_EQ(
      ofRow(R"({"collective": "bcast", "rank": 8, "algorithm": "chain"})"),
      "t.json:2: unknown key 'rank'; a row has collective, ranks, nodes, bytes, each, commutes, "
      "blocking, target, transfer, algorithm and note");
  EXPECT_EQ(
      ofRow(R"({"collective": "bcast", "target": "sci", "transfer": "usb", "algorithm": "chain"})"),
      "t.json:2: transfer: found 'usb'; wanted is pio or dma, of target sci, or eager, "
      "write, read, send or direct, of verbs");
  EXPECT_EQ(ofRow(R"({"collective": "bcast", "transfer": "dma", "algorithm": "chain"})"),
            "t.json:2: transfer: it is target sci that has 'dma'; the row is to say so");
  EXPECT_EQ(
      ofRow(
          R"({"collective": "bcast", "target": "sci", "transfer": "read", "algorithm": "chain"})"),
      "t.json:2: transfer: it is target verbs that has 'read'; the row is to say so");
  EXPECT_EQ(ofRow(R"({"collective": "bcast", "blocking": 1, "algorithm": "chain"})"),
            "t.json:2: blocking: found 1; wanted is true or false");
  EXPECT_EQ(ofRow(R"({"collective": "bcast", "ranks": 8, "ranks": 9, "algorithm": "chain"})"),
            "t.json:2: ranks is there twice");
  EXPECT_EQ(ofRow(R"({"collective": "broadcast", "algorithm": "chain"})"),
            "t.json:2: collective: there is no 'broadcast'");
  EXPECT_EQ(ofRow(R"({"collective": "alltoallw", "algorithm": "linear"})"),
            "t.json:2: collective: alltoallw is alltoall with \"each\": true");
  EXPECT_EQ(ofRow(R"({"collective": ["bcast"], "algorithm": "linear"})"),
            "t.json:2: collective: found a list; wanted is a single value");
  EXPECT_EQ(ofRow(R"({"algorithm": "chain"})"), "t.json:2: a row without collective");
  EXPECT_EQ(ofRow(R"({"collective": "bcast"})"), "t.json:2: a row without algorithm");
  EXPECT_EQ(ofRow(R"({"collective": "bcast", "algorithm": 3})"),
            "t.json:2: algorithm: found 3; wanted is text");
  EXPECT_EQ(ofRow(R"({"collective": "bcast", "algorithm": "chain:8"})"),
            "t.json:2: algorithm: '8' is no parameter; wanted is one as k=3");
  EXPECT_EQ(ofRow(R"({"collective": "bcast", "target": null, "algorithm": "chain"})"),
            "t.json:2: target: found null; wanted is text");
  EXPECT_EQ(ofRow(R"({"collective": "bcast", "each": true, "algorithm": "chain"})"),
            "t.json:2: each: bcast has no v- or w-variant");
  EXPECT_EQ(ofRow(R"({"collective": "bcast", "commutes": true, "algorithm": "chain"})"),
            "t.json:2: commutes: bcast has no operator");
  EXPECT_EQ(ofRow(R"({"collective": "reduce", "commutes": "yes", "algorithm": "chain"})"),
            "t.json:2: commutes: found 'yes'; wanted is true or false");
}

TEST(ReadTable, TellsAllMistakesOfItsRows) {
  EXPECT_EQ(ofRow("{\"collective\": \"bcast\", \"ranks\": \"x\",\n\"algorithm\": \"\"}"),
            "t.json:2: ranks: 'x' is no range; wanted is one as 8, 2..8, 64K.. or ..1M\n"
            "t.json:3: algorithm: '' is no algorithm of bcast; wanted is one as linear, or with "
            "parameters as bruck:k=3");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "{},";
  const std::string why = refusal("{\"rows\": [" + many + "{}]}");
  EXPECT_EQ(std::count(why.begin(), why.end(), '\n'), 20);
  EXPECT_TRUE(why.ends_with("\nand more"));
}

TEST(ReadTable, WantsARowForEveryCall) {
  for (const char *condition : {R"("ranks": "2..")", R"("nodes": 1)", R"("bytes": "1..")",
                                R"("each": false)", R"("target": "mpi")", R"("blocking": true)"}) {
    EXPECT_EQ(
        refusal(std::string("{\"rows\": [{\"collective\": \"gather\", \"algorithm\": \"linear\"},\n"
                            "{\"collective\": \"gather\", \"algorithm\": \"binomial\", ") +
                condition + "}]}"),
        "t.json:2: the last row of gather does not fit every call; one is to end them that says "
        "nothing but its algorithm");
  }
}

TEST(ReadTable, WantsATable) {
  EXPECT_EQ(refusal("{}"), "t.json:1: it has no rows");
  EXPECT_EQ(refusal("[]"), "t.json:1: found a list; a table is an object with rows");
  EXPECT_EQ(refusal("\n8"), "t.json:2: found 8; a table is an object with rows");
  EXPECT_EQ(refusal("{\"rows\": {}}"), "t.json:1: found an object; rows are a list of objects");
  EXPECT_EQ(refusal("{\"rows\": [[]]}"), "t.json:1: found a list; rows are a list of objects");
  EXPECT_EQ(refusal("{\"rows\": [true]}"), "t.json:1: found true; rows are a list of objects");
  EXPECT_EQ(refusal("{\"about\": 3}"), "t.json:1: found 3; about is text, or a list of texts");
  EXPECT_EQ(refusal("{\"about\": [[]]}"),
            "t.json:1: found a list; about is text, or a list of texts");
  EXPECT_EQ(refusal("{\"row\": []}"), "t.json:1: unknown key 'row'; a table has about and rows");
  EXPECT_EQ(refusal("{\"rows\": [],\n\"rows\": []}"), "t.json:2: rows are there twice");
}

TEST(ReadTable, StandsWhatIsHostile) {
  EXPECT_TRUE(refusal("").starts_with("t.json:1: no JSON: ")) << refusal("");
  EXPECT_TRUE(refusal("{\"rows\": [],\n}").starts_with("t.json:2: no JSON: "));
  EXPECT_TRUE(refusal("{\"rows\": []} []").starts_with("t.json:1: no JSON: "));
  const std::string deep(1 << 20, '[');
  EXPECT_EQ(refusal("{\"rows\": " + deep), "t.json:1: found a list; rows are a list of objects");
  EXPECT_TRUE(refusal("{\"about\": \"\xff\xfe\"}").find("UTF-8") != std::string::npos);
  EXPECT_TRUE(refusal(std::string("{\0}", 3)).starts_with("t.json:1: no JSON: "));
  EXPECT_TRUE(refusal("{\"rows\": [{\"ranks\": 1e999}]}").starts_with("t.json:1: no JSON: "));
  EXPECT_EQ(refusal(std::string((16 << 20) + 1, ' ')),
            "t.json: it has 16777217 bytes; a table has at most 16777216");
  // Nothing of the file goes to a terminal as it is.
  const std::string why =
      refusal("{\"rows\": [], \"\\u001b[2J" + std::string(1000, 'x') + "\": 1}");
  EXPECT_LT(why.size(), 200u);
  EXPECT_EQ(why.find('\x1b'), std::string::npos);

  // Whatever is missing at its end, it is no table.
  const std::string whole =
      "{\"about\": [\"a\"], \"rows\": [{\"collective\": \"bcast\", \"ranks\": \"2..8\", \"nodes\": "
      "1,\n"
      "\"algorithm\": \"chain:segments=4\"}, {\"collective\": \"bcast\", \"algorithm\": "
      "\"linear\"}]}";
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_NE(refusal(whole.substr(0, n)), "");
}

}  // namespace
}  // namespace nbcc
