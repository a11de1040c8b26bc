// SPDX-License-Identifier: BSD-3-Clause
// Any program that keeps to the rules ends with what it would have if all were done at once.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "test/devices/sisci/rig.h"

using namespace sisci;

namespace {

constexpr uint32_t ranks = 3;
constexpr size_t region = 5000 / 8 * 8, everything = region * ranks;

/// What one rank does to its own region of one segment; of which rank, and what, follow from
/// numbers.
struct Action {
  enum Kind { Store, Copy, Dma, Take, Events, kinds };
  uint32_t kind, rank, target, offset, size, value;
  bool watched;
};
std::ostream &operator<<(std::ostream &out, const Action &a) {
  return out << "{" << a.kind << ", " << a.rank << ", " << a.target << ", " << a.offset << ", "
             << a.size << ", " << a.value << ", " << a.watched << "}";
}

rc::Gen<Action> anAction() {
  auto below = [](uint32_t n) { return rc::gen::inRange(0u, n); };
  return rc::gen::build<Action>(
      rc::gen::set(&Action::kind, below(Action::kinds)), rc::gen::set(&Action::rank, below(ranks)),
      rc::gen::set(&Action::target, below(ranks)), rc::gen::set(&Action::offset, below(region)),
      rc::gen::set(&Action::size, below(600)), rc::gen::set(&Action::value, below(256)),
      rc::gen::set(&Action::watched));
}

struct World {
  Rig rig;
  std::vector<uint8_t *> memory, source;
  std::vector<sci_local_segment_t> own;
  std::vector<sci_dma_queue_t> queues;
  std::vector<std::vector<sci_remote_segment_t>> remote;
  std::vector<std::vector<std::unique_ptr<Far<uint8_t>>>> far;
  std::vector<std::vector<uint8_t>> model;

  explicit World(const Options &o) : rig(o, ranks), remote(ranks), far(ranks) {
    for (uint32_t r = 0; r < ranks; ++r) {
      memory.push_back(mapped<uint8_t>(rig.exported(r, 1, everything), everything));
      own.push_back(rig.prepared(r, 2, everything, SCI_FLAG_PRIVATE));
      source.push_back(mapped<uint8_t>(own[r], everything));
      queues.push_back(rig.queue(r));
      model.emplace_back(everything);
    }
    for (uint32_t r = 0; r < ranks; ++r)
      for (uint32_t t = 0; t < ranks; ++t) {
        remote[r].push_back(rig.connected(r, t, 1));
        far[r].push_back(std::make_unique<Far<uint8_t>>(remote[r][t], everything));
      }
  }

  /// The bytes of an action: its own, and the same value often enough.
  static uint8_t byte(const Action &a, size_t i) {
    return static_cast<uint8_t>(a.value % 4 == 0 ? a.value : a.value + i);
  }

  void stores(const Action &a, size_t begin, size_t n) {
    Far<uint8_t> &f = *far[a.rank][a.target];
    if (a.kind == Action::Store) {
      for (size_t i = 0; i < n; ++i) f.memory[begin + i] = byte(a, i);
      return;
    }
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < n; ++i) bytes.push_back(byte(a, i));
    SCIMemCpy(f.sequence, bytes.data(), f.map, begin, n, 0, Ok());
  }

  void storeWatched(const Action &a, size_t begin, size_t n) {
    sci_sequence_t s = far[a.rank][a.target]->sequence;
    sci_sequence_status_t status = SCI_SEQ_NOT_RETRIABLE;
    while (status != SCI_SEQ_OK) {
      if (status == SCI_SEQ_NOT_RETRIABLE)
        while (SCIStartSequence(s, 0, Ok()) != SCI_SEQ_OK) {
        }
      stores(a, begin, n);
      do status = SCICheckSequence(s, 0, Ok());
      while (status == SCI_SEQ_PENDING);
    }
  }

  void transfer(const Action &a, size_t begin, size_t n) {
    for (size_t i = 0; i < n; ++i) source[a.rank][begin + i] = byte(a, i);
    sci_sequence_t s = far[a.rank][a.target]->sequence;
    SCIStoreBarrier(s, 0);
    while (SCICheckSequence(s, 0, Ok()) == SCI_SEQ_PENDING) {
    }
    const auto half = static_cast<unsigned>(n / 16 * 8), rest = static_cast<unsigned>(n) - half;
    const auto at = static_cast<unsigned>(begin);
    dis_dma_vec_t parts[] = {{rest, at + half, at + half, 0}, {half, at, at, 0}};
    do
      SCIStartDmaTransferVec(queues[a.rank], own[a.rank], remote[a.rank][a.target], half ? 2 : 1,
                             parts, nullptr, nullptr, 0, Ok());
    while (SCIWaitForDMAQueue(queues[a.rank], SCI_INFINITE_TIMEOUT, 0, Ok()) != SCI_DMAQUEUE_DONE);
  }

  void act(const Action &a) {
    size_t offset = a.offset, size = std::min<size_t>(a.size, region - offset);
    if (a.kind == Action::Dma) offset -= offset % 8, size = size / 8 * 8;
    const size_t begin = a.rank * region + offset;
    if (a.kind == Action::Events)
      rig.fabric->run({}, {.events = a.size % 7});
    else if (a.kind == Action::Take)  // the owner stores to its own region, at once
      for (size_t i = 0; i < size; ++i) memory[a.rank][begin + i] = byte(a, i);
    else if (a.kind == Action::Dma && size)
      transfer(a, begin, size);
    else if (size && a.watched)
      storeWatched(a, begin, size);
    else if (size)
      stores(a, begin, size);
    const uint32_t target = a.kind == Action::Take ? a.rank : a.target;
    if (a.kind != Action::Events)
      for (size_t i = 0; i < size; ++i) model[target][begin + i] = byte(a, i);
  }

  void finish() {
    for (auto &row : far)
      for (auto &f : row) SCIStoreBarrier(f->sequence, 0);
    rig.fabric->run();
  }
};

void check(const Options &base) {
  EXPECT_TRUE(rc::check("memories are the model's", [&](uint16_t seed) {
    Options o = base;
    o.seed = seed + 1u;
    o.adversarial = true;
    o.faults = 6;
    auto actions = *rc::gen::container<std::vector<Action>>(anAction());
    std::erase_if(actions, [](const Action &a) {
      return a.target == a.rank && a.kind != Action::Take && a.kind != Action::Events;
    });
    World w(o);
    for (const Action &a : actions) w.act(a);
    w.finish();
    for (uint32_t r = 0; r < ranks; ++r)
      for (size_t i = 0; i < everything; ++i)
        if (w.memory[r][i] != w.model[r][i])
          RC_FAIL("rank " + std::to_string(r) + ", byte " + std::to_string(i) + ": " +
                  std::to_string(w.memory[r][i]) + ", not " + std::to_string(w.model[r][i]));
  }));
}

TEST(Model, isMetInSimulatedTime) {
  check(simulated());
}

TEST(Model, isMetInRealTime) {
  check(realTime());
}

}  // namespace
