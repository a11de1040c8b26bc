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
// here. Then a chunk is only as long as another one at the same place: what moves is
// followed, a scratch chunk is like what is put into it, and data that change their
// place are refused. They are a mistake, or `o` or a scratch chunk used for two things.
//
// A schedule's messages have no channel: the k-th send to a rank meets the k-th
// receive there. So all gpus are run here, and a message stands in both schedules
// where it is received in that run. If the run gets stuck, who waits for whom is
// reported. Linear in the steps, and in the thread blocks of a gpu for each that tells.
//
// Where operands stand: local with received, as NCCL does it; dst with src for `re`.

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/exchange/msccl.h"
#include "dsl/collectives.h"

namespace nbcc {
namespace {

using Type = MscclStep::Type;

/// From one gpu to another on a channel: who uses it, and how far it is.
struct Connection {
  int64_t from = 0, to = 0, channel = 0;
  const MscclBlock *sender = nullptr, *receiver = nullptr;
  int64_t mostChunks = 0;  // of a message
  BufferId queue = -1;     // at the sender
  int64_t sent = 0, received = 0;
  std::vector<int64_t> places;          // by message: of its first chunk in a block
  std::vector<StepId> filled, emptied;  // by message: at the sender
};

/// A thread block in the run.
struct Running {
  int64_t gpu = 0;
  const MscclBlock *block = nullptr;
  Connection *out = nullptr, *in = nullptr;
  BufferId tmp = -1;  // what is received and not kept
  size_t next = 0;
  std::vector<StepId> last;               // what its next step waits for
  std::vector<std::vector<StepId>> ends;  // by step: what those behind it wait for

  const MscclStep &step() const { return block->steps[next]; }
  bool done() const { return next == block->steps.size(); }
};

class Scheduler {
 public:
  Scheduler(const Msccl &msccl, bool inPlace, Diag &diag)
      : m_(msccl), inPlace_(inPlace), diag_(diag), errors_(diag.errors()) {}

  std::vector<Schedule> run() {
    if (!chunks()) return {};
    connect();
    if (diag_.errors() == errors_) checkMessages();
    if (diag_.errors() != errors_) return {};
    if (!declare()) return {};
    goOn();
    for (const Running &r : blocks_)
      if (!r.done()) {
        reportDeadlock(r);
        return {};
      }
    if (diag_.errors() != errors_) return {};
    for (Schedule &s : result_) finish(s);
    return std::move(result_);
  }

 private:
  // --------------------------------------------------------------- chunks

  /// How many chunks a block has, and that all buffers are as long as that.
  bool chunks() {
    const auto gpus = static_cast<int64_t>(m_.gpus.size());
    const bool vector = collective(m_.kind).out != Shape::blocks;
    parts_ = vector ? m_.chunksPerLoop : m_.chunksPerLoop / gpus;
    if (!vector && parts_ * gpus != m_.chunksPerLoop) {
      diag_.error(m_.loc, "nchunksperloop is ", m_.chunksPerLoop, ", which cannot be divided by ",
                  gpus, " gpus");
      return false;
    }
    if (m_.kind == ast::Kind::bcast && !inPlace_) {
      diag_.error(m_.loc, "broadcast is only known in place, as MPI has it");
      return false;
    }
    inChunks_ = m_.kind == ast::Kind::allgather ? parts_ : m_.chunksPerLoop;
    outChunks_ = m_.chunksPerLoop;
    int64_t scratch = 0;
    for (const MscclGpu &gpu : m_.gpus) {
      scratch += gpu.scratchChunks;
      const auto check = [&](const char *name, int64_t found, int64_t wanted) {
        // In place one of the two need not be named, as it is the other.
        if (found != wanted && !(inPlace_ && found == 0))
          diag_.error(gpu.loc, name, " is ", found, ", but with nchunksperloop=\"",
                      m_.chunksPerLoop, "\" this collective has ", wanted, " chunks there");
      };
      check("i_chunks", gpu.inChunks, inChunks_);
      check("o_chunks", gpu.outChunks, outChunks_);
    }
    if (scratch > kMaxBlocks)
      diag_.error(m_.loc, "all gpus have ", scratch, " chunks of scratch; at most ", kMaxBlocks,
                  " are followed");
    return diag_.errors() == errors_;
  }

