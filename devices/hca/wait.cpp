// SPDX-License-Identifier: BSD-3-Clause
// wait.cpp - WAIT holds a queue until a CQ has had an entry, or until a word is what it says.
//
// Whoever writes a CQ's entry or, through the adapter, memory looks at those that wait for it; they
// execute their WAIT again. Words that a host writes by itself nobody tells of, so they are
// looked at again after each turn of the hosts (simulated time), or a thousand times a second.
//
// Where a WAIT finds that its word is not there, and was told not to wait, hardware has a syndrome
// that nobody says; here it is that of a local operation.

#include <algorithm>
#include <cstring>

#include "devices/hca/engine.h"

namespace hca {

uint8_t Engine::wait(QueuePair &qp, const Entry &entry) {
  switch (entry.opmod()) {
    case MLX5_WAIT_CQ:
      return waitForEntry(qp, entry);
    case MLX5_WAIT_DATA:
      return waitForWord(qp, entry);
  }
  return MLX5_LOCAL_QP_OP;
}

uint8_t Engine::waitForEntry(QueuePair &qp, const Entry &entry) {
  if (!(qp.flags & NBC_HCA_QP_CROSS_CHANNEL) || entry.segments != 2) return MLX5_LOCAL_QP_OP;
  const uint8_t *segment = entry.bytes + MLX5_SEGMENT;
  uint32_t index = mlx5_get32(segment + MLX5_CD_INDEX) & MLX5_CQ_INDEX_MASK;
  uint32_t number = mlx5_get32(segment + MLX5_CD_NUMBER) & 0xffffff;
  CompletionQueue *cq = findQueue(number);
  if (!cq || cq->adapter != qp.adapter) return MLX5_LOCAL_QP_OP;

  bool resumed = qp.waitQueue == number && qp.waitIndex == index;
  if (!mlx5_wait_satisfied(cq->producer, index)) {
    if (!resumed) record(Event::WaitBegin, qp, number, index);
    qp.waiting = true;
    qp.waitQueue = number;
    qp.waitIndex = index;
    cq->waiters.push_back(qp.number);
    return blocked;
  }
  if (resumed) record(Event::WaitEnd, qp, number, index);
  qp.waitQueue = 0;
  ++counters.waits;
  return 0;
}

uint8_t Engine::waitForWord(QueuePair &qp, const Entry &entry) {
  if (!(options.facts.waits & NBC_HCA_WAITS_DATA) || entry.segments != 3) return MLX5_LOCAL_QP_OP;
  const uint8_t *operand = entry.bytes + MLX5_SEGMENT;
  uint32_t condition = mlx5_get32(operand + MLX5_WORD_CONDITION);
  uint64_t place = mlx5_get64(operand + MLX5_WORD_ADDR);
  Watch watch = {.word = static_cast<uintptr_t>(place & ~uint64_t{7}),
                 .key = mlx5_get32(operand + MLX5_WORD_LKEY),
                 .inverted = (condition & MLX5_CONDITION_NOT) != 0};
  memcpy(&watch.value, operand + MLX5_WORD_VALUE, 8);
  memcpy(&watch.mask, operand + MLX5_WORD_MASK, 8);
  condition &= ~uint32_t{MLX5_CONDITION_NOT};
  if (condition == MLX5_CONDITION_ALWAYS)
    watch.mask = 0;
  else if (condition != MLX5_CONDITION_EQUAL)
    return MLX5_LOCAL_QP_OP;
  Span there;
  if (!check(*qp.adapter, watch.key, watch.word, 8, 0, there)) return MLX5_LOCAL_PROT;

  const auto shown = static_cast<uint32_t>(__builtin_bswap64(watch.value));
  bool resumed = qp.watch.word == watch.word;
  if (!holds(*qp.adapter, watch)) {
    if (place & 7) return MLX5_LOCAL_QP_OP;  // not to wait
    if (!resumed) record(Event::WaitBegin, qp, 0, shown);
    qp.waiting = true;
    qp.watch = watch;
    qp.adapter->watchers.emplace(watch.word, qp.number);
    ++watching;
    return blocked;
  }
  if (resumed) record(Event::WaitEnd, qp, 0, shown);
  qp.watch = {};
  ++counters.waits;
  return 0;
}

/// Memory that is not registered any more is not looked at: who executes the WAIT finds that out.
bool Engine::holds(const Adapter &adapter, const Watch &watch) {
  Span word;
  if (!check(adapter, watch.key, watch.word, 8, 0, word)) return true;
  uint64_t there = __atomic_load_n(reinterpret_cast<uint64_t *>(word.at), __ATOMIC_ACQUIRE);
  return (((there ^ watch.value) & watch.mask) == 0) != watch.inverted;
}

/// It has failed, or is destroyed.
void Engine::stopWaiting(QueuePair &qp) {
  if (!qp.waiting) return;
  qp.waiting = false;
  if (qp.watch.word) {
    auto [w, end] = qp.adapter->watchers.equal_range(qp.watch.word);
    while (w != end && w->second != qp.number) ++w;
    if (w == end) return;
    qp.adapter->watchers.erase(w);
    --watching;
  } else if (CompletionQueue *cq = findQueue(qp.waitQueue)) {
    std::erase(cq->waiters, qp.number);
  }
}

/// Whoever waits for this word and finds it goes on.
void Engine::look(Adapter &adapter, uintptr_t word) {
  auto [w, end] = adapter.watchers.equal_range(word);
  while (w != end) {
    QueuePair &qp = *find(w->second);
    if (!holds(adapter, qp.watch)) {
      ++w;
      continue;
    }
    w = adapter.watchers.erase(w);
    --watching;
    qp.waiting = false;
    wake(qp);
  }
}

/// The adapter has written there.
void Engine::changed(Adapter &adapter, const Span &written) {
  if (adapter.watchers.empty() || written.bytes == 0) return;
  const auto begin = reinterpret_cast<uintptr_t>(written.at) & ~uintptr_t{7};
  const uintptr_t end = reinterpret_cast<uintptr_t>(written.at) + written.bytes;
  if ((end - begin) / 8 <= adapter.watchers.size()) {
    for (uintptr_t word = begin; word < end; word += 8) look(adapter, word);
    return;
  }
  std::vector<uintptr_t> words;
  for (const auto &[word, number] : adapter.watchers)
    if (word >= begin && word < end) words.push_back(word);
  for (uintptr_t word : words) look(adapter, word);
}

void Engine::changed(Adapter &adapter, const Spans &written) {
  for (int i = 0; i < written.count; ++i) changed(adapter, written.span[i]);
}

/// Hosts may have written them.
void Engine::lookAtWords() {
  if (watching == 0) return;
  for (const auto &adapter : adapters) {
    if (!adapter) continue;
    std::vector<uintptr_t> words;
    for (const auto &[word, number] : adapter->watchers) words.push_back(word);
    for (uintptr_t word : words) look(*adapter, word);
  }
}

}  // namespace hca
