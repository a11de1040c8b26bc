// SPDX-License-Identifier: BSD-3-Clause
// Several ports: lanes are dealt over them as the lower rank's messages say, alike at both ends;
// keys are those of the lane's own rail (a device of software takes no others).

#include <map>

#include "test/runtime/gather.h"
#include "test/runtime/traffic.h"
#include "test/runtime/verbs/world.h"

namespace {

constexpr nbc_transfer ways[] = {NBC_TRANSFER_AUTO, NBC_TRANSFER_EAGER, NBC_TRANSFER_READ,
                                 NBC_TRANSFER_SEND, NBC_TRANSFER_DIRECT};

/// Each message by the port that this says for a rank, its peer, and whether it sends.
template <class Port>
build::Bytes withPorts(build::Bytes b, const Port &port) {
  const nbc_template &t = *b.header();
  for (uint32_t v = 0; v < t.variants.count; ++v) {
    const nbc_variant &variant = b.table<nbc_variant>(t.variants)[v];
    if (variant.segments.count == 0) continue;
    const nbc_segment &g = b.table<nbc_segment>(t.segments)[variant.segments.begin];
    auto *records = reinterpret_cast<nbc_message_record *>(b.table<char>(t.code) + g.offset);
    for (uint32_t i = 0; i < g.entries; ++i) {
      if (records[i].op == NBC_MESSAGE_WAIT) continue;
      const uint32_t peer = b.table<uint32_t>(t.peers)[records[i].peer];
      const bool sends = records[i].op == NBC_MESSAGE_SEND;
      records[i].port = port(t.rank, peer, sends);
    }
  }
  b.seal();
  return b;
}

/// On which rail each queue pair is that was connected, in order, of all ranks; and those that are
/// there.
std::vector<uint32_t> dealt;
std::map<void *, uint32_t> made;
nbc_verbs_ops noting;
const nbc_verbs_ops *own;

int note(nbc_verbs *v, const nbc_verbs_queue_wish *wish, void **qp, uint32_t *number) {
  const int status = own->create_qp(v, wish, qp, number);
  made[*qp] = wish->rail;
  return status;
}
int noteConnected(nbc_verbs *v, void *qp, const nbc_verbs_address *to) {
  dealt.push_back(made.at(qp));
  return own->connect(v, qp, to);
}
void forget(nbc_verbs *v, void *qp) {
  made.erase(qp);
  own->destroy_qp(v, qp);
}

void watch(nbc_verbs &v) {
  if (v.ops != &noting) own = v.ops;
  noting = *own;
  noting.create_qp = note;
  noting.connect = noteConnected;
  noting.destroy_qp = forget;
  v.ops = &noting;
}

TEST(VerbsRails, bothEndsAreOnThePortThatTheLowerRankSendsBy) {
  const auto port = [](uint32_t me, uint32_t, bool sends) { return me ? 3u : sends ? 5u : 2u; };
  for (uint32_t rails : {1, 2, 3, 4}) {
    dealt.clear();
    VerbsWorld w(2, {.rails = rails}, 0, watch);
    w.addPlans([&](uint32_t r) { return withPorts(build::ringAllgather(2, r), port); });
    gatherAll(w, {1, 5000, 70000});
    EXPECT_EQ(dealt, std::vector<uint32_t>(2, 5 % rails));
    EXPECT_EQ(made.size(), 2u) << "others were for as long as nobody knew";
  }
}

TEST(VerbsRails, orReceivesBy) {
  dealt.clear();
  VerbsWorld w(2, {.rails = 3}, 0, watch);
  w.addPlans([](uint32_t r) {
    build::Messages t("down", NBC_BCAST, 2, r);
    const uint32_t data = t.b.buffer(NBC_ROLE_DATA);
    t.beginVariant();
    if (r == 1)
      t.send(0, t.b.piece(data, 0));
    else
      t.receive(1, t.b.piece(data, 0));
    t.stage();
    t.endVariant();
    return withPorts(t.finish(), [](uint32_t me, uint32_t, bool) { return me ? 1u : 2u; });
  });
  EXPECT_EQ(dealt, (std::vector<uint32_t>{2, 2}));
}

TEST(VerbsRails, withoutAPortAllIsOnTheFirst) {
  dealt.clear();
  VerbsWorld w(3, {.rails = 4}, 0, watch);
  w.addPlans([](uint32_t r) { return build::allBarrier(3, r); });
  EXPECT_EQ(dealt, std::vector<uint32_t>(6, 0));
}

TEST(VerbsRails, anyTrafficArrives) {
  for (unsigned seed = 1; seed <= 48 && !testing::Test::HasFailure(); ++seed) {
    const uint32_t ranks = 2 + seed % 3;
    const Traffic t(ranks, 1 + seed % 4, 1 + seed % 40, {0, 1, 200, 201, 777, 4000}, 4, seed);
    const nbc_transfer way = ways[seed / 4 % std::size(ways)];
    VerbsWorld w(ranks, {.transfer = way, .rails = 1 + seed % 4}, seed % 5 ? seed : 0);
    w.sends = way >= NBC_TRANSFER_SEND;
    w.addPlans(
        [&](uint32_t r) {
          return withPorts(t.templateOf(r), [](uint32_t me, uint32_t to, bool sends) {
            return 3 * me + to + sends;
          });
        },
        {.eager_bytes = 200});
    for (unsigned call = 0; call < 2; ++call) {
      std::vector<std::vector<uint8_t>> data;
      std::vector<nbc_request> requests(ranks);
      for (uint32_t r = 0; r < ranks; ++r) data.push_back(t.before(r, 1, call));
      for (uint32_t r = 0; r < ranks; ++r) {
        nbc_call c = {.data = data[r].data(), .count = t.unit};
        ASSERT_EQ(nbc_start(w.plans[r], &c, &requests[r]), 0);
      }
      ASSERT_TRUE(w.finish(requests, seed)) << seed;
      for (uint32_t r = 0; r < ranks; ++r)
        ASSERT_TRUE(data[r] == t.after(r, 1, call)) << "rank " << r << " seed " << seed;
    }
  }
}

TEST(VerbsRails, aStagedBlockAndWhatIsReducedHaveKeysOfTheirRail) {
  for (uint32_t rails : {2, 4}) {
    VerbsWorld w(3, {.rails = rails});
    w.addPlans([](uint32_t r) {
      return withPorts(build::messageAllreduce(3, r),
                       [](uint32_t me, uint32_t to, bool) { return me + to; });
    });
    std::vector<std::vector<int64_t>> in(3), out(3, std::vector<int64_t>(5000));
    std::vector<nbc_request> requests(3);
    for (uint32_t r = 0; r < 3; ++r) {
      in[r].assign(5000, int64_t(r) + 1);
      nbc_call call = {
          .in = in[r].data(), .out = out[r].data(), .count = 5000, .type = NBC_I64, .op = NBC_SUM};
      ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
    }
    ASSERT_TRUE(w.finish(requests));
    for (auto &o : out) EXPECT_EQ(o, std::vector<int64_t>(5000, 6));
  }
}

TEST(VerbsRails, areAsManyOnAllRanks) {
  VerbsWorld w(std::vector<verbs::Options>{{.rails = 2}, {.rails = 3}});
  nbc_plan *plans[2];
  for (uint32_t r : {0u, 1u}) {
    const build::Bytes bytes = forVerbs(build::ringAllgather(2, r));
    ASSERT_EQ(nbc_plan_create(w.comms[r], bytes.data(), bytes.size(), nullptr, &plans[r]), 0);
  }
  for (nbc_plan *p : plans) EXPECT_EQ(nbc_plan_connect(p), NBC_ERROR_ARGUMENT);
  for (nbc_plan *p : plans) EXPECT_EQ(nbc_plan_free(p), 0);
}

TEST(VerbsRails, moreThanADeviceMayHaveAreRefused) {
  VerbsWorld w(1);
  verbs::Device device = verbs::deviceOn(w.fabric.addAdapter(), {.rails = NBC_VERBS_RAILS + 1});
  nbc_bootstrap b = {0, 1, nullptr, nullptr, nullptr, nullptr};
  nbc_device *devices[] = {&device->device};
  nbc_comm *comm = nullptr;
  EXPECT_EQ(nbc_comm_create(&b, devices, 1, &comm), NBC_ERROR_ARGUMENT);
}

}  // namespace
