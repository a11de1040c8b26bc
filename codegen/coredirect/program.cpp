// SPDX-License-Identifier: BSD-3-Clause
// program.cpp - the order of coredirect.h: what the management queue waits for, and what it then
// enables.
//
//   %0 = recv slot0 from 1                    to 1      SEND slot..      (signalled)
//   %1 = send in.staged to 1          =>      mq        SEND_EN to 1 ..1
//   %2 = send slot0 to 2 after %0                       WAIT from 1 #0
//                                                       SEND_EN to 2 ..1
//                                                       WAIT to 1 #0, WAIT to 2 #0 (signalled)
//
// One walk over the steps, round by round, receives before sends. The management
// queue is serial, so what was waited for once is done for all that follows: a
// WAIT is put only where nothing before implies it. Steps of the host are put off
// until something needs them; then what they need is waited for, the stage ends,
// and they open the next one. Those that need nothing new go into a stage that
// has been opened already.
//
// What stays within the node becomes records where the walk meets it; they stand in front of the
// stage's entries of the MQ. Posting one never blocks, so it may stand in front of what the program
// does earlier; a WAIT may not, and ends a stage that has entries.
//
// Direct: tokens first, one to each that sends to this rank; before the first send to a peer the
// WAIT for its token. On a queue pair that serves both ways the token is each end's first entry of
// a call, so it is known which completion is the token's and which are messages'.
//
// Linear in steps and waits.

#include "codegen/coredirect/program.h"

#include <algorithm>
#include <cassert>

#include "codegen/coredirect/coredirect.h"
#include "nbc/mlx5_wqe.h"

namespace nbcc::crosschannel {
namespace {

class ProgramBuilder {
 public:
  ProgramBuilder(const Legal &legal, const Connections &connections)
      : s_(legal.schedule),
        legal_(legal),
        protocol_(legal.protocol),
        eager_(legal.protocol == NBC_EAGER),
        rendezvous_(legal.protocol == NBC_RENDEZVOUS),
        direct_(legal.protocol == NBC_DIRECT),
        connections_(connections),
        states_(connections.queues.size()),
        places_(s_.steps.size()) {
    program_.queues.resize(connections.queues.size());
    program_.stages.emplace_back();
  }

  Program run() {
    std::vector<char> needed(s_.steps.size());  // by a step that does not just follow on its queue
    for (const Step &step : s_.steps)
      for (const StepId d : s_.after(step)) needed[d] = 1;
    if (direct_) queueTokens();
    queueUp(needed);
    if (rendezvous_) clearEarly();
    if (direct_) sendTokens();

    const StepId count = static_cast<StepId>(s_.steps.size());
    for (StepId i = 0; i < count;) {
      // A round's local steps, then its receives, then its sends.
      StepId end = i;
      while (end < count && s_.steps[end].round == s_.steps[i].round) ++end;
      for (StepId k = i; k < end; ++k)
        if (s_.steps[k].peer < 0) local(k);
      for (StepId k = i; k < end; ++k)
        if (receives(s_.steps[k])) receive(k);
      for (StepId k = i; k < end; ++k)
        if (sends(s_.steps[k])) send(k);
      i = end;
    }
    finish();
    return std::move(program_);
  }

 private:
  /// What a step is on its queue.
  struct Place {
    uint32_t queue = kNone;
    uint32_t completion = kNone;  // its number on the CQ of its side
    uint32_t enabled = 0;         // sends: WQEBBs up to its end
    int32_t stage = -1;           // of the host; of others once waited for: that stage
    uint32_t record = kNone;      // within the node, once it is posted
    uint8_t side = NBC_SIDE_SEND;
  };
  struct State {
    uint32_t waited[2] = {0, 0};  // completions waited for, by side
    int32_t stage[2] = {0, 0};    // where the last WAIT stands
    uint32_t cleared = 0;         // clear-to-sends enabled
    uint32_t clears = 0;          // clear-to-sends used up by sends
  };

