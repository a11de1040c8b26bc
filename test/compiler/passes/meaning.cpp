// SPDX-License-Identifier: BSD-3-Clause
// No pass changes what arrives: random schedules of one rank are run before and after.
//
// The machine below is meant to be obviously right: memory is bytes per block, a
// section is a list of addresses, a step does all at once. Received bytes are a
// function of the channel and of how many came before, sent bytes are recorded;
// schedules of Order::waits run in random orders that their waits allow.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "support.h"

namespace nbcc {
namespace {

using Random = std::mt19937;
int64_t below(Random &random, int64_t n) {
  return static_cast<int64_t>(random() % n);
}

// ---------------------------------------------------------------- machine

struct Address {
  BufferId buffer;
  int64_t block, offset;
};

/// What block of `like` lists ends up as: part `first` of `parts` of a caller's block.
struct Part {
  int64_t first = 0, parts = 1;
};

Part partOf(const Schedule &s, BufferId buffer, int64_t block) {
  const std::vector<Extent> &like = s.buffers[buffer].like;
  if (like.empty()) return {};
  for (const Extent &e : like) {
    if (block >= e.count && !(like.size() == 1 && e.count == 1)) {
      block -= e.count;
      continue;
    }
    const int64_t unit = e.count == 1 ? e.first : e.first + block;
    const Part outer = partOf(s, e.buffer, unit / e.parts);
    return {outer.first * e.parts + unit % e.parts, outer.parts * e.parts};
  }
  ADD_FAILURE() << "block beyond its like";
  return {};
}

/// Where position j/m of a block lies, when the caller's blocks are of n bytes.
int64_t offset(const Part &part, int64_t j, int64_t m, int64_t n) {
  return n * (part.first * m + j) / (part.parts * m) - n * part.first / part.parts;
}

std::vector<Address> addresses(const Schedule &s, Section section, int64_t n) {
  std::vector<Address> result;
  for (const Extent &e : section)
    for (int64_t unit = e.first; unit < e.first + e.count; ++unit) {
      const int64_t block = unit / e.parts, j = unit % e.parts;
      const Part part = partOf(s, e.buffer, block);
      for (int64_t at = offset(part, j, e.parts, n); at < offset(part, j + 1, e.parts, n); ++at)
        result.push_back({e.buffer, block, at});
    }
  return result;
}

struct Machine {
  const Schedule &s;
  int64_t n;
  std::vector<std::vector<std::vector<uint8_t>>> memory;  // buffer, block, byte
  std::map<StepId, std::vector<uint8_t>> sent;

  /// Scratch begins with `garbage`.
  Machine(const Schedule &schedule, int64_t bytes, uint8_t garbage) : s(schedule), n(bytes) {
    for (size_t b = 0; b < s.buffers.size(); ++b) {
      memory.emplace_back();
      for (int64_t i = 0; i < s.buffers[b].blocks; ++i) {
        const Part part = partOf(s, static_cast<BufferId>(b), i);
        memory[b].emplace_back(offset(part, 1, 1, n), garbage);
        if (s.buffers[b].like.empty())
          for (int64_t k = 0; k < n; ++k)
            memory[b][i][k] =
                static_cast<uint8_t>(17 * i + 3 * k + (s.buffers[b].role == Role::in ? 1 : 101));
      }
    }
  }

  uint8_t &at(const Address &a) { return memory[a.buffer][a.block][a.offset]; }

  void run(StepId i) {
    const Step &step = s.steps[i];
    const std::vector<Address> from = addresses(s, s.from(step), n),
                               with = addresses(s, s.with(step), n),
                               to = addresses(s, s.to(step), n);
    std::vector<uint8_t> value;
    switch (step.op) {
      case Op::send:
        for (const Address &a : from) sent[i].push_back(at(a));
        break;
      case Op::recv: {
        size_t before = 0;
        for (StepId k = 0; k < i; ++k)
          if (s.steps[k].op == Op::recv && s.steps[k].peer == step.peer)
            before += addresses(s, s.to(s.steps[k]), n).size();
        for (size_t k = 0; k < to.size(); ++k)
          at(to[k]) = static_cast<uint8_t>(((before + k) * 2654435761u + step.peer * 40503u) >> 5);
        break;
      }
      case Op::signal:
      case Op::await:
        break;
      case Op::copy:
        ASSERT_EQ(from.size(), to.size());
        for (const Address &a : from) value.push_back(at(a));
        for (size_t k = 0; k < to.size(); ++k) at(to[k]) = value[k];
        break;
      case Op::reduce:
        ASSERT_EQ(from.size(), to.size());
        ASSERT_EQ(with.size(), to.size());
        for (size_t k = 0; k < to.size(); ++k)
          value.push_back(static_cast<uint8_t>(3 * at(from[k]) + 7 * at(with[k]) + 1));
        for (size_t k = 0; k < to.size(); ++k) at(to[k]) = value[k];
        break;
    }
  }

