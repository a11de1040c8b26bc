// SPDX-License-Identifier: BSD-3-Clause
// stranger.h - rank 0 is the runtime's; rank 1 is a queue pair that says what a test wants.
//
// A call of rank 0, of two ranks: it receives a short message and a long one, and sends a short one
// and a long one. Or all that so often, and sends when it has received the first.

#pragma once

#include "test/runtime/verbs/world.h"

namespace stranger {

enum Kind : uint32_t { Eager = 1, Offer, Data, Finished, Credit, Again, Placed };
constexpr size_t brief = 100, longer = 1000, eagerBytes = 200;

/// As rank 0 says them, and takes them.
struct OfferedRun {
  uint64_t address, bytes;
  uint32_t rkey, pad;
};
struct OneOffer {
  uint32_t number;
  uint16_t runs, kept;
  uint64_t bytes;
  OfferedRun run;
};
struct Card {
  uint64_t longest, eager;
  uint32_t way, slots, keeps, known, rails, rail;
  nbc_verbs_address address;
};
struct Greeting {
  uint64_t identity;
  uint32_t sends, receives;
  Card card;
};
/// Behind it, where long messages are sent into their place: of the second queue pair.
struct SecondCard {
  uint64_t word;
  uint32_t wordRkey[NBC_VERBS_RAILS];
  nbc_verbs_address address;
};

/// Parts of `data`: short in, long in, short out, long out.
constexpr size_t shortIn = 0, longIn = brief, shortOut = longIn + longer,
                 longOut = shortOut + brief, unit = longOut + longer;

inline build::Bytes callOfRank0(uint32_t repeat) {
  build::Messages t("strangers", NBC_BCAST, 2, 0);
  const uint32_t data = t.b.buffer(NBC_ROLE_DATA);
  t.beginVariant();
  for (uint32_t i = 0; i < repeat; ++i) {
    t.receive(1, t.b.piece(data, shortIn, brief, unit));
    t.receive(1, t.b.piece(data, longIn, longer, unit));
    if (repeat > 1 && i == 0) t.wait(0);
    t.send(1, t.b.piece(data, shortOut, brief, unit));
    t.send(1, t.b.piece(data, longOut, longer, unit));
  }
  t.stage();
  t.endVariant();
  return forVerbs(t.finish());
}

class Stranger {
 public:
  VerbsWorld w;
  nbc_plan *plan = nullptr;
  nbc_verbs *verbs;
  void *cq = nullptr, *qp = nullptr, *second = nullptr, *region = nullptr;
  uint32_t number = 0, lkey = 0, rkey = 0;
  std::vector<uint8_t> memory = std::vector<uint8_t>(1 << 16);  // the stranger's; receives in front
  std::vector<uint8_t> data = std::vector<uint8_t>(unit, 1);    // of rank 0
  nbc_request request = {};
  bool mayFail = false;  // what the stranger says

  explicit Stranger(nbc_verbs_rendezvous way, uint32_t repeat = 1, uint32_t slots = 8)
      : w(2, {.rendezvous = way}) {
    w.healthy = false;
    verbs = w.devices[1].get();
    EXPECT_EQ(verbs->ops->create_cq(verbs, 256, &cq), 0);
    nbc_verbs_queue_wish wish = {cq, 100, receives, 1, 0};
    EXPECT_EQ(verbs->ops->create_qp(verbs, &wish, &qp, &number), 0);
    if (way >= NBC_VERBS_SEND) {
      EXPECT_EQ(verbs->ops->create_qp(verbs, &wish, &second, &number), 0);
    }
    EXPECT_EQ(verbs->ops->register_memory(
                  verbs, memory.data(), memory.size(),
                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
                  &region, &lkey, &rkey),
              0);
    for (uint32_t i = 0; i < receives; ++i) receiveInto(i);
    const build::Bytes bytes = callOfRank0(repeat);
    nbc_plan_options options = {.depth = 1, .eager_bytes = eagerBytes};
    EXPECT_EQ(nbc_plan_create(w.comms[0], bytes.data(), bytes.size(), &options, &plan), 0);
    greet(way, slots);
  }
  ~Stranger() {
    EXPECT_EQ(nbc_plan_free(plan), 0);
    verbs->ops->destroy_qp(verbs, qp);
    verbs->ops->destroy_qp(verbs, second);
    verbs->ops->destroy_cq(verbs, cq);
    verbs->ops->deregister_memory(verbs, region);
  }

