// SPDX-License-Identifier: BSD-3-Clause
// verify_template.cpp - does the order that the bytes enforce contain every dependency of the
// schedule?
//
// It believes nothing of what emit knew. From the bytes: the management queue's
// entries stand in an order; a SEND_EN at position p starts the entries up to its
// limit, a WAIT at position p holds what follows until the completions up to its
// index are there; a stage's work of the host lies between the last entry of the
// stage before and its own first. So for each step there is a position at which
// it may start, and one from which on its end is known; for a dependency the
// second must come before the first.
//
// Which entry is which step is plain: on each queue they are in the order of the
// steps, and the host works in the order of its steps. That data segments and the
// host's operations name the memory that the steps name is compared as well:
// verify_places.h.
//
// And what does not follow from dependencies: each entry is enabled once and in
// order; a WAIT can be satisfied by what was started before it; it does not wait
// for what the program reaches only later (that can deadlock with another rank);
// at the end all is done; relocations say what the bytes say. CREDIT, which no
// schedule stands behind, tells just those that eager variants receive from and
// waits for just those that they send to.
//
// What stays within the node are records (verify_within.h): of a stage they come behind the work of
// the host and in front of the entries. So they have a place in the same order, by stages; and a
// WAIT among them holds up what the stage has on the MQ as well.
//
// Direct: a receive starts where its sender gets the token, so that all tokens come before any WAIT
// is asked as of any start; its place has to be free then, which is a dependency as all others.
//
// Of queues that are chained by words the same is asked in verify_words.cpp.
//
// That the device's queues are long enough the runtime counts (nbc_hca_fits), from the bytes, too.
//
// Long, since it is one state: the queues as they were read, which every check looks at.
//
// Linear in entries, steps and waits.

#include <algorithm>
#include <ostream>

#include "codegen/common/verify_places.h"
#include "codegen/coredirect/coredirect.h"
#include "codegen/coredirect/phases.h"
#include "codegen/coredirect/verify_within.h"
#include "codegen/coredirect/verify_words.h"
#include "codegen/coredirect/view.h"
#include "nbc/hca.h"
#include "nbc/mlx5_wqe.h"

namespace nbcc {
namespace {

using namespace codegen;
using namespace crosschannel;

constexpr StepId kToken = -1;

/// Ranks that eager variants receive from, and those that they send to.
struct EagerPeers {
  std::vector<char> from, to;

  explicit EagerPeers(std::span<const Legal> legals) {
    for (const Legal &legal : legals) {
      from.resize(legal.schedule.ranks);
      to.resize(legal.schedule.ranks);
      if (legal.protocol != NBC_EAGER) continue;
      for (const Step &step : legal.schedule.steps)
        if (step.peer >= 0 && !staysWithin(step)) (receives(step) ? from : to)[step.peer] = 1;
    }
  }
  bool any() const {
    return std::find(from.begin(), from.end(), 1) != from.end() ||
           std::find(to.begin(), to.end(), 1) != to.end();
  }
};

class Verifier {
 public:
  /// `s`: null for CREDIT.
  Verifier(const View &view, const messages::View &records, const nbc_variant &variant,
           const Schedule *s, uint32_t protocol, Diag &diag)
      : view_(view),
        records_(records),
        variant_(variant),
        s_(s),
        eager_(protocol == NBC_EAGER),
        rendezvous_(protocol == NBC_RENDEZVOUS),
        direct_(protocol == NBC_DIRECT),
        diag_(diag) {}

  void run(std::vector<uint32_t> &owners) {
    PlaceVerifier places(view_, *s_, static_cast<uint32_t>(&variant_ - view_.variants.data()),
                         owners);
    data_ = &places;
    readQueues();
    Within within(records_, variant_, *s_, [&](const std::string &what) { wrong(what); });
    within_ = &within;
    if (!within.read() || !identify()) return;
    within.data(places);
    if (!places.separate()) wrong(places.why);
    stages();
    walk();
    tooEarlyWithin();
    complete();
    for (StepId i = 0; i < static_cast<StepId>(s_->steps.size()); ++i) dependencies(i);
  }

  /// A message to each that sends into slots of this rank, one from each whose slots
  /// are sent into. That nothing is signalled nbc_template_check() has seen.
  void runCredits(const EagerPeers &peers) {
    readQueues();
    for (uint32_t q = 0; q < queues_.size(); ++q) credit(q, peers);
    if (variant_.stages.count != 1 || view_.stages[variant_.stages.begin].hosts_count != 0)
      wrong("it is not one stage without work for the host");
    walk();
    stages();
    complete();
    for (uint32_t q = 0; q < queues_.size(); ++q)
      if (queues_[q].receives > 0 && queues_[q].credits != 1)
        wrong("entries of mq wait for the credit of ", view_.queueName(q), " ", queues_[q].credits,
              " times");
  }

