// SPDX-License-Identifier: BSD-3-Clause
// messages.cpp - records into segments; and the collectives that tests run.

#include "test/runtime/messages.h"

namespace build {

Messages::Messages(const char *algorithm, nbc_kind kind, uint32_t ranks, uint32_t rank)
    : b(algorithm, kind, ranks, rank) {
  std::strcpy(b.header.target, "mpi");
}

void Messages::beginVariant(uint32_t flags) {
  b.variants.push_back({.protocol = NBC_RENDEZVOUS, .flags = flags});
  firstHost_ = uint32_t(b.hosts.size());
}

uint32_t Messages::add(const nbc_message_record &r, std::optional<uint32_t> piece, uint32_t extra) {
  auto at = uint32_t(records_.size() * sizeof r);
  if (piece) relocs_.push_back({at + 16, NBC_RELOC_SGE, 0, 0, *piece, 0, extra});
  records_.push_back(r);
  return uint32_t(records_.size() - 1);
}

uint32_t Messages::send(uint32_t rank, std::optional<uint32_t> piece, uint32_t extra) {
  return add({.op = NBC_MESSAGE_SEND, .peer = b.peer(rank)}, piece, extra);
}

uint32_t Messages::receive(uint32_t rank, std::optional<uint32_t> piece, uint32_t extra) {
  return add({.op = NBC_MESSAGE_RECV, .peer = b.peer(rank)}, piece, extra);
}

void Messages::wait(uint32_t record) {
  add({.op = NBC_MESSAGE_WAIT, .record = record}, {}, 0);
}

void Messages::stage() {
  stages_.push_back(
      {firstHost_, uint32_t(b.hosts.size()) - firstHost_, 0, uint32_t(records_.size())});
  firstHost_ = uint32_t(b.hosts.size());
}

void Messages::endVariant() {
  nbc_variant &v = b.variants.back();
  v.stages = {uint32_t(b.stages.size()), uint32_t(stages_.size())};
  b.stages.insert(b.stages.end(), stages_.begin(), stages_.end());
  v.segments.begin = uint32_t(b.segments.size());
  v.relocs = {uint32_t(b.relocs.size()), uint32_t(relocs_.size())};
  auto begin = uint32_t(b.code.size());
  if (!records_.empty()) {
    auto bytes = uint32_t(records_.size() * sizeof(nbc_message_record));
    b.segments.push_back(
        {b.queue(NBC_QUEUE_MESSAGES), NBC_RING_SEND, begin, bytes, uint32_t(records_.size()), 0});
    const auto *from = reinterpret_cast<const uint8_t *>(records_.data());
    b.code.insert(b.code.end(), from, from + bytes);
  }
  v.segments.count = uint32_t(b.segments.size()) - v.segments.begin;
  for (nbc_reloc r : relocs_) r.at += begin, b.relocs.push_back(r);
  records_.clear(), relocs_.clear(), stages_.clear();
}

Bytes ringAllgather(uint32_t ranks, uint32_t me) {
  Messages m("ring", NBC_ALLGATHER, ranks, me);
  uint32_t in = m.b.buffer(NBC_ROLE_IN), out = m.b.buffer(NBC_ROLE_OUT);
  uint32_t left = (me + ranks - 1) % ranks, right = (me + 1) % ranks;
  for (uint32_t flags : {0u, uint32_t(NBC_VARIANT_IN_PLACE)}) {
    m.beginVariant(flags);
    if (!flags) m.b.copy(m.b.piece(in, 0), m.b.piece(out, me));
    std::vector<uint32_t> received;
    for (uint32_t i = 1; i < ranks; ++i)
      received.push_back(m.receive(left, m.b.piece(out, (me + ranks - i) % ranks)));
    for (uint32_t i = 0; i + 1 < ranks; ++i) {
      if (i) m.wait(received[i - 1]);
      m.send(right, m.b.piece(out, (me + ranks - i) % ranks));
    }
    m.stage();
    m.endVariant();
  }
  return m.finish();
}

MakeTemplate ringAllgather(uint32_t ranks) {
  return [ranks](uint32_t rank) { return ringAllgather(ranks, rank); };
}

Bytes ownLastAllgather(uint32_t me) {
  Messages m("own_last", NBC_ALLGATHER, 2, me);
  const uint32_t in = m.b.buffer(NBC_ROLE_IN), out = m.b.buffer(NBC_ROLE_OUT);
  for (uint32_t flags : {0u, uint32_t(NBC_VARIANT_IN_PLACE)}) {
    m.beginVariant(flags);
    m.receive(1 - me, m.b.piece(out, 1 - me));
    m.send(1 - me, flags ? m.b.piece(out, me) : m.b.piece(in, 0));
    m.stage();
    if (!flags) m.b.copy(m.b.piece(in, 0), m.b.piece(out, me));
    if (!flags) m.stage();
    m.endVariant();
  }
  return m.finish();
}

Bytes messageAllreduce(uint32_t ranks, uint32_t me) {
  Messages m("chain", NBC_ALLREDUCE, ranks, me);
  uint32_t in = m.b.buffer(NBC_ROLE_IN), out = m.b.buffer(NBC_ROLE_OUT);
  uint32_t staging = m.b.buffer(NBC_ROLE_STAGING, 1);
  uint32_t own = m.b.piece(in, 0), result = m.b.piece(out, 0);
  uint32_t left = m.b.inRoom(staging, 0, out);
  m.beginVariant();
  if (me) {
    m.wait(m.receive(me - 1, left));
    m.stage();
    m.b.reduce(left, own, result);
  } else {
    m.b.copy(own, result);
  }
  if (me + 1 < ranks) {
    m.wait(m.send(me + 1, result));
    m.wait(m.receive(me + 1, result));
  }
  if (me) m.send(me - 1, result);
  m.stage();
  m.stage();  // that enables nothing
  m.endVariant();
  return m.finish();
}

Bytes pairsBcast(uint32_t ranks, uint32_t me, uint32_t parts) {
  Messages m("pairs", NBC_BCAST, ranks, me);
  uint32_t data = m.b.buffer(NBC_ROLE_DATA), staging = m.b.buffer(NBC_ROLE_STAGING, 2);
  auto all = uint32_t(m.b.pieces.size());
  for (uint32_t i = 0; i < parts; ++i) m.b.piece(data, i, 1, parts);
  auto room = uint32_t(m.b.pieces.size());
  for (uint32_t i = 0; i < parts; ++i) m.b.inRoom(staging, 0, data, i, 1, parts, {room, i});
  m.beginVariant();
  std::vector<uint32_t> received;
  for (uint32_t p = 1; p < ranks; ++p)
    for (uint32_t i = 0; i < parts && me == 0; i += 2) m.send(p, all + i, i + 1 < parts);
  for (uint32_t i = 0; i < parts && me; i += 2)
    received.push_back(m.receive(0, room + i, i + 1 < parts));
  for (uint32_t r : received) m.wait(r);
  m.stage();
  if (me) m.b.hosts.push_back({NBC_HOST_COPY, {room, parts}, {0, 0}, {all, parts}});
  m.stage();
  m.endVariant();
  return m.finish();
}

Bytes manyBcast(uint32_t rank) {
  constexpr uint32_t parts = 100;
  Messages t("many", NBC_BCAST, 2, rank);
  const uint32_t data = t.b.buffer(NBC_ROLE_DATA);
  t.beginVariant();
  for (uint32_t i = 0; i < parts; ++i) {
    const uint32_t piece = t.b.piece(data, i, 1, parts);
    rank ? t.send(0, piece) : t.receive(1, piece);
  }
  t.stage();
  t.endVariant();
  return t.finish();
}

Bytes allBarrier(uint32_t ranks, uint32_t me) {
  Messages m("everyone", NBC_BARRIER, ranks, me);
  m.beginVariant();
  for (uint32_t i = 1; i < ranks; ++i) {
    m.receive((me + i) % ranks);
    m.send((me + i) % ranks);
  }
  m.stage();
  m.endVariant();
  return m.finish();
}

}  // namespace build