  uint32_t queueOf(const Step &step) const {
    if (step.peer < 0) return connections_.loopback;
    return connections_.queue(direct_  ? NBC_QUEUE_DIRECT
                              : eager_ ? NBC_QUEUE_EAGER
                                       : NBC_QUEUE_DATA,
                              step);
  }

  /// Who receives from a peer sends it a token, in front of all else, and who sends gets one.
  void queueTokens() {
    for (const Step &step : s_.steps) {
      if (step.peer < 0 || staysWithin(step)) continue;
      QueueProgram &queue = program_.queues[queueOf(step)];
      if (sends(step)) {
        queue.clearToSends = 1;
      } else if (queue.sends.empty()) {
        queue.sends.push_back({-1, 1});
        queue.blocks = 1;
      }
    }
  }

  void sendTokens() {
    for (uint32_t q = 0; q < program_.queues.size(); ++q)
      if (const QueueProgram &queue = program_.queues[q];
          !queue.sends.empty() && queue.sends.front().step < 0)
        enable(q, 1);
  }

  /// Receives of a queue that are over when the last one is.
  uint32_t completionsOf(const QueueProgram &queue) const {
    return static_cast<uint32_t>(queue.receives.size()) + (direct_ ? queue.clearToSends : 0);
  }

  /// Which entries the queues hold: order within a queue is that of the steps.
  void queueUp(const std::vector<char> &needed) {
    const auto add = [&](StepId i) {
      const Step &step = s_.steps[i];
      Place &place = places_[i];
      if (byHost(step)) return;
      place.queue = queueOf(step);
      QueueProgram &queue = program_.queues[place.queue];
      if (receives(step)) {
        place.side = NBC_SIDE_RECV;
        place.completion = completionsOf(queue);
        queue.receives.push_back(i);
        if (!rendezvous_) return;
        const uint32_t cts = connections_.queue(NBC_QUEUE_CTS, step);
        program_.queues[cts].sends.push_back({-1, 1});
        program_.queues[cts].blocks += 1;
        return;
      }
      const int segments = segmentsOf(step, protocol_);
      const uint32_t posts = postsOf(step, legal_);
      queue.blocks += posts * blocksOf(segments);
      place.enabled = queue.blocks;
      Post post{i, static_cast<uint8_t>(segments)};
      if (step.op == Op::reduce) {  // its results are received
        for (; post.part + 1u < posts; ++post.part) queue.sends.push_back(post);
        queue.receives.insert(queue.receives.end(), posts, i);
        place.side = NBC_SIDE_RECV;
        place.completion = static_cast<uint32_t>(queue.receives.size() - 1);
      } else if (needed[i]) {
        post.signalled = true;
        place.completion = queue.signalled++;
      }
      queue.sends.push_back(post);
      if (step.peer >= 0 && rendezvous_)
        ++program_.queues[connections_.queue(NBC_QUEUE_CTS, step)].clearToSends;
    };
    for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()); ++i) add(i);
    for (size_t q = 0; q < program_.queues.size(); ++q) {
      QueueProgram &queue = program_.queues[q];
      if (queue.sends.empty() || connections_.queues[q].kind == NBC_QUEUE_CTS) continue;
      Post &last = queue.sends.back();
      if (last.signalled) continue;
      last.signalled = true;
      const uint32_t completion = queue.signalled++;
      if (last.step >= 0 && s_.steps[last.step].op != Op::reduce)
        places_[last.step].completion = completion;
    }
  }

  void put(Management entry) { program_.management.push_back(entry); }

  uint32_t stageBegin() const {
    return program_.stages.size() < 2 ? 0 : program_.stages[program_.stages.size() - 2].enabled;
  }

  size_t recordsBegin() const {
    return program_.stages.size() < 2 ? 0 : program_.stages[program_.stages.size() - 2].records;
  }