  /// In place, `i` lies in `o`: allgather's at the own block.
  Extent extent(int64_t gpu, char buffer, int64_t chunk, int64_t count) const {
    const auto parts = static_cast<int32_t>(parts_);
    if (buffer == 's') return {scratch_[gpu], 1, chunk, count};
    if (!inPlace_ && buffer == 'i') return normalize({in_, parts, chunk, count});
    if (buffer == 'i' && m_.kind == ast::Kind::allgather) chunk += gpu * parts_;
    return normalize({out_, parts, chunk, count});
  }

  void checkInside(int64_t gpu, const MscclStep &s) {
    const auto check = [&](const char *does, char buffer, int64_t chunk) {
      const int64_t chunks = buffer == 's'   ? m_.gpus[gpu].scratchChunks
                             : buffer == 'i' ? inChunks_
                                             : outChunks_;
      if (chunk + s.count > chunks)
        diag_.error(s.loc, "gpu ", gpu, " ", does, " ", s.count, " chunks from ", buffer, "[",
                    chunk, "] on, but ", buffer, " has ", chunks, " chunks");
    };
    if (s.reads()) check("reads", s.from, s.fromChunk);
    if (s.writes()) check("writes", s.to, s.toChunk);
  }

  // ---------------------------------------------------------- connections

  Connection &connection(int64_t from, int64_t to, int64_t channel) {
    Connection &c = connections_[{from, to, channel}];
    c.from = from, c.to = to, c.channel = channel;
    return c;
  }

  void connect() {
    for (size_t g = 0; g < m_.gpus.size(); ++g) {
      const auto gpu = static_cast<int64_t>(g);
      firstBlock_.push_back(blocks_.size());
      for (const MscclBlock &block : m_.gpus[g].blocks) {
        Running r{gpu, &block};
        if (block.send >= 0) {
          r.out = &connection(gpu, block.send, block.channel);
          use(r.out->sender, block, "sends on", *r.out);
        }
        if (block.recv >= 0) {
          r.in = &connection(block.recv, gpu, block.channel);
          use(r.in->receiver, block, "receives on", *r.in);
        }
        r.ends.resize(block.steps.size());
        for (const MscclStep &s : block.steps) {
          checkInside(gpu, s);
          if (s.sends() && !r.out)
            diag_.error(s.loc, "this sends, but thread block ", block.id, " has send=\"-1\"");
          if (s.receives() && !r.in)
            diag_.error(s.loc, "this receives, but thread block ", block.id, " has recv=\"-1\"");
          if (s.sends() && r.out) r.out->mostChunks = std::max(r.out->mostChunks, s.count);
        }
        blocks_.push_back(std::move(r));
      }
    }
  }

  void use(const MscclBlock *&end, const MscclBlock &block, const char *does, const Connection &c) {
    if (end) {
      diag_.error(block.loc, "a second thread block that ", does, " channel ", c.channel,
                  " from gpu ", c.from, " to gpu ", c.to);
      diag_.note(end->loc, "the first is here");
    }
    end = &block;
  }

  /// The k-th message of a connection: there at both ends, and equally long.
  void checkMessages() {
    for (const auto &[key, c] : connections_) {
      std::vector<const MscclStep *> sends, receives;
      if (c.sender)
        for (const MscclStep &s : c.sender->steps)
          if (s.sends()) sends.push_back(&s);
      if (c.receiver)
        for (const MscclStep &s : c.receiver->steps)
          if (s.receives()) receives.push_back(&s);
      const std::string where =
          cat(" on channel ", c.channel, " from gpu ", c.from, " to gpu ", c.to);
      for (size_t k = 0; k < std::max(sends.size(), receives.size()); ++k) {
        if (k >= receives.size()) {
          diag_.error(sends[k]->loc, "message ", k, where, " is sent, but gpu ", c.to,
                      " receives only ", receives.size());
          break;
        }
        if (k >= sends.size()) {
          diag_.error(receives[k]->loc, "message ", k, where, " is received, but gpu ", c.from,
                      " sends only ", sends.size());
          break;
        }
        if (sends[k]->count == receives[k]->count) continue;
        diag_.error(receives[k]->loc, "message ", k, where, " is received as ", receives[k]->count,
                    " chunks, but ", sends[k]->count, " are sent");
        diag_.note(sends[k]->loc, "it is sent here");
        break;
      }
    }
  }