MessageWorld::MessageWorld(uint32_t ranks, const MakeTemplate &make, nbc_plan_options plan,
                           p2p::Options o)
    : fabric(o) {
  for (uint32_t r = 0; r < ranks; ++r) contexts.push_back({&board, int(r)});
  for (uint32_t r = 0; r < ranks; ++r) {
    ends.push_back(fabric.addEndpoint());
    nbc_bootstrap b = {int(r), int(ranks), &contexts[r], Board::put, Board::get, nullptr};
    nbc_device *device = &ends.back()->device;
    nbc_comm *comm = nullptr;
    EXPECT_EQ(nbc_comm_create(&b, &device, 1, &comm), 0);
    comms.push_back(comm);
  }
  addPlans(make, plan);
}

void MessageWorld::addPlans(const MakeTemplate &make, nbc_plan_options options) {
  plans = connectedPlans(comms, make, options);
  all_.insert(all_.end(), plans.begin(), plans.end());
}

void MessageWorld::freePlan(uint32_t rank) {
  EXPECT_EQ(nbc_plan_free(plans[rank]), 0);
  std::erase(all_, plans[rank]);
  plans[rank] = nullptr;
}

MessageWorld::~MessageWorld() {
  for (nbc_plan *p : all_) EXPECT_EQ(nbc_plan_free(p), 0);
  for (nbc_comm *c : comms) EXPECT_EQ(nbc_comm_free(c), 0);
  for (const std::string &f : fabric.findings()) ADD_FAILURE() << f;
}

bool MessageWorld::finish(std::vector<nbc_request> &requests) {
  std::vector<int> done(requests.size());
  size_t left = requests.size();
  auto poke = [&] {
    for (size_t i = 0; i < requests.size(); ++i) {
      if (done[i]) continue;
      EXPECT_EQ(nbc_test(&requests[i], &done[i]), 0);
      left -= size_t(done[i]);
    }
    return left > 0;
  };
  for (uint64_t before = UINT64_MAX; left > 0 && fabric.counters().events != before;) {
    before = fabric.counters().events;
    fabric.run([&](uint32_t) { return poke(); });
    poke();
  }
  return left == 0;
}
