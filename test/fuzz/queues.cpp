// SPDX-License-Identifier: BSD-3-Clause
// queues.cpp - any bytes in the rings of the software HCA: it comes to rest, and touches nothing
// that was not registered.
//
// An input is a byte of options, then entries of 64 bytes, dealt to the send queues in turn. Keys,
// numbers of queues and addresses are looked up in what there is, so that what is changed are
// opcodes, lengths, indices and order; one value in 16 stays as it was.

#include <algorithm>
#include <cstring>
#include <vector>

#include "devices/hca/hca.h"
#include "test/fuzz/fuzz.h"

namespace nbcc {
namespace {

constexpr size_t kBytes = 512, kGuard = 64;
constexpr uint32_t kPairs = 3, kLogEntries = 3;
constexpr uint8_t kUntouched = 0xa5;

struct Adapter {
  nbc_hca *hca = nullptr;
  std::vector<uint8_t> memory;
  uint32_t lkey = 0, rkey = 0;
  nbc_hca_cq cq{};
  nbc_hca_qp qps[kPairs]{};
};

class Rings {
 public:
  explicit Rings(uint8_t options)
      : fabric_({.mode = hca::Mode::Simulated,
                 .seed = options,
                 .adversarial = (options & 1) != 0,
                 .trace = (options & 2) != 0}) {
    for (Adapter &a : adapters_) {
      a.hca = fabric_.addAdapter();
      a.memory.assign(kBytes + 2 * kGuard, kUntouched);
      must(a.hca->ops->register_memory(
          a.hca, a.memory.data() + kGuard, kBytes,
          NBC_HCA_REMOTE_WRITE | NBC_HCA_REMOTE_READ | NBC_HCA_REMOTE_ATOMIC, &a.lkey, &a.rkey));
      must(a.hca->ops->create_cq(a.hca, options >> 2 & 3,
                                 options & 16 ? NBC_HCA_CQ_OVERRUN_IGNORE : 0, &a.cq));
      for (uint32_t i = 0; i < kPairs; ++i) {
        const nbc_hca_qp_request request = {
            .log_sq = kLogEntries,
            .log_rq = 2,
            .log_stride = 5,
            .send_cq = a.cq.number,
            .recv_cq = a.cq.number,
            .flags = NBC_HCA_QP_CROSS_CHANNEL | (i ? uint32_t{NBC_HCA_QP_MANAGED_SEND} : 0)};
        must(a.hca->ops->create_qp(a.hca, &request, &a.qps[i]));
        fabric_.setRetry(a.qps[i].number, {.rnrRetry = 1, .retryCount = 1, .ackTimeout = 2});
      }
    }
    for (uint32_t i = 0; i < kPairs; ++i)
      for (int side = 0; side < 2; ++side) {
        uint8_t address[32];
        Adapter &a = adapters_[side], &b = adapters_[1 - side];
        must(b.hca->ops->address(b.hca, address));
        must(a.hca->ops->connect_qp(a.hca, a.qps[i].number, address, b.qps[i].number));
      }
  }

  void fill(const uint8_t *bytes, size_t size) {
    for (size_t entry = 0; entry * MLX5_WQEBB < size; ++entry) {
      uint8_t block[MLX5_WQEBB] = {};
      std::memcpy(block, bytes + entry * MLX5_WQEBB,
                  std::min(size - entry * MLX5_WQEBB, sizeof block));
      Adapter &a = adapters_[entry % 2];
      const size_t queue = entry / 2 % kPairs, at = entry / 2 / kPairs;
      settle(a, block);
      std::memcpy(a.qps[queue].sq + (at % (1u << kLogEntries)) * MLX5_WQEBB, block, sizeof block);
      if (at < 4) {  // and something to receive into
        settleData(a, block + MLX5_SEGMENT);
        std::memcpy(a.qps[queue].rq + at * 32, block + MLX5_SEGMENT, 32);
      }
    }
  }

  void run() {
    for (Adapter &a : adapters_)
      for (nbc_hca_qp &qp : a.qps) {
        __atomic_store_n(&qp.doorbell[0], __builtin_bswap32(4), __ATOMIC_RELEASE);
        __atomic_store_n(&qp.doorbell[1], __builtin_bswap32(1u << kLogEntries), __ATOMIC_RELEASE);
        uint64_t ctrl;
        std::memcpy(&ctrl, qp.sq, sizeof ctrl);
        a.hca->ops->doorbell(a.hca, qp.number, ctrl);
      }
    wanted(fabric_.run({}, {.events = 1'000'000}) == hca::Run::Quiet, "it does not come to rest");
    for (const std::string &line : fabric_.waiting()) wanted(!line.empty(), "a queue waits");
    fabric_.trace();
    for (const Adapter &a : adapters_)
      for (size_t i = 0; i < kGuard; ++i)
        wanted(a.memory[i] == kUntouched && a.memory[kGuard + kBytes + i] == kUntouched,
               "memory that was not registered was written");
  }

 private:
  static void must(int status) { wanted(status == 0, nbc_status_text(status)); }

  static bool stays(uint32_t value) { return value >> 28 == 0xf; }

  /// A data segment: 4 bytes of length, key, address.
  void settleData(const Adapter &a, uint8_t *segment) const {
    const uint32_t key = mlx5_get32(segment + MLX5_DATA_LKEY);
    const uint64_t at = mlx5_get64(segment + MLX5_DATA_ADDR);
    if (!stays(key)) mlx5_put32(segment + MLX5_DATA_LKEY, key & 1 ? MLX5_INVALID_LKEY : a.lkey);
    mlx5_put64(segment + MLX5_DATA_ADDR,
               reinterpret_cast<uintptr_t>(a.memory.data()) + at % a.memory.size());
  }

  void settle(const Adapter &a, uint8_t *block) const {
    const Adapter &other = &a == &adapters_[0] ? adapters_[1] : adapters_[0];
    const uint8_t opcode = block[MLX5_CTRL_OPCODE];
    uint8_t *second = block + MLX5_SEGMENT;
    if (opcode == MLX5_WAIT || opcode == MLX5_SEND_EN) {
      const uint32_t number = mlx5_get32(second + MLX5_CD_NUMBER);
      if (!stays(number))
        mlx5_put32(second + MLX5_CD_NUMBER,
                   opcode == MLX5_WAIT ? a.cq.number : a.qps[number % kPairs].number);
      return;
    }
    const bool remote = opcode == MLX5_WRITE || opcode == MLX5_WRITE_IMM || opcode == MLX5_READ ||
                        opcode == MLX5_ATOMIC_CS || opcode == MLX5_ATOMIC_FA;
    if (remote) {
      const uint64_t at = mlx5_get64(second + MLX5_RADDR_ADDR);
      const uint32_t key = mlx5_get32(second + MLX5_RADDR_RKEY);
      mlx5_put64(second + MLX5_RADDR_ADDR,
                 reinterpret_cast<uintptr_t>(other.memory.data()) + at % other.memory.size());
      if (!stays(key)) mlx5_put32(second + MLX5_RADDR_RKEY, other.rkey);
    }
    for (uint8_t *s = remote ? second + MLX5_SEGMENT : second; s < block + MLX5_WQEBB;
         s += MLX5_SEGMENT)
      settleData(a, s);
  }

  hca::Fabric fabric_;
  Adapter adapters_[2];
};

}  // namespace
}  // namespace nbcc

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 1 + MLX5_WQEBB) return -1;
  nbcc::Rings rings(bytes[0]);
  rings.fill(bytes + 1, size - 1);
  rings.run();
  return 0;
}