  int start() {
    nbc_call call = {.data = data.data(), .count = unit};
    return nbc_start(plan, &call, &request);
  }
  /// After all that can happen.
  int test(int *done) {
    w.fabric.run();
    return nbc_test(&request, done);
  }

  /// A message, of bytes that are 7, or these.
  void say(Kind kind, uint32_t count, size_t bytes, uint32_t given = 0,
           const void *what = nullptr) {
    uint8_t *from = memory.data() + receives * slot;
    std::memset(from, 7, bytes);
    if (what) std::memcpy(from, what, bytes);
    ibv_sge sge = {reinterpret_cast<uintptr_t>(from), uint32_t(bytes), lkey};
    post(qp, IBV_WR_SEND_WITH_IMM, sge, kind, count, given);
  }
  /// The same to where a message is to be; or by this operation.
  void place(uint32_t count, size_t bytes, Kind kind = Placed,
             ibv_wr_opcode opcode = IBV_WR_SEND_WITH_IMM) {
    std::memset(memory.data() + large, 7, bytes);
    post(second, opcode, {addressOf(large), uint32_t(bytes), lkey}, kind, count, 0);
  }
  /// Receives of no bytes, and of a long message.
  void expectPlaced() {
    ibv_sge sge = {addressOf(large), longer, lkey};
    ibv_recv_wr place = {.wr_id = receives + 1, .next = nullptr, .sg_list = &sge, .num_sge = 1};
    ibv_recv_wr knock = {.wr_id = receives, .next = &place, .sg_list = nullptr, .num_sge = 0};
    EXPECT_EQ(verbs->ops->post_receive(verbs, second, &knock), 0);
  }
  void offer(uint32_t count, uint64_t bytes, uint16_t runs = 1, uint16_t kept = 0) {
    const OneOffer o = {count, runs, kept, bytes, {addressOf(large), bytes, rkey, 0}};
    say(Offer, count, sizeof o, 0, &o);
  }
  /// By the queue pair of places, where there is one.
  void write(const OneOffer &o, size_t bytes, uint32_t count, uint32_t given = 0) {
    std::memset(memory.data() + large, 7, bytes);
    ibv_sge sge = {addressOf(large), uint32_t(bytes), lkey};
    post(second ? second : qp, IBV_WR_RDMA_WRITE_WITH_IMM, sge, Data, count, given, o.run.address,
         o.run.rkey);
  }
  /// The same by the other one, where there are two.
  void writeAmongShortOnes(const OneOffer &o, uint32_t count) {
    post(qp, IBV_WR_RDMA_WRITE_WITH_IMM, {addressOf(large), longer, lkey}, Data, count, 0,
         o.run.address, o.run.rkey);
  }
  struct Heard {
    uint32_t kind, count, given;
    std::vector<uint8_t> bytes;
  };
  /// What rank 0 has said since the last time.
  std::vector<Heard> hear() {
    w.fabric.run();
    std::vector<Heard> all;
    ibv_wc wc;
    while (verbs->ops->poll(verbs, cq, 1, &wc) == 1) {
      if (wc.status != IBV_WC_SUCCESS) {
        EXPECT_TRUE(mayFail) << wc.status;
        continue;
      }
      if (wc.opcode != IBV_WC_RECV && wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM) continue;
      if (wc.wr_id >= receives) continue;  // in place
      const uint32_t imm = __builtin_bswap32(wc.imm_data);
      const uint8_t *at = memory.data() + wc.wr_id * slot;
      all.push_back({imm >> 29, imm >> 16 & 0x1fff, imm & 0xffff, {}});
      if (wc.opcode == IBV_WC_RECV) all.back().bytes.assign(at, at + wc.byte_len);
      receiveInto(uint32_t(wc.wr_id));
    }
    return all;
  }
  /// The bytes of a part of rank 0's data are all the same.
  bool all(size_t first, size_t bytes, uint8_t value) const {
    return std::all_of(data.begin() + ptrdiff_t(first), data.begin() + ptrdiff_t(first + bytes),
                       [&](uint8_t b) { return b == value; });
  }
  static constexpr size_t slot = 1024, receives = 32, large = 48 * slot;

