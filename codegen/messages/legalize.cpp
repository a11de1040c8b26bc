// SPDX-License-Identifier: BSD-3-Clause
// legalize.cpp - messages become such as can be carried; what is local the host does.
//
//   %0 = copy in[3] -> out[3]            =>   %0 = copy in[3] -> out[3] by host
//   %1 = recv out[0], out[2] from 1           %1 = recv packed0 from 1
//                                             %2 = copy packed0 -> out[0], out[2] by host_after
//   %2 = send in[0], in[2] to 1               %3 = copy in[0], in[2] -> packed1 by host
//                                             %4 = send packed1 to 1 after %3
//
// A section is one run where its extents follow one another in memory for every length: neighbours
// in a room always do, neighbours in a caller's buffer unless blocks have lengths of their own.
// host_after are those steps of the host that no message needs and that need one themselves: they
// come last, so that no message waits for them.
//
// Waits stay; who waited for a step waits for all that became of it. Linear in steps and extents.

#include <algorithm>
#include <deque>

#include "codegen/common/calls.h"
#include "codegen/common/draft.h"
#include "codegen/messages/messages.h"
#include "nbc/template.h"

namespace nbcc::messages {
namespace {

using namespace codegen;

/// A template's tables are counted in 32 bits, and so are their bytes.
constexpr size_t kMostSteps = size_t{1} << 24;

/// Rounds between two messages that share a room. The second waits for the first; so late that
/// this holds up neither posting ahead nor the next round.
constexpr int32_t kRoundsApart = 2;

class Messages {
 public:
  Messages(const Schedule &s, Blocks lengths, const Carries &carries)
      : s_(s), lengths_(lengths), carries_(carries), draft_(s) {
    if (lengths == Blocks::each) return;
    for (size_t b = 0; b < s.buffers.size(); ++b)
      if (s.buffers[b].ofCaller() && (row_ < 0 || s.buffers[b].blocks > s.buffers[row_].blocks))
        row_ = static_cast<BufferId>(b);
  }

  Schedule run() {
    for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()); ++i) {
      const Step &step = s_.steps[i];
      std::vector<StepId> waits;
      for (const StepId d : s_.after(step))
        waits.insert(waits.end(), ends_.begin() + last_[d].begin,
                     ends_.begin() + last_[d].begin + last_[d].size);
      if (step.peer < 0)
        local(step, std::move(waits));
      else if (step.op == Op::send)
        send(step, std::move(waits));
      else if (step.op == Op::recv)
        receive(step, std::move(waits));
      else
        endsWith({add(step, step.op, Unit::any, {}, {}, {}, std::move(waits))});
    }
    putOff();
    return draft_.finish();
  }

 private:
  /// Who waits for the step that is looked at waits for these.
  void endsWith(std::vector<StepId> steps) {
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    last_.push_back({static_cast<uint32_t>(ends_.size()), static_cast<uint32_t>(steps.size())});
    ends_.insert(ends_.end(), steps.begin(), steps.end());
  }

  /// The runs of memory that a section is, as extents.
  std::vector<Extent> runs(Section section) const {
    std::vector<Extent> result;
    for (const Extent &e : section) {
      if (e.count == 0) continue;
      const bool apart = lengths_ == Blocks::each && s_.buffers[e.buffer].ofCaller();
      if (apart)
        result.push_back(e);
      else
        append(result, e);
    }
    return result;
  }

  /// Whether a message can be carried as it lies.
  bool fits(const Step &message, Section runs) const {
    return runs.size() <= 1 || (carries_ && carries_(message, runs.size()));
  }

  StepId add(const Step &like, Op op, Unit unit, Section from, Section with, Section to,
             std::vector<StepId> waits) {
    const StepId id = draft_.add(like, op, unit);
    Step &step = draft_.step(id);
    step.from = draft_.result.keep(from);
    step.with = draft_.result.keep(with);
    step.to = draft_.result.keep(to);
    draft_.after(id, std::move(waits));
    return id;
  }

  void local(const Step &step, std::vector<StepId> waits) {
    const std::vector<Extent> to = runs(s_.to(step));
    if (to.empty()) return endsWith(std::move(waits));  // nothing is done
    endsWith({add(step, step.op, Unit::host, runs(s_.from(step)), runs(s_.with(step)), to,
                  std::move(waits))});
  }

  /// How many whole blocks a section is, if all blocks are equally long; 0: it is not that simple.
  int64_t wholeBlocks(Section section) const {
    if (row_ < 0) return 0;
    int64_t blocks = 0;
    for (const Extent &e : resolve(s_, section)) {
      if (e.parts != 1) return 0;
      blocks += e.count;
    }
    return blocks <= s_.buffers[row_].blocks ? blocks : 0;
  }

  /// Room for a message that lies apart. Whole blocks lie in it as in a row of the caller's: one
  /// piece, and other such messages fit as well, later.
  Extent roomFor(const Step &step, Section like, std::vector<StepId> &waits) {
    const int64_t blocks = wholeBlocks(like);
    if (blocks == 0) {
      lent_.buffer = addRoom(like);
      return draft_.whole(lent_.buffer);
    }
    if (!free_.empty() && free_.front().round + kRoundsApart <= step.round) {
      lent_ = free_.front();
      free_.pop_front();
      waits.push_back(lent_.user);
    } else {
      const Extent all{row_, 1, 0, blocks};
      lent_.buffer = addRoom({&all, 1});
    }
    Buffer &room = draft_.result.buffers[lent_.buffer];
    if (room.blocks < blocks) {
      room.like[0].count = room.blocks = blocks;
      room.likeEnds.clear();
    }
    return {lent_.buffer, 1, 0, blocks};
  }

