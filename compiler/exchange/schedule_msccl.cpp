// SPDX-License-Identifier: BSD-3-Clause
// schedule_msccl.cpp - thread blocks, connections and chunks => schedules of waits.
//
//     tb 0: rrcs i[2] -> o[2]      =>   %4 = recv tmp0[0] from 1 after %3
//                                       %5 = reduce in[2 of 4] with tmp0[0] -> out[2 of 4]
//                                       %6 = copy out[2 of 4] -> queue0[1]
//                                       %7 = send queue0[1] to 2 after %6
//
// The thread block goes on after the copy: a connection buffers, and its queue is
// scratch here, so that a place in it is only written again when it has been sent.
// What thread blocks share is theirs to order; prove() looks whether they do.
//
// Chunk c of a vector (of a block) is part c of it, so lengths need not be divisible.
//
// A schedule's messages have no channel: the k-th send to a rank meets the k-th
// receive there. So steps are made in the order of a run of all gpus, and a message
// stands in both schedules where it is received in that run. Linear in the steps.
//
// Where operands stand: local with received, as NCCL does it; dst with src for `re`.

#include "compiler/exchange/msccl_stages.h"
#include "dsl/collectives.h"

namespace nbcc {
namespace {

using Type = MscclStep::Type;

/// What is under way on a connection.
struct Queue {
  int64_t sent = 0, received = 0;
  std::vector<int64_t> places;          // by message: of its first chunk
  std::vector<StepId> filled, emptied;  // by message: at the sender
};

/// A thread block, as far as it has come.
struct Progress {
  size_t next = 0;
  std::vector<StepId> last;               // what its next step waits for
  std::vector<std::vector<StepId>> ends;  // by step: what those behind it wait for
};

/// The step that is being carried out.
struct Turn {
  const MscclEnds &ends;
  const MscclStep &step;
  int64_t gpu;
  int64_t place;  // of what it moves
  BufferId tmp;
};

class Scheduler {
 public:
  Scheduler(const Msccl &msccl, const MscclNet &net, MscclBuffers buffers, bool inPlace)
      : m_(msccl),
        net_(net),
        inPlace_(inPlace),
        parts_(net.chunks.block),
        buffers_(std::move(buffers)),
        result_(buffers_.schedules),
        queues_(net.connections.size()),
        progress_(net.blocks.size()) {
    for (size_t b = 0; b < progress_.size(); ++b)
      progress_[b].ends.resize(net.blocks[b].block->steps.size());
  }

  std::vector<Schedule> run(const std::vector<int32_t> &order, const MscclPlaces &places) {
    for (size_t i = 0; i < order.size(); ++i) carryOut(order[i], places.moved[i]);
    if (inPlace_ && m_.kind == ast::Kind::reduce_scatter_block) toFirstBlocks();
    for (Schedule &s : result_) finish(s);
    return std::move(result_);
  }

 private:
  /// In place, `i` lies in `o`, allgather's at the own block; and reduce_scatter's `o` at the
  /// own block of `i`.
  Extent extent(int64_t gpu, char buffer, int64_t chunk, int64_t count) const {
    const auto parts = static_cast<int32_t>(parts_);
    if (buffer == 's') return {buffers_.scratch[gpu], 1, chunk, count};
    if (!inPlace_ && buffer == 'i') return normalize({buffers_.in, parts, chunk, count});
    const Collective &kind = collective(m_.kind);
    const Shape shape = buffer == 'i' ? kind.in : kind.out;
    if (inPlace_ && shape == Shape::block) chunk += gpu * parts_;
    return normalize({buffers_.out, parts, chunk, count});
  }

  void carryOut(int32_t block, int64_t place) {
    const MscclEnds &ends = net_.blocks[block];
    Progress &progress = progress_[block];
    const Turn t{ends, ends.block->steps[progress.next], ends.gpu, place, buffers_.tmp[block]};
    std::vector<StepId> after = progress.last;
    if (t.step.block >= 0) {
      const Progress &other = progress_[net_.waitedFor(t.gpu, t.step)];
      const std::vector<StepId> &more = other.ends[static_cast<size_t>(t.step.step)];
      after.insert(after.end(), more.begin(), more.end());
    }
    translate(t, after);
    progress.ends[progress.next++] = after;
    progress.last = std::move(after);
  }

  /// `after`: what it waits for; then what those behind it wait for.
  void translate(const Turn &t, std::vector<StepId> &after) {
    const MscclStep &s = t.step;
    Extent source = s.reads() ? extent(t.gpu, s.from, s.fromChunk, s.count) : Extent{};
    const Extent target = s.writes() ? extent(t.gpu, s.to, s.toChunk, s.count) : Extent{};
    const Extent tmp{t.tmp, 1, t.place, s.count};
    switch (s.type) {
      case Type::nop:
      case Type::s:
        break;
      case Type::r:
      case Type::rcs:
        receive(t, target, after);
        source = target;
        break;
      case Type::rrc:
      case Type::rrcs:
        receive(t, tmp, after);
        after = {local(t, Op::reduce, source, tmp, target, after)};
        source = target;
        break;
      case Type::rrs:
        receive(t, tmp, after);
        break;
      case Type::cpy:
        if (source == target) break;  // in place it is there already
        after = {local(t, Op::copy, source, {}, target, after)};
        break;
      case Type::re:
        after = {local(t, Op::reduce, target, source, target, after)};
        break;
    }
    if (s.sends()) send(t, source, tmp, after);
  }