  // -------------------------------------------------------------- buffers

  bool declare() {
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
      held_.emplace_back(static_cast<size_t>(m_.gpus[g].scratchChunks), -1);
    }
    for (Running &r : blocks_) {
      int64_t most = 0;
      for (const MscclStep &s : r.block->steps)
        if (s.receives() && s.type != Type::r && s.type != Type::rcs)
          most = std::max(most, s.count);
      if (most > 0) r.tmp = addRows(r.gpu, cat("tmp", r.block->id), 1, most);
      if (r.out && r.out->mostChunks > 0)
        r.out->queue = addRows(r.gpu, cat("queue", r.block->id), kMscclQueue, r.out->mostChunks);
    }
    return diag_.errors() == errors_;
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
    out_ = bcast ? declare("data", Role::data, Shape::vector)
                 : declare("out", Role::out, collective(m_.kind).out);
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

  // --------------------------------------------------------------- places

  /// Where in a block what a step reads begins; of scratch, what was put there last.
  int64_t placeRead(const Running &r) {
    const MscclStep &s = r.step();
    if (s.from != 's') return s.fromChunk % parts_;
    int64_t &first = held_[r.gpu][static_cast<size_t>(s.fromChunk)];
    if (first < 0)  // nothing was: prove() will say so
      first = s.writes() && s.to != 's' ? s.toChunk % parts_ : 0;
    for (int64_t i = 1; i < s.count; ++i) {
      int64_t &next = held_[r.gpu][static_cast<size_t>(s.fromChunk + i)];
      if (next < 0) next = (first + i) % parts_;
      if (next == (first + i) % parts_) continue;
      diag_.error(s.loc, "s[", s.fromChunk + i, "] of gpu ", r.gpu, " holds chunk ", next,
                  " of a block, which does not follow chunk ", (first + i - 1) % parts_);
      break;
    }
    return first;
  }

  /// What begins at `place` of a block is written, or combined with what is read.
  void checkPlace(const Running &r, char buffer, int64_t chunk, int64_t place) {
    const MscclStep &s = r.step();
    for (int64_t i = 0; i < s.count; ++i) {
      const int64_t comes = (place + i) % parts_;
      int64_t there = (chunk + i) % parts_;
      if (buffer == 's') {
        int64_t &held = held_[r.gpu][static_cast<size_t>(chunk + i)];
        if (held < 0) held = comes;
        there = held;
      }
      if (there == comes) continue;
      diag_.error(s.loc, "chunk ", comes, " of a block comes to ", buffer, "[", chunk + i,
                  "] of gpu ", r.gpu, ", which holds chunk ", there);
      break;
    }
  }

  // -------------------------------------------------------------- running

  /// Lets every thread block go on as far as it can; who has gone on wakes those who
  /// may wait for it.
  void goOn() {
    std::vector<size_t> ready;
    for (size_t i = blocks_.size(); i-- > 0;) ready.push_back(i);
    while (!ready.empty()) {
      Running &r = blocks_[ready.back()];
      ready.pop_back();
      bool moved = false, told = false;
      for (; !r.done() && canStart(r); moved = true) {
        told = told || r.step().awaited;
        carryOut(r);
      }
      if (!moved) continue;
      if (r.out && r.out->receiver) ready.push_back(indexOf(r.out->to, r.out->receiver));
      if (r.in && r.in->sender) ready.push_back(indexOf(r.in->from, r.in->sender));
      if (!told) continue;
      for (size_t i = 0; i < m_.gpus[r.gpu].blocks.size(); ++i)
        ready.push_back(firstBlock_[r.gpu] + i);
    }
  }

