// SPDX-License-Identifier: BSD-3-Clause
// program_words.cpp - the order of coredirect.h where adapters wait for words of memory: each queue
// waits for what its own next entry needs, and nothing enables anything.
//
//   %0 = recv out[1] from 1                 to 1    WRITE clear 0
//   %1 = send in to 1                               WAIT clear 0 | SEND in | WRITE message 0 | READ
//   %2 = send out[1] to 2 after %0    =>    to 2    WAIT message 0 of 1 | WAIT clear 0 | SEND ...
//                                           mq      WAIT message 0 of 1, answers (signalled)
//
// One walk over the steps, round by round, local ones first, then clear-to-sends, then sends. What
// a queue has waited for once is done for all that follows on it; the others know nothing of it. So
// each queue has a part of what one management queue would wait for, in its order, and where that
// one cannot deadlock, these cannot.
//
// The management queue is for the host alone: it waits for what ends a stage, and tells the others
// when the host has done its work. Steps of the host are put off until something needs them.
//
// Linear in steps and waits.

#include <algorithm>
#include <cassert>
#include <unordered_map>

#include "codegen/coredirect/program.h"

namespace nbcc::crosschannel {
namespace {

constexpr uint8_t kWaitSegments = 3, kTellSegments = 3, kAskSegments = 3;

class WordsBuilder {
 public:
  WordsBuilder(const Legal &legal, const Connections &connections)
      : s_(legal.schedule),
        protocol_(legal.protocol),
        connections_(connections),
        waited_(connections.queues.size()),
        places_(s_.steps.size()),
        received_(connections.queues.size()),
        cleared_(connections.queues.size()),
        answers_(connections.queues.size()) {
    program_.queues.resize(connections.queues.size());
    program_.stages.emplace_back();
  }

  Program run() {
    number();
    clearEarly();
    const StepId count = static_cast<StepId>(s_.steps.size());
    for (StepId i = 0; i < count;) {
      // A round's local steps, then its receives, then its sends.
      StepId end = i;
      while (end < count && s_.steps[end].round == s_.steps[i].round) ++end;
      for (StepId k = i; k < end; ++k)
        if (s_.steps[k].peer < 0) local(k);
      for (StepId k = i; k < end; ++k)
        if (receives(s_.steps[k])) clear(k);
      for (StepId k = i; k < end; ++k)
        if (s_.steps[k].peer >= 0 && !receives(s_.steps[k])) send(k);
      i = end;
    }
    finish();
    return std::move(program_);
  }

 private:
  struct Place {
    uint32_t queue = kNone;
    uint32_t number = 0;  // of a message on its queue, by direction
    uint32_t done = 0;    // sends: the answer, copies: the word, that says so
    bool needed = false;  // sends, copies: somebody waits for that
    int32_t stage = -1;   // of the host; of others once the host's queue has waited for them
  };

  // --- Which entries there are -------------------------------------------------

  void number() {
    for (const Step &step : s_.steps)
      for (const StepId d : s_.after(step)) places_[d].needed = true;
    std::vector<uint32_t> sent(connections_.queues.size());
    std::vector<StepId> last(sent.size(), -1);  // send, copy
    for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()); ++i) {
      const Step &step = s_.steps[i];
      Place &place = places_[i];
      if (byHost(step)) continue;
      assert(step.op != Op::reduce && "such adapters do not reduce");
      const bool copy = step.peer < 0;
      const uint32_t q = place.queue =
          copy ? connections_.loopback : connections_.queue(NBC_QUEUE_CHAIN, step);
      if (receives(step)) {
        place.number = received_[q]++;
        if (step.to.size > 0) program_.queues[q].receives.push_back(i);
        continue;
      }
      if (!copy) place.number = sent[q]++;
      last[q] = i;
    }
    for (const StepId i : last)
      if (i >= 0) places_[i].needed = true;
  }

