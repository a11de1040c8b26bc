// SPDX-License-Identifier: BSD-3-Clause
// Two adapters as one device: which are taken, that queue pairs of both are looked at and slept on
// by one completion queue, that keys are each rail's own. Runs in the guest; makes a second
// adapter, on a network of its own.

#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "test/verbs/ends.h"

namespace {

long sent(const char *device) {
  long packets = -1;
  usleep(100'000);  // the kernel reads its counters anew every 10 ms
  std::ifstream(std::string("/sys/class/infiniband/") + device +
                "/ports/1/hw_counters/sent_pkts") >>
      packets;
  return packets;
}

class Rails : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(system("ip link add dummy1 type dummy && ip link set dummy1 mtu 4500 && "
                     "ip addr add 10.0.1.1/24 dev dummy1 && ip link set dummy1 up && "
                     "rdma link add rxe1 type rxe netdev dummy1"),
              0);
  }
  void TearDown() override {
    EXPECT_EQ(system("rdma link delete rxe1 && ip link delete dummy1"), 0);
  }
  static std::string opens(const char *device, int expected, uint32_t rails = 0) {
    nbc_verbs_options options = {};
    options.device = device;
    nbc_device *d = nullptr;
    const char *why = "";
    EXPECT_EQ(nbc_verbs_open(&options, &d, &why), expected) << why;
    if (!d) return why;
    auto *v = reinterpret_cast<nbc_verbs *>(d);
    nbc_verbs_facts f = {};
    v->ops->facts(v, &f);
    EXPECT_EQ(f.rails, rails) << device;
    d->close(d);
    return why;
  }
};

/// The third number of the address of the device that a rail is on: a card begins with its GID.
int atRail(const char *devices, uint32_t rail) {
  nbc_verbs_options options = {};
  options.device = devices;
  nbc_verbs *v = openAdapter(options);
  void *cq = nullptr, *qp = nullptr;
  uint32_t number = 0;
  nbc_verbs_address card = {};
  EXPECT_EQ(v->ops->create_cq(v, 4, &cq), 0);
  const nbc_verbs_queue_wish wish = {cq, 1, 1, 1, 0, rail};
  EXPECT_EQ(v->ops->create_qp(v, &wish, &qp, &number), 0);
  EXPECT_EQ(v->ops->address(v, qp, &card), 0);
  v->ops->destroy_qp(v, qp);
  v->ops->destroy_cq(v, cq);
  v->device.close(&v->device);
  return reinterpret_cast<const unsigned char *>(&card)[14];  // 10.0.0.1, 10.0.1.1
}

TEST_F(Rails, areNamedOrAllThatAreActive) {
  opens("rxe1", 0, 1);
  opens("rxe1:1,rxe0", 0, 2);
  opens("rxe0,rxe0,rxe1,rxe1", 0, 4);
  opens("all", 0, 2);  // libibverbs has the latest first; ranks are to agree
  EXPECT_LT(atRail("all", 0), atRail("all", 1));
  const std::string why = opens("rxe0,rxe7", NBC_ERROR_DEVICE);
  EXPECT_EQ(why.rfind("no active port of rxe7; there are: ", 0), 0u) << why;
  EXPECT_NE(why.find("rxe1 port 1 (RoCE, active)"), std::string::npos) << why;
  for (const char *wrong : {"rxe0,", ",", "", "rxe0,rxe1:0", "a,b,c,d,e"})
    EXPECT_NE(opens(wrong, NBC_ERROR_ARGUMENT).find("at most 4"), std::string::npos) << wrong;
  setenv("NBC_VERBS_DEVICE", "rxe1,rxe0", 1);
  opens(nullptr, 0, 2);
  unsetenv("NBC_VERBS_DEVICE");
  ASSERT_EQ(system("ip link set dummy1 down"), 0);
  opens("all", 0, 1);
}

/// One side, with a queue pair on each rail and one completion queue.
struct Both : End {
  void *second = nullptr;
  uint32_t secondNumber = 0, secondLkey = 0, secondRkey = 0;

  explicit Both(const nbc_verbs_options &options) : End(options) {
    nbc_verbs_queue_wish wish = {cq, 32, 32, 4, 64, 1};
    EXPECT_EQ(ops->create_qp(verbs, &wish, &second, &secondNumber), 0);
    ops->keys(verbs, region, 1, &secondLkey, &secondRkey);
    wish.rail = 2;
    void *none = nullptr;
    EXPECT_EQ(ops->create_qp(verbs, &wish, &none, &secondNumber), NBC_ERROR_ARGUMENT);
  }
  ~Both() { ops->destroy_qp(verbs, second); }
  void connectBoth(const Both &to) const {
    nbc_verbs_address card = {};
    EXPECT_EQ(connect(to.address()), 0);
    EXPECT_EQ(ops->address(verbs, second, &card), 0);
    EXPECT_EQ(to.ops->connect(to.verbs, to.second, &card), 0);
  }
  int write(uint64_t id, const Both &to) const {
    ibv_sge run = {place(0), 3000, secondLkey};
    ibv_send_wr wr = {};
    wr.wr_id = id;
    wr.sg_list = &run;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = to.place(5000);
    wr.wr.rdma.rkey = to.secondRkey;
    return ops->post_send(verbs, second, &wr);
  }
};

nbc_verbs_options both() {
  nbc_verbs_options options = {};
  options.device = "rxe0,rxe1";
  return options;
}

TEST_F(Rails, carryEachItsOwnQueuePairs) {
  Both a(both()), b(both());
  a.connectBoth(b);
  b.connectBoth(a);
  a.fill(3);
  const long first = sent("rxe0"), second = sent("rxe1");
  ASSERT_EQ(a.write(7, b), 0);
  ibv_wc wc = a.next();
  EXPECT_EQ(wc.wr_id, 7u);
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc.qp_num, a.secondNumber);
  EXPECT_EQ(std::memcmp(&b.memory[5000], a.memory.data(), 3000), 0);
  EXPECT_GT(sent("rxe1"), second);
  EXPECT_EQ(sent("rxe0"), first);
  ASSERT_EQ(a.post(IBV_WR_RDMA_WRITE, 8, {a.run(0, 100)}, 0, b.place(0), b.rkey), 0);
  EXPECT_EQ(a.next().status, IBV_WC_SUCCESS);
  EXPECT_GT(sent("rxe0"), first);
}

TEST_F(Rails, wakeWhoSleeps) {
  Both a(both()), b(both());
  a.connectBoth(b);
  b.connectBoth(a);
  for (int round = 0; round < 4; ++round) {
    ibv_wc wc = {};
    const bool onSecond = round % 2;
    const int file = a.ops->arm(a.verbs, a.cq);
    ASSERT_EQ(a.ops->poll(a.verbs, a.cq, 1, &wc), 0);
    pollfd readable = {file, POLLIN, 0};
    EXPECT_EQ(poll(&readable, 1, 20), 0) << "armed, perhaps again: nothing has come";
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(onSecond ? a.write(2, b) : a.post(IBV_WR_RDMA_WRITE, 1, {}), 0);
    if (round >= 2) a.ops->sleep(a.verbs, a.cq, 5'000'000'000);
    const int told = round < 2 ? poll(&readable, 1, 5000) : 1;
    EXPECT_EQ(told, 1);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s);
    EXPECT_EQ(a.next().wr_id, onSecond ? 2u : 1u);
  }
}

}  // namespace
