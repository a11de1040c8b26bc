// SPDX-License-Identifier: BSD-3-Clause
// trees.h - what a reduction has combined, as trees that are stored once each.
//
//   out = tmp + out, where tmp holds 0 and out holds (1 2)  =>  (0 (1 2))
//
// A value is a small number: below `leaves` a contribution, above a pair of
// values. Equal trees have equal numbers, so moving and comparing is cheap. A
// cell's place in the vector is no part of the value: all cells share trees.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nbcc {

using Value = int32_t;
inline constexpr Value kUndefined = -1;
/// Came from something undefined, which was reported: followed, not reported again.
inline constexpr Value kTainted = -2;

class Trees {
 public:
  explicit Trees(int64_t leaves = 0) : leaves_(static_cast<Value>(leaves)) {}

  bool isLeaf(Value v) const { return v < leaves_; }
  Value leaves() const { return leaves_; }

  /// The tree of two others. Tainted where there are too many trees.
  Value combine(Value left, Value right);
  bool full() const { return full_; }

  /// How many leaves, counted as often as they occur; at most kMany.
  static constexpr int32_t kMany = 1 << 29;
  int32_t size(Value v) const { return isLeaf(v) ? 1 : pair(v).size; }

  /// Whether the leaves ascend, from first to last: the order of ranks.
  bool inOrder(Value v) const { return isLeaf(v) || pair(v).inOrder; }
  Value first(Value v) const { return isLeaf(v) ? v : pair(v).first; }
  Value last(Value v) const { return isLeaf(v) ? v : pair(v).last; }

  /// How often each leaf occurs; at most 2.
  std::vector<uint8_t> occurrences(Value) const;
  /// Whether each leaf of [first, first + count) occurs exactly once, and no other.
  /// Linear in the leaves; in all, once for each tree that is a run.
  bool isRun(Value, Value first, Value count);
  /// The same of any leaves, which are given ascending.
  bool isSet(Value, std::span<const Value> leaves);

  /// By value: a number that trees share which differ only in the order of the
  /// two operands of their nodes, as the result of + and * does not depend on it.
  std::vector<Value> upToSwaps() const;

  /// "((0 1) 2)"; of more than twelve leaves the first, in order: "3 0 1 ...".
  /// Of each leaf the rank is written: leaf / each mod ranks.
  std::string toString(Value, Value ranks = kMany, Value each = 1) const;

 private:
  struct Pair {
    Value left, right, first, last;
    int32_t size;
    bool inOrder;
  };
  const Pair &pair(Value v) const { return pairs_[v - leaves_]; }
  void grow();
  template <class Wanted>
  bool hasEachOnce(Value, Value count, Wanted);

  Value leaves_;
  std::vector<Pair> pairs_;
  std::vector<Value> table_;  // open addressing; a pair's value, 0: free
  bool full_ = false;
  std::vector<uint32_t> seen_;  // hasEachOnce: by value, in which search
  uint32_t search_ = 0;
  std::vector<Value> runFrom_;  // isRun: by value, the first leaf of those that are runs; else -1
  std::vector<Value> stack_;
};

}  // namespace nbcc