 private:
  struct Queue {
    std::vector<Entry> sends;
    std::vector<int64_t> started;   // sends: the position of the SEND_EN
    std::vector<uint32_t> signals;  // completion -> send
    uint32_t receives = 0;
    std::vector<int64_t> known[2];                // completion -> the position of the WAIT, by side
    std::vector<StepId> sendSteps, receiveSteps;  // kToken: of no step
    uint32_t enabled = 0;                         // basic blocks
    size_t enabledSends = 0;                      // entries
    uint32_t credits = 0;                         // WAITs of CREDIT
  };
  struct Place {
    uint32_t queue = UINT32_MAX;
    uint32_t send = UINT32_MAX;  // its entry: a SEND or WRITE, or the clear-to-send of a receive
    uint32_t sendQueue = UINT32_MAX;
    uint32_t receive = UINT32_MAX;  // its number among the receives of `queue`
    uint32_t clear = UINT32_MAX;    // sends: where leave to start comes from, but eager
    uint32_t number = UINT32_MAX;   // direct sends: of the place that the peer has told
    int64_t stage = -1;             // of the host
    int64_t order = -1;
  };

  template <class... Part>
  void wrong(const Part &...parts) {
    diag_.error(Loc{}, "coredirect: variant ", view_.variantName(variant_), ": ", parts...);
  }

  std::string say(StepId i) const {
    if (i == kToken) return "the token";
    const Step &step = s_->steps[i];
    std::string text = cat("step %", i, " (", name(step.op));
    if (step.peer >= 0) text += cat(receives(step) ? " from " : " to ", step.peer);
    return text + ")";
  }

  // --- What there is ---------------------------------------------------------

  void readQueues() {
    queues_.resize(view_.queues.size());
    for (uint32_t q = 0; q < queues_.size(); ++q) {
      Queue &queue = queues_[q];
      if (view_.queues[q].kind == NBC_QUEUE_MESSAGES) continue;
      const bool ahead = s_ && eager_ && view_.queues[q].kind == NBC_QUEUE_EAGER;
      const nbc_range &run = ahead ? view_.header.ahead_segments : variant_.segments;
      if (const nbc_segment *s = view_.segment(run, q, NBC_RING_RECV)) queue.receives = s->entries;
      const nbc_segment *s = view_.segment(variant_.segments, q, NBC_RING_SEND);
      if (s) queue.sends = view_.entries(*s);
      for (uint32_t k = 0; k < queue.sends.size(); ++k) {
        if (queue.sends[k].signalled) queue.signals.push_back(k);
        control(q, queue.sends[k]);
      }
      if (s && s->send_cqes != queue.signals.size())
        wrong(view_.queueName(q), " has ", queue.signals.size(),
              " signalled entries, but its segment says ", s->send_cqes);
      queue.started.assign(queue.sends.size(), kNever);
      queue.known[NBC_SIDE_RECV].assign(queue.receives, kNever);
      queue.known[NBC_SIDE_SEND].assign(queue.signals.size(), kNever);
      if (view_.queues[q].kind == NBC_QUEUE_MANAGEMENT) mq_ = &queue, mqNumber_ = q;
    }
  }

  /// What is filled in says the same as the bytes.
  void control(uint32_t q, const Entry &e) {
    const auto at = [&] { return cat("entry ", e.index, " of ", view_.queueName(q)); };
    if (e.segments == 0) return wrong(at(), " has no segments");
    if (e.wqeIndex != (e.index & 0xffff)) wrong(at(), " says that its index is ", e.wqeIndex);
    if (e.queuePair != q) wrong(at(), " names queue pair ", e.queuePair, " where its own is ", q);
    if (view_.queues[q].kind == NBC_QUEUE_CTS && (e.opcode != MLX5_SEND || e.segments != 1))
      wrong(at(), " is not a SEND without data");
    bool index = false, limit = false, pair = false, number = false;
    uint8_t side = NBC_SIDE_RECV;
    const bool crossed = e.opcode == MLX5_WAIT || e.opcode == MLX5_SEND_EN;
    for (const nbc_reloc &r : view_.relocsAt(variant_.relocs, e.offset, e.blocks * MLX5_WQEBB)) {
      if (r.rule == NBC_RELOC_INDEX)
        index = r.at == e.offset + MLX5_CTRL_INDEX && r.what == q && r.addend == e.index;
      if (r.rule == NBC_RELOC_ENABLE || r.rule == NBC_RELOC_WAIT || r.rule == NBC_RELOC_CREDIT) {
        const nbc_reloc_rule rule = e.opcode == MLX5_SEND_EN ? NBC_RELOC_ENABLE
                                    : s_                     ? NBC_RELOC_WAIT
                                                             : NBC_RELOC_CREDIT;
        limit = r.at == e.offset + MLX5_SEGMENT + MLX5_CD_INDEX && r.what == e.number &&
                r.addend == e.limit && r.rule == rule;
        side = r.side;
      }
    }
    for (const nbc_reloc &r : view_.relocsAt(variant_.bind, e.offset, e.blocks * MLX5_WQEBB)) {
      if (r.rule == NBC_RELOC_QPN) pair = r.at == e.offset + MLX5_CTRL_QPN && r.what == q;
      if (r.rule == NBC_RELOC_CQN || r.rule == NBC_RELOC_ENABLE_QPN)
        number = r.at == e.offset + MLX5_SEGMENT + MLX5_CD_NUMBER && r.what == e.number &&
                 (r.side == side || e.opcode == MLX5_SEND_EN) &&
                 (r.rule == NBC_RELOC_ENABLE_QPN) == (e.opcode == MLX5_SEND_EN);
    }
    if (!index || !pair || (crossed && (!limit || !number)))
      wrong(at(), ": a relocation is missing or says something else than the bytes");
  }

