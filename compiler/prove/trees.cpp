// SPDX-License-Identifier: BSD-3-Clause
// trees.cpp - stores each tree once, in a table of pairs; a pair comes after its operands.

#include "compiler/prove/trees.h"

#include <algorithm>

namespace nbcc {

namespace {

constexpr size_t kMostPairs = size_t{1} << 26;

uint64_t hash(Value left, Value right) {
  const uint64_t key =
      static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  const uint64_t mixed = key * 0x9e3779b97f4a7c15u;
  return mixed ^ mixed >> 32;
}

/// Where (left, right) is in the table, or would be. `pairOf` looks a value up.
template <class PairOf>
size_t slot(const std::vector<Value> &table, Value left, Value right, PairOf pairOf) {
  size_t at = hash(left, right) & (table.size() - 1);
  while (table[at] != 0) {
    const auto &p = pairOf(table[at]);
    if (p.left == left && p.right == right) break;
    at = (at + 1) & (table.size() - 1);
  }
  return at;
}

}  // namespace

void Trees::grow() {
  table_.assign(std::max<size_t>(64, table_.size() * 2), 0);
  const auto pairOf = [&](Value v) -> const Pair & { return pair(v); };
  for (size_t i = 0; i < pairs_.size(); ++i)
    table_[slot(table_, pairs_[i].left, pairs_[i].right, pairOf)] = leaves_ + static_cast<Value>(i);
}

Value Trees::combine(Value left, Value right) {
  if (left < 0 || right < 0) return kTainted;
  if (table_.size() < 2 * (pairs_.size() + 1)) grow();

  const size_t at = slot(table_, left, right, [&](Value v) -> const Pair & { return pair(v); });
  if (table_[at] != 0) return table_[at];
  if (pairs_.size() >= kMostPairs) {
    full_ = true;
    return kTainted;
  }
  const bool inOrder = this->inOrder(left) && this->inOrder(right) && last(left) < first(right);
  pairs_.push_back(
      {left, right, first(left), last(right), std::min(size(left) + size(right), kMany), inOrder});
  return table_[at] = leaves_ + static_cast<Value>(pairs_.size() - 1);
}

std::vector<uint8_t> Trees::occurrences(Value root) const {
  std::vector<uint8_t> often(static_cast<size_t>(root) + 1, 0);
  often[root] = 1;
  for (Value v = root; v >= leaves_; --v)  // operands come before their pair
    if (often[v] != 0)
      for (const Value operand : {pair(v).left, pair(v).right})
        often[operand] = static_cast<uint8_t>(std::min(2, often[operand] + often[v]));
  often.resize(static_cast<size_t>(leaves_), 0);
  return often;
}

bool Trees::isRun(Value root, Value first, Value count) {
  if (size(root) != count) return false;
  // As many ascending numbers as fit between the two: all of them.
  if (inOrder(root)) return this->first(root) == first && last(root) == first + count - 1;
  runFrom_.resize(static_cast<size_t>(leaves_) + pairs_.size(), -1);
  if (runFrom_[root] >= 0) return runFrom_[root] == first;
  if (!hasEachOnce(root, count, [=](Value v) { return v >= first && v - first < count; }))
    return false;
  runFrom_[root] = first;
  return true;
}

bool Trees::isSet(Value root, std::span<const Value> leaves) {
  const auto count = static_cast<Value>(leaves.size());
  if (leaves.back() - leaves.front() == count - 1) return isRun(root, leaves.front(), count);
  return size(root) == count &&
         hasEachOnce(root, count, [=](Value v) { return std::ranges::binary_search(leaves, v); });
}

/// Of a tree of `count` leaves: all of them wanted, and no two the same.
template <class Wanted>
bool Trees::hasEachOnce(Value root, Value count, Wanted isWanted) {
  seen_.resize(static_cast<size_t>(leaves_) + pairs_.size(), 0);
  ++search_;
  Value distinct = 0;
  stack_.assign(1, root);
  while (!stack_.empty()) {
    const Value v = stack_.back();
    stack_.pop_back();
    if (seen_[v] == search_) continue;
    seen_[v] = search_;
    if (isLeaf(v)) {
      if (!isWanted(v)) return false;
      ++distinct;
    } else {
      stack_.push_back(pair(v).left);
      stack_.push_back(pair(v).right);
    }
  }
  return distinct == count;
}

std::vector<Value> Trees::upToSwaps() const {
  struct Sorted {
    Value left, right;
  };
  std::vector<Value> like(static_cast<size_t>(leaves_) + pairs_.size());
  std::vector<Sorted> sorted(like.size());
  std::vector<Value> table(std::max<size_t>(64, table_.size()), 0);
  for (Value v = 0; v < leaves_; ++v) like[v] = v;
  for (auto v = leaves_; v < static_cast<Value>(like.size()); ++v) {
    const auto [left, right] = std::minmax(like[pair(v).left], like[pair(v).right]);
    sorted[v] = {left, right};
    Value &entry =
        table[slot(table, left, right, [&](Value w) -> const Sorted & { return sorted[w]; })];
    if (entry == 0) entry = v;
    like[v] = entry;
  }
  return like;
}

std::string Trees::toString(Value root, Value ranks, Value each) const {
  constexpr int kMostLeaves = 12;
  const bool nested = size(root) <= kMostLeaves;  // else only the leaves, in order
  constexpr Value kClose = -1, kSpace = -2;

  std::string text;
  int leaves = 0;
  std::vector<Value> todo{root};
  while (!todo.empty()) {
    const Value v = todo.back();
    todo.pop_back();
    if (v == kClose) {
      text += ')';
    } else if (v == kSpace) {
      text += ' ';
    } else if (isLeaf(v)) {
      if (++leaves > kMostLeaves) return text + "...";
      text += std::to_string(v / each % ranks);
      if (!nested) text += ' ';
    } else if (nested) {
      text += '(';
      todo.insert(todo.end(), {kClose, pair(v).right, kSpace, pair(v).left});
    } else {
      todo.insert(todo.end(), {pair(v).right, pair(v).left});
    }
  }
  return text;
}

}  // namespace nbcc
