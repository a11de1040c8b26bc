// SPDX-License-Identifier: BSD-3-Clause
// Segments: the order of their life, and what is refused in each state.

#include "test/devices/sisci/rig.h"

using namespace sisci;

namespace {

TEST(Segment, goesThroughItsLifeAndBack) {
  Rig rig;
  auto s = rig.prepared(0, 1, 100);
  sci_remote_segment_t r = nullptr;
  auto connect = [&](sci_error_t *error) {
    SCIConnectSegment(rig.ranks[1].sd, &r, rig.ranks[0].node, 1, rig.ranks[1].adapter, nullptr,
                      nullptr, 0, 0, error);
  };
  connect(Fails(SCI_ERR_NO_SUCH_SEGMENT));
  SCISetSegmentAvailable(s, rig.ranks[0].adapter, 0, Ok());
  SCISetSegmentAvailable(s, rig.ranks[0].adapter, 0, Fails(SCI_ERR_ILLEGAL_OPERATION));
  connect(Ok());
  EXPECT_EQ(SCIGetRemoteSegmentSize(r), 100u);
  SCISetSegmentUnavailable(s, rig.ranks[0].adapter, 0, Ok());
  sci_remote_segment_t second = nullptr;
  std::swap(r, second);
  connect(Fails(SCI_ERR_NO_SUCH_SEGMENT));
  std::swap(r, second);

  sci_map_t local, remote;
  SCIMapLocalSegment(s, &local, 0, 100, nullptr, 0, Ok());
  SCIMapRemoteSegment(r, &remote, 0, 100, nullptr, 0, Ok());
  sci_sequence_t sequence;
  SCICreateMapSequence(remote, &sequence, 0, Ok());

  SCIRemoveSegment(s, 0, Fails(SCI_ERR_BUSY));
  SCIUnmapSegment(local, 0, Ok());
  SCIRemoveSegment(s, 0, Fails(SCI_ERR_BUSY));
  SCIDisconnectSegment(r, 0, Fails(SCI_ERR_BUSY));
  SCIUnmapSegment(remote, 0, Fails(SCI_ERR_BUSY));
  SCIRemoveSequence(sequence, 0, Ok());
  SCIUnmapSegment(remote, 0, Ok());
  SCIClose(rig.ranks[1].sd, 0, Fails(SCI_ERR_BUSY));
  SCIDisconnectSegment(r, 0, Ok());
  SCIRemoveSegment(s, 0, Ok());
  SCIClose(rig.ranks[0].sd, 0, Ok());
  SCIClose(rig.ranks[1].sd, 0, Ok());
}

TEST(Segment, staysWhileItsOwnerHasItMapped) {
  Rig rig;
  auto s = rig.prepared(0, 1, 100);
  sci_map_t map = nullptr;
  mapped<char>(s, 100, &map);
  SCIRemoveSegment(s, 0, Fails(SCI_ERR_BUSY));
  SCIUnmapSegment(map, 0, Ok());
  SCIRemoveSegment(s, 0, Ok());
}

TEST(Segment, belongsToOneIdOfANode) {
  Rig rig;
  auto s = rig.prepared(0, 5, 8);
  sci_local_segment_t twin, automatic;
  SCICreateSegment(rig.ranks[0].sd, &twin, 5, 8, nullptr, nullptr, 0, Ok());
  SCIPrepareSegment(twin, rig.ranks[0].adapter, 0, Fails(SCI_ERR_SEGMENTID_USED));
  rig.prepared(1, 5, 8);  // another node's
  SCIPrepareSegment(s, rig.ranks[0].adapter, 0, Fails(SCI_ERR_ILLEGAL_OPERATION));
  SCICreateSegment(rig.ranks[0].sd, &automatic, 5, 8, nullptr, nullptr, SCI_FLAG_AUTO_ID, Ok());
  SCIPrepareSegment(automatic, rig.ranks[0].adapter, 0, Ok());
  SCIRemoveSegment(s, 0, Ok());
  SCIPrepareSegment(twin, rig.ranks[0].adapter, 0, Ok());
}

TEST(Segment, withOneAdapterIsRefusedItsIdAtOnce) {
  Rig rig(simulated(), 1);
  rig.prepared(0, 5, 8);
  sci_local_segment_t twin = nullptr;
  SCICreateSegment(rig.ranks[0].sd, &twin, 5, 8, nullptr, nullptr, 0,
                   Fails(SCI_ERR_SEGMENTID_USED));
  EXPECT_EQ(twin, nullptr);
}

TEST(Segment, refusesWhatItsFlagsForbid) {
  Rig rig;
  auto secret = rig.prepared(0, 1, 8, SCI_FLAG_PRIVATE);
  SCISetSegmentAvailable(secret, rig.ranks[0].adapter, 0, Fails(SCI_ERR_ILLEGAL_OPERATION));
  sci_local_segment_t s = nullptr;
  SCICreateSegment(rig.ranks[0].sd, &s, 2, 8, nullptr, nullptr, 0x80000000,
                   Fails(SCI_ERR_ILLEGAL_FLAG));
  SCICreateSegment(rig.ranks[0].sd, &s, 2, 8, nullptr, nullptr, SCI_FLAG_CUDA_BUFFER,
                   Fails(SCI_ERR_FLAG_NOT_IMPLEMENTED));
  SCICreateSegment(rig.ranks[0].sd, &s, 2, 0, nullptr, nullptr, 0,
                   Fails(SCI_ERR_ILLEGAL_PARAMETER));
  EXPECT_EQ(s, nullptr);
  SCICreateSegment(rig.ranks[0].sd, &s, 2, 8, nullptr, nullptr, 0, Ok());
  SCISetSegmentAvailable(s, rig.ranks[0].adapter, 0, Fails(SCI_ERR_SEGMENT_NOT_PREPARED));
}

TEST(Segment, isMappedInParts) {
  Rig rig;
  auto s = rig.exported(0, 1, 3 * 4096 + 40);
  auto *whole = mapped<char>(s, 3 * 4096 + 40);
  sci_map_t map;
  auto *part = static_cast<char *>(SCIMapLocalSegment(s, &map, 4100, 8192, nullptr, 0, Ok()));
  whole[4101] = 'x';
  EXPECT_EQ(part[1], 'x');
  EXPECT_EQ(whole[0], 0);
  SCIMapLocalSegment(s, &map, 4100, 3 * 4096, nullptr, 0, Fails(SCI_ERR_OUT_OF_RANGE));
  SCIMapLocalSegment(s, &map, SIZE_MAX, 2, nullptr, 0, Fails(SCI_ERR_OUT_OF_RANGE));
  SCIMapLocalSegment(s, &map, 0, 0, nullptr, 0, Fails(SCI_ERR_OUT_OF_RANGE));
  SCIMapLocalSegment(s, &map, 0, 8, whole, 0, Fails(SCI_ERR_ILLEGAL_ADDRESS));
  SCIMapLocalSegment(s, &map, 0, 8, whole, SCI_FLAG_FIXED_MAP_ADDR, Fails(SCI_ERR_ILLEGAL_ADDRESS));
  SCIUnmapSegment(map, 0, Ok());
  char *address = part;
  EXPECT_EQ(SCIMapLocalSegment(s, &map, 4100, 8192, address, SCI_FLAG_FIXED_MAP_ADDR, Ok()),
            address);
  EXPECT_EQ(address[1], 'x');
}

TEST(Segment, tellsItsOwnerWhoComesAndGoes) {
  for (const Options &o : {simulated(), realTime()}) {
    struct Seen {
      std::vector<sci_segment_cb_reason_t> reasons;
      unsigned node = 0;
    };
    static Seen seen;
    static std::atomic<int> count;
    seen = {};
    count = 0;
    Rig rig(o, 3);
    sci_local_segment_t s;
    auto hear = [](void *arg, sci_local_segment_t, sci_segment_cb_reason_t reason, unsigned node,
                   unsigned, sci_error_t) {
      static_cast<Seen *>(arg)->reasons.push_back(reason);
      static_cast<Seen *>(arg)->node = node;
      ++count;
      return SCI_CALLBACK_CONTINUE;
    };
    SCICreateSegment(rig.ranks[0].sd, &s, 1, 64, hear, &seen, SCI_FLAG_USE_CALLBACK, Ok());
    SCIPrepareSegment(s, rig.ranks[0].adapter, 0, Ok());
    SCISetSegmentAvailable(s, rig.ranks[0].adapter, 0, Ok());
    auto until = [&](int n) {
      rig.fabric->run();
      for (int i = 0; i < 2000 && count < n; ++i) usleep(1000);
      EXPECT_EQ(count, n);
    };
    auto r = rig.connected(1, 0, 1);
    until(1);
    EXPECT_EQ(seen.node, rig.ranks[1].node);
    SCIDisconnectSegment(r, 0, Ok());
    until(2);
    rig.connected(2, 0, 1);
    until(3);
    rig.fabric->kill(2);
    until(4);
    EXPECT_EQ(seen.reasons,
              (std::vector{SCI_CB_CONNECT, SCI_CB_DISCONNECT, SCI_CB_CONNECT, SCI_CB_LOST}));
    SCIRemoveSegment(s, 0, Ok());
  }
}

TEST(Segment, whoseNodeDiesIsLostToThoseConnected) {
  for (const Options &o : {simulated(), simulated(3), realTime()}) {
    Rig rig(o);
    rig.exported(0, 1, 4096);
    static std::atomic<int> reason;
    reason = 0;
    sci_remote_segment_t r;
    auto hear = [](void *, sci_remote_segment_t, sci_segment_cb_reason_t why, sci_error_t) {
      reason = why;
      return SCI_CALLBACK_CONTINUE;
    };
    SCIConnectSegment(rig.ranks[1].sd, &r, rig.ranks[0].node, 1, rig.ranks[1].adapter, hear,
                      nullptr, 0, SCI_FLAG_USE_CALLBACK, Ok());
    Far<uint64_t> far(r, 4096);
    rig.fabric->kill(0);
    rig.fabric->run();
    for (int i = 0; i < 2000 && !reason; ++i) usleep(1000);
    EXPECT_EQ(reason, SCI_CB_LOST);
    EXPECT_EQ(SCIStartSequence(far.sequence, 0, Ok()), SCI_SEQ_NOT_RETRIABLE);
    EXPECT_EQ(SCICheckSequence(far.sequence, 0, Ok()), SCI_SEQ_NOT_RETRIABLE);
    far.memory[0] = 1;  // goes nowhere, and harms nobody
    SCIStoreBarrier(far.sequence, 0);
    EXPECT_EQ(SCIProbeNode(rig.ranks[1].sd, rig.ranks[1].adapter, rig.ranks[0].node, 0,
                           Fails(SCI_ERR_NO_REMOTE_LINK_ACCESS)),
              0);
    sci_remote_segment_t again = nullptr;
    SCIConnectSegment(rig.ranks[1].sd, &again, rig.ranks[0].node, 1, rig.ranks[1].adapter, nullptr,
                      nullptr, 0, 0, Fails(SCI_ERR_NODE_NOT_RESPONDING));
  }
}

}  // namespace
