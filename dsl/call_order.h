// SPDX-License-Identifier: BSD-3-Clause
// call_order.h - within dsl: things that name each other, the named ones first, and their circles.
//
//   f -> g -> h      =>      h g f;      f -> g -> f      =>      one circle, in no order
//
// By counting, not by recursion: chains of calls may be long. Cost: linear in the calls.

#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace nbcc {

template <class Node>
class CallOrder {
 public:
  /// What `from` calls, doubles allowed. Each is added once, and before order().
  void add(Node *from, std::vector<Node *> calls) {
    std::ranges::sort(calls);
    const auto doubles = std::ranges::unique(calls);
    calls.erase(doubles.begin(), doubles.end());
    open_[from] = calls.size();
    for (Node *callee : calls) callers_[callee].push_back(from);
    calls_[from] = std::move(calls);
    nodes_.push_back(from);
  }

  /// Each after those it calls. What is left over calls itself, by whatever way, or calls what
  /// does.
  std::vector<Node *> order() {
    std::vector<Node *> result;
    for (Node *node : nodes_)
      if (open_[node] == 0) result.push_back(node);
    for (size_t i = 0; i < result.size(); ++i)
      for (Node *caller : callers_[result[i]])
        if (--open_[caller] == 0) result.push_back(caller);
    return result;
  }

  bool leftOver(Node *node) const { return open_.at(node) > 0; }

  /// One of each circle, after order().
  std::vector<Node *> circles() const {
    std::vector<Node *> result;
    std::unordered_map<Node *, Node *> walkOf;  // seen, and from where
    for (Node *node : nodes_) {
      if (!leftOver(node)) continue;
      Node *at = node;
      while (!walkOf.contains(at)) {
        walkOf[at] = node;
        at = next(at);
      }
      if (walkOf[at] == node) result.push_back(at);
    }
    return result;
  }

  /// "f -> g -> f"
  template <class Name>
  std::string way(Node *start, Name &&name) const {
    std::string text = name(*start);
    Node *at = start;
    for (int shown = 0; shown == 0 || at != start; ++shown) {
      at = next(at);
      if (shown < 8)
        text += " -> " + name(*at);
      else if (shown == 8)
        text += " -> ...";
    }
    return text;
  }

 private:
  /// One that is called and left over too.
  Node *next(Node *node) const {
    return *std::ranges::find_if(calls_.at(node), [&](Node *callee) { return leftOver(callee); });
  }

  std::vector<Node *> nodes_;
  std::unordered_map<Node *, std::vector<Node *>> calls_, callers_;
  std::unordered_map<Node *, size_t> open_;  // called ones without a place in the order
};

}  // namespace nbcc
