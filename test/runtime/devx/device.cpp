// SPDX-License-Identifier: BSD-3-Clause
// The device by DevX, over an mlx5 adapter of software that takes its commands apart
// (test/devx/software).

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "nbc/devx.h"
#include "nbc/hca.h"
#include "nbc/mlx5_wqe.h"

namespace {

/// Where the loader is told to look.
class RdmaCore {
 public:
  explicit RdmaCore(const char *library = NBC_SOFTWARE_MLX5)
      : folder_(std::filesystem::temp_directory_path() / ("nbc-devx-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    for (const char *name : {"libibverbs.so.1", "libmlx5.so.1"})
      std::filesystem::create_symlink(library, folder_ / name);
    setenv("NBC_RDMA_CORE", folder_.c_str(), 1);
  }
  ~RdmaCore() {
    unsetenv("NBC_RDMA_CORE");
    std::filesystem::remove_all(folder_);
  }

 private:
  std::filesystem::path folder_;
};

struct Device {
  RdmaCore core;
  nbc_hca *hca = nullptr;
  Device() {
    nbc_device *device = nullptr;
    const char *why = "";
    EXPECT_EQ(nbc_devx_open(nullptr, &device, &why), 0) << why;
    hca = reinterpret_cast<nbc_hca *>(device);
  }
  ~Device() {
    if (hca) hca->device.close(&hca->device);
  }

