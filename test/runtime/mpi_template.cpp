// SPDX-License-Identifier: BSD-3-Clause
// nbc_template_check of target mpi: whole templates pass; damage crashes nothing.

#include <random>

#include "test/runtime/messages.h"

namespace {

using build::Bytes;

std::string why(const Bytes &b) {
  const char *text = "";
  int status = nbc_template_check(b.data(), b.size(), &text);
  EXPECT_EQ(status, *text ? NBC_ERROR_TEMPLATE : 0);
  return text;
}

nbc_message_record *record(Bytes &b, uint32_t i) {
  return b.table<nbc_message_record>(b.header()->code) + i;
}
nbc_reloc *reloc(Bytes &b, uint32_t i) {
  return b.table<nbc_reloc>(b.header()->relocs) + i;
}
nbc_variant *variant(Bytes &b) {
  return b.table<nbc_variant>(b.header()->variants);
}
nbc_piece *piece(Bytes &b, uint32_t i) {
  return b.table<nbc_piece>(b.header()->pieces) + i;
}

struct Damage {
  const char *why;
  std::function<void(Bytes &)> apply;
};

void refused(const Bytes &whole, const std::vector<Damage> &damages) {
  EXPECT_EQ(why(whole), "");
  for (const Damage &d : damages) {
    Bytes b = whole;
    d.apply(b);
    b.seal();
    EXPECT_NE(why(b).find(d.why), std::string::npos) << "wanted " << d.why << ", found " << why(b);
  }
}

TEST(MpiTemplate, eachPromiseBrokenOnce) {
  // RECV 0..2, SEND 3, WAIT 4 for 0, SEND 5, WAIT 6 for 1, SEND 7.
  refused(build::ringAllgather(4, 1),
          {{"record 0: op 3", [](Bytes &b) { record(b, 0)->op = 3; }},
           {"record 1: op 1", [](Bytes &b) { record(b, 1)->port = NBC_MOST_PORT + 1; }},
           {"record 1: op 1", [](Bytes &b) { record(b, 1)->address = 1; }},
           {"record 3: op 0", [](Bytes &b) { record(b, 3)->bytes = 1; }},
           {"record 3: peer 2 of 2", [](Bytes &b) { record(b, 3)->peer = 2; }},
           {"record 3: peer 1 of 2, record 9", [](Bytes &b) { record(b, 3)->record = 9; }},
           {"record 4: waits for record 4", [](Bytes &b) { record(b, 4)->record = 4; }},
           {"record 4: waits for record 7", [](Bytes &b) { record(b, 4)->record = 7; }},
           {"record 6: waits for record 4", [](Bytes &b) { record(b, 6)->record = 4; }},
           {"record 4: waits for record 0", [](Bytes &b) { record(b, 4)->peer = 1; }},
           {"protocol 0", [](Bytes &b) { variant(b)->protocol = NBC_EAGER; }},
           {"flags 2", [](Bytes &b) { variant(b)->flags = NBC_VARIANT_CALC; }},
           {"1 relocations before a call",
            [](Bytes &b) {
              variant(b)->bind = {0, 1};
              reloc(b, 0)->rule = NBC_RELOC_QPN, reloc(b, 0)->what = 0;
              variant(b)->relocs = {1, variant(b)->relocs.count - 1};
            }},
           {"2 segments",
            [](Bytes &b) {
              b.header()->variants.count = 1;
              auto *second = b.table<nbc_segment>(b.header()->segments) + 1;
              second->entries = second->bytes = 0;
              variant(b)->segments.count = 2;
            }},
           {"which is no such field",
            [](Bytes &b) { reloc(b, 0)->rule = NBC_RELOC_WAIT, reloc(b, 0)->what = 0; }},
           {"which is no such field", [](Bytes &b) { reloc(b, 0)->at += 8; }},
           {"nothing is sent or received", [](Bytes &b) { reloc(b, 0)->at = 4 * 32 + 16; }}});
  build::Messages idle("idle", NBC_BARRIER, 2, 0);
  idle.b.queue(NBC_QUEUE_MESSAGES);
  idle.beginVariant();
  idle.stage();
  idle.endVariant();
  refused(idle.finish(), {{"kind 0, which holds no messages", [](Bytes &b) {
                             b.table<nbc_queue>(b.header()->queues)->kind = NBC_QUEUE_MANAGEMENT;
                           }}});
}

TEST(MpiTemplate, aMessageIsOneRunOfMemory) {
  // Pieces 0..3 are of the caller's, 4..7 of the room; messages are of two.
  refused(build::pairsBcast(2, 0, 4),
          {{"piece 1 is not behind piece 0", [](Bytes &b) { piece(b, 1)->first = 2; }},
           {"piece 1 is not behind piece 0",
            [](Bytes &b) { piece(b, 1)->parts = 8, piece(b, 1)->first = 1; }},
           {"piece 4 is not behind piece 3", [](Bytes &b) { reloc(b, 1)->what = 3; }}});
  refused(build::pairsBcast(2, 1, 4),
          {{"piece 5 is not behind piece 4", [](Bytes &b) { piece(b, 5)->room = 1; }},
           {"piece 5 is not behind piece 4", [](Bytes &b) { piece(b, 5)->before.count = 0; }},
           {"piece 7 is not behind piece 6", [](Bytes &b) { piece(b, 7)->before.begin = 3; }}});
  // The same place in other fractions.
  Bytes b = build::pairsBcast(2, 0, 4);
  *piece(b, 1) = {.shape = 0, .parts = 8, .first = 2, .count = 2, .buffer = 0};
  b.seal();
  EXPECT_EQ(why(b), "");
}

/// Runs calls of two ranks, one with a template that may be damaged. Only crashes, and
/// accesses beyond the buffers, matter.
void use(const Bytes &damaged, const Bytes &whole, uint32_t rank, uint64_t seed) {
  p2p::Fabric fabric(MessageWorld::options(seed));
  Board board;
  Board::Context contexts[2] = {{&board, 0}, {&board, 1}};
  nbc_comm *comms[2];
  nbc_plan *plans[2] = {};
  nbc_plan_options options = {.max_bytes = 256};
  for (uint32_t r : {0, 1}) {
    nbc_bootstrap b = {int(r), 2, &contexts[r], Board::put, Board::get, nullptr};
    nbc_device *device = &fabric.addEndpoint()->device;
    ASSERT_EQ(nbc_comm_create(&b, &device, 1, &comms[r]), 0);
    const Bytes &t = r == rank ? damaged : whole;
    if (nbc_plan_create(comms[r], t.data(), t.size(), &options, &plans[r])) plans[r] = nullptr;
  }
  std::vector<nbc_request> requests;
  requests.reserve(8);
  std::vector<std::vector<uint8_t>> memory;
  if (plans[0] && plans[1] && !nbc_plan_connect(plans[0]) && !nbc_plan_connect(plans[1]))
    for (size_t count : {1, 3, 30, 1})
      for (uint32_t r : {0, 1}) {
        for (int i = 0; i < 3; ++i) memory.emplace_back(2 * 8 * count);
        uint8_t *m[3] = {memory.end()[-1].data(), memory.end()[-2].data(), memory.end()[-3].data()};
        nbc_call call = {m[0], m[1], m[2], count, NBC_U64, NBC_SUM, nullptr, nullptr};
        requests.emplace_back();
        if (nbc_start(plans[r], &call, &requests.back())) requests.pop_back();
      }
  for (int round = 0; round < 20; ++round) {
    fabric.run({}, {.events = 200});
    int done;
    for (nbc_request &r : requests) nbc_test(&r, &done);
  }
  for (nbc_plan *p : plans) nbc_plan_abandon(p);
  int done;
  for (nbc_request &r : requests) nbc_test(&r, &done);
  for (nbc_plan *p : plans) EXPECT_EQ(nbc_plan_free(p), 0);
  for (nbc_comm *c : comms) EXPECT_EQ(nbc_comm_free(c), 0);
}

TEST(MpiTemplate, damageNeverCrashesThePlan) {
  using Make = Bytes (*)(uint32_t);
  static const Make makes[] = {[](uint32_t r) { return build::ringAllgather(2, r); },
                               [](uint32_t r) { return build::messageAllreduce(2, r); },
                               [](uint32_t r) { return build::pairsBcast(2, r, 3); },
                               [](uint32_t r) { return build::allBarrier(2, r); }};
  std::mt19937_64 random(1);
  int passed = 0;
  for (int round = 0; round < 8000; ++round) {
    Make make = makes[random() % std::size(makes)];
    uint32_t rank = random() % 2;
    Bytes b = make(rank);
    auto *bytes = static_cast<uint8_t *>(b.data());
    for (uint64_t flips = 1 + random() % 3; flips-- > 0;) {
      size_t at = random() % b.size();
      bytes[at] = random() % 2 ? uint8_t(bytes[at] ^ 1u << random() % 8) : uint8_t(random() % 5);
    }
    b.seal();
    const char *text;
    if (nbc_template_check(b.data(), b.size(), &text)) continue;
    ++passed;
    use(b, make(1 - rank), rank, random() % 3);
  }
  EXPECT_GT(passed, 500);
}

}  // namespace
