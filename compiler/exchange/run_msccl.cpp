// SPDX-License-Identifier: BSD-3-Clause
// run_msccl.cpp - lets all thread blocks of all gpus run, until nothing moves any more.
//
// A step starts when the one before it has ended, the one that it names has, there is a
// message to receive, and room in the queue to send. Whatever the order in which thread
// blocks are let run, the same steps end (each only ever makes more possible), so one
// run decides; its order is what schedules are made in. If steps are left, who waits
// for whom is followed until it closes. Linear in the steps, and in the thread blocks of
// a gpu for each step that others wait for.

#include <algorithm>

#include "compiler/exchange/msccl_stages.h"

namespace nbcc {
namespace {

class Running {
 public:
  Running(const MscclNet &net, Diag &diag)
      : net_(net), diag_(diag), next_(net.blocks.size(), 0), inQueue_(net.connections.size(), 0) {}

  std::optional<std::vector<int32_t>> run() {
    goOn();
    for (int32_t b = 0; b < blocks(); ++b) {
      if (done(b)) continue;
      reportDeadlock(b);
      return std::nullopt;
    }
    return std::move(order_);
  }

 private:
  int32_t blocks() const { return static_cast<int32_t>(net_.blocks.size()); }
  const MscclStep &step(int32_t b) const { return net_.blocks[b].block->steps[next_[b]]; }
  bool done(int32_t b) const { return next_[b] == net_.blocks[b].block->steps.size(); }

  /// Who has gone on wakes those who may wait for it.
  void goOn() {
    std::vector<int32_t> ready;
    for (int32_t b = blocks(); b-- > 0;) ready.push_back(b);
    while (!ready.empty()) {
      const int32_t b = ready.back();
      const MscclEnds &ends = net_.blocks[b];
      ready.pop_back();
      bool moved = false, told = false;
      for (; !done(b) && canStart(b); moved = true) {
        told = told || step(b).awaited;
        carryOut(b);
      }
      if (!moved) continue;
      if (ends.out >= 0) wake(net_.connections[ends.out].receiver, ready);
      if (ends.in >= 0) wake(net_.connections[ends.in].sender, ready);
      if (!told) continue;
      const size_t gpu = static_cast<size_t>(ends.gpu);
      for (int32_t i = net_.firstBlock[gpu]; i < net_.firstBlock[gpu + 1]; ++i) ready.push_back(i);
    }
  }

  static void wake(int32_t b, std::vector<int32_t> &ready) {
    if (b >= 0) ready.push_back(b);
  }

  bool waits(int32_t b) const {
    return step(b).block >= 0 &&
           next_[net_.waitedFor(net_.blocks[b].gpu, step(b))] <= static_cast<size_t>(step(b).step);
  }
  bool isEmpty(int32_t connection) const { return inQueue_[connection] == 0; }
  bool isFull(int32_t connection) const { return inQueue_[connection] == kMscclQueue; }

  bool canStart(int32_t b) const {
    const MscclEnds &ends = net_.blocks[b];
    return !waits(b) && !(step(b).receives() && isEmpty(ends.in)) &&
           !(step(b).sends() && isFull(ends.out));
  }

  void carryOut(int32_t b) {
    const MscclEnds &ends = net_.blocks[b];
    if (step(b).receives()) --inQueue_[ends.in];
    if (step(b).sends()) ++inQueue_[ends.out];
    order_.push_back(b);
    ++next_[b];
  }

  int32_t blocker(int32_t b) const {
    const MscclEnds &ends = net_.blocks[b];
    if (waits(b)) return net_.waitedFor(ends.gpu, step(b));
    if (step(b).receives() && isEmpty(ends.in)) return net_.connections[ends.in].sender;
    return net_.connections[ends.out].receiver;
  }

  void reportDeadlock(int32_t first) {
    std::vector<int32_t> path;
    for (int32_t b = first;; b = blocker(b)) {
      const auto again = std::find(path.begin(), path.end(), b);
      if (again == path.end()) {
        path.push_back(b);
        continue;
      }
      path.erase(path.begin(), again);
      break;
    }
    std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
    diag_.error(step(path[0]).loc, "deadlock of ", path.size(),
                path.size() == 1 ? " thread block: " : " thread blocks: ", reason(path[0]));
    constexpr size_t kMostNotes = 8;
    for (size_t i = 1; i < path.size() && i <= kMostNotes; ++i)
      diag_.note(step(path[i]).loc, reason(path[i]));
  }

  std::string reason(int32_t b) const {
    const MscclEnds &ends = net_.blocks[b];
    const std::string who = cat("thread block ", ends.block->id, " of gpu ", ends.gpu);
    if (waits(b))
      return cat(who, " waits for step ", step(b).step, " of thread block ",
                 net_.blocks[net_.waitedFor(ends.gpu, step(b))].block->id);
    if (step(b).receives() && isEmpty(ends.in)) {
      const MscclConnection &c = net_.connections[ends.in];
      return cat(who, " waits for message ", before(b, &MscclStep::receives), " from gpu ", c.from,
                 " on channel ", c.channel);
    }
    const MscclConnection &c = net_.connections[ends.out];
    return cat(who, " cannot send message ", before(b, &MscclStep::sends), " to gpu ", c.to,
               " on channel ", c.channel, ": ", kMscclQueue, " wait in the queue already");
  }

  /// How many such steps it has carried out.
  int64_t before(int32_t b, bool (MscclStep::*wanted)() const) const {
    const std::vector<MscclStep> &steps = net_.blocks[b].block->steps;
    return std::count_if(steps.begin(), steps.begin() + static_cast<ptrdiff_t>(next_[b]),
                         [&](const MscclStep &s) { return (s.*wanted)(); });
  }

  const MscclNet &net_;
  Diag &diag_;
  std::vector<size_t> next_;      // by thread block: its next step
  std::vector<int64_t> inQueue_;  // by connection: messages
  std::vector<int32_t> order_;
};

}  // namespace

std::optional<std::vector<int32_t>> runMsccl(const MscclNet &net, Diag &diag) {
  return Running(net, diag).run();
}

}  // namespace nbcc