  /// Takes a message from the queue: now it stands in both schedules.
  void receive(const Turn &t, const Extent &target, std::vector<StepId> &after) {
    const MscclConnection &c = net_.connections[t.ends.in];
    Queue &q = queues_[t.ends.in];
    const int64_t k = q.received++;
    Schedule &sender = result_[c.from];
    const Extent slot = queued(t.ends.in, k, t.step.count);
    Step send;
    send.op = Op::send;
    send.peer = static_cast<int32_t>(c.to);
    send.loc = sender.steps[q.filled[k]].loc;
    send.from = sender.keep(Section(&slot, 1));
    q.emptied.push_back(append(c.from, send, {q.filled[k]}));

    Step recv;
    recv.op = Op::recv;
    recv.peer = static_cast<int32_t>(c.from);
    recv.loc = t.step.loc;
    recv.to = result_[t.gpu].keep(Section(&target, 1));
    after = {append(t.gpu, recv, after)};
  }

  Extent queued(int32_t connection, int64_t k, int64_t count) const {
    const int64_t slot = k % kMscclQueue * buffers_.slotChunks[connection];
    return {buffers_.queues[connection], 1, slot + queues_[connection].places[k], count};
  }

  /// Puts a message in the queue, once its place there is free.
  void send(const Turn &t, const Extent &source, const Extent &tmp, std::vector<StepId> &after) {
    Queue &q = queues_[t.ends.out];
    const int64_t k = q.sent++;
    q.places.push_back(t.place);
    if (k >= kMscclQueue) after.push_back(q.emptied[k - kMscclQueue]);
    const Extent slot = queued(t.ends.out, k, t.step.count);
    const StepId filled = t.step.type == Type::rrs ? local(t, Op::reduce, source, tmp, slot, after)
                                                   : local(t, Op::copy, source, {}, slot, after);
    q.filled.push_back(filled);
    after = {filled};
  }

  StepId local(const Turn &t, Op op, const Extent &from, const Extent &with, const Extent &to,
               const std::vector<StepId> &after) {
    Step step;
    step.op = op;
    step.loc = t.step.loc;
    Schedule &s = result_[t.gpu];
    step.from = s.keep(Section(&from, 1));
    if (op == Op::reduce) step.with = s.keep(Section(&with, 1));
    step.to = s.keep(Section(&to, 1));
    return append(t.gpu, step, after);
  }

  StepId append(int64_t gpu, Step step, const std::vector<StepId> &after) {
    Schedule &s = result_[gpu];
    step.after = s.keepWaits(after);
    s.steps.push_back(step);
    return static_cast<StepId>(s.steps.size() - 1);
  }

  /// reduce_scatter in place: NCCL has the result in the own block, MPI in the first. So a
  /// copy is the last that each rank does.
  void toFirstBlocks() {
    for (size_t gpu = 1; gpu < result_.size(); ++gpu) {
      const Extent own{buffers_.out, 1, static_cast<int64_t>(gpu), 1}, first{buffers_.out, 1, 0, 1};
      std::vector<StepId> after;
      for (int32_t b = net_.firstBlock[gpu]; b < net_.firstBlock[gpu + 1]; ++b)
        after.insert(after.end(), progress_[b].last.begin(), progress_[b].last.end());
      Step copy;
      copy.op = Op::copy;
      copy.loc = m_.gpus[gpu].loc;
      copy.from = result_[gpu].keep(Section(&own, 1));
      copy.to = result_[gpu].keep(Section(&first, 1));
      append(static_cast<int64_t>(gpu), copy, after);
    }
  }

  /// Rounds, which a schedule of waits has for the eye only: local steps begin one.
  static void finish(Schedule &s) {
    int32_t round = 0;
    bool communicated = false;
    for (Step &step : s.steps) {
      if (step.peer < 0 && communicated) ++round;
      communicated = step.peer >= 0;
      step.round = round;
    }
    s.rounds = round + 1;
  }

  const Msccl &m_;
  const MscclNet &net_;
  const bool inPlace_;
  const int64_t parts_;  // of a block: its chunks
  MscclBuffers buffers_;
  std::vector<Schedule> &result_;
  std::vector<Queue> queues_;       // by connection
  std::vector<Progress> progress_;  // by thread block
};

}  // namespace

std::vector<Schedule> scheduleMsccl(const Msccl &msccl, bool inPlace, Diag &diag) {
  const std::optional<MscclNet> net = connectMsccl(msccl, inPlace, diag);
  if (!net) return {};
  const std::optional<std::vector<int32_t>> order = runMsccl(*net, diag);
  if (!order) return {};
  const std::optional<MscclPlaces> places = placeMsccl(msccl, *net, *order, diag);
  if (!places) return {};
  std::optional<MscclBuffers> buffers = declareMsccl(msccl, *net, *places, inPlace, diag);
  if (!buffers) return {};
  return Scheduler(msccl, *net, std::move(*buffers), inPlace).run(*order, *places);
}

}  // namespace nbcc
