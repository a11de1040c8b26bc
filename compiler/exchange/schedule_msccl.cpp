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
// Chunk c of a vector (of a block) is part c of it, so lengths need not be divisible
// here; a scratch chunk is like what is put into it.
//
// A schedule's messages have no channel: the k-th send to a rank meets the k-th
// receive there. So steps are made in the order of a run of all gpus, and a message
// stands in both schedules where it is received in that run. Linear in the steps.
//
// Where operands stand: local with received, as NCCL does it; dst with src for `re`.

#include <algorithm>

#include "compiler/exchange/msccl_stages.h"
#include "dsl/collectives.h"

namespace nbcc {
namespace {

using Type = MscclStep::Type;

/// What is under way on a connection.
struct Queue {
  BufferId buffer = -1;  // at the sender
  int64_t sent = 0, received = 0;
  std::vector<int64_t> places;          // by message: of its first chunk
  std::vector<StepId> filled, emptied;  // by message: at the sender
};

/// A thread block, as far as it has come.
struct Progress {
  BufferId tmp = -1;  // what is received and not kept
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
  Scheduler(const Msccl &msccl, const MscclNet &net, const MscclPlaces &places, bool inPlace,
            Diag &diag)
      : m_(msccl),
        net_(net),
        places_(places),
        inPlace_(inPlace),
        diag_(diag),
        parts_(net.chunks.block),
        queues_(net.connections.size()),
        progress_(net.blocks.size()) {}

  std::vector<Schedule> run(const std::vector<int32_t> &order) {
    const int before = diag_.errors();
    declare();
    if (diag_.errors() != before) return {};
    for (size_t i = 0; i < order.size(); ++i) carryOut(order[i], places_.moved[i]);
    if (inPlace_ && m_.kind == ast::Kind::reduce_scatter_block) toFirstBlocks();
    for (Schedule &s : result_) finish(s);
    return std::move(result_);
  }

 private:
  // -------------------------------------------------------------- buffers

  void declare() {
    for (size_t g = 0; g < m_.gpus.size(); ++g) {
      Schedule s;
      for (const char c : m_.name) s.algorithm += isNamePart(c) ? c : '_';
      if (s.algorithm.empty()) s.algorithm = "msccl";
      s.kind = m_.kind;
      s.ranks = static_cast<int64_t>(m_.gpus.size());
      s.rank = static_cast<int64_t>(g);
      s.root = m_.root;
      s.inPlace = inPlace_ && m_.kind != ast::Kind::bcast;
      s.order = Order::waits;
      callers(s, m_.gpus[g].loc);
      result_.push_back(std::move(s));
      scratch_.push_back(add(static_cast<int64_t>(g), "s", m_.gpus[g].scratchChunks));
    }
    for (size_t b = 0; b < net_.blocks.size(); ++b) {
      const auto &[gpu, block, out, in] = net_.blocks[b];
      progress_[b].ends.resize(block->steps.size());
      int64_t most = 0;
      for (const MscclStep &s : block->steps)
        if (s.receives() && s.type != Type::r && s.type != Type::rcs)
          most = std::max(most, s.count);
      if (most > 0) progress_[b].tmp = addRows(gpu, cat("tmp", block->id), 1, most);
      const int64_t chunks = out < 0 ? 0 : net_.connections[out].mostChunks;
      if (chunks > 0)
        queues_[out].buffer = addRows(gpu, cat("queue", block->id), kMscclQueue, chunks);
    }
  }

  static bool isNamePart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }

  void callers(Schedule &s, Loc at) {
    const bool bcast = m_.kind == ast::Kind::bcast;
    const auto declare = [&](const char *name, Role role, Shape shape) {
      Buffer b;
      b.name = name;
      b.role = role;
      b.blocks = shape == Shape::blocks ? s.ranks : 1;
      b.loc = at;
      s.buffers.push_back(std::move(b));
      return static_cast<BufferId>(s.buffers.size() - 1);
    };
    if (!inPlace_) in_ = declare("in", Role::in, collective(m_.kind).in);
    const Collective &kind = collective(m_.kind);
    const bool allInOut = inPlace_ && kind.hasAllInOut();
    out_ = bcast ? declare("data", Role::data, Shape::vector)
                 : declare("out", Role::out, allInOut ? Shape::blocks : kind.out);
  }

