// SPDX-License-Identifier: BSD-3-Clause
// Questions: the answers are those that the adapter then keeps to.

#include "test/devices/sisci/rig.h"

using namespace sisci;

namespace {

unsigned ask(unsigned adapter, unsigned subcommand, sci_error_t *error) {
  unsigned answer = 0xdddddddd;
  sci_query_adapter_t q = {adapter, 0, subcommand, &answer};
  SCIQuery(SCI_Q_ADAPTER, &q, 0, error);
  return answer;
}

TEST(Query, tellsOfTheAdapter) {
  Options o = simulated();
  o.facts.alignment = 16;
  o.facts.longestTransfer = 4096;
  Rig rig(o);
  const unsigned a = rig.ranks[1].adapter;
  EXPECT_EQ(ask(a, SCI_Q_ADAPTER_NODEID, Ok()), rig.ranks[1].node);
  EXPECT_EQ(ask(a, SCI_Q_ADAPTER_DMA_SIZE_ALIGNMENT, Ok()), 16u);
  EXPECT_EQ(ask(a, SCI_Q_ADAPTER_DMA_OFFSET_ALIGNMENT, Ok()), 16u);
  EXPECT_EQ(ask(a, SCI_Q_ADAPTER_DMA_MTU, Ok()), 4096u);
  EXPECT_EQ(ask(a, SCI_Q_ADAPTER_LINK_OPERATIONAL, Ok()), 1u);
  ask(a, 999, Fails(SCI_ERR_ILLEGAL_QUERY));
  ask(a + 1, SCI_Q_ADAPTER_NODEID, Fails(SCI_ERR_NO_SUCH_ADAPTERNO));
  SCIQuery(99, &o, 0, Fails(SCI_ERR_ILLEGAL_QUERY));
  rig.fabric->kill(1);
  EXPECT_EQ(ask(a, SCI_Q_ADAPTER_LINK_OPERATIONAL, Ok()), 0u);
}

TEST(Query, tellsWhatDmaCanDo) {
  Options o = simulated();
  o.facts.longestVector = 17;
  Rig rig(o);
  sci_dma_capabilities_t can;
  sci_query_dma_t q = {rig.ranks[0].adapter, SCI_Q_DMA_CAPABILITIES, &can};
  SCIQuery(SCI_Q_DMA, &q, SCI_FLAG_DMA_ADAPTER, Ok());
  EXPECT_EQ(can.max_vector_length, 17u);
  EXPECT_EQ(can.min_align_bytes, 8u);
  EXPECT_EQ(can.max_transfer_size, o.facts.longestTransfer);
  EXPECT_TRUE(can.support_mem2io && can.support_io2mem && !can.support_io2io);
  unsigned there = 7;
  q = {rig.ranks[0].adapter, SCI_Q_DMA_AVAILABLE, &there};
  SCIQuery(SCI_Q_DMA, &q, SCI_FLAG_DMA_GLOBAL, Ok());
  EXPECT_EQ(there, 0u);
  SCIQuery(SCI_Q_DMA, &q, SCI_FLAG_DMA_WAIT, Fails(SCI_ERR_ILLEGAL_FLAG));
}

TEST(Query, tellsOfSegmentsAndTheLibrary) {
  Pair p;
  sci_query_local_segment_t here = {p.here, SCI_Q_LOCAL_SEGMENT_IOADDR, {0}};
  sci_query_remote_segment_t there = {p.there, SCI_Q_REMOTE_SEGMENT_IOADDR, {0}};
  SCIQuery(SCI_Q_LOCAL_SEGMENT, &here, 0, Ok());
  SCIQuery(SCI_Q_REMOTE_SEGMENT, &there, 0, Ok());
  EXPECT_EQ(here.data.ioaddr, there.data.ioaddr);
  char text[64];
  sci_query_string_t q = {text, sizeof text};
  SCIQuery(SCI_Q_API, &q, 0, Ok());
  EXPECT_GT(std::strlen(text), 3u);
  q.length = 3;
  SCIQuery(SCI_Q_VENDORID, &q, 0, Fails(SCI_ERR_OVERFLOW));
}

TEST(Query, everyErrorHasAText) {
  EXPECT_STREQ(SCIGetErrorString(SCI_ERR_BUSY), "something still uses it");
  EXPECT_STREQ(SCIGetErrorString(static_cast<sci_error_t>(3)), "no error code of SISCI");
}

}  // namespace