  /// What CREDIT has on a queue.
  void credit(uint32_t q, const EagerPeers &peers) {
    const Queue &queue = queues_[q];
    const nbc_queue &facts = view_.queues[q];
    if (&queue == mq_) return;
    uint32_t sends = 0, receives = 0;
    if (facts.kind == NBC_QUEUE_CTS && facts.peer < view_.peers.size()) {
      const uint32_t peer = view_.peers[facts.peer];
      sends = facts.direction != NBC_TO_PEER && peers.from[peer];
      receives = facts.direction != NBC_FROM_PEER && peers.to[peer];
    }
    if (queue.sends.size() != sends || queue.receives != receives)
      wrong(view_.queueName(q), " has ", queue.sends.size(), " sends and ", queue.receives,
            " receives where eager calls need ", sends, " and ", receives);
  }

  /// Which entry each step is.
  bool identify() {
    places_.resize(s_->steps.size());
    // By kind, and whether it is for what goes to the peer.
    std::vector<uint32_t> peerQueue[NBC_QUEUE_DIRECT - NBC_QUEUE_EAGER + 1][2];
    for (auto &of : peerQueue)
      for (std::vector<uint32_t> &way : of) way.assign(s_->ranks, UINT32_MAX);
    uint32_t loopback = UINT32_MAX;
    for (uint32_t q = 0; q < queues_.size(); ++q) {
      const nbc_queue &queue = view_.queues[q];
      if (queue.kind == NBC_QUEUE_LOOPBACK) loopback = q;
      if (queue.kind < NBC_QUEUE_EAGER || queue.peer >= view_.peers.size()) continue;
      auto &of = peerQueue[queue.kind - NBC_QUEUE_EAGER];
      if (queue.direction != NBC_TO_PEER) of[0][view_.peers[queue.peer]] = q;
      if (queue.direction != NBC_FROM_PEER) of[1][view_.peers[queue.peer]] = q;
    }
    if (direct_) tokens(peerQueue[NBC_QUEUE_DIRECT - NBC_QUEUE_EAGER][0]);
    int64_t order = 0;
    for (StepId i = 0; i < static_cast<StepId>(s_->steps.size()); ++i) {
      const Step &step = s_->steps[i];
      Place &place = places_[i];
      if (staysWithin(step)) continue;
      if (byHost(step)) {
        place.order = order++;
        hostSteps_.push_back(i);
        continue;
      }
      const uint32_t kind = (direct_  ? NBC_QUEUE_DIRECT
                             : eager_ ? NBC_QUEUE_EAGER
                                      : NBC_QUEUE_DATA) -
                            NBC_QUEUE_EAGER;
      const bool to = !receives(step);
      place.queue = step.peer < 0 ? loopback : peerQueue[kind][to][step.peer];
      const uint32_t cts = !rendezvous_ || step.peer < 0
                               ? place.queue
                               : peerQueue[NBC_QUEUE_CTS - NBC_QUEUE_EAGER][to][step.peer];
      if (place.queue == UINT32_MAX || cts == UINT32_MAX) {
        wrong("there is no queue for ", say(i));
        return false;
      }
      Queue &queue = queues_[place.queue];
      // Of a reduction one for each element: it begins with the first and is over with the last.
      const uint32_t posts = step.op == Op::reduce ? variant_.scalars : 1;
      if (receives(step) || step.op == Op::reduce) {
        queue.receiveSteps.insert(queue.receiveSteps.end(), posts, i);
        place.receive = static_cast<uint32_t>(queue.receiveSteps.size() - 1);
      }
      if (direct_ && receives(step)) {  // it starts when the token is sent
        place.sendQueue = place.queue;
        place.send = 0;
        continue;
      }
      if (!receives(step)) {
        place.sendQueue = place.queue;
      } else if (rendezvous_) {
        place.sendQueue = cts;
      }
      if (direct_ && step.peer >= 0) {
        place.clear = place.queue;
        place.number = messages_[place.queue]++;
      }
      if (place.sendQueue != UINT32_MAX) {
        Queue &sends = queues_[place.sendQueue];
        place.send = static_cast<uint32_t>(sends.sendSteps.size());
        sends.sendSteps.insert(sends.sendSteps.end(), posts, i);
      }
      if (rendezvous_ && step.peer >= 0 && !receives(step))
        queues_[place.clear = cts].receiveSteps.push_back(i);
    }
    for (uint32_t q = 0; q < queues_.size(); ++q) {
      const Queue &queue = queues_[q];
      if (&queue == mq_) continue;
      if (queue.sends.size() != queue.sendSteps.size() ||
          queue.receives != queue.receiveSteps.size()) {
        wrong(view_.queueName(q), " has ", queue.sends.size(), " sends and ", queue.receives,
              " receives where the schedule has ", queue.sendSteps.size(), " and ",
              queue.receiveSteps.size());
        return false;
      }
    }
    if (eager_) ahead();
    for (uint32_t q = 0; q < queues_.size(); ++q) {
      const Queue &queue = queues_[q];
      if (&queue == mq_ || view_.queues[q].kind == NBC_QUEUE_CTS) continue;
      for (uint32_t k = 0; k < queue.sends.size(); ++k)
        if (queue.sendSteps[k] != kToken)
          dataOf(queue.sendSteps[k], queue.sends[k], partOf(queue.sendSteps, k));
        else if (queue.sends[k].opcode != MLX5_SEND || queue.sends[k].segments != 1)
          wrong("entry 0 of ", view_.queueName(q), " is not a token");
      const nbc_segment *posted = view_.segment(variant_.segments, q, NBC_RING_RECV);
      for (uint32_t k = 0; posted && posted->bytes > 0 && k < queue.receives; ++k)
        dataOf(queue.receiveSteps[k], *posted, k, partOf(queue.receiveSteps, k));
    }
    return hosts();
  }

