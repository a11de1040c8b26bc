// SPDX-License-Identifier: BSD-3-Clause
// traffic.h - messages at random between ranks: the template of each rank, and what it has in the
// end.
//
// Message m is as long as part m of `data`: sent from there, in one run or in several that are not
// in order, and received there. Rounds are as in any template: the receives of a round, its sends,
// then waits for some of what was posted so far.

#pragma once

#include <algorithm>
#include <random>

#include "test/runtime/messages.h"

struct Traffic {
  struct Message {
    uint32_t from, to, round;
    uint64_t first;                // byte of `data`, of `unit`
    std::vector<uint64_t> pieces;  // lengths, as sent
    uint64_t bytes;
  };
  uint32_t ranks;
  unsigned seed;
  uint64_t unit = 1;  // bytes of `data`, at least
  std::vector<Message> messages;

  /// `lengths`: of messages, to choose from.
  Traffic(uint32_t withRanks, uint32_t rounds, uint32_t count, std::vector<uint64_t> lengths,
          uint32_t mostPieces, unsigned withSeed)
      : ranks(withRanks), seed(withSeed) {
    std::mt19937 random(seed);
    for (uint32_t i = 0; i < count; ++i) {
      Message m = {};
      m.from = random() % ranks;
      m.to = (m.from + 1 + random() % (ranks - 1)) % ranks;
      m.round = i * rounds / count;
      m.first = unit;
      m.bytes = lengths[random() % lengths.size()];
      uint64_t left = m.bytes;
      for (uint32_t k = 1 + random() % mostPieces; left;) {
        uint64_t n = --k ? 1 + random() % left : left;
        m.pieces.push_back(n);
        left -= n;
        if (!left) break;
      }
      unit += m.bytes;
      messages.push_back(m);
    }
  }

  build::Bytes templateOf(uint32_t me) const {
    std::mt19937 random(seed * 100 + me);
    build::Messages t("traffic", NBC_BCAST, ranks, me);
    const uint32_t data = t.b.buffer(NBC_ROLE_DATA);
    t.beginVariant();
    std::vector<uint32_t> open;
    size_t next = 0;
    for (uint32_t round = 0; next < messages.size(); ++round) {
      const size_t begin = next;
      while (next < messages.size() && messages[next].round == round) ++next;
      for (size_t i = begin; i < next; ++i)
        if (messages[i].to == me) open.push_back(post(t, data, messages[i], false));
      for (size_t i = begin; i < next; ++i)
        if (messages[i].from == me) open.push_back(post(t, data, messages[i], true));
      std::shuffle(open.begin(), open.end(), random);
      while (!open.empty() && random() % 3) {
        t.wait(open.back());
        open.pop_back();
      }
      if (random() % 3 == 0) t.stage();
    }
    t.stage();
    t.endVariant();
    build::Bytes bytes = t.finish();
    for (uint32_t i = 0; i < bytes.header()->relocs.count; ++i) {
      nbc_reloc &r = bytes.table<nbc_reloc>(bytes.header()->relocs)[i];
      if (r.extra) r.rule = NBC_RELOC_PIECES;
    }
    return bytes;
  }

  static uint8_t byteOf(uint32_t rank, uint64_t at, unsigned salt) {
    return uint8_t(rank * 59 + at * 7 + (at >> 8) * 3 + salt * 101 + 1);
  }
  std::vector<uint8_t> before(uint32_t rank, uint64_t scale, unsigned salt) const {
    std::vector<uint8_t> data(unit * scale);
    for (uint64_t i = 0; i < data.size(); ++i) data[i] = byteOf(rank, i, salt);
    return data;
  }
  std::vector<uint8_t> after(uint32_t rank, uint64_t scale, unsigned salt) const {
    std::vector<uint8_t> data = before(rank, scale, salt);
    for (const Message &m : messages) {
      if (m.to != rank) continue;
      uint64_t at = m.first * scale, end = at + m.bytes * scale;
      // Its pieces are sent from the last to the first.
      for (size_t k = m.pieces.size(); k-- > 0;) {
        end -= m.pieces[k] * scale;
        for (uint64_t i = 0; i < m.pieces[k] * scale; ++i)
          data[at++] = byteOf(m.from, end + i, salt);
      }
    }
    return data;
  }

 private:
  uint32_t post(build::Messages &t, uint32_t data, const Message &m, bool send) const {
    const auto parts = uint32_t(unit);
    if (m.bytes == 0) return send ? t.send(m.to) : t.receive(m.from);
    if (!send) return t.receive(m.from, t.b.piece(data, m.first, m.bytes, parts));
    auto first = uint32_t(t.b.pieces.size());
    uint64_t end = m.first + m.bytes;
    for (size_t k = m.pieces.size(); k-- > 0;) {
      end -= m.pieces[k];
      t.b.piece(data, end, m.pieces[k], parts);
    }
    return t.send(m.to, first, uint32_t(m.pieces.size()) - 1);
  }
};

/// Several calls of all ranks, started when it happens, looked at when it happens.
template <class World>
void run(World &w, const Traffic &t, uint32_t calls, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<uint8_t>> data(t.ranks * calls);
  std::vector<nbc_request> requests(t.ranks * calls);
  std::vector<uint32_t> next(t.ranks), scales;
  for (uint32_t c = 0; c < calls; ++c) scales.push_back(random() % 4 ? 1 : random() % 3);
  for (uint32_t left = t.ranks * calls; left; --left) {
    uint32_t r = random() % t.ranks;
    while (next[r] == calls) r = (r + 1) % t.ranks;
    uint32_t c = next[r]++, at = r * calls + c;
    data[at] = t.before(r, scales[c], c);
    nbc_call call = {.data = data[at].data(), .count = data[at].size()};
    ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[at]), 0);
    w.fabric.run({}, {.events = random() % 20});
  }
  ASSERT_TRUE(w.finish(requests, seed)) << "seed " << seed;
  for (uint32_t r = 0; r < t.ranks; ++r)
    for (uint32_t c = 0; c < calls; ++c)
      ASSERT_TRUE(data[r * calls + c] == t.after(r, scales[c], c))
          << "rank " << r << " call " << c << " seed " << seed;
}
