// SPDX-License-Identifier: BSD-3-Clause
// place_scratch.cpp - scratch that is over when other scratch begins is the same memory.
//
//   scratch a[1] like out[0]                         scratch a[1] like out[0]
//   scratch b[1] like out[0]
//   %0 = recv a from 1                               %0 = recv a from 1
//   %1 = copy a -> out[0] after %0                   %1 = copy a -> out[0] after %0
//   %2 = send out[0] to 2 after %1              =>   %2 = send out[0] to 2 after %1
//   %3 = reduce in with out[0] -> b after %2         %3 = reduce in with out[0] -> a after %2
//
// Two scratch buffers of one shape become one if all accesses to the first have
// finished whenever any to the second may start; so no wait is needed that is not
// there. Each buffer goes to the first that is free for it, in the order of their
// first accesses. Scratch that no step names goes away.
//
// Reach is asked about each access to the one and each to the other; a question
// costs what lies between the two at most. After kScratchSearch steps looked at per step of the
// schedule the rest is left as it is.

#include <algorithm>
#include <map>

#include "compiler/passes/passes.h"
#include "compiler/passes/remove_unused_scratch.h"

namespace nbcc {
namespace {

constexpr int64_t kScratchSearch = 64;

class Sharing {
 public:
  explicit Sharing(Schedule &s) : s_(s), reach_(s), accesses_(s.buffers.size()) {}

  void run() {
    for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()); ++i)
      for (const Section section : {s_.from(s_.steps[i]), s_.with(s_.steps[i]), s_.to(s_.steps[i])})
        for (const Extent &e : section) {
          std::vector<StepId> &all = accesses_[e.buffer];
          if (s_.buffers[e.buffer].role == Role::scratch && (all.empty() || all.back() != i))
            all.push_back(i);
        }

    std::vector<BufferId> order;
    for (size_t b = 0; b < s_.buffers.size(); ++b)
      if (!accesses_[b].empty()) order.push_back(static_cast<BufferId>(b));
    std::ranges::sort(order, {}, [&](BufferId b) { return std::pair(accesses_[b].front(), b); });

    std::vector<BufferId> to(s_.buffers.size());
    for (size_t b = 0; b < to.size(); ++b) to[b] = static_cast<BufferId>(b);
    std::map<std::pair<int64_t, size_t>, std::vector<BufferId>> homes;  // roughly by shape
    for (const BufferId b : order) {
      std::vector<BufferId> &candidates = homes[{s_.buffers[b].blocks, s_.buffers[b].like.size()}];
      const auto home = std::ranges::find_if(candidates, [&](BufferId a) { return isFree(a, b); });
      if (home == candidates.end()) {
        candidates.push_back(b);
        continue;
      }
      to[b] = *home;
      accesses_[*home] = accesses_[b];  // what was before them is behind us
    }
    share(to);
  }

 private:
  bool isFree(BufferId a, BufferId b) {
    if (s_.buffers[a].like != s_.buffers[b].like) return false;
    const std::vector<StepId> &before = accesses_[a], &after = accesses_[b];
    if (before.back() >= after.front()) return false;
    for (const StepId late : after)
      for (const StepId early : before) {
        budget_ -= late - early;
        if (budget_ < 0 || !reach_.finishedBefore(early, late)) return false;
      }
    return true;
  }

  void share(const std::vector<BufferId> &to) {
    // What a `like` names stays: it speaks of lengths, and has to come earlier.
    std::vector<std::vector<Extent>> likes;
    for (const Buffer &buffer : s_.buffers) likes.push_back(buffer.like);
    s_.renumberBuffers(to);
    for (size_t b = 0; b < likes.size(); ++b) s_.buffers[b].like = likes[b];
  }

  Schedule &s_;
  Reach reach_;
  std::vector<std::vector<StepId>> accesses_;  // to each scratch, in order
  int64_t budget_ = kScratchSearch * (static_cast<int64_t>(s_.steps.size()) + 64);
};

}  // namespace

void placeScratch(Schedule &s, const PassContext &) {
  removeUnusedScratch(s);
  if (s.order != Order::waits) return;
  const auto scratch =
      std::ranges::count(s.buffers, Role::scratch, [](const Buffer &b) { return b.role; });
  if (scratch < 2) return;
  Sharing(s).run();
  removeUnusedScratch(s);
}

}  // namespace nbcc