  /// Order::rounds: by number. Order::waits: any order that waits and channels allow.
  void runAll(Random &random) {
    const StepId n_ = static_cast<StepId>(s.steps.size());
    std::vector<char> done(n_);
    for (StepId count = 0; count < n_; ++count) {
      std::vector<StepId> ready;
      std::set<std::pair<int32_t, bool>> busy;  // an earlier message of the channel has not begun
      for (StepId i = 0; i < n_; ++i) {
        if (done[i]) continue;
        const Step &step = s.steps[i];
        bool can = s.order == Order::waits || ready.empty();
        for (const StepId d : s.after(step)) can &= done[d] != 0;
        if (step.peer >= 0)
          can &= busy.emplace(step.peer, step.op == Op::send || step.op == Op::signal).second;
        if (can) ready.push_back(i);
        if (s.order == Order::rounds) break;
      }
      ASSERT_FALSE(ready.empty());
      // Often the latest: that is what a missing wait would let go ahead.
      const StepId next = below(random, 2) ? ready.back() : ready[below(random, ready.size())];
      run(next);
      done[next] = true;
    }
  }

  std::map<int32_t, std::vector<uint8_t>> streams() const {
    std::map<int32_t, std::vector<uint8_t>> result;
    for (const auto &[i, bytes] : sent) {
      std::vector<uint8_t> &stream = result[s.steps[i].peer];
      stream.insert(stream.end(), bytes.begin(), bytes.end());
    }
    return result;
  }
};

// -------------------------------------------------------------- generator

constexpr int64_t kUnits = 12;  // of a block: all parts below divide it

struct Generator {
  Random &random;
  Schedule s;
  std::vector<std::vector<char>> written;  // buffer, unit
  std::vector<Extent> roundReads, roundWrites;
  int32_t round = 0;

  Generator(Random &r, ast::Kind kind) : random(r) {
    s.algorithm = "random";
    s.kind = kind;
    s.ranks = 4;
    s.rank = 1;
    s.root = 1;
    const bool blocksIn = kind == ast::Kind::alltoall || kind == ast::Kind::scatter ||
                          kind == ast::Kind::reduce_scatter;
    const bool blocksOut =
        kind == ast::Kind::alltoall || kind == ast::Kind::allgather || kind == ast::Kind::gather;
    s.buffers = {{.name = "in", .role = Role::in, .blocks = blocksIn ? 4 : 1},
                 {.name = "out", .role = Role::out, .blocks = blocksOut ? 4 : 1}};
    const BufferId many = blocksOut ? 1 : 0;  // a buffer of several blocks, if there is one
    if (blocksIn || blocksOut)
      s.buffers.push_back({.name = "tmp", .blocks = 4, .like = {{many, 1, 1, 3}, {many, 1, 0, 1}}});
    else
      s.buffers.push_back({.name = "tmp", .blocks = 4, .like = {{1, 1, 0, 1}}});
    s.buffers.push_back({.name = "pair", .blocks = 2, .like = {{2, 1, 1, 2}}});
    s.buffers.push_back({.name = "half", .blocks = 2, .like = {{1, 2, 0, 2}}});
    s.buffers.push_back({.name = "again", .blocks = 2, .like = {{2, 1, 1, 2}}});
    // What `out` begins with is the caller's, but for scatter's root, which has none in place.
    for (const Buffer &b : s.buffers)
      written.emplace_back(b.blocks * kUnits, b.role == Role::in || (b.role == Role::out &&
                                                                     kind != ast::Kind::scatter));
  }

  /// `count` units of 1/parts, `start` of them into a block: it may lie in any buffer with room.
  struct Shape {
    int32_t parts;
    int64_t start, count;
  };