  nbc_hca_cq cq(uint32_t log = 0) {
    nbc_hca_cq made = {};
    EXPECT_EQ(hca->ops->create_cq(hca, log, NBC_HCA_CQ_OVERRUN_IGNORE, &made), 0);
    return made;
  }
  nbc_hca_qp qp(const nbc_hca_cq &sends, const nbc_hca_cq &receives, uint32_t flags = 0,
                uint32_t logReceive = 2, uint32_t logStride = 4) {
    const nbc_hca_qp_request want = {.log_sq = 4,
                                     .log_rq = logReceive,
                                     .log_stride = logStride,
                                     .send_cq = sends.number,
                                     .recv_cq = receives.number,
                                     .flags = flags,
                                     .port = 0};
    nbc_hca_qp made = {};
    EXPECT_EQ(hca->ops->create_qp(hca, &want, &made), 0);
    return made;
  }
  /// To each other.
  void connect(const nbc_hca_qp &a, const nbc_hca_qp &b) {
    uint8_t address[32];
    EXPECT_EQ(hca->ops->address(hca, address), 0);
    EXPECT_EQ(hca->ops->connect_qp(hca, a.number, address, b.number), 0);
    EXPECT_EQ(hca->ops->connect_qp(hca, b.number, address, a.number), 0);
  }
  /// A send of 8 bytes, with a completion; and its doorbell.
  void send(const nbc_hca_qp &from, uint16_t index, const void *bytes, uint32_t lkey) {
    uint8_t *e = from.sq + size_t{MLX5_WQEBB} * (index & ((1u << from.log_sq) - 1));
    memset(e, 0, MLX5_WQEBB);
    mlx5_put16(e + MLX5_CTRL_INDEX, index);
    e[MLX5_CTRL_OPCODE] = MLX5_SEND;
    mlx5_put32(e + MLX5_CTRL_QPN, from.number << 8 | 2);
    e[MLX5_CTRL_FLAGS] = MLX5_CE_ALWAYS;
    put(e + MLX5_SEGMENT, bytes, 8, lkey);
    __atomic_store_n(&from.doorbell[1], __builtin_bswap32(index + 1u), __ATOMIC_RELEASE);
    uint64_t ctrl;
    memcpy(&ctrl, e, sizeof ctrl);
    hca->ops->doorbell(hca, from.number, ctrl);
  }
  void receive(const nbc_hca_qp &to, uint16_t index, void *bytes, uint32_t size, uint32_t lkey) {
    const uint32_t entry = index & ((1u << to.log_rq) - 1);
    put(to.rq + (size_t{entry} << to.log_stride), bytes, size, lkey);
    __atomic_store_n(&to.doorbell[0], __builtin_bswap32(index + 1u), __ATOMIC_RELEASE);
  }
  static void put(uint8_t *segment, const void *bytes, uint32_t size, uint32_t lkey) {
    mlx5_put32(segment + MLX5_DATA_COUNT, size);
    mlx5_put32(segment + MLX5_DATA_LKEY, lkey);
    mlx5_put64(segment + MLX5_DATA_ADDR, reinterpret_cast<uintptr_t>(bytes));
  }
  template <class Condition>
  bool soon(const Condition &holds) {
    for (int i = 0; i < 20000 && !holds(); ++i) hca->ops->sleep(hca, 1000000);
    return holds();
  }
  bool hasEntry(const nbc_hca_cq &cq, int opcode) {
    return soon([&] {
      return __atomic_load_n(cq.entries + MLX5_CQE_OP_OWN, __ATOMIC_ACQUIRE) >> 4 == opcode;
    });
  }
};

TEST(Devx, tellsWhatTheAdapterCan) {
  setenv("NBC_HCA_DEVICE", "connectx7-cd", 1);
  Device d;
  unsetenv("NBC_HCA_DEVICE");
  nbc_hca_facts facts;
  d.hca->ops->facts(d.hca, &facts);
  EXPECT_EQ(facts.waits, uint32_t{NBC_HCA_WAITS_CQ | NBC_HCA_WAITS_DATA});
  EXPECT_EQ(facts.max_gather, 30u);
  EXPECT_EQ(facts.max_scatter, 31u);
  EXPECT_EQ(facts.max_log_sq, 15u);
  EXPECT_EQ(facts.max_log_rq, 14u);  // of a list one is not used
  EXPECT_EQ(facts.calc, 0u);
  EXPECT_EQ(facts.patience, 4000u);
}

TEST(Devx, ringsAreAsTheAdapterWantsThem) {
  Device d;
  const nbc_hca_cq cq = d.cq();
  // Receives of its own: sends begin behind a whole block of them.
  const nbc_hca_qp own = d.qp(cq, cq, 0, 0, 4);
  EXPECT_EQ(own.log_stride, 4u);
  EXPECT_EQ(own.log_rq, 2u);
  EXPECT_EQ(own.sq - own.rq, 64);
  // A list: each entry has a link in front, and one more is there than was asked for.
  const nbc_hca_qp list = d.qp(cq, cq, NBC_HCA_QP_SHARED_RECEIVES, 2, 5);
  EXPECT_EQ(list.log_stride, 6u);
  EXPECT_GT(1u << list.log_rq, 1u << 2);
  EXPECT_EQ(list.sq - list.rq, 4096 - 16);
  EXPECT_EQ(mlx5_get16(list.rq - 16 + 2), 1);
  const nbc_hca_qp none = d.qp(cq, cq, NBC_HCA_QP_SHARED_RECEIVES, UINT32_MAX);
  EXPECT_EQ(none.rq, nullptr);
}

TEST(Devx, messagesArrive) {
  for (uint32_t flags : {uint32_t{0}, uint32_t{NBC_HCA_QP_SHARED_RECEIVES}}) {
    Device d;
    const nbc_hca_cq sent = d.cq(), received = d.cq(), other = d.cq(3);
    const nbc_hca_qp a = d.qp(sent, other, flags), b = d.qp(other, received, flags);
    uint64_t data[64] = {};
    uint32_t lkey, rkey;
    ASSERT_EQ(d.hca->ops->register_memory(d.hca, data, sizeof data, 0, &lkey, &rkey), 0);
    d.receive(b, 0, &data[32], 8, lkey);  // before they know each other
    d.connect(a, b);
    for (uint16_t i = 0; i < 50; ++i) {  // several times round the rings
      if (i) d.receive(b, i, &data[32 + i % 32], 8, lkey);
      data[i % 32] = i + 1000u;
      d.send(a, i, &data[i % 32], lkey);
      ASSERT_TRUE(d.soon([&] { return data[32 + i % 32] == i + 1000u; })) << i;
    }
    EXPECT_TRUE(d.hasEntry(sent, MLX5_CQE_REQ));
    EXPECT_TRUE(d.hasEntry(received, MLX5_CQE_RESP_SEND));
    EXPECT_EQ(d.hca->ops->failed(d.hca, a.number), 0u);
    EXPECT_EQ(d.hca->ops->deregister_memory(d.hca, lkey), 0);
    EXPECT_EQ(d.hca->ops->deregister_memory(d.hca, lkey), NBC_ERROR_ARGUMENT);
  }
}

TEST(Devx, aQueuePairThatFailsIsKnownToHave) {
  Device d;
  const nbc_hca_cq sent = d.cq(), received = d.cq();
  const nbc_hca_qp a = d.qp(sent, received), b = d.qp(d.cq(), d.cq());
  uint64_t data[2] = {};
  uint32_t lkey, rkey;
  ASSERT_EQ(d.hca->ops->register_memory(d.hca, data, sizeof data, 0, &lkey, &rkey), 0);
  d.receive(b, 0, &data[1], 4, lkey);  // too short
  d.connect(a, b);
  d.send(a, 0, &data[0], lkey);
  EXPECT_TRUE(d.hasEntry(sent, MLX5_CQE_REQ_ERR));
  EXPECT_EQ(d.hca->ops->failed(d.hca, a.number), uint32_t{MLX5_REMOTE_INVALID});
  EXPECT_NE(d.hca->ops->failed(d.hca, b.number), 0u);
  EXPECT_EQ(d.hca->ops->failed(d.hca, 0xffffff), 0u);
}

TEST(Devx, aQueuePairThatFailsWithoutACompletionIsToldOf) {
  Device d;
  const nbc_hca_qp a = d.qp(d.cq(), d.cq()), b = d.qp(d.cq(), d.cq(3));
  uint64_t data = 0;
  uint32_t lkey, rkey;
  ASSERT_EQ(d.hca->ops->register_memory(d.hca, &data, sizeof data, 0, &lkey, &rkey), 0);
  d.connect(a, b);
  uint8_t *e = a.sq;  // a write of what may not be written to
  e[MLX5_CTRL_OPCODE] = MLX5_WRITE;
  mlx5_put32(e + MLX5_CTRL_QPN, a.number << 8 | 3);
  mlx5_put64(e + MLX5_SEGMENT + MLX5_RADDR_ADDR, reinterpret_cast<uintptr_t>(&data));
  mlx5_put32(e + MLX5_SEGMENT + MLX5_RADDR_RKEY, rkey);
  Device::put(e + 2 * MLX5_SEGMENT, &data, 8, lkey);
  __atomic_store_n(&a.doorbell[1], __builtin_bswap32(1), __ATOMIC_RELEASE);
  uint64_t ctrl;
  memcpy(&ctrl, e, sizeof ctrl);
  d.hca->ops->doorbell(d.hca, a.number, ctrl);
  EXPECT_TRUE(d.soon([&] { return d.hca->ops->failed(d.hca, b.number) != 0; }));
}

TEST(Devx, whatIsUsedStays) {
  Device d;
  const nbc_hca_cq cq = d.cq();
  const nbc_hca_qp qp = d.qp(cq, cq);
  EXPECT_EQ(d.hca->ops->destroy_cq(d.hca, cq.number), NBC_ERROR_BUSY);
  EXPECT_EQ(d.hca->ops->destroy_qp(d.hca, qp.number), 0);
  EXPECT_EQ(d.hca->ops->destroy_qp(d.hca, qp.number), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(d.hca->ops->destroy_cq(d.hca, cq.number), 0);
  EXPECT_EQ(d.hca->ops->destroy_cq(d.hca, cq.number), NBC_ERROR_ARGUMENT);
  d.qp(d.cq(), d.cq(), NBC_HCA_QP_SHARED_RECEIVES);  // ends with the device
}

TEST(Devx, whatCannotBeIsRefused) {
  Device d;
  const nbc_hca_cq cq = d.cq();
  nbc_hca_cq more;
  nbc_hca_qp qp;
  EXPECT_EQ(d.hca->ops->create_cq(d.hca, 31, 0, &more), NBC_ERROR_RESOURCES);
  const nbc_hca_qp_request right = {.log_sq = 4,
                                    .log_rq = 2,
                                    .log_stride = 4,
                                    .send_cq = cq.number,
                                    .recv_cq = cq.number,
                                    .flags = 0,
                                    .port = 0,
                                    .rnr_timer = 0};
  const auto refused = [&](auto change) {
    nbc_hca_qp_request r = right;
    change(r);
    return d.hca->ops->create_qp(d.hca, &r, &qp);
  };
  EXPECT_EQ(refused([](auto &r) { r.log_sq = 16; }), NBC_ERROR_RESOURCES);
  EXPECT_EQ(refused([](auto &r) { r.log_rq = 15; }), NBC_ERROR_RESOURCES);
  EXPECT_EQ(refused([](auto &r) { r.log_stride = 10; }), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](auto &r) { r.send_cq = 0xffffff; }), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](auto &r) { r.port = 1; }), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](auto &r) { r.rnr_timer = 32; }), NBC_ERROR_ARGUMENT);
  ASSERT_EQ(d.hca->ops->create_qp(d.hca, &right, &qp), 0);
  uint8_t address[32];
  ASSERT_EQ(d.hca->ops->address(d.hca, address), 0);
  EXPECT_EQ(d.hca->ops->connect_qp(d.hca, 0xffffff, address, 1), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(d.hca->ops->connect_qp(d.hca, qp.number, address, 1 << 24), NBC_ERROR_DEVICE);
  address[18] ^= 1;  // another version
  EXPECT_EQ(d.hca->ops->connect_qp(d.hca, qp.number, address, 1), NBC_ERROR_DEVICE);
}