  /// Of direct queues: in front of what is sent to those that this rank receives from, and of what
  /// is received from those that it sends to.
  void tokens(const std::vector<uint32_t> &queueOf) {
    messages_.assign(queues_.size(), 0);
    for (const Step &step : s_->steps) {
      if (step.peer < 0 || queueOf[step.peer] == UINT32_MAX) continue;
      Queue &queue = queues_[queueOf[step.peer]];
      std::vector<StepId> &steps = receives(step) ? queue.sendSteps : queue.receiveSteps;
      if (steps.empty()) steps.push_back(kToken);
    }
  }

  template <class... Part>
  void wrongStep(StepId i, const Part &...parts) {
    diag_.error(s_->steps[i].loc, "coredirect: variant ", view_.variantName(variant_), ": ", say(i),
                ": ", parts...);
  }

  /// Of a reduction: which element entry k is for.
  static uint32_t partOf(const std::vector<StepId> &steps, uint32_t k) {
    uint32_t part = 0;
    while (part < k && steps[k - part - 1] == steps[k]) ++part;
    return part;
  }

  void dataOf(StepId i, const Entry &e, uint32_t part) {
    const Step &step = s_->steps[i];
    const bool write = step.op == Op::copy, told = direct_ && step.peer >= 0;
    uint32_t segments = 1 + (write || told);
    bool target = !write && !told;
    bool right = e.opcode == (write ? MLX5_WRITE : told ? MLX5_WRITE_IMM : MLX5_SEND);
    data_->why = "it has another opcode";
    data_->want(s_->from(step), s_->with(step));
    for (const nbc_reloc &r : view_.relocsAt(variant_.relocs, e.offset, e.blocks * MLX5_WQEBB)) {
      if (!right) break;
      target |= write && r.rule == NBC_RELOC_RADDR;
      target |= told && r.rule == NBC_RELOC_TOLD && r.what == places_[i].queue &&
                r.addend == places_[i].number && r.at == e.offset + MLX5_SEGMENT;
      if (r.rule != NBC_RELOC_SGE && r.rule != NBC_RELOC_SLOT) continue;
      right = dataSegment(r, e.offset + segments++ * MLX5_SEGMENT) && slotsOf(step, part, r);
    }
    right = right && data_->complete();
    if (right && write)
      for (const nbc_reloc &r : view_.relocsAt(variant_.relocs, e.offset, e.blocks * MLX5_WQEBB)) {
        if (r.rule != NBC_RELOC_RADDR) continue;
        data_->why = "it says in another place where to";
        data_->want(s_->to(step));
        right = right && r.at == e.offset + MLX5_SEGMENT && data_->foundTarget(r.what);
      }
    if (right && (segments != e.segments || !target)) {
      right = false;
      data_->why = cat("it has ", int(e.segments), " segments, and relocations for ", segments);
    }
    if (!right) wrongStep(i, "its work queue entry moves other data: ", data_->why);
  }

  bool dataSegment(const nbc_reloc &r, uint32_t place) {
    data_->why = cat("a data segment is at ", r.at, " where it should be at ", place);
    return r.at == place && data_->found(r.what, r.rule == NBC_RELOC_SGE ? r.extra + 1 : 1, true);
  }

  /// One slot of a reduction's, all of a message's vector.
  bool slotsOf(const Step &step, uint32_t part, const nbc_reloc &r) {
    if (r.rule != NBC_RELOC_SLOT) return true;
    const bool one = step.op == Op::reduce;
    data_->why = cat("slot ", r.addend, " and ", r.extra, " more of a vector of ", variant_.scalars,
                     one ? cat(", where it is to be slot ", part) : "");
    return r.addend == (one ? part : 0) && r.extra == (one ? 0 : variant_.scalars - 1);
  }

  /// Of a receive; those of eager queues name rooms, not pieces.
  void dataOf(StepId i, const nbc_segment &posted, uint32_t number, uint32_t part) {
    const uint32_t stride = posted.bytes / posted.entries;
    uint32_t place = posted.offset + number * stride;
    bool right = true;
    if (i == kToken) {
      if (!view_.relocsAt(variant_.relocs, place, stride).empty())
        wrong("the token's receive is for data");
      return;
    }
    data_->want(s_->to(s_->steps[i]));
    for (const nbc_reloc &r : view_.relocsAt(variant_.relocs, place, stride)) {
      right = right && dataSegment(r, place) && slotsOf(s_->steps[i], part, r);
      place += MLX5_SEGMENT;
    }
    if (!right || !data_->complete()) wrongStep(i, "its receive is for other data: ", data_->why);
  }

