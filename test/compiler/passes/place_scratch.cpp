// SPDX-License-Identifier: BSD-3-Clause
// Scratch shares memory only where the waits keep its users apart.

#include "support.h"

namespace nbcc {
namespace {

std::string scratchPlaced(const std::string &lines) {
  return after(
      "place-scratch",
      "schedule @a allgather rank 1 of 9 root 0 order waits rounds 9\nin in[1]\nout out[9]\n" +
          lines + "end\n");
}

TEST(PlaceScratch, SharesWhatIsNeverLiveAtOnce) {
  EXPECT_EQ(
      scratchPlaced("scratch a[1] like in\nscratch b[1] like in\nscratch c[1] like in\n"
                    "%0 = recv a from 0\n%1 = copy a -> out[0] round 1 after %0\n"
                    "%2 = copy out[0] -> b round 1 after %1\n"
                    "%3 = send b to 2 round 1 after %2\n%4 = recv c from 0 round 2 after %3\n"),
      "  in in[1]\n  out out[9]\n  scratch a[1] like in\n"
      "  %0 = recv a from 0 round 0\n  %1 = copy a -> out[0] round 1 after %0\n"
      "  %2 = copy out[0] -> a round 1 after %1\n  %3 = send a to 2 round 1 after %2\n"
      "  %4 = recv a from 0 round 2 after %3\n");
}

TEST(PlaceScratch, KeepsApartWhatNoWaitSeparates) {
  const std::string text = scratchPlaced(
      "scratch a[1] like in\nscratch b[1] like in\n"
      "%0 = recv a from 0\n%1 = copy a -> out[0] round 1 after %0\n%2 = recv b from 2 round 1\n"
      "%3 = copy b -> out[1] round 2 after %2\n");
  EXPECT_NE(text.find("scratch b[1]"), std::string::npos) << text;
  // One reader of a may still be busy.
  const std::string reader = scratchPlaced(
      "scratch a[1] like in\nscratch b[1] like in\n"
      "%0 = recv a from 0\n%1 = copy a -> out[0] round 1 after %0\n%2 = send a to 3 round 1 after "
      "%0\n"
      "%3 = recv b from 2 round 2 after %1\n");
  EXPECT_NE(reader.find("scratch b[1]"), std::string::npos) << reader;
}

TEST(PlaceScratch, KeepsApartWhatIsOfAnotherShape) {
  const std::string text = scratchPlaced(
      "scratch a[1] like in\nscratch b[1] like out[0 of 2]\nscratch c[2] like in\n"
      "%0 = recv a from 0\n%1 = recv b from 2 after %0\n%2 = recv c[0] from 2 after %1\n");
  EXPECT_NE(text.find("scratch b[1]"), std::string::npos) << text;
  EXPECT_NE(text.find("scratch c[2]"), std::string::npos) << text;
}

TEST(PlaceScratch, ForgetsWhatNobodyNames) {
  EXPECT_EQ(
      scratchPlaced("scratch a[4] like out[3 +: 4]\nscratch b[2] like a[0 +: 2 of 2]\nscratch c[1] "
                    "like a[3]\n"
                    "scratch d[3] like b[1]\n%0 = recv d[2] from 0\n"),
      "  in in[1]\n  out out[9]\n  scratch d[3] like out[7 of 2]\n  %0 = recv d[2] from 0 "
      "round 0\n");
}

}  // namespace
}  // namespace nbcc
