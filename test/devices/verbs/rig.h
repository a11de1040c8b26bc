// SPDX-License-Identifier: BSD-3-Clause
// rig.h - two ends of a queue pair, with what tests post and wait for in one line each.
//
//   Rig rig(simulated);
//   End &a = rig.end(0), &b = rig.end(1);
//   rig.connect(a, b);
//   b.receive(7, to);
//   a.post(send(3, from).signal());
//   EXPECT_EQ(b.await().wr_id, 7u);

#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "devices/hca/hca.h"
#include "devices/verbs/verbs.h"

namespace verbs::test {

inline void demand(int status) {
  if (status) throw std::runtime_error("the rig could not be set up");
}

constexpr int everyAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

/// Registered bytes.
struct Memory {
  nbc_verbs *verbs;
  std::vector<uint8_t> bytes;
  void *region = nullptr;
  uint32_t lkey = 0, rkey = 0;

  Memory(nbc_verbs *v, size_t count, int access = everyAccess) : verbs(v), bytes(count) {
    demand(v->ops->register_memory(v, bytes.data(), count, access, &region, &lkey, &rkey));
  }
  Memory(const Memory &) = delete;
  ~Memory() { verbs->ops->deregister_memory(verbs, region); }

  /// Other bytes at each place, and for each `seed`.
  Memory &fill(uint8_t seed) {
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(seed + 7 * i);
    return *this;
  }
  ibv_sge part(size_t begin, size_t count) const {
    return {reinterpret_cast<uintptr_t>(bytes.data()) + begin, static_cast<uint32_t>(count), lkey};
  }
  ibv_sge all() const { return part(0, bytes.size()); }
};

/// A work request with its segments.
struct Request {
  ibv_send_wr wr = {};
  std::vector<ibv_sge> segments;

  Request(uint64_t id, ibv_wr_opcode opcode, std::vector<ibv_sge> list)
      : segments(std::move(list)) {
    wr.wr_id = id;
    wr.opcode = opcode;
  }
  Request &signal() {
    wr.send_flags |= IBV_SEND_SIGNALED;
    return *this;
  }
  Request &inlined() {
    wr.send_flags |= IBV_SEND_INLINE;
    return *this;
  }
  Request &fenced() {
    wr.send_flags |= IBV_SEND_FENCE;
    return *this;
  }
  Request &immediate(uint32_t v) {
    wr.imm_data = __builtin_bswap32(v);
    return *this;
  }
  Request &remote(const Memory &m, size_t offset = 0) {
    wr.wr.rdma = {reinterpret_cast<uintptr_t>(m.bytes.data()) + offset, m.rkey};
    return *this;
  }
};

inline Request send(uint64_t id, std::vector<ibv_sge> list = {}) {
  return Request(id, IBV_WR_SEND_WITH_IMM, std::move(list));
}
inline Request write(uint64_t id, std::vector<ibv_sge> list = {}) {
  return Request(id, IBV_WR_RDMA_WRITE, std::move(list));
}
inline Request writeImm(uint64_t id, std::vector<ibv_sge> list = {}) {
  return Request(id, IBV_WR_RDMA_WRITE_WITH_IMM, std::move(list));
}
inline Request read(uint64_t id, std::vector<ibv_sge> list) {
  return Request(id, IBV_WR_RDMA_READ, std::move(list));
}

/// A queue pair, with a completion queue of its own or another's.
struct End {
  nbc_verbs *verbs = nullptr;
  void *cq = nullptr, *qp = nullptr;
  uint32_t number = 0;
  bool ownsQueue = true;

  int tryPost(std::vector<Request> requests) {
    for (size_t i = 0; i < requests.size(); ++i) {
      requests[i].wr.sg_list = requests[i].segments.data();
      requests[i].wr.num_sge = static_cast<int>(requests[i].segments.size());
      requests[i].wr.next = i + 1 < requests.size() ? &requests[i + 1].wr : nullptr;
    }
    return verbs->ops->post_send(verbs, qp, &requests[0].wr);
  }
  void post(std::vector<Request> requests) { EXPECT_EQ(tryPost(std::move(requests)), NBC_OK); }
  void post(const Request &request) { post(std::vector{request}); }