  Extent place(const Shape &shape, BufferId buffer) {
    const int64_t blocks = s.buffers[buffer].blocks;
    if (s.buffers[buffer].name == "half") {  // both halves of one block
      if (shape.parts % 2 != 0 || shape.start + shape.count > shape.parts) return {};
      return normalize({buffer, shape.parts / 2, shape.start, shape.count});
    }
    const int64_t room = blocks - (shape.start + shape.count + shape.parts - 1) / shape.parts;
    if (room < 0) return {};
    return normalize(
        {buffer, shape.parts, shape.start + shape.parts * below(random, room + 1), shape.count});
  }

  bool ready(const Extent &e) const {
    for (int64_t u = e.first * kUnits / e.parts; u < (e.first + e.count) * kUnits / e.parts; ++u)
      if (!written[e.buffer][u]) return false;
    return true;
  }
  void mark(const Extent &e) {
    for (int64_t u = e.first * kUnits / e.parts; u < (e.first + e.count) * kUnits / e.parts; ++u)
      written[e.buffer][u] = true;
  }
  static bool meets(const Extent &e, const std::vector<Extent> &others) {
    return std::ranges::any_of(others, [&](const Extent &o) { return overlap(e, o); });
  }

  std::optional<Extent> source(const Shape &shape) {
    for (int tries = 0; tries < 6; ++tries) {
      const Extent e = place(shape, static_cast<BufferId>(below(random, s.buffers.size())));
      if (e.buffer >= 0 && ready(e) && !meets(e, roundWrites)) return e;
    }
    return {};
  }
  std::optional<Extent> target(const Shape &shape, const std::vector<Extent> &apart) {
    for (int tries = 0; tries < 6; ++tries) {
      const Extent e = place(shape, static_cast<BufferId>(1 + below(random, s.buffers.size() - 1)));
      if (e.buffer >= 0 && !meets(e, roundWrites) && !meets(e, roundReads) && !meets(e, apart))
        return e;
    }
    return {};
  }

  void step(bool local) {
    Step step;
    step.round = round;
    step.loc = {static_cast<uint32_t>(s.steps.size() + 1), 1, 0};
    const int op = static_cast<int>(below(random, 8));
    if (local)
      step.op = op < 5 ? Op::copy : Op::reduce;
    else
      step.op = op == 0 ? Op::signal : op == 1 ? Op::await : op < 5 ? Op::send : Op::recv;
    if (!local) step.peer = std::array{0, 2, 3}[below(random, 3)];
    std::vector<Extent> from, with, to;
    const int64_t pieces = 1 + below(random, 2);
    if (step.op != Op::signal && step.op != Op::await)
      for (int64_t k = 0; k < pieces; ++k) {
        Shape shape{std::array{1, 1, 1, 2, 3, 4}[below(random, 6)], 0, 0};
        shape.start = below(random, shape.parts);
        shape.count = 1 + below(random, 2 * shape.parts);
        std::vector<Extent> apart = to;
        for (const std::vector<Extent> *reads : {&from, &with})
          apart.insert(apart.end(), reads->begin(), reads->end());
        std::optional<Extent> f, w, t;
        if (step.op != Op::recv && !(f = source(shape))) return;
        if (step.op == Op::reduce && !(w = source(shape))) return;
        if (f && meets(*f, to)) return;
        if (w && meets(*w, to)) return;
        if (step.op == Op::reduce && f->buffer > 0 && below(random, 2) && !meets(*f, apart) &&
            (*f == *w || !overlap(*f, *w))) {
          t = f;  // onto an operand
        } else if (step.op != Op::send) {
          if (f) apart.push_back(*f);
          if (w) apart.push_back(*w);
          if (!(t = target(shape, apart))) return;
        }
        if (f) from.push_back(*f);
        if (w) with.push_back(*w);
        if (t) to.push_back(*t);
      }
    for (const Extent &e : to) mark(e);
    if (!local) {
      roundReads.insert(roundReads.end(), from.begin(), from.end());
      roundWrites.insert(roundWrites.end(), to.begin(), to.end());
    }
    step.from = s.keep(from), step.with = s.keep(with), step.to = s.keep(to);
    s.steps.push_back(step);
  }

