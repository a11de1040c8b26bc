// SPDX-License-Identifier: BSD-3-Clause
// merge_sends.cpp - several sends of a round to one peer become one message.
//
//   rank 0, round 0                         rank 0, round 0
//   send out[0] to 1; send out[2] to 1  =>  send out[0], out[2] to 1
//   rank 1, round 0                         rank 1, round 0
//   recv out[0] from 0; recv out[2] from 0  recv out[0], out[2] from 0
//
// A message costs a latency, a completion and a WAIT; bytes are gathered for less.
//
// Both ends must make the same messages, each on its own. So each looks at both
// ends: the k-th send or signal of the one meets the k-th recv or await of the
// other, and neighbours are merged where they are data, of one round and one port
// at the sender, and of one round and one port at the receiver. (Where the two
// don't match at all, the program is wrong, and prove says so.) Rounds and ports
// of communication are the same before and after substitute-in-place, so it does
// not matter that the other rank's schedule is asked for as it was elaborated.
//
// The merged step stands where its first part stood. Linear, and linear in the
// peer's schedule for each peer with several messages in a round.

#include <algorithm>
#include <map>

#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

bool isData(Op op) {
  return op == Op::send || op == Op::recv;
}

struct Channel {
  int32_t peer;
  bool outgoing;
  friend auto operator<=>(const Channel &, const Channel &) = default;
};

/// Channels with more than one message of data in some round.
std::vector<Channel> crowdedChannels(const Schedule &s) {
  std::vector<Channel> crowded, round;
  for (size_t begin = 0; begin < s.steps.size();) {
    round.clear();
    size_t end = begin;
    for (; end < s.steps.size() && s.steps[end].round == s.steps[begin].round; ++end)
      if (isData(s.steps[end].op)) round.push_back({s.steps[end].peer, sends(s.steps[end])});
    std::ranges::sort(round);
    for (size_t i = 1; i < round.size(); ++i)
      if (round[i] == round[i - 1]) crowded.push_back(round[i]);
    begin = end;
  }
  std::ranges::sort(crowded);
  crowded.erase(std::unique(crowded.begin(), crowded.end()), crowded.end());
  return crowded;
}

std::vector<StepId> messages(const Schedule &s, int64_t peer, bool outgoing) {
  std::vector<StepId> result;
  for (size_t i = 0; i < s.steps.size(); ++i) {
    const Step &step = s.steps[i];
    if (step.peer == peer && sends(step) == outgoing) result.push_back(static_cast<StepId>(i));
  }
  return result;
}

bool oneMessage(const Step &a, const Step &b) {
  return isData(a.op) && isData(b.op) && a.round == b.round && a.port == b.port;
}

}  // namespace

void mergeSends(Schedule &s, const PassContext &context) {
  if (s.order != Order::rounds || !context.peer) return;

  // into[i]: the step that takes the bytes of step i behind its own.
  std::map<StepId, StepId> into;
  for (const Channel &channel : crowdedChannels(s)) {
    const Schedule *other = context.peer(channel.peer);
    if (!other) continue;
    const std::vector<StepId> here = messages(s, channel.peer, channel.outgoing);
    const std::vector<StepId> there = messages(*other, s.rank, !channel.outgoing);
    if (here.size() != there.size()) continue;
    StepId head = -1;
    for (size_t k = 0; k < here.size(); ++k) {
      if (k > 0 && oneMessage(s.steps[here[k - 1]], s.steps[here[k]]) &&
          oneMessage(other->steps[there[k - 1]], other->steps[there[k]]))
        into.emplace(here[k], head);
      else
        head = here[k];
    }
  }
  if (into.empty()) return;

  std::map<StepId, std::vector<Extent>> merged;  // by the step that stays
  for (const auto &[part, head] : into) {
    const auto section = [&](StepId i) {
      return s.steps[i].op == Op::send ? s.from(s.steps[i]) : s.to(s.steps[i]);
    };
    const auto [at, isNew] = merged.try_emplace(head);
    const auto add = [&bytes = at->second](Section more) {
      for (const Extent &e : more)
        if (e.count > 0) append(bytes, e);
    };
    if (isNew) add(section(head));
    add(section(part));
  }
  for (const auto &[head, bytes] : merged) {
    Step &step = s.steps[head];
    (step.op == Op::send ? step.from : step.to) = s.keep(bytes);
  }
  std::vector<Step> steps;
  steps.reserve(s.steps.size() - into.size());
  for (size_t i = 0; i < s.steps.size(); ++i)
    if (!into.contains(static_cast<StepId>(i))) steps.push_back(s.steps[i]);
  s.steps = std::move(steps);
}

}  // namespace nbcc