  BufferId addRoom(Section like) {
    return draft_.addRoom(cat("packed", rooms_++), Role::scratch, like);
  }

  /// The room may be used again, when this step is done.
  void giveBack(Section like, StepId user) {
    if (wholeBlocks(like) == 0) return;
    lent_.user = user;
    lent_.round = draft_.step(user).round;
    free_.push_back(lent_);
  }

  void send(const Step &step, std::vector<StepId> waits) {
    const std::vector<Extent> from = runs(s_.from(step));
    if (fits(step, from))
      return endsWith({add(step, step.op, Unit::any, from, {}, {}, std::move(waits))});
    const Extent room = roomFor(step, from, waits);
    const StepId packed = add(step, Op::copy, Unit::host, from, {}, {&room, 1}, std::move(waits));
    const StepId message = add(step, step.op, Unit::any, {&room, 1}, {}, {}, {packed});
    giveBack(from, message);
    endsWith({message});
  }

  void receive(const Step &step, std::vector<StepId> waits) {
    const std::vector<Extent> to = runs(s_.to(step));
    if (fits(step, to))
      return endsWith({add(step, step.op, Unit::any, {}, {}, to, std::move(waits))});
    const Extent room = roomFor(step, to, waits);
    const StepId message = add(step, step.op, Unit::any, {}, {}, {&room, 1}, std::move(waits));
    Step later = step;  // the message is over only in the next round
    ++later.round;
    const StepId unpacked = add(later, Op::copy, Unit::host, {&room, 1}, {}, to, {message});
    giveBack(to, unpacked);
    endsWith({unpacked});
  }

  /// Which steps of the host may come last.
  void putOff() {
    std::vector<char> behindMessage(draft_.size()), beforeMessage(draft_.size());
    for (StepId i = 0; i < draft_.size(); ++i)
      for (const StepId d : draft_.after(i))
        behindMessage[i] |= draft_.step(d).peer >= 0 || behindMessage[d];
    for (StepId i = draft_.size(); i-- > 0;) {
      Step &step = draft_.step(i);
      const bool needed = step.peer >= 0 || beforeMessage[i];
      for (const StepId d : draft_.after(i)) beforeMessage[d] |= needed;
      if (needed || !behindMessage[i]) continue;
      step.unit = Unit::host_after;
      step.round = s_.rounds;
    }
  }

  const Schedule &s_;
  const Blocks lengths_;
  const Carries &carries_;
  Draft draft_;
  BufferId row_ = -1;  // the longest row of the caller's; -1: its blocks may differ
  int rooms_ = 0;
  struct Room {
    BufferId buffer = -1;
    StepId user = -1;  // the last one
    int32_t round = 0;
  };
  Room lent_;              // to the step that is looked at
  std::deque<Room> free_;  // when their users are done
  std::vector<Run> last_;  // step -> what became of it and ends last, in ends_
  std::vector<StepId> ends_;
};

/// What one walk over the messages could not order: see messages.h. Local steps of a round come
/// before its messages, so they need no look.
bool isOrdered(const Schedule &s, const char *target, Diag &diag) {
  for (StepId i = 0; i < static_cast<StepId>(s.steps.size()); ++i) {
    const Step &step = s.steps[i];
    if (step.peer < 0) continue;
    for (const StepId d : s.after(step)) {
      if (s.steps[d].peer < 0 || s.steps[d].round < step.round) continue;
      diag.error(step.loc, target, ": step %", i, " of round ", step.round, " waits for step %", d,
                 ", a message of the same round: ranks could wait for each other for ever");
      diag.note(s.steps[d].loc, "this is step %", d);
      return false;
    }
  }
  return true;
}

bool isSmall(const Schedule &s, const char *target, Diag &diag) {
  size_t parts = s.steps.size();
  for (const Step &step : s.steps) parts += step.from.size + step.with.size + step.to.size;
  if (parts <= kMostSteps) return true;
  diag.error({}, target, ": a template holds at most ", kMostSteps,
             " steps and pieces of memory together, the schedule of rank ", s.rank, " of ", s.ranks,
             " has ", parts);
  return false;
}

}  // namespace

std::vector<Legal> legalize(const Schedule &given, const Schedule *inPlace,
                            const TargetOptions &options, const char *target,
                            const Carries &carries, Diag &diag) {
  const Calls calls(given, inPlace, options, target, diag);
  std::vector<Legal> ways;
  for (const Calls::Call &call : calls.all()) {
    if (!isOrdered(*call.schedule, target, diag) || !isSmall(*call.schedule, target, diag))
      return {};
    ways.push_back(
        {Messages(*call.schedule, options.lengths, carries).run(), NBC_RENDEZVOUS, call.flags});
  }
  return ways;
}

}  // namespace nbcc::messages
