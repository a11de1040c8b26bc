// SPDX-License-Identifier: BSD-3-Clause
// ends.h - two queue pairs of real adapters, connected, and what a test asks of them.

#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "nbc/verbs.h"

using namespace std::chrono_literals;

/// A variable of the environment, until the end of the block.
struct Set {
  const char *name;
  Set(const char *variable, const char *value) : name(variable) { setenv(variable, value, 1); }
  ~Set() { unsetenv(name); }
};

inline nbc_verbs *openAdapter(const nbc_verbs_options &options = {}) {
  nbc_device *device = nullptr;
  const char *why = "";
  int status = nbc_verbs_open(&options, &device, &why);
  EXPECT_EQ(status, 0) << why;
  return reinterpret_cast<nbc_verbs *>(device);
}

/// One side: an adapter of its own, a completion queue, a queue pair, and memory.
struct End {
  nbc_verbs *verbs;
  const nbc_verbs_ops *ops;
  void *cq = nullptr, *qp = nullptr, *region = nullptr;
  uint32_t number = 0, lkey = 0, rkey = 0;
  std::vector<unsigned char> memory;

  explicit End(const nbc_verbs_options &options = {}, size_t bytes = 1 << 20, uint32_t entries = 64)
      : verbs(openAdapter(options)), ops(verbs->ops), memory(bytes) {
    EXPECT_EQ(ops->create_cq(verbs, entries, &cq), 0);
    nbc_verbs_queue_wish wish = {cq, 32, 32, 4, 64, 0};
    EXPECT_EQ(ops->create_qp(verbs, &wish, &qp, &number), 0);
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    EXPECT_EQ(ops->register_memory(verbs, memory.data(), bytes, access, &region, &lkey, &rkey), 0);
  }
  End(const End &) = delete;
  ~End() {
    ops->destroy_qp(verbs, qp);
    ops->deregister_memory(verbs, region);
    ops->destroy_cq(verbs, cq);
    verbs->device.close(&verbs->device);
  }
  nbc_verbs_address address() const {
    nbc_verbs_address card = {};
    EXPECT_EQ(ops->address(verbs, qp, &card), 0);
    return card;
  }
  int connect(const nbc_verbs_address &to) const { return ops->connect(verbs, qp, &to); }

  ibv_sge run(size_t offset, size_t bytes) const {
    return {uint64_t(uintptr_t(memory.data() + offset)), uint32_t(bytes), lkey};
  }
  int receive(uint64_t id, ibv_sge to) const {
    ibv_recv_wr wr = {.wr_id = id, .next = nullptr, .sg_list = &to, .num_sge = 1};
    return ops->post_receive(verbs, qp, &wr);
  }
  /// Signalled; to or from `remote` where the operation wants that.
  int post(ibv_wr_opcode opcode, uint64_t id, std::vector<ibv_sge> runs, uint32_t immediate = 0,
           uint64_t remote = 0, uint32_t key = 0, unsigned flags = 0) const {
    ibv_send_wr wr = {};
    wr.wr_id = id;
    wr.sg_list = runs.data();
    wr.num_sge = int(runs.size());
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED | flags;
    wr.imm_data = immediate;
    wr.wr.rdma.remote_addr = remote;
    wr.wr.rdma.rkey = key;
    return ops->post_send(verbs, qp, &wr);
  }
  int send(uint64_t id, std::vector<ibv_sge> runs, uint32_t immediate, unsigned flags = 0) const {
    return post(IBV_WR_SEND_WITH_IMM, id, std::move(runs), immediate, 0, 0, flags);
  }
  uint64_t place(size_t offset) const { return uint64_t(uintptr_t(memory.data() + offset)); }

  /// The next completion, within so long; of id ~0 where none comes.
  ibv_wc next(std::chrono::milliseconds patience = 20s) const {
    const auto end = std::chrono::steady_clock::now() + patience;
    ibv_wc wc = {};
    do {
      int found = ops->poll(verbs, cq, 1, &wc);
      EXPECT_GE(found, 0);
      if (found != 0) return wc;
      sched_yield();
    } while (std::chrono::steady_clock::now() < end);
    wc.wr_id = ~uint64_t(0);
    return wc;
  }
  void fill(unsigned char seed) {
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = (unsigned char)(i * 7 + i / 251 + seed);
  }
};

struct Pair {
  End a, b;
  explicit Pair(const nbc_verbs_options &options = {}, uint32_t entries = 64)
      : a(options, 1 << 20, entries), b(options, 1 << 20, entries) {
    EXPECT_EQ(a.connect(b.address()), 0);
    EXPECT_EQ(b.connect(a.address()), 0);
    a.fill(3);
  }
};