  /// The rooms that eager messages are received into.
  void ahead() {
    for (uint32_t q = 0; q < queues_.size(); ++q) {
      if (view_.queues[q].kind != NBC_QUEUE_EAGER) continue;
      const nbc_segment *posted = view_.segment(view_.header.ahead_segments, q, NBC_RING_RECV);
      if (!posted) continue;
      const uint32_t stride = posted->bytes / posted->entries;
      for (uint32_t k = 0; k < posted->entries; ++k) {
        const StepId i = queues_[q].receiveSteps[k];
        const Section to = s_->to(s_->steps[i]);
        const uint32_t place = posted->offset + k * stride;
        const auto rooms = view_.relocsAt(view_.header.ahead_relocs, place, stride);
        if (rooms.size() != to.size() || (!rooms.empty() && rooms[0].at != place))
          wrongStep(i, "its receive ahead of the call is into ", rooms.size(), " rooms");
        else if (!rooms.empty() && !data_->slot(to, rooms[0]))
          wrongStep(i, "its receive ahead of the call: ", data_->why);
      }
    }
  }

  /// The pieces of a section of the host.
  bool dataOf(Section section, const nbc_range &pieces) {
    data_->want(section);
    return data_->found(pieces.begin, pieces.count, false) && data_->complete();
  }

  bool hosts() {
    size_t next = 0;
    int64_t stage = 0;
    for (uint32_t k = 0; k < variant_.stages.count; ++k, ++stage) {
      const nbc_stage &facts = view_.stages[variant_.stages.begin + k];
      for (uint32_t h = 0; h < facts.hosts_count; ++h, ++next) {
        if (next == hostSteps_.size()) break;
        const StepId i = hostSteps_[next];
        const Step &step = s_->steps[i];
        const nbc_host &host = view_.hosts[facts.hosts_begin + h];
        places_[i].stage = stage;
        data_->why = "another operation";
        if ((host.op == NBC_HOST_REDUCE) != (step.op == Op::reduce) ||
            !dataOf(s_->from(step), host.from) || !dataOf(s_->with(step), host.with) ||
            !dataOf(s_->to(step), host.to))
          wrongStep(i, "the host does something else: ", data_->why);
      }
    }
    if (next == hostSteps_.size()) return true;
    wrong("the host does ", next, " steps where the schedule has ", hostSteps_.size());
    return false;
  }

  // --- What the management queue does -----------------------------------------

  void walk() {
    if (!mq_) return;
    for (size_t p = 0; p < mq_->sends.size(); ++p) {
      const Entry &e = mq_->sends[p];
      const int64_t position = static_cast<int64_t>(p);
      if (e.blocks != 1) wrong("entry ", e.index, " of mq takes ", e.blocks, " basic blocks");
      if (e.opcode == MLX5_NOP) continue;
      if (e.opcode != MLX5_WAIT && e.opcode != MLX5_SEND_EN) {
        wrong("entry ", e.index, " of mq has opcode ", int(e.opcode));
        continue;
      }
      if (e.number >= queues_.size() || e.number == mqNumber_) {
        wrong("entry ", e.index, " of mq names queue ", e.number);
        continue;
      }
      if (e.opcode == MLX5_SEND_EN)
        enable(e, position);
      else
        wait(e, position);
    }
    startsAfter_.assign(mq_->sends.size() + 1, kNever);
    std::vector<int64_t> &phases = startsAfter_;
    if (!s_) return;
    for (const Queue &queue : queues_)
      if (&queue != mq_)
        for (size_t k = 0; k < queue.sends.size(); ++k)
          if (queue.started[k] != kNever)
            phases[queue.started[k]] = std::min(
                phases[queue.started[k]],
                queue.sendSteps[k] == kToken ? -1 : phaseOfStart(s_->steps[queue.sendSteps[k]]));
    for (size_t p = mq_->sends.size(); p-- > 0;) phases[p] = std::min(phases[p], phases[p + 1]);
    phasesWithin();
    for (const auto &[position, step, clear] : waits_) tooEarly(position, step, clear);
    if (direct_) tokensFirst();
  }

  /// Who is waited for may wait for this rank's token.
  void tokensFirst() {
    size_t first = 0;
    while (first < mq_->sends.size() && mq_->sends[first].opcode != MLX5_WAIT) ++first;
    for (uint32_t q = 0; q < queues_.size(); ++q) {
      const Queue &queue = queues_[q];
      if (queue.sendSteps.empty() || queue.sendSteps[0] != kToken) continue;
      if (queue.started[0] > static_cast<int64_t>(first))
        wrong("the token on ", view_.queueName(q), " is not sent before entry ", first,
              " of mq waits: ranks can wait for each other for ever");
    }
  }