  int tryReceive(uint64_t id, std::vector<ibv_sge> to) {
    ibv_recv_wr wr = {};
    wr.wr_id = id;
    wr.sg_list = to.data();
    wr.num_sge = static_cast<int>(to.size());
    return verbs->ops->post_receive(verbs, qp, &wr);
  }
  int tryReceive(uint64_t id, ibv_sge to) {
    return tryReceive(id, std::vector<ibv_sge>(to.length != 0, to));
  }
  void receive(uint64_t id, ibv_sge to = {}) { EXPECT_EQ(tryReceive(id, to), NBC_OK); }

  std::vector<ibv_wc> poll(int most = 16) {
    std::vector<ibv_wc> wc(static_cast<size_t>(most));
    wc.resize(static_cast<size_t>(verbs->ops->poll(verbs, cq, most, wc.data())));
    return wc;
  }
  /// The next completion; a status that no device says if there is none for ten seconds.
  ibv_wc await() {
    for (int tries = 0; tries < 100; ++tries) {
      if (auto wc = poll(1); !wc.empty()) return wc[0];
      verbs->ops->sleep(verbs, cq, 100'000'000);
    }
    ADD_FAILURE() << "nothing completes";
    ibv_wc none = {};
    none.status = IBV_WC_FATAL_ERR;
    return none;
  }
  int failed() const { return verbs->ops->failed(verbs, qp); }
};

/// How tests are run: what time is, who is against them, where indices begin.
struct Way {
  const char *name;
  hca::Mode mode;
  bool adversarial;
  uint32_t firstIndex;
};
constexpr Way simulated = {"simulated", hca::Mode::Simulated, false, 0};
constexpr Way ways[] = {
    simulated,
    {"wrapping", hca::Mode::Simulated, false, 0xffffff},
    {"adversarial", hca::Mode::Simulated, true, 0xfffffd},
    {"realTime", hca::Mode::RealTime, false, 0},
    {"realTimeAdversarial", hca::Mode::RealTime, true, 0xfffffe},
};
inline void PrintTo(const Way &way, std::ostream *out) {
  *out << way.name;
}

struct Shape {
  uint32_t sends = 8, receives = 8, gather = 4, inlineBytes = 64, entries = 32;
  End *shares = nullptr;  // its completion queue
  uint32_t scatter = 1, rnrTimer = 0;
};

struct Rig {
  hca::Fabric fabric;
  std::vector<Device> ranks;
  std::deque<End> ends;

  explicit Rig(const Way &way, Options options = {}, uint64_t seed = 1)
      : fabric({.mode = way.mode, .seed = seed, .adversarial = way.adversarial, .trace = true}) {
    options.firstIndex = way.firstIndex;
    for (int i = 0; i < 2; ++i) ranks.push_back(deviceOn(fabric.addAdapter(), options));
  }
  ~Rig() {
    for (End &e : ends) e.verbs->ops->destroy_qp(e.verbs, e.qp);
    for (End &e : ends)
      if (e.ownsQueue) e.verbs->ops->destroy_cq(e.verbs, e.cq);
  }

  End &end(int rank, const Shape &shape = {}) {
    End &e = ends.emplace_back();
    e.verbs = ranks[static_cast<size_t>(rank)].get();
    e.ownsQueue = !shape.shares;
    if (shape.shares)
      e.cq = shape.shares->cq;
    else
      demand(e.verbs->ops->create_cq(e.verbs, shape.entries, &e.cq));
    nbc_verbs_queue_wish wish = {e.cq,          shape.sends,       shape.receives,
                                 shape.gather,  shape.inlineBytes, 0,
                                 shape.scatter, shape.rnrTimer};
    demand(e.verbs->ops->create_qp(e.verbs, &wish, &e.qp, &e.number));
    return e;
  }
  void connect(End &a, End &b) {
    for (auto [from, to] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
      nbc_verbs_address address;
      demand(to->verbs->ops->address(to->verbs, to->qp, &address));
      demand(from->verbs->ops->connect(from->verbs, from->qp, &address));
    }
  }
};

}  // namespace verbs::test
