// SPDX-License-Identifier: BSD-3-Clause
// executor.h - carries schedules out with real elements, in a random legal order.
//
// The opposite of the prover: it knows nothing of blocks and trees, it moves one
// element at a time, whichever of the operations under way the dice say. So two
// operations that may overlap do. Sends wait for their receives, or (eager) read
// their elements into a buffer and are done. Memory begins as noise.

#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/ir/schedule.h"

namespace nbcc {

/// What one element holds: which contributions, whatever their order, and the
/// same in order (words of random letters, joined; joining is associative).
struct Element {
  uint64_t sum = 0, word = 0, shift = 1;
  friend bool operator==(const Element &, const Element &) = default;
};
inline Element join(const Element &a, const Element &b) {
  return {a.sum + b.sum, a.word * b.shift + b.word, a.shift * b.shift};
}

class Executor {
 public:
  Executor(const std::vector<Schedule> &all, int64_t elements, bool eager, uint32_t seed)
      : all_(all), elements_(elements), eager_(eager), dice_(seed) {}

  /// Empty if all is as it should be; else what is not. inOrder: also combined in rank order.
  std::string run(bool inOrder) {
    for (const Schedule &s : all_) prepare(s);
    for (;;) {
      std::vector<Task *> able;
      for (Rank &rank : ranks_)
        for (Task &task : rank.tasks)
          if (canMove(rank, task)) able.push_back(&task);
      for (Rank &rank : ranks_)
        if (!rank.entered) able.push_back(&rank.entry);
      if (able.empty()) break;
      move(*able[dice_() % able.size()]);
    }
    for (const Rank &rank : ranks_)
      for (const Task &task : rank.tasks)
        if (!task.ended) return cat("rank ", task.rank, " is stuck in step ", task.step);
    if (!leftEarly_.empty()) return leftEarly_;
    return compare(inOrder);
  }

 private:
  struct Task {
    int64_t rank = 0;
    StepId step = -1;  // -1: to enter
    bool started = false, ended = false;
    Task *partner = nullptr;
    std::vector<size_t> left, right, to;  // places in the rank's memory
    std::vector<size_t> todo;             // elements that are still to be moved
    std::vector<Element> buffer;          // eager
    size_t sent = 0;
  };
  struct Rank {
    std::vector<Element> memory;
    std::vector<std::vector<size_t>> blockAt;  // by buffer and block: its first element
    std::vector<Task> tasks;
    Task entry;
    bool entered = false;
  };

  Element contribution(int64_t rank, int64_t block, int64_t element) const {
    uint64_t h = static_cast<uint64_t>(rank * 1000003 + block * 1009 + element + 1);
    for (int i = 0; i < 3; ++i) h = (h ^ h >> 31) * 0x9e3779b97f4a7c15u;
    return {h, h ^ 0x5555, 0x100000001b3u};
  }

  /// Block of a buffer -> which part of how many of a caller's block it is.
  std::pair<int64_t, int64_t> likeOf(const Schedule &s, BufferId id, int64_t block) const {
    const Buffer &b = s.buffers[id];
    if (b.like.empty()) return {0, 1};
    int64_t unit = b.like.size() == 1 && b.like[0].count == 1 ? 0 : block;
    for (const Extent &like : b.like) {
      if (unit >= like.count) {
        unit -= like.count;
        continue;
      }
      const int64_t at = like.first + unit;
      const auto [part, parts] = likeOf(s, like.buffer, at / like.parts);
      return {part * like.parts + at % like.parts, parts * like.parts};
    }
    return {0, 1};
  }
  int64_t lengthOf(const Schedule &s, BufferId id, int64_t block) const {
    const auto [part, parts] = likeOf(s, id, block);
    return elements_ * (part + 1) / parts - elements_ * part / parts;
  }

  size_t place(const Schedule &s, BufferId id, int64_t position, int64_t parts) const {
    const int64_t block = position / parts;
    const std::vector<size_t> &at = ranks_[s.rank].blockAt[id];
    if (position % parts == 0) return at[block];
    const auto [outer, of] = likeOf(s, id, block);
    return at[block] +
           static_cast<size_t>(elements_ * (outer * parts + position % parts) / (of * parts) -
                               elements_ * outer / of);
  }
  std::vector<size_t> places(const Schedule &s, Section section) const {
    std::vector<size_t> all;
    for (const Extent &e : section) {
      const size_t end = place(s, e.buffer, e.first + e.count, e.parts);
      for (size_t p = place(s, e.buffer, e.first, e.parts); p < end; ++p) all.push_back(p);
    }
    return all;
  }