  void enable(uint32_t queue, uint32_t upTo) {
    std::vector<Management> &mq = program_.management;
    if (mq.size() > stageBegin() && mq.back().opcode == MLX5_SEND_EN && mq.back().queue == queue)
      mq.back().index = upTo;
    else
      put({.opcode = MLX5_SEND_EN, .queue = queue, .index = upTo});
  }

  void waitFor(uint32_t queue, uint8_t side, uint32_t completion) {
    State &state = states_[queue];
    if (state.waited[side] > completion) return;
    state.waited[side] = completion + 1;
    state.stage[side] = stage();
    // Nothing starts between WAITs that stand together: one for each CQ is enough.
    std::vector<Management> &mq = program_.management;
    for (size_t k = mq.size(); k-- > stageBegin() && mq[k].opcode == MLX5_WAIT;)
      if (mq[k].queue == queue && mq[k].side == side) {
        mq[k].index = completion;
        return;
      }
    put({.opcode = MLX5_WAIT, .side = side, .queue = queue, .index = completion});
  }

  int32_t stage() const { return static_cast<int32_t>(program_.stages.size()) - 1; }

  /// From here on the management queue stands behind the end of step d.
  void ensure(StepId d) {
    worklist_.assign(1, d);
    while (!worklist_.empty()) {
      const StepId at = worklist_.back();
      worklist_.pop_back();
      Place &place = places_[at];
      if (staysWithin(s_.steps[at])) {
        waitWithin(at);
        continue;
      }
      if (byHost(s_.steps[at])) {
        if (place.stage > stage()) endStage();
        continue;
      }
      if (place.stage >= 0) continue;
      waitFor(place.queue, place.side, place.completion);
      place.stage = states_[place.queue].stage[place.side];
      // A receive that was posted ahead has not waited for anything itself.
      if (eager_ && receives(s_.steps[at]))
        for (const StepId e : s_.after(s_.steps[at])) worklist_.push_back(e);
    }
  }

  void ensureAll(StepId i) {
    // A copy: ensure() may end the stage and come back here for its steps.
    for (const StepId d : s_.after(s_.steps[i])) ensure(d);
  }

  void local(StepId i) {
    const Step &step = s_.steps[i];
    if (step.unit == Unit::nic) {
      ensureAll(i);
      return enable(places_[i].queue, places_[i].enabled);
    }
    Place &place = places_[i];
    if (step.unit == Unit::host_before) {
      place.stage = 0;
      program_.stages[0].hosts.push_back(i);
    } else if (step.unit == Unit::host_after) {
      last_.push_back(i);
    } else {
      // The host works in the order of the steps, whichever stage they go into.
      place.stage = hosts_ = std::max(hosts_, earliest(i));
      if (place.stage <= stage())
        program_.stages[place.stage].hosts.push_back(i);
      else
        pending_.push_back(i);
    }
  }

  /// The first stage in which the host can do step i.
  int32_t earliest(StepId i) const {
    int32_t first = 0;
    for (const StepId d : s_.after(s_.steps[i])) {
      const Place &place = places_[d];
      if (byHost(s_.steps[d]) && !staysWithin(s_.steps[d]))
        first = std::max(first, place.stage);
      else if (place.stage >= 0)
        first = std::max(first, place.stage + 1);
      else
        return stage() + 1;
    }
    return first;
  }

  void endStage() {
    const std::vector<StepId> hosts = std::move(pending_);
    pending_.clear();
    std::vector<StepId> rest = std::move(worklist_);
    for (const StepId i : hosts)
      for (const StepId d : s_.after(s_.steps[i]))
        if (!byHost(s_.steps[d])) ensure(d);
    awaitWithin(hosts);
    worklist_ = std::move(rest);
    openStage();
    program_.stages.back().hosts = hosts;
    for (const StepId i : hosts) places_[i].stage = hosts_ = stage();
  }

  void openStage() {
    mark();
    const StageProgram &last = program_.stages.back();
    program_.stages.push_back({{}, last.enabled, last.records});
  }