  const Running &waitedFor(const Running &r) const {
    return blocks_[firstBlock_[r.gpu] + static_cast<size_t>(r.step().block)];
  }
  bool waits(const Running &r) const {
    return r.step().block >= 0 && waitedFor(r).next <= static_cast<size_t>(r.step().step);
  }
  static bool isEmpty(const Connection &c) { return c.sent == c.received; }
  static bool isFull(const Connection &c) { return c.sent - c.received == kMscclQueue; }

  bool canStart(const Running &r) const {
    const MscclStep &s = r.step();
    return !waits(r) && !(s.receives() && isEmpty(*r.in)) && !(s.sends() && isFull(*r.out));
  }

  void carryOut(Running &r) {
    const MscclStep &s = r.step();
    std::vector<StepId> after = r.last;
    if (s.block >= 0) {
      const std::vector<StepId> &more = waitedFor(r).ends[static_cast<size_t>(s.step)];
      after.insert(after.end(), more.begin(), more.end());
    }
    Extent source = s.reads() ? extent(r.gpu, s.from, s.fromChunk, s.count) : Extent{};
    const Extent target = s.writes() ? extent(r.gpu, s.to, s.toChunk, s.count) : Extent{};
    const int64_t place = s.receives() ? r.in->places[static_cast<size_t>(r.in->received)]
                          : s.reads()  ? placeRead(r)
                                       : 0;
    const Extent tmp{r.tmp, 1, place, s.count};
    if (s.receives() && s.reads()) checkPlace(r, s.from, s.fromChunk, place);
    if (s.writes()) checkPlace(r, s.to, s.toChunk, place);

    switch (s.type) {
      case Type::nop:
      case Type::s:
        break;
      case Type::r:
      case Type::rcs:
        receive(r, target, after);
        source = target;
        break;
      case Type::rrc:
      case Type::rrcs:
        receive(r, tmp, after);
        after = {local(r, Op::reduce, source, tmp, target, after)};
        source = target;
        break;
      case Type::rrs:
        receive(r, tmp, after);
        break;
      case Type::cpy:
        if (source == target) break;  // in place it is there already
        after = {local(r, Op::copy, source, {}, target, after)};
        break;
      case Type::re:
        after = {local(r, Op::reduce, target, source, target, after)};
        break;
    }
    if (s.sends()) send(r, source, tmp, place, after);
    r.ends[r.next] = after;
    r.last = std::move(after);
    ++r.next;
  }

  /// Takes a message from the queue: now it stands in both schedules.
  void receive(const Running &r, const Extent &target, std::vector<StepId> &after) {
    Connection &c = *r.in;
    const int64_t k = c.received++;
    Step send;
    send.op = Op::send;
    send.peer = static_cast<int32_t>(c.to);
    send.loc = result_[c.from].steps[c.filled[k]].loc;
    const Extent slot = queued(c, k, r.step().count);
    send.from = result_[c.from].keep(Section(&slot, 1));
    c.emptied.push_back(append(c.from, send, {c.filled[k]}));

    Step recv;
    recv.op = Op::recv;
    recv.peer = static_cast<int32_t>(c.from);
    recv.loc = r.step().loc;
    recv.to = result_[r.gpu].keep(Section(&target, 1));
    after = {append(r.gpu, recv, after)};
  }

  Extent queued(const Connection &c, int64_t k, int64_t count) const {
    return {c.queue, 1, k % kMscclQueue * rowOf(c.mostChunks) + c.places[k], count};
  }

  /// Puts a message in the queue, once its place there is free.
  void send(const Running &r, const Extent &source, const Extent &tmp, int64_t place,
            std::vector<StepId> &after) {
    Connection &c = *r.out;
    const int64_t k = c.sent++;
    c.places.push_back(place);
    if (k >= kMscclQueue) after.push_back(c.emptied[k - kMscclQueue]);
    const Extent slot = queued(c, k, r.step().count);
    const StepId filled = r.step().type == Type::rrs
                              ? local(r, Op::reduce, source, tmp, slot, after)
                              : local(r, Op::copy, source, {}, slot, after);
    c.filled.push_back(filled);
    after = {filled};
  }