  void prepare(const Schedule &s) {
    if (ranks_.empty()) ranks_.resize(all_.size());
    Rank &rank = ranks_[s.rank];
    rank.entry.rank = s.rank;
    for (size_t b = 0; b < s.buffers.size(); ++b) {
      const Buffer &buffer = s.buffers[b];
      rank.blockAt.emplace_back();
      for (int64_t i = 0; i <= buffer.blocks; ++i) {
        rank.blockAt.back().push_back(rank.memory.size());
        if (i == buffer.blocks) break;
        for (int64_t e = 0; e < lengthOf(s, static_cast<BufferId>(b), i); ++e)
          rank.memory.push_back(begins(s, buffer, i, e));
      }
    }
    rank.tasks.resize(s.steps.size());
    for (size_t i = 0; i < s.steps.size(); ++i) {
      Task &task = rank.tasks[i];
      task.rank = s.rank;
      task.step = static_cast<StepId>(i);
      const Step &step = s.steps[i];
      task.left = places(s, s.from(step));
      task.right = places(s, s.with(step));
      task.to = places(s, s.to(step));
      for (size_t e = 0; e < std::max(task.left.size(), task.to.size()); ++e)
        task.todo.push_back(e);
      std::shuffle(task.todo.begin(), task.todo.end(), dice_);
      if (step.peer < 0) continue;
      const bool sends = step.op == Op::send || step.op == Op::signal;
      auto &open = channels_[sends ? std::pair{s.rank, int64_t{step.peer}}
                                   : std::pair{int64_t{step.peer}, s.rank}];
      auto &mine = sends ? open.first : open.second;
      auto &other = sends ? open.second : open.first;
      mine.push_back(&task);
      if (other.size() >= mine.size()) {
        task.partner = other[mine.size() - 1];
        task.partner->partner = &task;
      }
    }
  }

  Element begins(const Schedule &s, const Buffer &b, int64_t block, int64_t element) {
    const bool atRoot = s.rank == s.root;
    if (b.role == Role::in && b.significant) return contribution(s.rank, block, element);
    if (b.role == Role::data && atRoot) return contribution(s.root, 0, element);
    return {dice_(), dice_(), dice_()};
  }

  const Step &step(const Task &t) const { return all_[t.rank].steps[t.step]; }

  bool canStart(const Rank &rank, const Task &task) const {
    if (!rank.entered) return false;
    const Schedule &s = all_[task.rank];
    const Step &b = s.steps[task.step];
    for (StepId i = 0; i < task.step; ++i) {
      const Step &a = s.steps[i];
      if (s.order == Order::rounds && (a.round < b.round || a.peer < 0) && !rank.tasks[i].ended)
        return false;
      const bool sameChannel =
          b.peer >= 0 && a.peer == b.peer &&
          (a.op == Op::send || a.op == Op::signal) == (b.op == Op::send || b.op == Op::signal);
      if (sameChannel && !rank.tasks[i].started) return false;
    }
    for (const StepId d : s.after(b))
      if (!rank.tasks[d].ended) return false;
    return true;
  }

  bool canMove(const Rank &rank, const Task &task) const {
    if (task.ended) return false;
    // What does not fit together never moves.
    const bool alone = !task.partner || task.partner->left.size() + task.left.size() !=
                                            task.partner->to.size() + task.to.size();
    if (step(task).peer >= 0 ? alone : task.left.size() != task.to.size()) return false;
    if (step(task).op == Op::reduce && task.right.size() != task.to.size()) return false;
    if (!task.started) return canStart(rank, task);
    const Op op = step(task).op;
    const bool sends = op == Op::send || op == Op::signal;
    if (op == Op::copy || op == Op::reduce || (eager_ && sends)) return true;
    if (eager_) return task.partner->ended;
    return !sends && task.partner->started;  // the receiver moves for both
  }

