// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong is told by status and id, and flushes what is behind it.

#include "test/devices/verbs/rig.h"

namespace verbs::test {
namespace {

struct Errors : testing::Test {
  Rig rig{simulated};
  End &a = rig.end(0), &b = rig.end(1);
  Memory ma{a.verbs, 64}, mb{b.verbs, 64};
  Errors() { rig.connect(a, b); }
};

TEST_F(Errors, aReceiveTooSmallFailsBothEnds) {
  b.receive(1, mb.part(0, 3));
  b.receive(2, mb.all());
  a.post({send(3, {ma.part(0, 4)}), send(4).signal()});
  EXPECT_EQ(b.await().status, IBV_WC_LOC_LEN_ERR);
  ibv_wc flushed = b.await();
  EXPECT_EQ(flushed.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(flushed.wr_id, 2u);
  EXPECT_EQ(flushed.qp_num, b.number);
  ibv_wc sent = a.await();
  EXPECT_EQ(sent.status, IBV_WC_REM_INV_REQ_ERR) << "though it was not signalled";
  EXPECT_EQ(sent.wr_id, 3u);
  ibv_wc behind = a.await();
  EXPECT_EQ(behind.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(behind.wr_id, 4u);
  EXPECT_NE(a.failed(), NBC_OK);
  EXPECT_NE(b.failed(), NBC_OK);
}

TEST_F(Errors, completionsBeforeTheErrorAreGood) {
  b.receive(1);
  a.post({send(1), write(2).signal(), write(3, {{ma.part(0, 1).addr, 1, ma.lkey + 1}})});
  ibv_wc good = a.await(), bad = a.await();
  EXPECT_EQ(good.status, IBV_WC_SUCCESS);
  EXPECT_EQ(good.wr_id, 2u);
  EXPECT_EQ(bad.status, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(bad.wr_id, 3u);
}

TEST_F(Errors, keysReachOnlyWhatTheyAreFor) {
  Memory readable(b.verbs, 64, IBV_ACCESS_REMOTE_READ);
  struct {
    const char *what;
    Request request;
    ibv_wc_status status;
  } cases[] = {
      {"beyond its end", write(1, {ma.part(0, 8)}).remote(mb, 57), IBV_WC_REM_ACCESS_ERR},
      {"without the right", write(1, {ma.part(0, 8)}).remote(readable), IBV_WC_REM_ACCESS_ERR},
      {"read beyond", read(1, {ma.part(0, 8)}).remote(readable, 60), IBV_WC_REM_ACCESS_ERR},
      {"into what is read only", read(1, {readable.part(0, 8)}).remote(mb), IBV_WC_LOC_PROT_ERR},
      {"gathered beyond", send(1, {ma.part(60, 5)}), IBV_WC_LOC_PROT_ERR},
  };
  cases[3].request.wr.wr.rdma.rkey = ma.rkey;
  for (auto &c : cases) {
    End &from = rig.end(0), &to = rig.end(1);
    rig.connect(from, to);
    to.receive(1, mb.all());
    from.post(c.request);
    EXPECT_EQ(from.await().status, c.status) << c.what;
  }
}

TEST_F(Errors, aKeyForOneselfIsNoneForPeers) {
  Request r = write(1, {ma.part(0, 8)}).remote(mb);
  r.wr.wr.rdma.rkey = mb.lkey;
  a.post(r);
  EXPECT_EQ(a.await().status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_NE(b.failed(), NBC_OK) << "which no completion of its own says";
}

TEST_F(Errors, whatIsReadOnlyCannotBeReceivedInto) {
  Memory sealed(b.verbs, 64, 0);
  b.receive(1, sealed.all());
  a.post(send(2, {ma.all()}));
  EXPECT_EQ(b.await().status, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(a.await().status, IBV_WC_REM_OP_ERR);
}

TEST_F(Errors, deregisteredMemoryIsOutOfReach) {
  uint32_t key = mb.rkey;
  b.verbs->ops->deregister_memory(b.verbs, mb.region);
  mb.region = nullptr;
  Request r = write(1, {ma.part(0, 8)}).remote(mb);
  r.wr.wr.rdma.rkey = key;
  a.post(r);
  EXPECT_EQ(a.await().status, IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Errors, accessThatMakesNoSenseIsRefused) {
  void *region;
  uint32_t lkey, rkey;
  auto tryAccess = [&](int access) {
    return a.verbs->ops->register_memory(a.verbs, ma.bytes.data(), 1, access, &region, &lkey,
                                         &rkey);
  };
  EXPECT_EQ(tryAccess(IBV_ACCESS_REMOTE_WRITE), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(tryAccess(IBV_ACCESS_MW_BIND), NBC_ERROR_ARGUMENT);
}

TEST_F(Errors, aKilledPeerIsSeenByAWriteOfNoBytes) {
  rig.fabric.kill(1);
  a.post({write(1).signal(), send(2)});
  ibv_wc first = a.await(), second = a.await();
  EXPECT_EQ(first.status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(first.wr_id, 1u);
  EXPECT_EQ(second.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(second.wr_id, 2u);
  EXPECT_GT(rig.fabric.now(), 400 * hca::millisecond);
  a.post(send(3));
  EXPECT_EQ(a.await().wr_id, 3u) << "posted to a queue that has failed: flushed";
}

TEST_F(Errors, aPeerThatHasGoneIsSeenTheSameWay) {
  b.verbs->ops->destroy_qp(b.verbs, b.qp);
  b.qp = nullptr;
  a.post(write(1));
  EXPECT_EQ(a.await().status, IBV_WC_RETRY_EXC_ERR);
}

TEST_F(Errors, aMissingReceiveIsTriedAgainForEver) {
  a.post(send(1, {ma.fill(8).all()}).signal());
  rig.fabric.run();
  EXPECT_TRUE(a.poll().empty());
  EXPECT_GT(rig.fabric.counters().rnrNaks, 0u);
  b.receive(1, mb.all());
  EXPECT_EQ(a.await().status, IBV_WC_SUCCESS);
  EXPECT_EQ(ma.bytes, mb.bytes);
}

TEST_F(Errors, rnrRetriesThatEndAreAnError) {
  End &from = rig.end(0), &to = rig.end(1);
  rig.fabric.setRetry(from.number, {.rnrRetry = 2});
  rig.connect(from, to);
  from.post(send(1));
  EXPECT_EQ(from.await().status, IBV_WC_RNR_RETRY_EXC_ERR);
}

TEST_F(Errors, aCompletionQueueTooShortFailsItsQueuePairs) {
  End &from = rig.end(0, {.entries = 4}), &to = rig.end(1);
  rig.connect(from, to);
  from.post(std::vector<Request>(4, write(1).signal()));
  rig.fabric.run();
  EXPECT_EQ(from.failed(), NBC_OK);
  from.post(write(2).signal());
  rig.fabric.run();
  EXPECT_NE(from.failed(), NBC_OK);
}

TEST_F(Errors, pollingKeepsTheConsumerIndexUpToDate) {
  End &from = rig.end(0, {.entries = 4}), &to = rig.end(1);
  rig.connect(from, to);
  for (int i = 0; i < 20; ++i) {
    from.post({write(1).signal(), write(2).signal(), write(3).signal()});
    rig.fabric.run();
    EXPECT_EQ(from.poll().size(), 3u);
  }
  EXPECT_EQ(from.failed(), NBC_OK);
}

}  // namespace
}  // namespace verbs::test