  StepId local(const Running &r, Op op, const Extent &from, const Extent &with, const Extent &to,
               const std::vector<StepId> &after) {
    Step step;
    step.op = op;
    step.loc = r.step().loc;
    Schedule &s = result_[r.gpu];
    step.from = s.keep(Section(&from, 1));
    if (op == Op::reduce) step.with = s.keep(Section(&with, 1));
    step.to = s.keep(Section(&to, 1));
    return append(r.gpu, step, after);
  }

  StepId append(int64_t gpu, Step step, const std::vector<StepId> &after) {
    Schedule &s = result_[gpu];
    step.after = s.keepWaits(after);
    s.steps.push_back(step);
    return static_cast<StepId>(s.steps.size() - 1);
  }

  /// Scratch is like what was put there. And rounds, which a schedule of waits has for
  /// the eye only: local steps begin one.
  void finish(Schedule &s) const {
    for (const int64_t place : held_[s.rank])
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

  // ------------------------------------------------------------- deadlock

  size_t indexOf(int64_t gpu, const MscclBlock *block) const {
    return firstBlock_[gpu] + static_cast<size_t>(block - m_.gpus[gpu].blocks.data());
  }
  const Running &blockOf(int64_t gpu, const MscclBlock *block) const {
    return blocks_[indexOf(gpu, block)];
  }

  const Running &blocker(const Running &r) const {
    if (waits(r)) return waitedFor(r);
    if (r.step().receives() && isEmpty(*r.in)) return blockOf(r.in->from, r.in->sender);
    return blockOf(r.out->to, r.out->receiver);
  }

  void reportDeadlock(const Running &first) {
    std::vector<const Running *> path;
    for (const Running *r = &first;; r = &blocker(*r)) {
      const auto again = std::find(path.begin(), path.end(), r);
      if (again == path.end()) {
        path.push_back(r);
        continue;
      }
      path.erase(path.begin(), again);
      break;
    }
    std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
    diag_.error(path[0]->step().loc, "deadlock of ", path.size(),
                path.size() == 1 ? " thread block: " : " thread blocks: ", reason(*path[0]));
    constexpr size_t kMostNotes = 8;
    for (size_t i = 1; i < path.size() && i <= kMostNotes; ++i)
      diag_.note(path[i]->step().loc, reason(*path[i]));
  }

  std::string reason(const Running &r) const {
    const std::string who = cat("thread block ", r.block->id, " of gpu ", r.gpu);
    if (waits(r))
      return cat(who, " waits for step ", r.step().step, " of thread block ",
                 waitedFor(r).block->id);
    if (r.step().receives() && isEmpty(*r.in))
      return cat(who, " waits for message ", r.in->received, " from gpu ", r.in->from,
                 " on channel ", r.in->channel);
    return cat(who, " cannot send message ", r.out->sent, " to gpu ", r.out->to, " on channel ",
               r.out->channel, ": ", kMscclQueue, " wait in the queue already");
  }

  const Msccl &m_;
  const bool inPlace_;
  Diag &diag_;
  const int errors_;
  int64_t parts_ = 1, inChunks_ = 0, outChunks_ = 0;
  BufferId in_ = -1, out_ = -1;
  std::vector<BufferId> scratch_;
  std::vector<std::vector<int64_t>> held_;  // by gpu, by chunk of scratch: its place in a block
  std::map<std::tuple<int64_t, int64_t, int64_t>, Connection> connections_;
  std::vector<Running> blocks_;     // of all gpus
  std::vector<size_t> firstBlock_;  // of each gpu
  std::vector<Schedule> result_;
};

}  // namespace

std::vector<Schedule> scheduleMsccl(const Msccl &msccl, bool inPlace, Diag &diag) {
  return Scheduler(msccl, inPlace, diag).run();
}

}  // namespace nbcc