  /// For each place of a queue, chunks from any place in a block on: chunk c of it is
  /// like part c mod n of a block.
  BufferId addRows(int64_t gpu, std::string name, int64_t places, int64_t chunks) {
    const BufferId id = add(gpu, std::move(name), places * rowOf(chunks));
    if (id < 0) return id;
    Buffer &b = result_[gpu].buffers[id];
    b.like.assign(static_cast<size_t>(b.blocks / parts_),
                  {out_, static_cast<int32_t>(parts_), 0, parts_});
    return id;
  }
  int64_t rowOf(int64_t chunks) const {
    return (parts_ - 1 + chunks + parts_ - 1) / parts_ * parts_;
  }

  /// Scratch of so many chunks.
  BufferId add(int64_t gpu, std::string name, int64_t chunks) {
    Schedule &s = result_[gpu];
    Buffer b;
    b.name = std::move(name);
    b.blocks = chunks;
    b.loc = m_.gpus[gpu].loc;
    if (b.blocks > kMaxBlocks) {
      diag_.error(b.loc, "the ", b.name, " of gpu ", gpu, " takes ", b.blocks, " chunks; at most ",
                  kMaxBlocks, " are possible");
      return -1;
    }
    s.buffers.push_back(std::move(b));
    return static_cast<BufferId>(s.buffers.size() - 1);
  }

  /// In place, `i` lies in `o`, allgather's at the own block; and reduce_scatter's `o` at the
  /// own block of `i`.
  Extent extent(int64_t gpu, char buffer, int64_t chunk, int64_t count) const {
    const auto parts = static_cast<int32_t>(parts_);
    if (buffer == 's') return {scratch_[gpu], 1, chunk, count};
    if (!inPlace_ && buffer == 'i') return normalize({in_, parts, chunk, count});
    const Collective &kind = collective(m_.kind);
    const Shape shape = buffer == 'i' ? kind.in : kind.out;
    if (inPlace_ && shape == Shape::block) chunk += gpu * parts_;
    return normalize({out_, parts, chunk, count});
  }

  // ---------------------------------------------------------------- steps

  void carryOut(int32_t block, int64_t place) {
    const MscclEnds &ends = net_.blocks[block];
    Progress &progress = progress_[block];
    const Turn t{ends, ends.block->steps[progress.next], ends.gpu, place, progress.tmp};
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
    const Queue &q = queues_[connection];
    const int64_t row = rowOf(net_.connections[connection].mostChunks);
    return {q.buffer, 1, k % kMscclQueue * row + q.places[k], count};
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
      const Extent own{out_, 1, static_cast<int64_t>(gpu), 1}, first{out_, 1, 0, 1};
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

  /// Scratch is like what was put there. And rounds, which a schedule of waits has for
  /// the eye only: local steps begin one.
  void finish(Schedule &s) const {
    for (const int64_t place : places_.scratch[s.rank])
      s.buffers[scratch_[s.rank]].like.push_back(
          {out_, static_cast<int32_t>(parts_), std::max<int64_t>(0, place), 1});
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
  const MscclPlaces &places_;
  const bool inPlace_;
  Diag &diag_;
  const int64_t parts_;  // of a block: its chunks
  BufferId in_ = -1, out_ = -1;
  std::vector<BufferId> scratch_;
  std::vector<Queue> queues_;       // by connection
  std::vector<Progress> progress_;  // by thread block
  std::vector<Schedule> result_;
};

}  // namespace

std::vector<Schedule> scheduleMsccl(const Msccl &msccl, bool inPlace, Diag &diag) {
  const std::optional<MscclNet> net = connectMsccl(msccl, inPlace, diag);
  if (!net) return {};
  const std::optional<std::vector<int32_t>> order = runMsccl(*net, diag);
  if (!order) return {};
  const std::optional<MscclPlaces> places = placeMsccl(msccl, *net, *order, diag);
  if (!places) return {};
  return Scheduler(msccl, *net, *places, inPlace, diag).run(*order);
}

}  // namespace nbcc