  void enable(const Entry &e, int64_t position) {
    Queue &queue = queues_[e.number];
    const auto who = [&] {
      return cat("entry ", e.index, " of mq enables ", view_.queueName(e.number));
    };
    if (e.limit <= queue.enabled)
      return wrong(who(), " up to ", e.limit, ", which is enabled already");
    while (queue.enabledSends < queue.sends.size() &&
           queue.sends[queue.enabledSends].index < e.limit) {
      const Entry &send = queue.sends[queue.enabledSends];
      queue.started[queue.enabledSends++] = position;
      queue.enabled = send.index + send.blocks;
    }
    if (queue.enabled != e.limit)
      wrong(who(), " up to ", e.limit, ", where no entry ends; the queue has ", queue.enabled);
  }

  uint8_t sideOf(const Entry &e) {
    for (const nbc_reloc &r : view_.relocsAt(variant_.relocs, e.offset, MLX5_WQEBB))
      if (r.rule == NBC_RELOC_WAIT) return r.side == NBC_SIDE_SEND ? NBC_SIDE_SEND : NBC_SIDE_RECV;
    return NBC_SIDE_RECV;
  }

  void wait(const Entry &e, int64_t position) {
    if (!s_) return waitForCredit(e);
    Queue &queue = queues_[e.number];
    const uint8_t side = sideOf(e);
    std::vector<int64_t> &known = queue.known[side];
    const bool clear = view_.queues[e.number].kind == NBC_QUEUE_CTS;
    const auto who = [&] {
      return cat("entry ", e.index, " of mq waits for completion ", e.limit, " of ",
                 view_.queueName(e.number), side == NBC_SIDE_SEND ? " (sends)" : " (receives)");
    };
    if (e.limit >= known.size()) return wrong(who(), ", but there are only ", known.size());
    const StepId step = side == NBC_SIDE_SEND ? queue.sendSteps[queue.signals[e.limit]]
                                              : queue.receiveSteps[e.limit];
    if (step == kToken && side == NBC_SIDE_RECV) {  // peers send it first of all
      if (known[0] == kNever) known[0] = position;
      return;
    }
    // Can it come at all? What brings it must have been started.
    const Place place = step == kToken ? Place{.send = 0} : places_[step];
    if (side == NBC_SIDE_SEND || (place.send != UINT32_MAX && !clear)) {
      const uint32_t q = side == NBC_SIDE_SEND ? e.number : place.sendQueue;
      const uint32_t send = side == NBC_SIDE_SEND ? queue.signals[e.limit]
                            : s_->steps[step].op == Op::reduce
                                ? place.send + partOf(queue.receiveSteps, e.limit)
                                : place.send;
      if (queues_[q].started[send] > position)
        return wrong(who(), ", that of ", say(step), ", which is not started before");
    }
    for (uint32_t k = e.limit + 1; k-- > 0 && known[k] == kNever;) known[k] = position;
    if (step != kToken) waits_.push_back({position, step, clear});
  }

  void waitForCredit(const Entry &e) {
    ++queues_[e.number].credits;
    if (queues_[e.number].receives == 0)
      wrong("entry ", e.index, " of mq waits for ", view_.queueName(e.number),
            ", which brings no credit");
    for (const nbc_reloc &r : view_.relocsAt(variant_.relocs, e.offset, MLX5_WQEBB))
      if (r.rule == NBC_RELOC_CREDIT && r.side != NBC_SIDE_RECV)
        wrong("entry ", e.index, " of mq waits for what was sent on ", view_.queueName(e.number));
  }

  /// What follows a WAIT in the queue comes after it in the program as well.
  void tooEarly(int64_t position, StepId d, bool clear) {
    const Step &step = s_->steps[d];
    const int64_t next = std::min(startsAfter_[position], withinAfter_[stageOf(position)]);
    if (next < (clear ? phaseOfStart(step) : phaseOfEnd(step)))
      wrong("entry ", position, " of mq waits for ", clear ? "leave to start " : "the end of ",
            say(d), " of round ", step.round, ", and what follows it is of round ", next / 3,
            " of the program: ranks can wait for each other for ever");
  }

  /// The stage that an entry of the management queue is of.
  int64_t stageOf(int64_t position) const {
    return std::upper_bound(stageEnds_.begin(), stageEnds_.end(), position) - stageEnds_.begin();
  }

  /// The earliest of the records of the stages after each.
  void phasesWithin() {
    withinAfter_.assign(stageEnds_.size() + 1, kNever);
    for (const StepId i : within_->steps()) {
      if (i < 0 || within_->of(i).stage == 0) continue;
      int64_t &phase = withinAfter_[static_cast<size_t>(within_->of(i).stage) - 1];
      phase = std::min(phase, phaseOfStart(s_->steps[i]));
    }
    for (size_t k = stageEnds_.size(); k-- > 0;)
      withinAfter_[k] = std::min(withinAfter_[k], withinAfter_[k + 1]);
  }

  /// The same of what follows a WAIT for a message within the node: records, and entries of its
  /// stage and later ones.
  void tooEarlyWithin() {
    int64_t next = kNever;
    size_t k = within_->steps().size();
    for (size_t w = within_->waits().size(); w-- > 0;) {
      const Within::Wait &wait = within_->waits()[w];
      for (; k > static_cast<size_t>(wait.record); --k)
        if (const StepId i = within_->steps()[k - 1]; i >= 0)
          next = std::min(next, phaseOfStart(s_->steps[i]));
      const size_t begin = stageBegins_[static_cast<size_t>(wait.stage)];
      const int64_t entry = begin < startsAfter_.size() ? startsAfter_[begin] : kNever;
      const Step &step = s_->steps[wait.step];
      if (std::min(next, entry) < phaseOfEnd(step))
        wrong("record ", wait.record, " waits for the end of ", say(wait.step), " of round ",
              step.round, ", and what follows it is of round ", std::min(next, entry) / 3,
              " of the program: ranks can wait for each other for ever");
    }
  }

