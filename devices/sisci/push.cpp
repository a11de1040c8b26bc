// SPDX-License-Identifier: BSD-3-Clause
// push.cpp - what was stored into a map goes to the remote memory: at a barrier, or early.
//
// All that one barrier pushes arrives before anything that the next one does; within, words go in
// any order. In simulated time they go in a few groups, each with a time of its own.

#include <algorithm>
#include <numeric>

#include "devices/sisci/engine.h"

namespace sisci {

namespace {
constexpr size_t mostGroups = 8;
}  // namespace

void Network::push(Map &map, bool risky) {
  Shadow &shadow = *map.shadow;
  while (!shadow.underWay.empty() && shadow.underWay.front()->left == 0)
    shadow.underWay.pop_front();
  std::shared_ptr<Batch> batch = shadow.take();
  if (batch->words.empty()) return;
  Adapter &from = *map.remote->adapter;
  const uint64_t bytes = batch->words.size() * sizeof(uint64_t);
  ++counters.stores;
  counters.storedBytes += bytes;

  const bool watched = std::ranges::any_of(map.sequences, &Sequence::started);
  if (risky && watched && misfortune()) {
    const size_t first = below(batch->words.size()), before = batch->words.size();
    std::vector<Word> kept;
    for (size_t i = 0; i < before; ++i)
      if (i != first && below(2)) kept.push_back(batch->words[i]);
    counters.lost += before - kept.size();
    batch = shadow.batchOf(std::move(kept));
    for (Sequence *sequence : map.sequences) sequence->lost |= sequence->started;
  }

  Group order(batch->words.size());
  std::iota(order.begin(), order.end(), 0u);
  if (options.adversarial) std::ranges::shuffle(order, generator);
  if (!simulated) {
    for (uint32_t i : order) batch->arrive(batch->words[i]);
    return;
  }
  busy(from, options.cost.store + static_cast<Time>(bytes) * options.cost.storeByte);
  const Time earliest = std::max(from.hostFree + options.cost.latency, shadow.fence);
  const size_t groups = options.adversarial ? std::min(mostGroups, order.size()) : 1;
  for (size_t g = 0; g < groups; ++g) {
    const Time at = earliest + late();
    shadow.newest = std::max(shadow.newest, at);
    Group group(order.begin() + static_cast<ptrdiff_t>(order.size() * g / groups),
                order.begin() + static_cast<ptrdiff_t>(order.size() * (g + 1) / groups));
    schedule(at, [this, batch, group = std::move(group), node = map.remote->node, sent = now,
                  rank = from.rank, bytes, last = g + 1 == groups] {
      for (uint32_t i : group) batch->arrive(batch->words[i]);
      const Adapter *to = adapterOf(node);
      if (!to) return;
      changed.push_back(to->rank);
      if (last && options.trace) moved.push_back({rank, to->rank, sent, now, bytes, false});
    });
  }
  shadow.fence = shadow.newest;
  if (batch->left) shadow.underWay.push_back(std::move(batch));
}

/// Only where nothing that a barrier has pushed is still to come.
void Network::leakSomewhere() {
  if (shadows.empty()) return;
  Map &map = *shadows[below(shadows.size())];
  Shadow &shadow = *map.shadow;
  if (simulated && now < shadow.fence) return;
  std::vector<Word> words;
  shadow.takeSome(1 + below(64), [this](uint64_t n) { return below(n); }, words);
  if (words.empty()) return;
  counters.early += words.size();
  std::ranges::shuffle(words, generator);
  std::shared_ptr<Batch> batch = shadow.batchOf(std::move(words));
  for (Word &w : batch->words) batch->arrive(w);
  if (const Adapter *to = simulated ? adapterOf(map.remote->node) : nullptr)
    changed.push_back(to->rank);
}

}  // namespace sisci
