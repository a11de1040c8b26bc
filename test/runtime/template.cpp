// SPDX-License-Identifier: BSD-3-Clause
// nbc_template_check: whole templates pass; whatever damage neither it nor a plan crashes.

#include <random>

#include "nbc/message_record.h"
#include "test/runtime/world.h"

namespace {

std::vector<build::Bytes> samples() {
  return {build::allgather(4, 1),       build::allgather(1, 0),
          build::chainAllreduce(3, 1),  build::calcAllreduce(0),
          build::vectorAllreduce(1, 8), build::partsBcast(0, 3),
          build::partsBcast(1, 5),      build::barrier(1)};
}

int check(const build::Bytes &b, std::string *text = nullptr) {
  const char *why = nullptr;
  int status = nbc_template_check(b.data(), b.size(), &why);
  EXPECT_TRUE(why);
  EXPECT_EQ(status == 0, *why == 0);
  if (text) *text = why;
  return status;
}

TEST(Template, wholeOnesPass) {
  for (const build::Bytes &b : samples()) {
    std::string why;
    EXPECT_EQ(check(b, &why), 0) << why;
  }
}

TEST(Template, anyFlippedBitIsSeen) {
  build::Bytes b = build::allgather(2, 0);
  for (size_t bit = 0; bit < b.size() * 8; ++bit) {
    static_cast<uint8_t *>(b.data())[bit / 8] ^= uint8_t(1 << bit % 8);
    ASSERT_NE(check(b), 0) << "bit " << bit;
    static_cast<uint8_t *>(b.data())[bit / 8] ^= uint8_t(1 << bit % 8);
  }
  EXPECT_EQ(nbc_template_check(nullptr, 8, nullptr), NBC_ERROR_TEMPLATE);
  for (size_t bytes = 0; bytes < b.size(); ++bytes)
    ASSERT_EQ(nbc_template_check(b.data(), bytes, nullptr), NBC_ERROR_TEMPLATE);
}

TEST(Template, eachPromiseBrokenOnce) {
  using build::Bytes;
  struct Damage {
    const char *why;  // part of the message
    std::function<void(Bytes &)> apply;
  };
  auto segment = [](Bytes &b, uint32_t i) {
    return b.table<nbc_segment>(b.header()->segments) + i;
  };
  auto reloc = [](Bytes &b, uint32_t i) { return b.table<nbc_reloc>(b.header()->relocs) + i; };
  auto variant = [](Bytes &b) { return b.table<nbc_variant>(b.header()->variants); };
  const Damage damages[] = {
      {"kind 15 of 15", [](Bytes &b) { b.header()->kind = NBC_KINDS; }},
      {"32769 entries, of 32768 that a queue may have",
       [&](Bytes &b) {
         for (uint32_t i = 0; i < b.header()->segments.count; ++i)
           if (segment(b, i)->bytes == 0) segment(b, i)->entries = 32769;
       }},
      // Its `out` has 4 blocks in place only.
      {"host operation 1: piece 2 is not of this variant",
       [](Bytes &b) { b.header()->kind = NBC_REDUCE_SCATTER; }},
      {"buffer 1: 4294967295 blocks",
       [](Bytes &b) {
         b.header()->kind = NBC_NEIGHBOR_ALLGATHER;
         b.table<nbc_buffer>(b.header()->buffers)[1].blocks = UINT32_MAX;
       }},
      {"4 parts from 0 on, of 3",
       [](Bytes &b) {
         b.header()->kind = NBC_NEIGHBOR_ALLGATHER;
         b.table<nbc_buffer>(b.header()->buffers)[1].blocks = 3;
         b.table<nbc_piece>(b.header()->pieces)[1] = {
             .shape = 1, .parts = 1, .first = 0, .count = 4, .buffer = 1};
       }},
      {"rank 4 of 4", [](Bytes &b) { b.header()->rank = 4; }},
      {"root 9 of 4", [](Bytes &b) { b.header()->root = 9; }},
      {"0 ranks", [](Bytes &b) { b.header()->ranks = 0; }},
      {"version 2", [](Bytes &b) { b.header()->version = 2; }},
      {"no target is called tin", [](Bytes &b) { std::strcpy(b.header()->target, "tin"); }},
      {"a name does not end", [](Bytes &b) { std::memset(b.header()->target, 'x', 16); }},
      {"table of queues", [](Bytes &b) { b.header()->queues.offset += 4; }},
      {"table of code", [](Bytes &b) { b.header()->code.count += 8; }},
      {"table of hosts", [](Bytes &b) { b.header()->hosts.count = UINT32_MAX; }},
      {"peer 0: rank 1", [](Bytes &b) { *b.table<uint32_t>(b.header()->peers) = 1; }},
      {"buffer 1: role 0 comes twice",
       [](Bytes &b) { b.table<nbc_buffer>(b.header()->buffers)[1].role = NBC_ROLE_IN; }},
      {"kind 0 has no role 2",
       [](Bytes &b) { b.table<nbc_buffer>(b.header()->buffers)[0].role = NBC_ROLE_DATA; }},
      {"queue 0: peer 3 of 3", [](Bytes &b) { b.table<nbc_queue>(b.header()->queues)->peer = 3; }},
      {"queue 0: kind 8", [](Bytes &b) { b.table<nbc_queue>(b.header()->queues)->kind = 8; }},
      {"no caller's buffer", [](Bytes &b) { b.table<nbc_piece>(b.header()->pieces)->shape = 2; }},
      {"2 parts from 0 on, of 1",
       [](Bytes &b) { b.table<nbc_piece>(b.header()->pieces)->count = 2; }},
      {"0 parts", [](Bytes &b) { b.table<nbc_piece>(b.header()->pieces)->parts = 0; }},
      {"room 1 of 1", [](Bytes &b) { b.table<nbc_piece>(b.header()->pieces)[1].room = 1; }},
      {"host operation 0", [](Bytes &b) { b.table<nbc_host>(b.header()->hosts)->to.begin = 1000; }},
      {"stage 0", [](Bytes &b) { b.table<nbc_stage>(b.header()->stages)->hosts_count = 1000; }},
      {"stage 1: enables 8 after 9",
       [](Bytes &b) { b.table<nbc_stage>(b.header()->stages)[1].enabled = 8; }},
      {"segment 0: queue 99", [&](Bytes &b) { segment(b, 0)->queue = 99; }},
      {"segment 1", [&](Bytes &b) { segment(b, 1)->offset -= 16; }},
      {"segment 3", [&](Bytes &b) { segment(b, 3)->entries += 1; }},
      {"entries are signalled", [&](Bytes &b) { segment(b, 3)->send_cqes ^= 1; }},
      {"rule 12", [&](Bytes &b) { reloc(b, 0)->rule = 12; }},
      {"rule 8, side",
       [&](Bytes &b) { reloc(b, variant(b)->relocs.begin)->rule = NBC_RELOC_ROOM; }},
      {"lie in no segment", [&](Bytes &b) { reloc(b, variant(b)->relocs.begin)->at = 1; }},
      {"lie in no segment",
       [&](Bytes &b) { reloc(b, variant(b)->bind.begin)->at = UINT32_MAX - 1; }},
      {"which is no such field", [&](Bytes &b) { reloc(b, variant(b)->relocs.begin)->at += 4; }},
      // On what tells how long the entry is.
      {"which is no such field",
       [&](Bytes &b) {
         uint32_t i = variant(b)->relocs.begin;
         while (reloc(b, i)->rule != NBC_RELOC_WAIT) ++i;
         reloc(b, i)->at -= MLX5_SEGMENT;
       }},
      {"names", [&](Bytes &b) { reloc(b, variant(b)->relocs.begin)->what = 99; }},
      {"names", [&](Bytes &b) { reloc(b, 0)->extra = 4; }},
      {"flags 9", [&](Bytes &b) { variant(b)->flags = 9; }},
      {"credits, but not the last", [&](Bytes &b) { variant(b)->flags = NBC_VARIANT_CREDIT; }},
      {"is not of this variant", [&](Bytes &b) { variant(b)->flags = NBC_VARIANT_IN_PLACE; }},
      {"opcode 0x20",
       [&](Bytes &b) {
         b.table<uint8_t>(b.header()->code)[segment(b, 3)->offset + MLX5_CTRL_OPCODE] = 0x20;
       }},
      {"of 40 segments",
       [&](Bytes &b) {
         b.table<uint8_t>(b.header()->code)[segment(b, 3)->offset + MLX5_CTRL_DS] = 40;
       }},
      {"no stage ends",
       [&](Bytes &b) {
         b.table<uint8_t>(b.header()->code)[segment(b, 6)->offset + MLX5_CTRL_FLAGS] = 8;
       }},
  };
  for (const Damage &d : damages) {
    build::Bytes b = build::allgather(4, 1);
    d.apply(b);
    b.seal();
    std::string why;
    EXPECT_EQ(check(b, &why), NBC_ERROR_TEMPLATE) << d.why;
    EXPECT_NE(why.find(d.why), std::string::npos) << "wanted " << d.why << ", found " << why;
  }
}

TEST(Template, eachPromiseOfSlotsBrokenOnce) {
  using build::Bytes;
  auto variant = [](Bytes &b) { return b.table<nbc_variant>(b.header()->variants); };
  auto slot = [](Bytes &b) {
    auto *r = b.table<nbc_reloc>(b.header()->relocs);
    while (r->rule != NBC_RELOC_SLOT) ++r;
    return r;
  };
  auto piece = [&](Bytes &b) { return b.table<nbc_piece>(b.header()->pieces) + slot(b)->what; };
  const struct {
    const char *why;
    std::function<void(Bytes &)> apply;
  } damages[] = {
      {"vectors of 0 scalars", [&](Bytes &b) { variant(b)->scalars = 0; }},
      {"vectors of 3 scalars", [&](Bytes &b) { variant(b)->scalars = 3; }},
      {"vectors of 16 scalars", [&](Bytes &b) { variant(b)->scalars = 16; }},
      {"flags 0, vectors of 4 scalars", [&](Bytes &b) { variant(b)[1].scalars = 4; }},
      {"rule 11 names", [&](Bytes &b) { variant(b)->scalars = 2; }},  // there are 4 slots
      {"rule 11 names", [&](Bytes &b) { slot(b)->extra = 4; }},
      {"rule 11 names", [&](Bytes &b) { slot(b)->addend = 4; }},
      {"rule 11 names", [&](Bytes &b) { slot(b)->addend = 1, slot(b)->extra = 3; }},
      {"rule 11 names", [&](Bytes &b) { slot(b)->addend = 2, slot(b)->extra = UINT32_MAX; }},
      {"rule 11 names", [&](Bytes &b) { piece(b)->before = {0, 1}; }},
      {"rule 11 names", [&](Bytes &b) { piece(b)->parts = 2; }},
      {"is no slot, where slots are meant",
       [&](Bytes &b) { b.table<nbc_host>(b.header()->hosts)->op = NBC_HOST_REDUCE; }},
  };
  for (const auto &d : damages) {
    build::Bytes b = build::vectorAllreduce(0, 4);
    d.apply(b);
    b.seal();
    std::string why;
    EXPECT_EQ(check(b, &why), NBC_ERROR_TEMPLATE) << d.why;
    EXPECT_NE(why.find(d.why), std::string::npos) << "wanted " << d.why << ", found " << why;
  }
}

/// What a target sends as records: two, of no bytes.
build::Bytes messages() {
  build::Builder b("messages", NBC_BARRIER, 2, 0);
  std::strcpy(b.header.target, "mpi");
  b.peer(1);
  b.queues.push_back({NBC_QUEUE_MESSAGES, UINT32_MAX, NBC_BOTH_WAYS});
  b.code.resize(2 * sizeof(nbc_message_record));
  b.segments.push_back({.bytes = uint32_t(b.code.size()), .entries = 2});
  b.stages.push_back({0, 0, 0, 2});
  b.variants.push_back({.protocol = NBC_RENDEZVOUS, .stages = {0, 1}, .segments = {0, 1}});
  return b.finish();
}

TEST(Template, recordsPass) {
  std::string why;
  EXPECT_EQ(check(messages(), &why), 0) << why;
}

TEST(Template, eachPromiseOfRecordsBrokenOnce) {
  using build::Bytes;
  auto queue = [](Bytes &b) { return b.table<nbc_queue>(b.header()->queues); };
  auto segment = [](Bytes &b) { return b.table<nbc_segment>(b.header()->segments); };
  const struct {
    const char *why;
    std::function<void(Bytes &)> apply;
  } damages[] = {
      {"queue 0: peer 0 of 1", [&](Bytes &b) { queue(b)->peer = 0; }},
      {"queue 0: direction 1", [&](Bytes &b) { queue(b)->direction = NBC_TO_PEER; }},
      {"64 bytes of 1 entries", [&](Bytes &b) { segment(b)->entries = 1; }},
      {"64 bytes of 2 entries, 1 signalled", [&](Bytes &b) { segment(b)->send_cqes = 1; }},
      {"64 bytes of 2 receives", [&](Bytes &b) { segment(b)->ring = NBC_RING_RECV; }},
      {"0 bytes of 2 receives",
       [&](Bytes &b) { segment(b)->ring = NBC_RING_RECV, segment(b)->bytes = 0; }},
      {"enables 1 after 0, of 0",
       [](Bytes &b) { b.table<nbc_stage>(b.header()->stages)->enabled = 1; }},
      {"has 1 of 2 records", [](Bytes &b) { b.table<nbc_stage>(b.header()->stages)->records = 1; }},
      {"stage 0: 3 records after 0, of 2",
       [](Bytes &b) { b.table<nbc_stage>(b.header()->stages)->records = 3; }},
      {"queue 0: port 32768", [&](Bytes &b) { queue(b)->port = NBC_MOST_PORT + 1; }},
      {"record 0: peer 0 is on another node",
       [](Bytes &b) { std::strcpy(b.header()->target, "coredirect"); }},
  };
  for (const auto &damage : damages) {
    Bytes b = messages();
    damage.apply(b);
    b.seal();
    std::string why;
    EXPECT_EQ(check(b, &why), NBC_ERROR_TEMPLATE) << damage.why;
    EXPECT_NE(why.find(damage.why), std::string::npos)
        << "wanted " << damage.why << ", found " << why;
  }
}

/// Of target shm, on three ranks: a message of two blocks that do not lie behind one another, to
/// rank 1 here, and one of no bytes to rank 2 on another node.
build::Bytes scattered() {
  build::Builder b("scattered", NBC_ALLTOALL, 3, 0);
  std::strcpy(b.header.target, "shm");
  b.peers = {1, 2 | NBC_PEER_REMOTE};
  b.queues.push_back({NBC_QUEUE_MESSAGES, UINT32_MAX, NBC_BOTH_WAYS});
  const uint32_t in = b.buffer(NBC_ROLE_IN), first = b.piece(in, 2);
  b.piece(in, 0);
  const nbc_message_record records[] = {{.op = NBC_MESSAGE_SEND, .peer = 0},
                                        {.op = NBC_MESSAGE_SEND, .peer = 1}};
  b.code.resize(sizeof records);
  std::memcpy(b.code.data(), records, sizeof records);
  b.relocs.push_back({NBC_MESSAGE_RECORD_SGE, NBC_RELOC_PIECES, 0, 0, first, 0, 1});
  b.segments.push_back({.bytes = uint32_t(b.code.size()), .entries = 2});
  b.stages.push_back({0, 0, 0, 2});
  b.variants.push_back({.protocol = NBC_RENDEZVOUS,
                        .stages = {0, 1},
                        .segments = {0, 1},
                        .bind = {0, 0},
                        .relocs = {0, 1}});
  return b.finish();
}

TEST(Template, messagesOfSeveralPlacesAreOfOneTarget) {
  using build::Bytes;
  const auto reloc = [](Bytes &b) { return b.table<nbc_reloc>(b.header()->relocs); };
  const struct {
    const char *why;
    std::function<void(Bytes &)> apply;
  } cases[] = {
      {"", [](Bytes &) {}},
      {"", [](Bytes &b) { b.header()->lengths = NBC_LENGTHS_EACH; }},
      {"relocation 0: pieces that lie anywhere, to another node",
       [](Bytes &b) { b.table<uint32_t>(b.header()->peers)[0] |= NBC_PEER_REMOTE; }},
      {"rule 0 names 0, and 1 more",
       [&](Bytes &b) {
         b.header()->lengths = NBC_LENGTHS_EACH;
         reloc(b)->rule = NBC_RELOC_SGE;
       }},
      {"relocation 0: a message of several places, on target mpi",
       [](Bytes &b) {
         std::strcpy(b.header()->target, "mpi");
         b.table<uint32_t>(b.header()->peers)[1] = 2;
       }},
      {"rule 12 names 0, and 2 more", [&](Bytes &b) { reloc(b)->extra = 2; }},
      {"16 bytes at 56 lie in no segment", [&](Bytes &b) { reloc(b)->at = 56; }},
      {"relocation 0: rule 13", [&](Bytes &b) { reloc(b)->rule = NBC_RELOC_PIECES + 1; }},
      {"peer 1: rank 2147483650 of 3", [](Bytes &b) { std::strcpy(b.header()->target, "mpi"); }},
      {"peer 1: rank 3 of 3",
       [](Bytes &b) { b.table<uint32_t>(b.header()->peers)[1] = 3 | NBC_PEER_REMOTE; }},
      {"peer 1: rank 0 of 3, the own one is 0",
       [](Bytes &b) { b.table<uint32_t>(b.header()->peers)[1] = NBC_PEER_REMOTE; }},
  };
  for (const auto &[wanted, apply] : cases) {
    Bytes b = scattered();
    apply(b);
    b.seal();
    std::string why;
    check(b, &why);
    EXPECT_NE(why.find(wanted), std::string::npos) << "wanted " << wanted << ", found " << why;
    EXPECT_EQ(why.empty(), !*wanted) << why;
  }
}

/// Runs calls of two ranks, one with a template that may be damaged. Only crashes, and
/// accesses beyond the buffers, matter.
void use(const build::Bytes &damaged, build::Bytes whole, uint32_t rank) {
  hca::Fabric fabric(World::options(0));
  Board board;
  Board::Context contexts[2] = {{&board, 0}, {&board, 1}};
  nbc_hca *adapters[2];
  nbc_comm *comms[2];
  nbc_plan *plans[2] = {};
  nbc_plan_options options = {.eager_bytes = 64, .max_bytes = 256};
  for (uint32_t r : {0, 1}) {
    adapters[r] = fabric.addAdapter();
    nbc_bootstrap b = {int(r), 2, &contexts[r], Board::put, Board::get, nullptr};
    nbc_device *device = &adapters[r]->device;
    ASSERT_EQ(nbc_comm_create(&b, &device, 1, &comms[r]), 0);
    const build::Bytes &t = r == rank ? damaged : whole;
    if (nbc_plan_create(comms[r], t.data(), t.size(), &options, &plans[r])) plans[r] = nullptr;
  }
  std::vector<nbc_request> requests;
  requests.reserve(8);
  std::vector<std::vector<uint8_t>> memory;
  const std::vector<size_t> counts[] = {{1, 1}, {3, 3}, {40, 40}};
  const std::vector<ptrdiff_t> turned[] = {{1, 0}, {3, 0}, {40, 0}};
  if (plans[0] && plans[1] && !nbc_plan_connect(plans[0]) && !nbc_plan_connect(plans[1]))
    for (size_t count : {1, 3, 40, 1})
      for (uint32_t r : {0, 1}) {
        for (int i = 0; i < 3; ++i) memory.emplace_back(2 * 8 * count);
        uint8_t *m[3] = {memory.end()[-1].data(), memory.end()[-2].data(), memory.end()[-3].data()};
        nbc_call call = {m[0], m[1], m[2], count, NBC_U64, NBC_SUM, nullptr, nullptr};
        if (whole.header()->lengths == NBC_LENGTHS_EACH) {
          const size_t n = count == 1 ? 0 : count == 3 ? 1 : 2;
          call.out_counts = counts[n].data();
          call.out_displacements = turned[n].data();
        }
        requests.emplace_back();
        if (nbc_start(plans[r], &call, &requests.back())) requests.pop_back();
      }
  fabric.run({}, {.events = 2000});
  for (nbc_request &r : requests) {
    int done;
    nbc_test(&r, &done);
  }
  fabric.run({}, {.events = 2000});
  // Whatever hangs is over once its queues have failed.
  nbc_hca_ops broken = *adapters[0]->ops;
  broken.failed = [](nbc_hca *, uint32_t) { return 1u; };
  broken.sleep = [](nbc_hca *, int64_t) {};
  for (nbc_hca *a : adapters) a->ops = &broken;
  for (nbc_request &r : requests) nbc_wait(&r);
  for (nbc_plan *p : plans) EXPECT_EQ(nbc_plan_free(p), 0);
  for (nbc_comm *c : comms) EXPECT_EQ(nbc_comm_free(c), 0);
}

TEST(Template, damageNeverCrashesThePlan) {
  std::mt19937_64 random(1);
  int passed = 0;
  for (int round = 0; round < 6000; ++round) {
    using Make = build::Bytes (*)(uint32_t);
    static const Make makes[] = {[](uint32_t r) { return build::allgather(2, r); },
                                 [](uint32_t r) { return build::chainAllreduce(2, r); },
                                 [](uint32_t r) { return build::partsBcast(r, 3); },
                                 build::calcAllreduce,
                                 build::barrier,
                                 [](uint32_t r) {
                                   build::Bytes own = build::allgather(2, r);
                                   own.header()->lengths = NBC_LENGTHS_EACH;
                                   own.seal();
                                   return own;
                                 }};
    Make make = makes[random() % std::size(makes)];
    uint32_t rank = random() % 2;
    build::Bytes b = make(rank);
    auto *bytes = static_cast<uint8_t *>(b.data());
    for (uint64_t flips = 1 + random() % 3; flips-- > 0;) {
      size_t at = random() % b.size();
      switch (random() % 3) {
        case 0:
          bytes[at] ^= uint8_t(1u << random() % 8);
          break;
        case 1:
          bytes[at] = uint8_t(random());
          break;
        case 2:
          bytes[at] = random() % 2 ? 0xff : 0;
          break;
      }
    }
    b.seal();
    if (check(b) == 0) ++passed, use(b, make(1 - rank), rank);
  }
  EXPECT_GT(passed, 500);
}

}  // namespace