 private:
  uint64_t addressOf(size_t at) { return reinterpret_cast<uintptr_t>(memory.data()) + at; }

  void receiveInto(uint32_t i) {
    ibv_sge sge = {addressOf(i * slot), slot, lkey};
    ibv_recv_wr wr = {.wr_id = i, .next = nullptr, .sg_list = &sge, .num_sge = 1};
    EXPECT_EQ(verbs->ops->post_receive(verbs, qp, &wr), 0);
  }
  void post(void *queue, ibv_wr_opcode opcode, ibv_sge sge, Kind kind, uint32_t count,
            uint32_t given, uint64_t address = 0, uint32_t key = 0) {
    ibv_send_wr wr = {};
    wr.sg_list = &sge;
    wr.num_sge = sge.length != 0;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.imm_data = __builtin_bswap32(uint32_t(kind) << 29 | (count & 0x1fff) << 16 | given);
    wr.wr.rdma = {address, key};
    EXPECT_EQ(verbs->ops->post_send(verbs, queue, &wr), 0);
    w.fabric.run();
  }
  /// What rank 0 has put is what rank 1 would, but for the card.
  void greet(nbc_verbs_rendezvous way, uint32_t slots) {
    const std::vector<uint8_t> &theirs = w.board.entries.at({0, "nbc.0.1"});
    Greeting g;
    SecondCard s;
    ASSERT_EQ(theirs.size(), sizeof g + (second ? sizeof s : 0));
    std::memcpy(&g, theirs.data(), sizeof g);
    EXPECT_EQ(verbs->ops->connect(verbs, qp, &g.card.address), 0);
    EXPECT_EQ(verbs->ops->address(verbs, qp, &g.card.address), 0);
    g.card.way = way;
    g.card.slots = slots;
    g.card.eager = eagerBytes;
    std::vector<uint8_t> mine(theirs.size());
    std::memcpy(mine.data(), &g, sizeof g);
    if (second) {
      std::memcpy(&s, theirs.data() + sizeof g, sizeof s);
      EXPECT_EQ(verbs->ops->connect(verbs, second, &s.address), 0);
      EXPECT_EQ(verbs->ops->address(verbs, second, &s.address), 0);
      s.word = addressOf(0);
      s.wordRkey[0] = rkey;
      std::memcpy(mine.data() + sizeof g, &s, sizeof s);
    }
    Board::put(&w.contexts[1], "nbc.0.0", mine.data(), mine.size());
    EXPECT_EQ(nbc_plan_connect(plan), 0);
  }
};

struct Lie {
  const char *what;
  std::function<void(Stranger &)> tell;
};
/// Each ends the plan; looked at behind.
inline void refuses(nbc_verbs_rendezvous way, const std::vector<Lie> &lies,
                    const std::function<void(const Stranger &, const char *what)> &look = {}) {
  for (const Lie &lie : lies) {
    Stranger s(way);
    ASSERT_EQ(s.start(), 0);
    lie.tell(s);
    int done = 0;
    EXPECT_EQ(s.test(&done), NBC_ERROR_DEVICE) << lie.what;
    EXPECT_TRUE(done) << lie.what;
    if (look) look(s, lie.what);
  }
}

}  // namespace stranger