  void put(uint32_t q, Post post) {
    QueueProgram &queue = program_.queues[q];
    queue.blocks += blocksOf(post.segments);
    queue.sends.push_back(post);
  }

  void tell(uint32_t q, uint32_t word) {
    put(q, {.step = -1, .segments = kTellSegments, .kind = Post::Kind::tell, .word = word});
  }

  /// What somebody has waited for, by sort: who has seen the n-th has seen those before it.
  struct Row {
    uint32_t queue;
    Word sort;
  };

  uint32_t wordOf(Row row, uint32_t n) const {
    const bool plain = connections_.queues[row.queue].kind != NBC_QUEUE_CHAIN;
    return plain ? n : crosschannel::wordOf(row.sort, n);
  }

  // --- Waiting -----------------------------------------------------------------

  std::vector<Post> &management() { return program_.queues[connections_.management].sends; }

  size_t stageBegin() const {
    return program_.stages.size() < 2 ? 0 : program_.stages[program_.stages.size() - 2].enabled;
  }

  void waitFor(uint32_t q, Row row, uint32_t n) {
    uint32_t &waited = waited_[q][uint64_t{row.queue} << 8 | static_cast<uint8_t>(row.sort)];
    if (waited > n) return;
    const uint32_t before = waited;
    waited = n + 1;
    // Nothing starts between WAITs that stand together: one for each sort is enough.
    std::vector<Post> &posts = program_.queues[q].sends;
    const size_t begin = q == connections_.management ? stageBegin() : 0;
    const uint32_t word = wordOf(row, n);
    for (size_t k = posts.size(); before && k-- > begin && posts[k].kind == Post::Kind::wait;)
      if (posts[k].queue == row.queue && posts[k].word == wordOf(row, before - 1)) {
        posts[k].word = word;
        return;
      }
    put(q, {.step = -1,
            .segments = kWaitSegments,
            .kind = Post::Kind::wait,
            .queue = row.queue,
            .word = word});
  }

  /// By which word of a queue it is known that a send or copy on it is over.
  Word done(uint32_t q) const { return q == connections_.loopback ? Word::message : Word::answer; }

  int32_t stage() const { return static_cast<int32_t>(program_.stages.size()) - 1; }

  /// What comes next on queue q stands behind the end of step d.
  void ensure(uint32_t q, StepId d) {
    const Step &step = s_.steps[d];
    Place &place = places_[d];
    if (byHost(step)) {
      if (place.stage > stage()) endStage();
      if (place.stage > 0 && q != connections_.management)  // the first is before all doorbells
        waitFor(q, {connections_.management, Word::message},
                static_cast<uint32_t>(place.stage) - 1);
      return;
    }
    if (receives(step))
      waitFor(q, {place.queue, Word::message}, place.number);
    else
      waitFor(q, {place.queue, done(place.queue)}, place.done);
    if (q == connections_.management && place.stage < 0) place.stage = stage();
  }

  void ensureAll(uint32_t q, StepId i) {
    for (const StepId d : s_.after(s_.steps[i])) ensure(q, d);
  }

  // --- Steps -------------------------------------------------------------------

  void local(StepId i) {
    const Step &step = s_.steps[i];
    Place &place = places_[i];
    if (step.unit == Unit::nic) {
      ensureAll(place.queue, i);
      put(place.queue, {i, static_cast<uint8_t>(segmentsOf(step, protocol_))});
      if (!place.needed) return;
      place.done = answers_[place.queue]++;
      tell(place.queue, place.done);
    } else if (step.unit == Unit::host_before) {
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
      if (byHost(s_.steps[d]))
        first = std::max(first, place.stage);
      else
        first = std::max(first, (place.stage >= 0 ? place.stage : stage()) + 1);
    }
    return first;
  }