TEST(Devx, withoutCrossChannelNoneIsMade) {
  setenv("NBC_HCA_DEVICE", "connectx7", 1);
  Device d;
  unsetenv("NBC_HCA_DEVICE");
  const nbc_hca_cq cq = d.cq();
  nbc_hca_qp qp;
  const nbc_hca_qp_request want = {.log_sq = 4,
                                   .log_rq = UINT32_MAX,
                                   .log_stride = 4,
                                   .send_cq = cq.number,
                                   .recv_cq = cq.number,
                                   .flags = NBC_HCA_QP_CROSS_CHANNEL,
                                   .port = 0};
  EXPECT_EQ(d.hca->ops->create_qp(d.hca, &want, &qp), NBC_ERROR_UNSUPPORTED);
}

// How long rests are is in rest.cpp; here, that they are slept, and the core is not kept. A yield
// is no voluntary switch. Nothing else is done in between, or the thread would begin anew.
TEST(Devx, restsBecomeSleeps) {
  Device d;
  const auto switches = [] {
    rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  };
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const long before = switches();
  while (switches() == before && std::chrono::steady_clock::now() < latest)
    d.hca->ops->sleep(d.hca, 1000000);
  EXPECT_GT(switches(), before);
}

struct Refusal {
  int status;
  std::string why;
};
Refusal opened(const nbc_devx_options *options) {
  nbc_device *device = nullptr;
  const char *why = "";
  const int status = nbc_devx_open(options, &device, &why);
  EXPECT_EQ(device, nullptr);
  return {status, why};
}