  void stages() {
    uint32_t enabled = 0;
    const uint32_t all = mq_ ? static_cast<uint32_t>(mq_->sends.size()) : 0;
    for (uint32_t k = 0; k < variant_.stages.count; ++k) {
      const nbc_stage &stage = view_.stages[variant_.stages.begin + k];
      stageBegins_.push_back(enabled);
      stageEnds_.push_back(stage.enabled);
      if (stage.enabled < enabled || stage.enabled > all) {
        wrong("stage ", k, " goes to entry ", stage.enabled, " of mq, after ", enabled, " of ",
              all);
        return;
      }
      if (mq_ && s_)
        for (uint32_t p = enabled; p < stage.enabled; ++p)
          if (mq_->sends[p].signalled != (p + 1 == stage.enabled))
            wrong("entry ", p, " of mq is ", mq_->sends[p].signalled ? "" : "not ",
                  "signalled, and stage ", k, " ends with entry ", stage.enabled - 1);
      enabled = stage.enabled;
    }
    if (enabled != all) wrong("the stages end with entry ", enabled, " of mq, which has ", all);
  }

  /// When the call is over, everything is.
  void complete() {
    for (uint32_t q = 0; q < queues_.size(); ++q) {
      const Queue &queue = queues_[q];
      if (&queue == mq_) continue;
      if (queue.enabledSends != queue.sends.size())
        wrong(view_.queueName(q), ": only ", queue.enabledSends, " of ", queue.sends.size(),
              " entries are ever enabled");
      if (!s_) continue;
      if (view_.queues[q].kind != NBC_QUEUE_CTS && !queue.sends.empty() &&
          (!queue.sends.back().signalled || queue.known[NBC_SIDE_SEND].back() == kNever))
        wrong("the call may be over before ", say(queue.sendSteps.back()), " is");
      if (queue.receives > 0 && queue.known[NBC_SIDE_RECV].back() == kNever)
        wrong("the call may be over before ", say(queue.receiveSteps.back()), " is");
    }
  }

  // --- Dependencies ------------------------------------------------------------

  /// The position in the management queue at which a step starts; -1: before the first.
  int64_t startOf(StepId i) const {
    const Place &place = places_[i];
    if (place.stage >= 0)
      return place.stage < static_cast<int64_t>(stageBegins_.size())
                 ? int64_t{stageBegins_[place.stage]} - 1
                 : -1;
    if (place.send == UINT32_MAX) return kNever;  // posted ahead: it waits for nothing
    return queues_[place.sendQueue].started[place.send];
  }

  /// What is at this position or later comes after the end of step d; and what the host
  /// does from this stage on.
  int64_t endOf(StepId d) const {
    const Place &place = places_[d];
    if (place.receive != UINT32_MAX)
      return queues_[place.queue].known[NBC_SIDE_RECV][place.receive];
    const Queue &queue = queues_[place.queue];
    const auto signal = std::lower_bound(queue.signals.begin(), queue.signals.end(), place.send);
    if (signal == queue.signals.end()) return kNever;
    return queue.known[NBC_SIDE_SEND][signal - queue.signals.begin()];
  }

  bool follows(StepId i, StepId d) const {
    const Place &place = places_[i], &earlier = places_[d];
    const Within::Place &here = within_->of(i), &there = within_->of(d);
    if (there.record >= 0) {
      if (here.record >= 0) return there.wait < here.record;
      if (place.stage >= 0) return there.waited < place.stage;
      return startOf(i) != kNever && there.waited <= stageOf(startOf(i));
    }
    if (here.record >= 0) {
      if (earlier.stage >= 0) return earlier.stage <= here.stage;
      return endOf(d) != kNever && stageOf(endOf(d)) < here.stage;
    }
    if (earlier.stage >= 0) {  // of the host
      if (place.stage >= 0) return place.order > earlier.order;
      const int64_t begin = earlier.stage < static_cast<int64_t>(stageBegins_.size())
                                ? int64_t{stageBegins_[earlier.stage]}
                                : 0;
      return startOf(i) != kNever && startOf(i) >= begin;
    }
    const int64_t end = endOf(d);
    if (place.stage >= 0) return end != kNever && end <= startOf(i);
    return end < startOf(i);
  }

  void dependencies(StepId i) {
    const Place &place = places_[i];
    const Step &step = s_->steps[i];
    const bool within = staysWithin(step);
    if (place.stage < 0 && place.send == UINT32_MAX && !within) return;  // on to what waits for it
    if (!eager_ && step.peer >= 0 && !receives(step) && !within) leave(i);
    worklist_.assign(s_->after(step).begin(), s_->after(step).end());
    while (!worklist_.empty()) {
      const StepId d = worklist_.back();
      worklist_.pop_back();
      if (eager_ && receives(s_->steps[d]) && !staysWithin(s_->steps[d]))
        worklist_.insert(worklist_.end(), s_->after(s_->steps[d]).begin(),
                         s_->after(s_->steps[d]).end());
      if (follows(i, d)) continue;
      diag_.error(step.loc, "coredirect: variant ", view_.variantName(variant_), ": ", say(i),
                  " may start before ", say(d), " is done: ", because(i, d));
      diag_.note(s_->steps[d].loc, "this is ", say(d));
    }
  }