  /// What these steps of the host need of messages within the node is known before the next stage.
  void awaitWithin(const std::vector<StepId> &hosts) {
    for (const StepId i : hosts)
      for (const StepId d : s_.after(s_.steps[i]))
        if (staysWithin(s_.steps[d])) waitWithin(d);
  }

  /// From here on, and from the stage's first entry of the MQ on, message d is over.
  void waitWithin(StepId d) {
    Place &place = places_[d];
    if (place.stage >= 0) return;
    if (program_.management.size() > stageBegin()) {
      openStage();
      for (const StepId i : pending_) places_[i].stage = hosts_ = stage() + 1;  // still behind it
    }
    program_.records.push_back({NBC_MESSAGE_WAIT, d, place.record});
    place.stage = stage();
  }

  /// A message within the node is posted, by the host, behind all it waits for.
  void post(StepId i) {
    int32_t first = 0;
    for (const StepId d : s_.after(s_.steps[i]))
      if (!byHost(s_.steps[d])) ensure(d);
    for (const StepId d : s_.after(s_.steps[i]))
      first = std::max(first, byHost(s_.steps[d]) ? places_[d].stage : places_[d].stage + 1);
    while (first > stage()) endStage();
    for (const StepId d : s_.after(s_.steps[i]))
      if (staysWithin(s_.steps[d])) waitWithin(d);
    places_[i].record = static_cast<uint32_t>(program_.records.size());
    program_.records.push_back({receives(s_.steps[i]) ? NBC_MESSAGE_RECV : NBC_MESSAGE_SEND, i});
  }

  /// The last entry of a stage is signalled: that is how the host knows.
  void mark() {
    std::vector<Management> &mq = program_.management;
    if (mq.size() > stageBegin()) {
      if (mq.back().opcode != MLX5_WAIT) put({.opcode = MLX5_NOP});
      mq.back().signalled = true;
    }
    program_.stages.back().enabled = static_cast<uint32_t>(mq.size());
    program_.stages.back().records = static_cast<uint32_t>(program_.records.size());
  }

  /// Clear-to-sends that nothing holds back, nor one before them on their queue.
  void clearEarly() {
    std::vector<char> held(connections_.queues.size());
    for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()); ++i) {
      const Step &step = s_.steps[i];
      if (!receives(step) || staysWithin(step)) continue;
      if (step.after.size > 0)
        held[places_[i].queue] = 1;
      else if (!held[places_[i].queue])
        clear(i);
    }
  }

  void receive(StepId i) {
    if (staysWithin(s_.steps[i])) return post(i);
    if (rendezvous_) clear(i);
  }

  void clear(StepId i) {
    const uint32_t cts = connections_.queue(NBC_QUEUE_CTS, s_.steps[i]);
    const uint32_t upTo = places_[i].completion + 1;
    if (states_[cts].cleared >= upTo) return;
    ensureAll(i);
    states_[cts].cleared = upTo;
    enable(cts, upTo);
  }

  void send(StepId i) {
    if (staysWithin(s_.steps[i])) return post(i);
    ensureAll(i);
    if (direct_) waitFor(places_[i].queue, NBC_SIDE_RECV, 0);
    if (rendezvous_) {
      const uint32_t cts = connections_.queue(NBC_QUEUE_CTS, s_.steps[i]);
      waitFor(cts, NBC_SIDE_RECV, states_[cts].clears++);
    }
    enable(places_[i].queue, places_[i].enabled);
  }

  /// Everything has arrived and every buffer may be used again.
  void finish() {
    for (const uint8_t side : {NBC_SIDE_RECV, NBC_SIDE_SEND})
      for (uint32_t q = 0; q < program_.queues.size(); ++q) {
        if (connections_.queues[q].kind == NBC_QUEUE_CTS) continue;
        const QueueProgram &queue = program_.queues[q];  // of messages: empty
        const uint32_t all = side == NBC_SIDE_RECV ? completionsOf(queue) : queue.signalled;
        if (all > 0) waitFor(q, side, all - 1);
      }
    std::vector<StepId> rest = std::move(pending_);
    rest.insert(rest.end(), last_.begin(), last_.end());
    awaitWithin(rest);
    mark();
    if (rest.empty()) return;
    // Nothing for the adapter to do in this stage: the host need not wait for it.
    if (program_.management.size() > stageBegin() || program_.records.size() > recordsBegin())
      openStage();
    std::vector<StepId> &hosts = program_.stages.back().hosts;
    hosts.insert(hosts.end(), rest.begin(), rest.end());
  }

  const Schedule &s_;
  const Legal &legal_;
  const uint32_t protocol_;
  const bool eager_, rendezvous_, direct_;
  const Connections &connections_;
  std::vector<State> states_;
  std::vector<Place> places_;
  std::vector<StepId> pending_;  // of the host, for the next stage
  std::vector<StepId> last_;     // of the host, when all else is done
  std::vector<StepId> worklist_;
  int32_t hosts_ = 0;  // the stage of the last step of the host
  Program program_;
};

}  // namespace

