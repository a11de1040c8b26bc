// SPDX-License-Identifier: BSD-3-Clause
// builder.cpp - tables into one block of bytes; and the collectives that tests run.

#include "test/runtime/builder.h"

#include <algorithm>

namespace build {

Builder::Builder(const char *algorithm, nbc_kind kind, uint32_t ranks, uint32_t rank) {
  header.magic = NBC_TEMPLATE_MAGIC;
  header.version = NBC_TEMPLATE_VERSION;
  std::strcpy(header.target, "coredirect");
  std::strcpy(header.algorithm, algorithm);
  std::strcpy(header.device, "soft");
  header.kind = kind;
  header.ranks = ranks;
  header.rank = rank;
}

uint32_t Builder::buffer(uint32_t role, uint64_t blocks, uint64_t first) {
  buffers.push_back({.role = role, .significant = 1, .blocks = blocks, .first = first, .name = {}});
  return uint32_t(buffers.size() - 1);
}

uint32_t Builder::peer(uint32_t rank) {
  auto found = std::find(peers.begin(), peers.end(), rank);
  if (found == peers.end()) found = peers.insert(peers.end(), rank);
  return uint32_t(found - peers.begin());
}

uint32_t Builder::queue(nbc_queue_kind kind, uint32_t rank) {
  uint32_t index = rank == UINT32_MAX ? UINT32_MAX : peer(rank);
  for (uint32_t i = 0; i < queues.size(); ++i)
    if (queues[i].kind == kind && queues[i].peer == index) return i;
  queues.push_back({.kind = uint32_t(kind), .peer = index});
  return uint32_t(queues.size() - 1);
}

uint32_t Builder::piece(uint32_t buffer, uint64_t first, uint64_t count, uint32_t parts) {
  return inRoom(buffer, 0, buffer, first, count, parts);
}

uint32_t Builder::inRoom(uint32_t buffer, uint64_t room, uint32_t shape, uint64_t first,
                         uint64_t count, uint32_t parts, nbc_range before) {
  pieces.push_back({shape, parts, first, count, buffer, 0, room, before});
  return uint32_t(pieces.size() - 1);
}

void Builder::beginVariant(nbc_protocol protocol, uint32_t flags, uint32_t calc, uint32_t scalars) {
  variants.push_back(
      {.protocol = uint32_t(protocol), .flags = flags, .calc = calc, .scalars = scalars});
  firstHost_ = uint32_t(hosts.size());
  mq_ = queue(NBC_QUEUE_MANAGEMENT);
}

Builder::Entry &Builder::entry(uint32_t queue, nbc_ring ring, size_t length) {
  size_t bytes = length * 16;
  if (ring == NBC_RING_SEND) bytes = (bytes + 63) / 64 * 64;
  Ring &at = rings_[{queue, ring}];
  at.entries.push_back({std::vector<uint8_t>(bytes), {}, {}});
  Entry &e = at.entries.back();
  if (ring == NBC_RING_SEND) {
    e.bytes[MLX5_CTRL_DS] = uint8_t(length);
    e.relocs.push_back({MLX5_CTRL_INDEX, NBC_RELOC_INDEX, 0, 0, queue, at.blocks, 0});
    e.bind.push_back({MLX5_CTRL_QPN, NBC_RELOC_QPN, 0, 0, queue, 0, 0});
    at.blocks += uint32_t(bytes / 64);
  }
  return e;
}

void Builder::mark(Entry &e) {
  e.bytes[MLX5_CTRL_FLAGS] = MLX5_CE_ALWAYS;
  e.signalled = true;
}

void Builder::wait(uint32_t queue, nbc_side side, uint32_t addend) {
  Entry &e = entry(mq_, NBC_RING_SEND, 2);
  e.bytes[MLX5_CTRL_OPCODE] = MLX5_WAIT;
  e.relocs.push_back({16 + MLX5_CD_INDEX, NBC_RELOC_WAIT, uint8_t(side), 0, queue, addend, 0});
  e.bind.push_back({16 + MLX5_CD_NUMBER, NBC_RELOC_CQN, uint8_t(side), 0, queue, 0, 0});
}

void Builder::waitCredit(uint32_t queue) {
  Entry &e = entry(mq_, NBC_RING_SEND, 2);
  e.bytes[MLX5_CTRL_OPCODE] = MLX5_WAIT;
  e.relocs.push_back({16 + MLX5_CD_INDEX, NBC_RELOC_CREDIT, NBC_SIDE_RECV, 0, queue, 0, 0});
  e.bind.push_back({16 + MLX5_CD_NUMBER, NBC_RELOC_CQN, NBC_SIDE_RECV, 0, queue, 0, 0});
}

void Builder::enable(uint32_t queue, uint32_t limit) {
  Entry &e = entry(mq_, NBC_RING_SEND, 2);
  e.bytes[MLX5_CTRL_OPCODE] = MLX5_SEND_EN;
  e.relocs.push_back({16 + MLX5_CD_INDEX, NBC_RELOC_ENABLE, 0, 0, queue, limit, 0});
  e.bind.push_back({16 + MLX5_CD_NUMBER, NBC_RELOC_ENABLE_QPN, 0, 0, queue, 0, 0});
}

void Builder::send(uint32_t queue, const std::vector<uint32_t> &list, bool signalled,
                   uint8_t opcode, uint32_t target) {
  uint32_t first = target == UINT32_MAX ? 1 : 2;
  Entry &e = entry(queue, NBC_RING_SEND, first + list.size());
  e.bytes[MLX5_CTRL_OPCODE] = opcode;
  if (signalled) mark(e);
  if (first == 2) e.relocs.push_back({16, NBC_RELOC_RADDR, 0, 0, target, 0, 0});
  for (uint32_t i = 0; i < list.size(); ++i)
    e.relocs.push_back({16 * (first + i), NBC_RELOC_SGE, 0, 0, list[i], 0, 0});
}

void Builder::calc(uint32_t queue, const std::vector<uint32_t> &list, uint32_t first,
                   uint32_t count) {
  Entry &e = entry(queue, NBC_RING_SEND, 1 + list.size());
  e.bytes[MLX5_CTRL_OPCODE] = MLX5_SEND;
  if (list.size() > 1) e.relocs.push_back({MLX5_CTRL_OPMOD, NBC_RELOC_OPMOD, 0, 0, 0, 0, 0});
  mark(e);
  for (uint32_t i = 0; i < list.size(); ++i)
    e.relocs.push_back({16 * (1 + i), NBC_RELOC_SLOT, 0, 0, list[i], first, count - 1});
}

void Builder::receive(uint32_t queue, const std::vector<uint32_t> &list, bool slots,
                      uint32_t first) {
  size_t length = 1;
  while (length < list.size()) length *= 2;
  Entry &e = entry(queue, NBC_RING_RECV, length);
  for (uint32_t i = 0; i < list.size(); ++i)
    e.relocs.push_back(
        {16 * i, uint8_t(slots ? NBC_RELOC_SLOT : NBC_RELOC_SGE), 0, 0, list[i], first, 0});
  if (list.size() < length)
    mlx5_put32(e.bytes.data() + 16 * list.size() + MLX5_DATA_LKEY, MLX5_INVALID_LKEY);
}

void Builder::receivePlain(uint32_t queue, uint32_t entries) {
  rings_[{queue, NBC_RING_RECV}].plain += entries;
}

void Builder::copy(uint32_t from, uint32_t to) {
  hosts.push_back({NBC_HOST_COPY, {from, 1}, {0, 0}, {to, 1}});
}

void Builder::reduce(uint32_t from, uint32_t with, uint32_t to) {
  hosts.push_back({NBC_HOST_REDUCE, {from, 1}, {with, 1}, {to, 1}});
}

void Builder::stage() {
  auto &entries = rings_[{mq_, NBC_RING_SEND}].entries;
  uint32_t before = pendingStages_.empty() ? 0 : pendingStages_.back().enabled;
  bool credit = variants.back().flags & NBC_VARIANT_CREDIT;
  if (entries.size() > before && !credit) mark(entries.back());
  pendingStages_.push_back(
      {firstHost_, uint32_t(hosts.size()) - firstHost_, uint32_t(entries.size()), 0});
  firstHost_ = uint32_t(hosts.size());
}

void Builder::endVariant() {
  nbc_variant &v = variants.back();
  v.stages = {uint32_t(stages.size()), uint32_t(pendingStages_.size())};
  stages.insert(stages.end(), pendingStages_.begin(), pendingStages_.end());
  pendingStages_.clear();
  v.segments.begin = uint32_t(segments.size());
  std::vector<nbc_reloc> bind, call;
  for (auto &[key, ring] : rings_) {
    nbc_segment g = {.queue = key.first, .ring = key.second, .offset = uint32_t(code.size())};
    g.entries =
        ring.plain + (g.ring == NBC_RING_SEND ? ring.blocks : uint32_t(ring.entries.size()));
    for (Entry &e : ring.entries) {
      for (auto [from, to] : {std::pair{&e.relocs, &call}, std::pair{&e.bind, &bind}})
        for (nbc_reloc r : *from) r.at += uint32_t(code.size()), to->push_back(r);
      code.insert(code.end(), e.bytes.begin(), e.bytes.end());
      g.send_cqes += e.signalled;
    }
    g.bytes = uint32_t(code.size()) - g.offset;
    if (g.entries) segments.push_back(g);
  }
  rings_.clear();
  v.segments.count = uint32_t(segments.size()) - v.segments.begin;
  v.bind = {uint32_t(relocs.size()), uint32_t(bind.size())};
  relocs.insert(relocs.end(), bind.begin(), bind.end());
  v.relocs = {uint32_t(relocs.size()), uint32_t(call.size())};
  relocs.insert(relocs.end(), call.begin(), call.end());
}

void Builder::ahead(const std::vector<std::pair<uint32_t, uint32_t>> &queueAndRoom,
                    uint32_t slots) {
  header.ahead_segments = {uint32_t(segments.size()), uint32_t(queueAndRoom.size())};
  header.ahead_relocs = {uint32_t(relocs.size()), uint32_t(queueAndRoom.size())};
  for (auto [q, room] : queueAndRoom) {
    uint32_t at = uint32_t(code.size());
    segments.push_back({q, NBC_RING_RECV, at, 16, 1, 0});
    relocs.push_back({at, NBC_RELOC_ROOM, 0, 0, slots, room, 1});
    code.resize(code.size() + 16);
  }
}

template <class T>
static nbc_table lay(std::vector<uint8_t> &to, const std::vector<T> &entries) {
  to.resize((to.size() + 7) / 8 * 8);
  nbc_table table = {uint32_t(to.size()), uint32_t(entries.size())};
  const auto *bytes = reinterpret_cast<const uint8_t *>(entries.data());
  to.insert(to.end(), bytes, bytes + entries.size() * sizeof(T));
  return table;
}

Bytes Builder::finish() {
  std::vector<uint8_t> all(sizeof header);
  header.buffers = lay(all, buffers);
  header.peers = lay(all, peers);
  header.queues = lay(all, queues);
  header.variants = lay(all, variants);
  header.pieces = lay(all, pieces);
  header.hosts = lay(all, hosts);
  header.stages = lay(all, stages);
  header.segments = lay(all, segments);
  header.relocs = lay(all, relocs);
  header.code = lay(all, code);
  all.resize((all.size() + 7) / 8 * 8);
  header.bytes = all.size();
  std::memcpy(all.data(), &header, sizeof header);
  Bytes bytes;
  bytes.words.resize(all.size() / 8);
  std::memcpy(bytes.data(), all.data(), all.size());
  bytes.seal();
  return bytes;
}

static void credits(Builder &b, const std::vector<uint32_t> &told,
                    const std::vector<uint32_t> &waited) {
  b.beginVariant(NBC_EAGER, NBC_VARIANT_CREDIT);
  for (uint32_t p : told) {
    uint32_t cts = b.queue(NBC_QUEUE_CTS, p);
    b.send(cts, {}, false);
    b.enable(cts, 1);
  }
  for (uint32_t p : waited) {
    b.waitCredit(b.queue(NBC_QUEUE_CTS, p));
    b.receivePlain(b.queue(NBC_QUEUE_CTS, p), 1);
  }
  b.stage();
  b.endVariant();
}

Bytes allgather(uint32_t ranks, uint32_t me) {
  Builder b("everyone", NBC_ALLGATHER, ranks, me);
  uint32_t in = b.buffer(NBC_ROLE_IN), out = b.buffer(NBC_ROLE_OUT);
  uint32_t staging = b.buffer(NBC_ROLE_STAGING, 1);
  uint32_t slots = b.buffer(NBC_ROLE_SLOTS, ranks);
  std::vector<uint32_t> others;
  for (uint32_t i = 1; i < ranks; ++i) others.push_back((me + i) % ranks);

  std::vector<std::pair<uint32_t, uint32_t>> rooms;
  for (uint32_t p : others) rooms.push_back({b.queue(NBC_QUEUE_EAGER, p), p});
  b.ahead(rooms, slots);
  for (uint32_t flags : {0u, uint32_t(NBC_VARIANT_IN_PLACE)}) {
    b.beginVariant(NBC_EAGER, flags);
    uint32_t own = flags ? b.piece(out, me) : b.piece(in, 0);
    uint32_t copy = b.inRoom(staging, 0, out, me);
    b.copy(own, copy);
    for (uint32_t p : others) {
      uint32_t q = b.queue(NBC_QUEUE_EAGER, p);
      b.send(q, {copy}, true);
      b.enable(q, 1);
    }
    for (uint32_t p : others) {
      b.wait(b.queue(NBC_QUEUE_EAGER, p), NBC_SIDE_RECV, 0);
      b.wait(b.queue(NBC_QUEUE_EAGER, p), NBC_SIDE_SEND, 0);
    }
    b.stage();
    if (!flags) b.copy(own, b.piece(out, me));
    for (uint32_t p : others) b.copy(b.inRoom(slots, p, out, p), b.piece(out, p));
    b.stage();
    b.endVariant();
  }
  for (uint32_t flags : {0u, uint32_t(NBC_VARIANT_IN_PLACE)}) {
    b.beginVariant(NBC_RENDEZVOUS, flags);
    uint32_t own = flags ? b.piece(out, me) : b.piece(in, 0);
    if (!flags) b.copy(own, b.piece(out, me));
    for (uint32_t p : others) {
      uint32_t cts = b.queue(NBC_QUEUE_CTS, p);
      b.send(cts, {}, false);
      b.enable(cts, 1);
      b.receivePlain(cts, 1);
    }
    for (uint32_t p : others) {
      uint32_t data = b.queue(NBC_QUEUE_DATA, p);
      b.receive(data, {b.piece(out, p)});
      b.send(data, {own}, true);
      b.wait(b.queue(NBC_QUEUE_CTS, p), NBC_SIDE_RECV, 0);
      b.enable(data, 1);
    }
    for (uint32_t p : others) {
      b.wait(b.queue(NBC_QUEUE_DATA, p), NBC_SIDE_RECV, 0);
      b.wait(b.queue(NBC_QUEUE_DATA, p), NBC_SIDE_SEND, 0);
    }
    b.stage();
    b.endVariant();
  }
  if (ranks > 1) credits(b, others, others);
  if (ranks == 1) b.queues.clear();
  return b.finish();
}

Bytes chainAllreduce(uint32_t ranks, uint32_t me) {
  Builder b("chain", NBC_ALLREDUCE, ranks, me);
  uint32_t in = b.buffer(NBC_ROLE_IN), out = b.buffer(NBC_ROLE_OUT);
  uint32_t staging = b.buffer(NBC_ROLE_STAGING, 2), slots = b.buffer(NBC_ROLE_SLOTS, 2);
  uint32_t before = me ? b.queue(NBC_QUEUE_EAGER, me - 1) : UINT32_MAX;
  uint32_t after = me + 1 < ranks ? b.queue(NBC_QUEUE_EAGER, me + 1) : UINT32_MAX;
  std::vector<std::pair<uint32_t, uint32_t>> rooms;
  std::vector<uint32_t> others;
  if (me) rooms.push_back({before, 0}), others.push_back(me - 1);
  if (me + 1 < ranks) rooms.push_back({after, 1}), others.push_back(me + 1);
  b.ahead(rooms, slots);

  b.beginVariant(NBC_EAGER);
  uint32_t own = b.inRoom(staging, 0, out), partial = b.inRoom(staging, 1, out);
  uint32_t fromBefore = b.inRoom(slots, 0, out), fromAfter = b.inRoom(slots, 1, out);
  uint32_t result = b.piece(out, 0);
  b.copy(b.piece(in, 0), own);
  uint32_t sum = own;
  if (me) {
    b.wait(before, NBC_SIDE_RECV, 0);
    b.stage();
    b.reduce(fromBefore, own, partial);
    sum = partial;
  }
  if (me + 1 < ranks) {
    b.send(after, {sum}, true);
    b.enable(after, 1);
    b.wait(after, NBC_SIDE_SEND, 0);
    b.wait(after, NBC_SIDE_RECV, 0);
    sum = fromAfter;
  }
  if (me) {
    b.send(before, {sum}, true);
    b.enable(before, 1);
    b.wait(before, NBC_SIDE_SEND, 0);
  }
  b.stage();
  b.copy(sum, result);
  b.stage();
  b.endVariant();
  credits(b, others, others);
  return b.finish();
}

Bytes calcAllreduce(uint32_t me) {
  return vectorAllreduce(me, 1);
}

Bytes vectorAllreduce(uint32_t me, uint32_t scalars) {
  Builder b("calc", NBC_ALLREDUCE, 2, me);
  uint32_t in = b.buffer(NBC_ROLE_IN), out = b.buffer(NBC_ROLE_OUT);
  uint32_t staging = b.buffer(NBC_ROLE_STAGING, 2), slots = b.buffer(NBC_ROLE_SLOTS, 1);
  uint32_t q = b.queue(NBC_QUEUE_EAGER, 1 - me), loop = b.queue(NBC_QUEUE_LOOPBACK);
  b.ahead({{q, 0}}, slots);
  uint32_t own = b.inRoom(staging, 0, out), sum = b.inRoom(staging, 1, out);
  uint32_t other = b.inRoom(slots, 0, out), result = b.piece(out, 0), input = b.piece(in, 0);
  for (bool calc : {true, false}) {
    b.beginVariant(NBC_EAGER, calc ? NBC_VARIANT_CALC : 0, calc ? 0x7e : 0, calc ? scalars : 0);
    b.copy(input, own);
    if (calc)
      b.calc(q, {own}, 0, scalars);
    else
      b.send(q, {own}, true);
    b.enable(q, 1);
    b.wait(q, NBC_SIDE_RECV, 0);
    if (calc) {
      for (uint32_t i = 0; i < scalars; ++i) {
        b.receive(loop, {sum}, true, i);
        b.calc(loop, me ? std::vector{other, own} : std::vector{own, other}, i, 1);
      }
      b.enable(loop, scalars);
      b.wait(loop, NBC_SIDE_RECV, scalars - 1);
      b.wait(loop, NBC_SIDE_SEND, scalars - 1);
    }
    b.wait(q, NBC_SIDE_SEND, 0);
    b.stage();
    if (!calc) b.reduce(me ? other : own, me ? own : other, sum);
    b.copy(sum, result);
    b.stage();
    b.endVariant();
  }
  credits(b, {1 - me}, {1 - me});
  return b.finish();
}

Bytes partsBcast(uint32_t me, uint32_t parts) {
  Builder b("parts", NBC_BCAST, 2, me);
  uint32_t data = b.buffer(NBC_ROLE_DATA), staging = b.buffer(NBC_ROLE_STAGING, 2);
  uint32_t q = b.queue(NBC_QUEUE_DATA, 1 - me), cts = b.queue(NBC_QUEUE_CTS, 1 - me);
  uint32_t loop = b.queue(NBC_QUEUE_LOOPBACK);
  // Last part first, so that the message is not one piece of memory.
  std::vector<uint32_t> all;
  for (uint32_t i = parts; i-- > 0;) all.push_back(b.piece(data, i, 1, parts));
  b.beginVariant(NBC_RENDEZVOUS);
  if (me == 0) {
    // By way of staging: written there by the adapter, packed.
    uint32_t first = uint32_t(b.pieces.size());
    for (uint32_t i = 0; i < parts; ++i)
      b.inRoom(staging, 0, data, parts - 1 - i, 1, parts, {0, i});
    std::vector<uint32_t> packed;
    for (uint32_t i = 0; i < parts; ++i) {
      b.send(loop, {all[i]}, i + 1 == parts, MLX5_WRITE, first + i);
      packed.push_back(first + i);
    }
    b.enable(loop, parts);
    b.wait(loop, NBC_SIDE_SEND, 0);
    b.receivePlain(cts, 1);
    b.send(q, packed, true);
    b.wait(cts, NBC_SIDE_RECV, 0);
    b.enable(q, (1 + parts + 3) / 4);
    b.wait(q, NBC_SIDE_SEND, 0);
  } else {
    b.receive(q, all);
    b.send(cts, {}, false);
    b.enable(cts, 1);
    b.wait(q, NBC_SIDE_RECV, 0);
  }
  b.stage();
  b.endVariant();
  return b.finish();
}

Bytes gather(uint32_t ranks, uint32_t me) {
  Builder b("gather", NBC_GATHER, ranks, me);
  uint32_t in = b.buffer(NBC_ROLE_IN), out = b.buffer(NBC_ROLE_OUT);
  uint32_t staging = b.buffer(NBC_ROLE_STAGING, 1), slots = b.buffer(NBC_ROLE_SLOTS, ranks);
  std::vector<std::pair<uint32_t, uint32_t>> rooms;
  std::vector<uint32_t> others;
  for (uint32_t p = 1; p < ranks; ++p) others.push_back(p);
  if (me == 0) {
    for (uint32_t p : others) rooms.push_back({b.queue(NBC_QUEUE_EAGER, p), p});
    b.ahead(rooms, slots);
  }
  b.buffers[out].significant = me == 0;
  b.beginVariant(NBC_EAGER);
  if (me == 0) {
    for (uint32_t p : others) b.wait(b.queue(NBC_QUEUE_EAGER, p), NBC_SIDE_RECV, 0);
    b.stage();
    b.copy(b.piece(in, 0), b.piece(out, 0));
    for (uint32_t p : others) b.copy(b.inRoom(slots, p, out, p), b.piece(out, p));
  } else {
    uint32_t q = b.queue(NBC_QUEUE_EAGER, 0), room = b.inRoom(staging, 0, in);
    b.copy(b.piece(in, 0), room);
    b.send(q, {room}, true);
    b.enable(q, 1);
    b.wait(q, NBC_SIDE_SEND, 0);
  }
  b.stage();
  b.endVariant();
  if (me == 0)
    credits(b, others, {});
  else
    credits(b, {}, {0});
  return b.finish();
}

Bytes barrier(uint32_t me) {
  Builder b("barrier", NBC_BARRIER, 2, me);
  uint32_t q = b.queue(NBC_QUEUE_EAGER, 1 - me);
  b.header.ahead_segments = {0, 1};
  b.segments.push_back({q, NBC_RING_RECV, 0, 0, 1, 0});
  b.beginVariant(NBC_EAGER);
  b.send(q, {}, true);
  b.enable(q, 1);
  b.wait(q, NBC_SIDE_RECV, 0);
  b.wait(q, NBC_SIDE_SEND, 0);
  b.stage();
  b.endVariant();
  credits(b, {1 - me}, {1 - me});
  return b.finish();
}

}  // namespace build
