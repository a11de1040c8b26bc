// SPDX-License-Identifier: BSD-3-Clause
// origin.cpp - the list of what a library was made from: read back as written, no damage believed,
// and no change of a file overlooked.

#include "compiler/algorithms/origin.h"

#include <gtest/gtest.h>

#include "compiler/algorithms/digest.h"
#include "compiler/algorithms/sources.h"
#include "dsl/parse.h"
#include "test/compiler/algorithms/folder.h"

namespace nbcc {
namespace {

TEST(Origin, isReadAsItWasWritten) {
  const Origin origin{digest("lib"), {{"a file.nbc", digest("a")}, {"/b.nbc", ""}}};
  const std::string text = origin.text();
  EXPECT_EQ(text.substr(0, text.find("end ")), "nbc cache 1\nlibrary " + digest("lib") + "\n" +
                                                   digest("a") + " a file.nbc\n- /b.nbc\n");
  const std::optional<Origin> again = Origin::read(text);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text(), text);
  EXPECT_EQ(again->inputs[1].digest, "");
}

TEST(Origin, isRefusedWhereAnyByteIsDamagedOrMissing) {
  const std::string text = Origin{digest("lib"), {{"a", digest("a")}, {"b", ""}}}.text();
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(Origin::read(damaged)) << i;
    EXPECT_FALSE(Origin::read(text.substr(0, i))) << i;
    EXPECT_FALSE(Origin::read(text.substr(i + 1))) << i;
  }
  EXPECT_FALSE(Origin::read(text + text));
}

TEST(Origin, holdsUntilAFileChangesComesOrGoes) {
  const Folder here;
  const Origin origin{digest("lib"),
                      {{here.put("a.nbc", "old"), digest("old")}, {here.file("b.nbc"), ""}}};
  EXPECT_TRUE(origin.holds());
  here.put("b.nbc", "");
  EXPECT_FALSE(origin.holds());
  std::filesystem::remove(here.file("b.nbc"));
  EXPECT_TRUE(origin.holds());
  here.put("a.nbc", "new");
  EXPECT_FALSE(origin.holds());
  here.put("a.nbc", "\xEF\xBB\xBFold");
  EXPECT_TRUE(origin.holds()) << "the compiler does not see a byte order mark";
  std::filesystem::remove(here.file("a.nbc"));
  EXPECT_FALSE(origin.holds());
}

TEST(Sources, areTakenAsTheCompilerTakesThem) {
  const Folder here;
  const std::string longest(kMaxSourceBytes, ' '), mark = "\xEF\xBB\xBF";
  EXPECT_EQ(sourceText(here.put("a.nbc", longest)), longest);
  EXPECT_EQ(sourceText(here.put("a.nbc", longest + " ")), std::nullopt);
  EXPECT_EQ(sourceText(here.put("a.nbc", mark + longest)), std::nullopt) << "the mark counts";
  EXPECT_EQ(sourceText(here.put("a.nbc", mark + "text")), "text");
  EXPECT_EQ(sourceText(here.put("a.nbc", "")), "");
  EXPECT_EQ(sourceText(here.file("none.nbc")), std::nullopt);
  EXPECT_EQ(sourceText("/dev/null"), std::nullopt) << "no regular file";
}

TEST(Sources, knowWhoseHeadASourceHas) {
  const std::string text =
      "// allgather no\n/* allgather never */ allgather /* of */ // a\n bruck(k = 1) {"
      " run bcast.linear; }\nallgather.dot; allgathers ring; \"allgather text\"";
  EXPECT_TRUE(hasHead(text, "allgather", "bruck"));
  EXPECT_FALSE(hasHead(text, "allgather", "no"));
  EXPECT_FALSE(hasHead(text, "allgather", "never"));
  EXPECT_FALSE(hasHead(text, "allgather", "dot"));
  EXPECT_FALSE(hasHead(text, "allgather", "ring"));
  EXPECT_FALSE(hasHead(text, "bcast", "linear"));
  EXPECT_FALSE(hasHead("allgather", "allgather", ""));
  EXPECT_FALSE(hasHead("allgather /* bruck", "allgather", "bruck"));
}

}  // namespace
}  // namespace nbcc