  void move(Task &task) {
    Rank &rank = ranks_[task.rank];
    if (task.step < 0) {
      rank.entered = true;
      ++entered_;
      return;
    }
    if (!task.started) {
      task.started = true;
      return;
    }
    const Op op = step(task).op;
    const bool sends = op == Op::send || op == Op::signal;
    if (!task.todo.empty()) {
      const size_t e = task.todo.back();
      task.todo.pop_back();
      if (op == Op::copy)
        rank.memory[task.to[e]] = rank.memory[task.left[e]];
      else if (op == Op::reduce)
        rank.memory[task.to[e]] = join(rank.memory[task.left[e]], rank.memory[task.right[e]]);
      else if (sends)
        task.buffer.resize(task.left.size()), task.buffer[e] = rank.memory[task.left[e]];
      else if (eager_)
        rank.memory[task.to[e]] = task.partner->buffer[e];
      else
        rank.memory[task.to[e]] = ranks_[task.partner->rank].memory[task.partner->left[e]];
      return;
    }
    task.ended = true;
    if (!sends && task.partner) task.partner->ended = true;
    for (const Task &t : rank.tasks)
      if (!t.ended) return;
    if (all_[0].kind == ast::Kind::barrier && entered_ < all_.size())
      leftEarly_ = cat("rank ", task.rank, " left before all had entered");
  }

  std::string compare(bool inOrder) const {
    for (const Schedule &s : all_)
      for (size_t b = 0; b < s.buffers.size(); ++b) {
        const Buffer &buffer = s.buffers[b];
        if ((buffer.role != Role::out && buffer.role != Role::data) || !buffer.significant)
          continue;
        for (int64_t i = 0; i < buffer.blocks; ++i)
          for (int64_t e = 0; e < elements_ && !isNobodys(s, i); ++e) {
            const size_t at = ranks_[s.rank].blockAt[b][i] + static_cast<size_t>(e);
            const Element found = ranks_[s.rank].memory[at], wanted = ends(s, i, e);
            if (inOrder ? found != wanted : found.sum != wanted.sum)
              return cat("rank ", s.rank, ": element ", e, " of ", buffer.name, "[", i, "]");
          }
      }
    return {};
  }

  static bool isNobodys(const Schedule &s, int64_t block) {
    return collective(s).hasGraph() && s.neighbors.sources[block].rank == kNobody;
  }

  Element ends(const Schedule &s, int64_t block, int64_t element) const {
    switch (s.kind) {
      case ast::Kind::allgather:
      case ast::Kind::gather:
        return contribution(block, 0, element);
      case ast::Kind::alltoall:
        return contribution(block, s.rank, element);
      case ast::Kind::scatter:
        return contribution(s.root, s.rank, element);
      case ast::Kind::bcast:
        return contribution(s.root, 0, element);
      case ast::Kind::allreduce:
      case ast::Kind::reduce:
        return joined(s.ranks, 0, element);
      case ast::Kind::reduce_scatter:
      case ast::Kind::reduce_scatter_block:
        return joined(s.ranks, s.rank, element);
      case ast::Kind::scan:
        return joined(s.rank + 1, 0, element);
      case ast::Kind::exscan:
        return joined(s.rank, 0, element);
      case ast::Kind::neighbor_allgather:
        return contribution(s.neighbors.sources[block].rank, 0, element);
      case ast::Kind::neighbor_alltoall:
        return contribution(s.neighbors.sources[block].rank, s.neighbors.sources[block].slot,
                            element);
      case ast::Kind::barrier:
      case ast::Kind::own:  // its tests look at the answer alone
        break;
    }
    return {};
  }

  /// Of ranks 0 .. ranks - 1, in this order.
  Element joined(int64_t ranks, int64_t block, int64_t element) const {
    Element all = contribution(0, block, element);
    for (int64_t r = 1; r < ranks; ++r) all = join(all, contribution(r, block, element));
    return all;
  }

  const std::vector<Schedule> &all_;
  int64_t elements_;
  bool eager_;
  std::mt19937 dice_;
  std::vector<Rank> ranks_;
  std::map<std::pair<int64_t, int64_t>, std::pair<std::vector<Task *>, std::vector<Task *>>>
      channels_;
  size_t entered_ = 0;
  std::string leftEarly_;
};

}  // namespace nbcc