Connections::Connections(std::span<const Legal> legals, const TargetOptions &options) {
  bool rendezvous = false, adapter = false, symmetric = true;
  byWords = !deviceOf(coredirect, options).crossChannel;
  std::vector<uint32_t> within;
  std::vector<char> ways;          // rank -> bit 0: received from, bit 1: sent to
  std::vector<uint32_t> ports[2];  // receiving, sending: rank -> that of the first message
  for (const Legal &legal : legals) {
    (legal.protocol == NBC_EAGER    ? eager_
     : legal.protocol == NBC_DIRECT ? direct_
                                    : rendezvous) = true;
    ways.resize(static_cast<size_t>(legal.schedule.ranks));
    numbers_.resize(ways.size(), kNone);
    for (std::vector<uint32_t> &of : ports) of.resize(ways.size());
    for (const Step &step : legal.schedule.steps) {
      adapter |= step.unit == Unit::nic;
      if (step.peer < 0) continue;
      if (staysWithin(step)) {
        if (numbers_[step.peer] != kNone) continue;
        numbers_[step.peer] = static_cast<uint32_t>(within.size());
        within.push_back(static_cast<uint32_t>(step.peer));
        continue;
      }
      if (ways[step.peer] == 0) peers.push_back(static_cast<uint32_t>(step.peer));
      const char way = sends(step) ? 2 : 1;
      if (!(ways[step.peer] & way))
        ports[sends(step)][step.peer] = static_cast<uint32_t>(step.port);
      ways[step.peer] |= way;
    }
  }
  for (std::vector<uint32_t> &first : first_) first.assign(ways.size(), kNone);
  for (uint32_t peer : peers) symmetric &= ways[peer] == 3;
  const bool managed = !peers.empty() || adapter;
  near = within.size();
  peers.insert(peers.begin(), within.begin(), within.end());
  for (uint32_t p = 0; p < peers.size(); ++p) numbers_[peers[p]] = p;

  const auto add = [&](nbc_queue_kind kind, uint32_t peer, nbc_direction direction) {
    const bool named = peer != kNone;  // both ways: what it sends decides
    const bool sending = named && direction != NBC_FROM_PEER && (ways[peers[peer]] & 2);
    queues.push_back({static_cast<uint32_t>(kind), peer, static_cast<uint32_t>(direction),
                      named ? ports[sending][peers[peer]] : 0});
    return static_cast<uint32_t>(queues.size() - 1);
  };
  const auto connect = [&](uint32_t peer, nbc_direction direction) {
    const auto first = static_cast<uint32_t>(queues.size());
    if (direction != NBC_TO_PEER) first_[0][peers[peer]] = first;
    if (direction != NBC_FROM_PEER) first_[1][peers[peer]] = first;
    if (eager_) add(NBC_QUEUE_EAGER, peer, direction);
    add(NBC_QUEUE_CTS, peer, direction);
    if (rendezvous) add(NBC_QUEUE_DATA, peer, direction);
  };
  if (managed) management = add(NBC_QUEUE_MANAGEMENT, kNone, NBC_BOTH_WAYS);
  if (adapter) loopback = add(NBC_QUEUE_LOOPBACK, kNone, NBC_BOTH_WAYS);
  for (uint32_t p = static_cast<uint32_t>(near); p < peers.size(); ++p) {
    const char way = ways[peers[p]];
    if (byWords) {
      first_[0][peers[p]] = first_[1][peers[p]] = add(NBC_QUEUE_CHAIN, p, NBC_BOTH_WAYS);
    } else if (direct_) {
      first_[0][peers[p]] = first_[1][peers[p]] = add(NBC_QUEUE_DIRECT, p, NBC_BOTH_WAYS);
    } else if (way == 3 && symmetric && (!options.symmetric || options.symmetric(peers[p]))) {
      connect(p, NBC_BOTH_WAYS);
    } else {
      if (way & 2) connect(p, NBC_TO_PEER);
      if (way & 1) connect(p, NBC_FROM_PEER);
    }
  }
  if (near > 0) messages = add(NBC_QUEUE_MESSAGES, kNone, NBC_BOTH_WAYS);
}

