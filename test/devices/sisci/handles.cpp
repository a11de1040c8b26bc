// SPDX-License-Identifier: BSD-3-Clause
// Handles that are none, of another kind, or given back: an error code, whatever the function.

#include "test/devices/sisci/rig.h"

using namespace sisci;

namespace {

/// Every function that takes a handle, with this one in each such place.
std::vector<sci_error_t> all(void *h, unsigned adapter) {
  std::vector<sci_error_t> errors;
  auto next = [&]() -> sci_error_t * {
    errors.push_back(SCI_ERR_OK);
    return &errors.back();
  };
  errors.reserve(64);
  void *out = nullptr;
  unsigned number = 1, length = 8;
  alignas(8) char data[8];
  dis_dma_vec_t vector[1] = {{8, 0, 0, 0}};
  auto to = [&]<class T>(T) { return reinterpret_cast<T *>(&out); };
  auto as = [&]<class T>(T) { return static_cast<T>(h); };
  const auto sd = as(sci_desc_t{});
  const auto local = as(sci_local_segment_t{});
  const auto remote = as(sci_remote_segment_t{});
  const auto map = as(sci_map_t{});
  const auto sequence = as(sci_sequence_t{});
  const auto queue = as(sci_dma_queue_t{});
  SCIClose(sd, 0, next());
  SCIProbeNode(sd, adapter, 4, 0, next());
  SCICreateSegment(sd, to(local), 1, 8, nullptr, nullptr, 0, next());
  SCIPrepareSegment(local, adapter, 0, next());
  SCIMapLocalSegment(local, to(map), 0, 8, nullptr, 0, next());
  SCISetSegmentAvailable(local, adapter, 0, next());
  SCISetSegmentUnavailable(local, adapter, 0, next());
  SCIRemoveSegment(local, 0, next());
  SCIConnectSegment(sd, to(remote), 4, 1, adapter, nullptr, nullptr, 0, 0, next());
  SCIMapRemoteSegment(remote, to(map), 0, 8, nullptr, 0, next());
  SCIUnmapSegment(map, 0, next());
  SCIDisconnectSegment(remote, 0, next());
  SCICreateMapSequence(map, to(sequence), 0, next());
  SCIRemoveSequence(sequence, 0, next());
  SCIStartSequence(sequence, 0, next());
  SCICheckSequence(sequence, 0, next());
  SCIMemCpy(nullptr, data, map, 0, 8, 0, next());
  SCICreateDMAQueue(sd, to(queue), adapter, 1, 0, next());
  SCIRemoveDMAQueue(queue, 0, next());
  SCIStartDmaTransfer(queue, local, remote, 0, 8, 0, nullptr, nullptr, 0, next());
  SCIStartDmaTransferMem(queue, data, remote, 8, 0, nullptr, nullptr, 0, next());
  SCIStartDmaTransferVec(queue, local, remote, 1, vector, nullptr, nullptr, 0, next());
  SCIWaitForDMAQueue(queue, 0, 0, next());
  SCIAbortDMAQueue(queue, 0, next());
  SCIEnqueueDMATransfer(queue, local, remote, 0, 0, 8, 0, next());
  SCIPostDMAQueue(queue, nullptr, nullptr, 0, next());
  SCIResetDMAQueue(queue, 0, next());
  SCICreateInterrupt(sd, to(sci_local_interrupt_t{}), adapter, &number, nullptr, nullptr, 0,
                     next());
  SCIRemoveInterrupt(as(sci_local_interrupt_t{}), 0, next());
  SCIConnectInterrupt(sd, to(sci_remote_interrupt_t{}), 4, adapter, 1, 0, 0, next());
  SCIDisconnectInterrupt(as(sci_remote_interrupt_t{}), 0, next());
  SCITriggerInterrupt(as(sci_remote_interrupt_t{}), 0, next());
  SCIWaitForInterrupt(as(sci_local_interrupt_t{}), 0, 0, next());
  SCICreateDataInterrupt(sd, to(sci_local_data_interrupt_t{}), adapter, &number, nullptr, nullptr,
                         0, next());
  SCIRemoveDataInterrupt(as(sci_local_data_interrupt_t{}), 0, next());
  SCIConnectDataInterrupt(sd, to(sci_remote_data_interrupt_t{}), 4, adapter, 1, 0, 0, next());
  SCIDisconnectDataInterrupt(as(sci_remote_data_interrupt_t{}), 0, next());
  SCITriggerDataInterrupt(as(sci_remote_data_interrupt_t{}), data, 8, 0, next());
  SCIWaitForDataInterrupt(as(sci_local_data_interrupt_t{}), data, &length, 0, 0, next());
  EXPECT_EQ(SCIGetRemoteSegmentSize(remote), 0u);
  EXPECT_EQ(SCIDMAQueueState(queue), SCI_DMAQUEUE_ERROR);
  SCIStoreBarrier(sequence, 0);
  SCIFlush(sequence, 0);
  return errors;
}

TEST(Handles, thatAreNoneAreRefusedByEveryFunction) {
  Rig rig;
  sci_desc_t closed;
  SCIOpen(&closed, 0, Ok());
  SCIClose(closed, 0, Ok());
  int mine = 0;
  for (void *h : {static_cast<void *>(nullptr), static_cast<void *>(&mine),
                  reinterpret_cast<void *>(~uintptr_t{0}), static_cast<void *>(closed)}) {
    const auto errors = all(h, rig.ranks[0].adapter);
    EXPECT_EQ(errors.size(), 39u);
    for (size_t i = 0; i < errors.size(); ++i)
      EXPECT_EQ(errors[i], SCI_ERR_ILLEGAL_PARAMETER) << "function " << i;
  }
}

TEST(Handles, ofAnotherKindAreRefused) {
  Rig rig;
  sci_sequence_t sequence = nullptr;
  auto segment = rig.prepared(0, 1, 8);
  SCIClose(reinterpret_cast<sci_desc_t>(segment), 0, Fails(SCI_ERR_ILLEGAL_PARAMETER));
  SCIRemoveSegment(reinterpret_cast<sci_local_segment_t>(rig.ranks[0].sd), 0,
                   Fails(SCI_ERR_ILLEGAL_PARAMETER));
  SCICreateMapSequence(reinterpret_cast<sci_map_t>(segment), &sequence, 0,
                       Fails(SCI_ERR_ILLEGAL_PARAMETER));
  SCIRemoveSegment(segment, 0, Ok());
  SCIRemoveSegment(segment, 0, Fails(SCI_ERR_ILLEGAL_PARAMETER));
  auto next = rig.prepared(0, 1, 8);  // in the same place
  EXPECT_NE(next, segment);
  SCIRemoveSegment(segment, 0, Fails(SCI_ERR_ILLEGAL_PARAMETER));
}

TEST(Handles, nowhereToPutThemIsRefused) {
  Rig rig;
  SCIOpen(nullptr, 0, Fails(SCI_ERR_ILLEGAL_PARAMETER));
  SCICreateSegment(rig.ranks[0].sd, nullptr, 1, 8, nullptr, nullptr, 0,
                   Fails(SCI_ERR_ILLEGAL_PARAMETER));
  SCIQuery(SCI_Q_API, nullptr, 0, Fails(SCI_ERR_ILLEGAL_PARAMETER));
  SCIGetLocalNodeId(rig.ranks[0].adapter, nullptr, 0, Fails(SCI_ERR_ILLEGAL_PARAMETER));
  SCIClose(rig.ranks[0].sd, 0, nullptr);  // an error that nobody wants to hear
}

TEST(Handles, beforeTheLibraryHasBegunThereIsNothing) {
  sci_desc_t sd;
  SCIOpen(&sd, 0, Fails(SCI_ERR_NOT_INITIALIZED));
  SCITerminate();  // one too many does nothing
  Rig rig;
  SCIInitialize(0, Ok());
  SCITerminate();
  SCIOpen(&sd, 0, Ok());
}

TEST(Handles, anAdapterThatIsNotThereIsRefused) {
  Rig rig;
  unsigned node = 0;
  SCIGetLocalNodeId(0, &node, 0, Fails(SCI_ERR_NO_SUCH_ADAPTERNO));
  SCIGetLocalNodeId(rig.ranks[1].adapter + 1, &node, 0, Fails(SCI_ERR_NO_SUCH_ADAPTERNO));
  SCIGetLocalNodeId(rig.ranks[1].adapter, &node, 0, Ok());
  EXPECT_EQ(node, 8u);
  EXPECT_EQ(SCIProbeNode(rig.ranks[0].sd, rig.ranks[0].adapter, 8, 0, Ok()), 1);
  EXPECT_EQ(SCIProbeNode(rig.ranks[0].sd, rig.ranks[0].adapter, 12, 0,
                         Fails(SCI_ERR_NO_REMOTE_LINK_ACCESS)),
            0);
}

}  // namespace