  void endStage() {
    const std::vector<StepId> hosts = std::move(pending_);
    pending_.clear();
    for (const StepId i : hosts)
      for (const StepId d : s_.after(s_.steps[i]))
        if (!byHost(s_.steps[d])) ensure(connections_.management, d);
    mark();
    program_.stages.emplace_back();
    program_.stages.back().hosts = hosts;
    tell(connections_.management, static_cast<uint32_t>(stage()) - 1);
    program_.stages.back().enabled = static_cast<uint32_t>(management().size());
  }

  /// The last entry of a stage is signalled: that is how the host knows.
  void mark() {
    if (connections_.management == kNone) return;
    if (management().size() > stageBegin()) {
      management().back().signalled = true;
      ++program_.queues[connections_.management].signalled;
    }
    program_.stages.back().enabled = static_cast<uint32_t>(management().size());
  }

  /// Clear-to-sends that nothing holds back, nor one before them on their queue.
  void clearEarly() {
    std::vector<char> held(connections_.queues.size());
    for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()); ++i) {
      const Step &step = s_.steps[i];
      if (!receives(step)) continue;
      if (step.after.size > 0)
        held[places_[i].queue] = 1;
      else if (!held[places_[i].queue])
        clear(i);
    }
  }

  void clear(StepId i) {
    const Place &place = places_[i];
    if (cleared_[place.queue] > place.number) return;
    ensureAll(place.queue, i);
    cleared_[place.queue] = place.number + 1;
    tell(place.queue, crosschannel::wordOf(Word::clear, place.number));
  }

  void send(StepId i) {
    const Step &step = s_.steps[i];
    Place &place = places_[i];
    const uint32_t q = place.queue;
    ensureAll(q, i);
    waitFor(q, {q, Word::clear}, place.number);
    if (step.from.size > 0) put(q, {i, static_cast<uint8_t>(segmentsOf(step, protocol_))});
    tell(q, crosschannel::wordOf(Word::message, place.number));
    if (!place.needed) return;
    place.done = answers_[q]++;
    put(q, {.step = -1,
            .segments = kAskSegments,
            .kind = Post::Kind::ask,
            .word = crosschannel::wordOf(Word::message, place.number),
            .into = crosschannel::wordOf(Word::answer, place.done)});
  }

  /// Everything has arrived and every buffer may be used again.
  void finish() {
    for (uint32_t q = 0; q < program_.queues.size(); ++q)
      if (received_[q] > 0) waitFor(connections_.management, {q, Word::message}, received_[q] - 1);
    for (uint32_t q = 0; q < program_.queues.size(); ++q)
      if (answers_[q] > 0) waitFor(connections_.management, {q, done(q)}, answers_[q] - 1);
    mark();
    std::vector<StepId> rest = std::move(pending_);
    rest.insert(rest.end(), last_.begin(), last_.end());
    if (rest.empty()) return;
    // Nothing for the adapter to do in this stage: the host need not wait for it.
    if (connections_.management != kNone && management().size() > stageBegin()) {
      program_.stages.emplace_back();
      program_.stages.back().enabled = static_cast<uint32_t>(management().size());
    }
    std::vector<StepId> &hosts = program_.stages.back().hosts;
    hosts.insert(hosts.end(), rest.begin(), rest.end());
  }

  const Schedule &s_;
  const uint32_t protocol_;
  const Connections &connections_;
  // By queue: row and sort -> how many it has waited for, of all that happens on one queue in
  // order.
  std::vector<std::unordered_map<uint64_t, uint32_t>> waited_;
  std::vector<Place> places_;
  std::vector<uint32_t> received_;  // messages
  std::vector<uint32_t> cleared_;   // clear-to-sends told
  std::vector<uint32_t> answers_;   // asked for; of loopback: copies told of
  std::vector<StepId> pending_;     // of the host, for the next stage
  std::vector<StepId> last_;        // of the host, when all else is done
  int32_t hosts_ = 0;               // the stage of the last step of the host
  Program program_;
};

}  // namespace

Program programOfWords(const Legal &legal, const Connections &connections) {
  return WordsBuilder(legal, connections).run();
}

}  // namespace nbcc::crosschannel