TEST(Devx, saysWhyItIsNotOpened) {
  {
    setenv("NBC_RDMA_CORE", "/nowhere", 1);
    const Refusal r = opened(nullptr);
    unsetenv("NBC_RDMA_CORE");
    EXPECT_EQ(r.status, NBC_ERROR_DEVICE);
    EXPECT_NE(r.why.find("rdma-core is not installed: /nowhere/libibverbs.so.1"), std::string::npos)
        << r.why;
  }
  const RdmaCore core;
  nbc_devx_options o = {};
  o.device = "mlx5_9";
  EXPECT_EQ(opened(&o).status, NBC_ERROR_DEVICE);
  EXPECT_EQ(opened(&o).why, "no adapter will do (mlx5_9 is wanted): mlx5_soft0: is not the one");
  o.device = "mlx5_soft0:2";
  EXPECT_EQ(
      opened(&o).why,
      "no adapter will do (mlx5_soft0 is wanted): mlx5_soft0: has no active port of that number");
  for (const char *device :
       {":1", "mlx5_soft0:", "mlx5_soft0:0", "mlx5_soft0:-1", "mlx5_soft0:1x", "mlx5_soft0:256"}) {
    o.device = device;
    EXPECT_EQ(opened(&o).status, NBC_ERROR_ARGUMENT) << device;
  }
  o = {};
  o.gid_index = 5;
  EXPECT_EQ(opened(&o).why, "no adapter will do: mlx5_soft0: port 1 has no GID of that index");
  o.gid_index = 256;
  EXPECT_EQ(opened(&o).why, "nbc_devx_options are out of range");
  setenv("NBC_DEVX_GID", "x", 1);
  EXPECT_EQ(opened(nullptr).why, "NBC_DEVX_GID is 'x'; it is to be 0 to 255");
  unsetenv("NBC_DEVX_GID");
  setenv("NBC_DEVX_PATIENCE", "-1", 1);
  EXPECT_EQ(opened(nullptr).why, "NBC_DEVX_PATIENCE is '-1'; it is to be 0 to 1000000");
  unsetenv("NBC_DEVX_PATIENCE");
  EXPECT_EQ(nbc_devx_open(nullptr, nullptr, nullptr), NBC_ERROR_ARGUMENT);
}

}  // namespace