  Schedule run() {
    const int64_t rounds = below(random, 5);
    for (; round <= rounds; ++round) {
      for (int64_t i = below(random, 3); i > 0; --i) step(true);
      if (round == rounds) break;
      for (int64_t i = below(random, 5); i > 0; --i) step(false);
      roundReads.clear(), roundWrites.clear();
      s.rounds = round + 1;
    }
    // As in Bruck's algorithm: in the end each block goes where it belongs.
    const int64_t outs = s.buffers[1].blocks;
    if (below(random, 4) > 0)
      for (int64_t j = 0; j < outs; ++j) {
        const Extent from{2, 1, j, 1}, to{1, 1, (1 + j) % outs, 1};
        if (!ready(from)) continue;
        s.steps.push_back({.op = Op::copy,
                           .round = s.rounds,
                           .from = s.keep({&from, 1}),
                           .to = s.keep({&to, 1})});
      }
    return s;
  }
};

constexpr ast::Kind kKinds[] = {
    ast::Kind::alltoall, ast::Kind::allgather, ast::Kind::allreduce,      ast::Kind::gather,
    ast::Kind::reduce,   ast::Kind::scatter,   ast::Kind::reduce_scatter, ast::Kind::exscan};

/// The other ends of a schedule's messages, in rounds of their own.
Schedule mirror(const Schedule &s, int32_t rank, Random &random) {
  Schedule m;
  m.ranks = s.ranks;
  m.rank = rank;
  int32_t round = 0;
  for (const Step &step : s.steps) {
    if (step.peer != rank) continue;
    round += static_cast<int32_t>(below(random, 3) == 0);
    const Op op = step.op == Op::send     ? Op::recv
                  : step.op == Op::recv   ? Op::send
                  : step.op == Op::signal ? Op::await
                                          : Op::signal;
    m.steps.push_back({.op = op, .peer = static_cast<int32_t>(s.rank), .round = round});
  }
  return m;
}

void expectVerified(const Schedule &s) {
  std::ostringstream said;
  Diag diag(said);
  diag.addFile("random", "");
  verify(s, diag);
  ASSERT_EQ(said.str(), "") << printed(s);
}

void expectSame(const Schedule &before, const Schedule &now, Random &random) {
  ASSERT_NO_FATAL_FAILURE(expectVerified(now));
  for (const int64_t n : {12, 13}) {
    Machine reference(before, n, 7);
    reference.runAll(random);
    for (int times = 0; times < (now.order == Order::waits ? 4 : 1); ++times) {
      Machine machine(now, n, static_cast<uint8_t>(times));
      machine.runAll(random);
      ASSERT_EQ(machine.streams(), reference.streams()) << printed(before) << printed(now);
      ASSERT_EQ(machine.memory[1], reference.memory[1]) << printed(before) << printed(now);
      ASSERT_EQ(machine.memory[0], reference.memory[0]);
    }
  }
}

/// signal and await as schedule.h means them, in a schedule whose steps are those of `rounds`.
void expectControl(const Schedule &rounds, const Schedule &waits) {
  ASSERT_EQ(rounds.steps.size(), waits.steps.size());
  Reach reach(waits);
  for (StepId i = 0; i < static_cast<StepId>(rounds.steps.size()); ++i)
    for (StepId d = 0; d < i; ++d) {
      const Step &a = rounds.steps[d], &b = rounds.steps[i];
      const bool together = a.peer >= 0 && b.peer >= 0 && a.round == b.round;
      if (together) {
        ASSERT_FALSE(reach.finishedBefore(d, i)) << d << ' ' << i << printed(waits);
      } else if (a.op == Op::await || b.op == Op::signal) {
        ASSERT_TRUE(reach.finishedBefore(d, i)) << d << ' ' << i << printed(waits);
      }
    }
}

class Meaning : public testing::TestWithParam<ast::Kind> {
 protected:
  /// check(schedule, random) for many schedules.
  template <class Check>
  void forMany(Check check) {
    int steps = 0;
    for (unsigned seed = 0; seed < 400 && !HasFatalFailure(); ++seed) {
      SCOPED_TRACE(seed);
      Random random(seed);
      const Schedule s = Generator(random, GetParam()).run();
      steps += static_cast<int>(s.steps.size());
      ASSERT_NO_FATAL_FAILURE(expectVerified(s));
      check(s, random);
    }
    EXPECT_GT(steps, 400 * 3);  // the generator does generate
  }
  static Schedule with(Schedule s, std::initializer_list<const char *> passes,
                       const PassContext &context = {}) {
    for (const char *name : passes) findPass(name)->run(s, context);
    return s;
  }
};

TEST_P(Meaning, PlaceReceives) {
  int less = 0;
  forMany([&](const Schedule &s, Random &random) {
    const Schedule now = with(s, {"place-receives"});
    less += now.steps.size() < s.steps.size();
    expectSame(s, now, random);
  });
  EXPECT_GT(less, 20);
}

TEST_P(Meaning, ReadOriginals) {
  int changed = 0, less = 0;
  forMany([&](const Schedule &s, Random &random) {
    const Schedule now = with(s, {"read-originals"});
    changed += printed(now) != printed(s);
    expectSame(s, now, random);
    const Schedule rest = with(now, {"drop-dead-copies"});
    less += rest.steps.size() < s.steps.size();
    expectSame(s, rest, random);
  });
  EXPECT_GT(changed, 5);
  EXPECT_GT(less, 5);
}

TEST_P(Meaning, InferWaits) {
  forMany([&](const Schedule &s, Random &random) {
    const Schedule now = with(s, {"infer-waits"});
    expectSame(s, now, random);
    expectControl(s, now);
    expectSame(s, with(now, {"elide-implied-waits"}), random);
    expectSame(s, with(now, {"place-scratch"}), random);
  });
}

TEST_P(Meaning, KeepRounds) {
  forMany([&](const Schedule &s, Random &random) {
    const Schedule now = with(s, {"keep-rounds"});
    expectSame(s, now, random);
    expectControl(s, now);
  });
}

TEST_P(Meaning, MergeSendsAtBothEnds) {
  int less = 0;
  forMany([&](const Schedule &s, Random &random) {
    std::map<int64_t, Schedule> others;
    for (const int32_t rank : {0, 2, 3}) others[rank] = mirror(s, rank, random);
    const Schedule now = with(s, {"merge-sends"}, {[&](int64_t rank) { return &others[rank]; }});
    less += now.steps.size() < s.steps.size();
    expectSame(s, now, random);
    // The other end, which looks at this one, makes as many messages of each channel.
    for (auto &[rank, other] : others) {
      mergeSends(other, {[&](int64_t) { return &s; }});
      const auto here = std::ranges::count(now.steps, static_cast<int32_t>(rank), &Step::peer);
      ASSERT_EQ(static_cast<size_t>(here), other.steps.size());
    }
  });
  EXPECT_GT(less, 10);
}

TEST_P(Meaning, AllPasses) {
  for (const bool strict : {false, true})
    forMany([&](const Schedule &s, Random &random) {
      Schedule now = s;
      std::ostringstream said;
      Diag diag(said);
      diag.addFile("random", "");
      runPasses(now, {.strictRounds = strict}, {}, diag);
      ASSERT_EQ(said.str(), "");
      expectSame(s, now, random);
    });
}

TEST_P(Meaning, InPlace) {
  const bool scatter = GetParam() == ast::Kind::scatter;
  forMany([&](const Schedule &s, Random &random) {
    Schedule now = with(s, {"substitute-in-place"});
    EXPECT_TRUE(now.inPlace);
    ASSERT_NO_FATAL_FAILURE(expectVerified(now));
    Schedule all = s;
    std::ostringstream said;
    Diag diag(said);
    diag.addFile("random", "");
    runPasses(all, {.inPlace = true}, {}, diag);
    ASSERT_EQ(said.str(), "");
    for (const int64_t n : {12, 13}) {
      // The caller's bytes are where MPI_IN_PLACE says, and nowhere else.
      const auto prepare = [&](Machine &machine, bool inPlace) {
        std::vector<std::vector<uint8_t>> &in = machine.memory[0], &out = machine.memory[1];
        if (scatter)
          out[0] = in[s.root];
        else if (in.size() == out.size())
          out = in;
        else if (out.size() == 1)  // reduce_scatter as written: the result covers in[0]
          out[0] = in[0];
        else
          out[s.rank] = in[0];
        if (inPlace && !scatter)
          for (std::vector<uint8_t> &block : in) block.assign(block.size(), 99);
      };
      Machine reference(s, n, 7);
      prepare(reference, false);
      reference.runAll(random);
      for (const Schedule *schedule : {&now, &all}) {
        Machine machine(*schedule, n, 8);
        prepare(machine, true);
        machine.runAll(random);
        ASSERT_EQ(machine.streams(), reference.streams()) << printed(s) << printed(*schedule);
        if (scatter) continue;
        std::vector<std::vector<uint8_t>> out = machine.memory[1];
        out.resize(reference.memory[1].size());  // what reduce_scatter has more is not specified
        ASSERT_EQ(out, reference.memory[1]) << printed(s) << printed(*schedule);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, Meaning, testing::ValuesIn(kKinds),
                         [](const auto &kind) { return std::string(ast::name(kind.param)); });

}  // namespace
}  // namespace nbcc