  std::string because(StepId i, StepId d) const {
    const int64_t start = startOf(i);
    std::string text = places_[i].stage >= 0 ? cat("the host does it in stage ", places_[i].stage)
                       : start == kNever     ? std::string("it is never enabled")
                                             : cat("entry ", start, " of mq enables it");
    if (within_->of(i).record >= 0)
      text = cat("it is record ", within_->of(i).record, ", of stage ", within_->of(i).stage);
    if (const Within::Place &there = within_->of(d); there.record >= 0)
      return text + (there.wait == kNever ? std::string(", and no record waits for the other")
                                          : cat(", the WAIT for the other is record ", there.wait,
                                                ", of stage ", there.waited));
    if (places_[d].stage >= 0) return text + cat(", the other is of stage ", places_[d].stage);
    const int64_t end = endOf(d);
    return text + (end == kNever ? std::string(", and no WAIT is for the other")
                                 : cat(", the WAIT for the other is entry ", end));
  }

  /// A send starts when the receiver has said so.
  void leave(StepId i) {
    const Step &step = s_->steps[i];
    const uint32_t cts = places_[i].clear;
    const uint32_t number = direct_ ? 0 : places_[i].send;
    const int64_t known = queues_[cts].known[NBC_SIDE_RECV][number];
    if (known < startOf(i)) return;
    diag_.error(step.loc, "coredirect: variant ", view_.variantName(variant_), ": ", say(i),
                " may start before rank ", step.peer, " is clear to receive: no WAIT for number ",
                number, " of ", view_.queueName(cts), " comes before entry ", startOf(i), " of mq");
  }

  const View &view_;
  const messages::View &records_;
  const nbc_variant &variant_;
  const Schedule *s_;
  const Within *within_ = nullptr;  // likewise, as is data_
  const bool eager_, rendezvous_, direct_;
  Diag &diag_;
  PlaceVerifier *data_ = nullptr;  // while run() runs
  std::vector<Queue> queues_;
  std::vector<Place> places_;
  std::vector<uint32_t> messages_;  // direct: queue -> those sent so far
  std::vector<StepId> hostSteps_;
  Queue *mq_ = nullptr;
  uint32_t mqNumber_ = UINT32_MAX;
  std::vector<uint32_t> stageBegins_;
  std::vector<int64_t> stageEnds_;
  std::vector<int64_t> withinAfter_;  // stage -> the earliest phase of a record of a later one
  std::vector<int64_t> startsAfter_;  // position -> the earliest phase that starts there or later
  struct Wait {
    int64_t position;
    StepId step;
    bool clear;
  };
  std::vector<Wait> waits_;
  std::vector<StepId> worklist_;
};

}  // namespace

void coredirect_verifyTemplate(const Template &t, std::span<const Legal> legals,
                               const TargetOptions &options, Diag &diag) {
  const char *why = nullptr;
  if (nbc_template_check(t.data(), t.bytes, &why) != 0) {
    diag.error({}, "coredirect: the template is damaged: ", why);
    return;
  }
  const View view(t);
  if (view.byWords() == deviceOf(coredirect, options).crossChannel)
    diag.error({}, "coredirect: queues are chained in another way than ",
               deviceOf(coredirect, options).name, " can");
  const messages::View records(t);
  const nbc_hca_facts facts = coredirect_facts(deviceOf(coredirect, options));
  const auto depth = static_cast<uint32_t>(std::max(options.depth, 1));
  if (nbc_hca_fits(t.data(), t.bytes, depth, &facts, &why) != 0)
    diag.error({}, "coredirect: on ", deviceOf(coredirect, options).name, " ", why);
  const EagerPeers peers(legals);
  std::vector<uint32_t> owners(view.buffers.size(), UINT32_MAX);
  if (view.variants.size() != legals.size() + peers.any())
    diag.error({}, "coredirect: ", view.variants.size(), " variants of ", legals.size(),
               peers.any() ? " and credits" : "");
  for (size_t v = 0; v < view.variants.size() && v <= legals.size(); ++v) {
    const nbc_variant &variant = view.variants[v];
    if (v == legals.size()) {
      if (variant.flags == NBC_VARIANT_CREDIT)
        Verifier(view, records, variant, nullptr, NBC_EAGER, diag).runCredits(peers);
      else
        diag.error({}, "coredirect: variant ", v, " is not that of credits");
    } else if (variant.protocol != legals[v].protocol || variant.flags != legals[v].flags) {
      diag.error({}, "coredirect: variant ", v, " is not what it was emitted from");
    } else if (view.byWords()) {
      verifyWords(view, variant, legals[v].schedule, owners, diag);
    } else {
      Verifier(view, records, variant, &legals[v].schedule, legals[v].protocol, diag).run(owners);
    }
  }
}

}  // namespace nbcc