uint32_t Connections::number(int64_t peer) const {
  return numbers_[static_cast<size_t>(peer)];
}

uint32_t Connections::queue(nbc_queue_kind kind, const Step &step) const {
  const uint32_t first = first_[sends(step)][step.peer];
  switch (kind) {
    case NBC_QUEUE_EAGER:
    case NBC_QUEUE_DIRECT:
    case NBC_QUEUE_CHAIN:
      return first;
    case NBC_QUEUE_CTS:
      return first + eager_;
    case NBC_QUEUE_DATA:
      return first + eager_ + 1;
    case NBC_QUEUE_MANAGEMENT:
      return management;
    case NBC_QUEUE_LOOPBACK:
      return loopback;
    case NBC_QUEUE_MESSAGES:
      return messages;
    case NBC_QUEUE_KINDS:
      break;  // none
  }
  return kNone;
}

Program programOf(const Legal &legal, const Connections &connections) {
  if (connections.byWords) return programOfWords(legal, connections);
  return ProgramBuilder(legal, connections).run();
}

Program creditsOf(const Legal &legal, const Connections &connections) {
  Program program;
  program.queues.resize(connections.queues.size());
  program.stages.emplace_back();
  for (const Step &step : legal.schedule.steps) {
    if (!receives(step) || staysWithin(step)) continue;
    const uint32_t cts = connections.queue(NBC_QUEUE_CTS, step);
    QueueProgram &queue = program.queues[cts];
    if (!queue.sends.empty()) continue;
    queue.sends.push_back({-1, 1});
    queue.blocks = 1;
    program.management.push_back({.opcode = MLX5_SEND_EN, .queue = cts, .index = 1});
  }
  for (const Step &step : legal.schedule.steps) {
    if (!sends(step) || staysWithin(step)) continue;
    const uint32_t cts = connections.queue(NBC_QUEUE_CTS, step);
    QueueProgram &queue = program.queues[cts];
    if (queue.clearToSends > 0) continue;
    queue.clearToSends = 1;
    program.management.push_back(
        {.opcode = MLX5_WAIT, .side = NBC_SIDE_RECV, .credit = true, .queue = cts});
  }
  program.stages[0].enabled = static_cast<uint32_t>(program.management.size());
  return program;
}

bool writesToPeer(const Step &step, uint32_t protocol) {
  return protocol == NBC_DIRECT && sends(step) && !staysWithin(step);
}

uint32_t postsOf(const Step &step, const Legal &legal) {
  return step.op == Op::reduce && step.unit == Unit::nic ? legal.scalars : 1;
}

int segmentsOf(const Step &step, uint32_t protocol) {
  const int data = static_cast<int>(step.from.size + step.with.size);
  return 1 + data + (step.op == Op::copy || writesToPeer(step, protocol));  // a WRITE says where to
}

}  // namespace nbcc::crosschannel
