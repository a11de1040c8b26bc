// SPDX-License-Identifier: BSD-3-Clause
// verify.cpp - the promises of schedule.h, in the order in which they stand there.
//
// Near-linear in steps, waits and extents: it runs after every pass. It is also
// the first to see a schedule that was read from a text, so it believes nothing
// but that the pools' runs are inside their pools.

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>

#include "compiler/ir/schedule.h"
#include "compiler/ir/wide.h"

namespace nbcc {
namespace {

struct Facts {
  int reads, writes, peer;
};

constexpr Facts facts[] = {
#define OP(name, reads, writes, peer) {reads, writes, peer},
#include "compiler/ir/ops.def"
};

bool isName(std::string_view name) {
  const auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && isLetter(name[0]) && std::ranges::all_of(name, [&](char c) {
    return isLetter(c) || (c >= '0' && c <= '9') || c == '.';
  });
}

std::string say(const Amount &a) {
  if (a.parts == 0) return "an unspeakable fraction of a block";
  if (a.parts == 1) return cat(a.count, a.count == 1 ? " block" : " blocks");
  return cat(a.count, "/", a.parts, " of a block");
}

class Verifier {
 public:
  Verifier(const Schedule &s, Diag &diag) : s_(s), diag_(diag) {}

  void run() {
    ranks();
    neighbors();
    // A section that names a broken buffer cannot be looked at.
    if (!buffers()) return;
    promises();
    lengths_.emplace(s_);
    for (size_t i = 0; i < s_.steps.size(); ++i) step(static_cast<StepId>(i));
  }

 private:
  void ranks() {
    const auto check = [&](const char *what, int64_t value) {
      if (value < 0 || value >= s_.ranks)
        diag_.error({}, what, " ", value, " is not in 0..", s_.ranks - 1);
    };
    if (s_.ranks < 1) {
      diag_.error({}, "a schedule for ", s_.ranks, " ranks");
      return;
    }
    check("rank", s_.rank);
    check("root", s_.root);
  }

  void neighbors() {
    const Neighbors &n = s_.neighbors;
    const auto bad = [&](const char *what, size_t slot, const auto &...why) {
      diag_.error({}, what, " ", slot, " of rank ", s_.rank, why...);
    };
    const bool hasGraph = collective(s_).hasGraph();
    if (!hasGraph && !(n.sources.empty() && n.destinations.empty()))
      diag_.error({}, "rank ", s_.rank, " has neighbours, but ", kindName(s_), " has none");
    if (hasGraph && s_.inPlace) diag_.error({}, kindName(s_), " is never in place");
    if (blocksOf(s_, Shape::sources) > kMaxBlocks || blocksOf(s_, Shape::destinations) > kMaxBlocks)
      diag_.error({}, "rank ", s_.rank, " has more than ", kMaxBlocks, " neighbours");
    const auto isRank = [&](int32_t rank) { return rank >= 0 && rank < s_.ranks; };
    for (size_t i = 0; i < n.destinations.size(); ++i)
      if (!isRank(n.destinations[i]) && n.destinations[i] != kNobody)
        bad("destination", i, " is rank ", n.destinations[i], ", which is not in 0..",
            s_.ranks - 1);
    std::set<std::pair<int32_t, int32_t>> seen;
    for (size_t i = 0; i < n.sources.size(); ++i) {
      const auto &[rank, slot] = n.sources[i];
      if (rank == kNobody) {
        if (slot != -1) bad("source", i, " is nobody's, but has slot ", slot, " there");
      } else if (!isRank(rank)) {
        bad("source", i, " is rank ", rank, ", which is not in 0..", s_.ranks - 1);
      } else if (slot < 0) {
        bad("source", i, " is rank ", rank, ", but of no slot there");
      } else if (!seen.emplace(rank, slot).second) {
        bad("source", i, " is slot ", slot, " of rank ", rank, ", as one before it is");
      } else if (rank == s_.rank && (static_cast<size_t>(slot) >= n.destinations.size() ||
                                     n.destinations[static_cast<size_t>(slot)] != rank)) {
        bad("source", i, " is its own destination ", slot, ", which is not this rank");
      }
    }
  }

  bool buffers() {
    bool fine = true;
    std::unordered_set<std::string_view> names;
    for (size_t i = 0; i < s_.buffers.size(); ++i) {
      const Buffer &buffer = s_.buffers[i];
      const auto bad = [&](const auto &...what) {
        diag_.error(buffer.loc, "buffer ", buffer.name, ": ", what...);
        fine = false;
      };
      if (!isName(buffer.name)) bad("not a name");
      if (!names.insert(buffer.name).second) bad("a second one of this name");
      if (buffer.blocks < 0 || buffer.blocks > kMaxBlocks)
        bad(buffer.blocks, " blocks where 0..", kMaxBlocks, " are possible");
      if (buffer.ofCaller() && !buffer.like.empty())
        bad("it is the caller's, so it is like nothing else");
      if (!buffer.ofCaller() && fine) likes(static_cast<BufferId>(i), bad);
    }
    return fine;
  }

  void likes(BufferId id, const auto &bad) {
    const Buffer &buffer = s_.buffers[id];
    Wide units = 0;
    for (const Extent &extent : buffer.like) {
      if (extent.buffer < 0 || extent.buffer >= id)
        return bad("it is like a buffer that does not come before it");
      if (extent.count < 1 || !inside(extent))
        return bad("it is like ", toString(extent), ", but ", s_.buffers[extent.buffer].name,
                   " has ", s_.buffers[extent.buffer].blocks, " blocks");
      units += extent.count;
    }
    if (units != buffer.blocks && !(buffer.uniform() && buffer.blocks > 0))
      return bad(buffer.blocks, " blocks like ", static_cast<int64_t>(units), " units");
    if (amount(s_, buffer.like).parts == 0) bad("its blocks are finer than 1/", kMaxParts);
  }

  void promises() {
    const bool own = s_.kind == ast::Kind::own;
    if (own != isName(s_.collective))
      diag_.error({},
                  own ? "an own collective without a name" : "only an own collective has a name");
    if (own && s_.inPlace) diag_.error({}, "an own collective is never in place");
    if (!own && !s_.promises.empty())
      diag_.error(s_.promises[0].loc, "a promise, but ", ast::name(s_.kind), " is known");
    std::vector<Extent> promised;
    for (const Promise &p : s_.promises)
      if (promise(p)) promised.push_back(p.to);
    std::ranges::sort(promised, {}, [](const Extent &e) { return std::pair(e.buffer, e.first); });
    for (size_t i = 1; i < promised.size(); ++i)
      if (overlap(promised[i - 1], promised[i]))
        diag_.error({}, "more than one promise of ", toString(promised[i]));
  }

  bool promise(const Promise &p) {
    const auto bad = [&](const auto &...what) {
      diag_.error(p.loc, "promise: ", what...);
      return false;
    };
    if (p.to.buffer < 0 || static_cast<size_t>(p.to.buffer) >= s_.buffers.size())
      return bad("of buffer number ", p.to.buffer, ", which does not exist");
    const Buffer &buffer = s_.buffers[p.to.buffer];
    if (!inside(p.to) || p.to.parts != 1 || p.to.count == 0)
      return bad("of ", toString(p.to), ", which is no row of whole blocks");
    if (!buffer.ofResult() || !buffer.significant)
      return bad("of ", toString(p.to), ", where no result is");
    if (s_.sources(p).empty()) return bad("of nothing");
    int64_t next = 0;  // the ranks below were named
    for (const Source &source : s_.sources(p)) {
      if (source.rank < next || source.ranks < 1 || source.ranks > s_.ranks - source.rank)
        return bad("ranks ", source.rank, " +: ", source.ranks, " where ", next, "..", s_.ranks - 1,
                   " are left");
      next = int64_t{source.rank} + source.ranks;
      const bool role = source.role == Role::in || source.role == Role::data;
      const BufferId from = s_.buffer(source.role);
      if (!role || from < 0 || source.block < 0 ||
          source.block > s_.buffers[from].blocks - p.to.count)
        return bad("of ", name(source.role), "[", source.block, " +: ", p.to.count,
                   "], which does not exist");
    }
    return true;
  }

  /// Inside its buffer, which exists.
  bool inside(const Extent &e) const {
    return e.parts >= 1 && e.first >= 0 && e.count >= 0 &&
           static_cast<Wide>(e.first) + e.count <=
               static_cast<Wide>(s_.buffers[e.buffer].blocks) * e.parts;
  }

  std::string toString(const Extent &e) const { return nbcc::toString(s_, Section(&e, 1)); }

  void step(StepId i) {
    const Step &step = s_.steps[i];
    for (const StepId d : s_.after(step))
      if (d < 0 || d >= i)
        diag_.error(step.loc, "step %", i, " waits for %", d, ", which is not before it");
    if (s_.order == Order::rounds && step.after.size > 0)
      diag_.error(step.loc, "step %", i, " has waits, but the order is rounds");
    round(i);
    bool sections = section(i, s_.from(step), "reads", facts[int(step.op)].reads >= 1);
    sections &= section(i, s_.with(step), "reads", facts[int(step.op)].reads >= 2);
    sections &= section(i, s_.to(step), "writes", facts[int(step.op)].writes >= 1);
    peer(i);
    if (sections) amounts(i);
    for (const Extent &e : s_.to(step))
      if (sections && s_.buffers[e.buffer].role == Role::in)
        diag_.error(step.loc, "step %", i, " writes ", toString(e), ", but `in` is only read");
  }

  void round(StepId i) {
    const Step &step = s_.steps[i];
    // Copies and reductions may follow the last round's communication.
    const int32_t last = facts[int(step.op)].peer ? s_.rounds - 1 : s_.rounds;
    if (step.round < 0 || step.round > last) {
      diag_.error(step.loc, "step %", i, " is of round ", step.round, ", but the last ",
                  facts[int(step.op)].peer ? "round" : "number", " is ", last);
      return;
    }
    if (i == 0) return;
    const Step &before = s_.steps[i - 1];
    if (step.round < before.round)
      diag_.error(step.loc, "step %", i, " of round ", step.round, " comes after one of round ",
                  before.round);
    else if (step.round == before.round && !facts[int(step.op)].peer && facts[int(before.op)].peer)
      diag_.error(step.loc, "step %", i, ", a ", name(step.op), " of round ", step.round,
                  ", comes after communication of that round");
  }

  bool section(StepId i, Section section, const char *does, bool wanted) {
    const Step &step = s_.steps[i];
    if (!wanted && !section.empty()) {
      diag_.error(step.loc, "step %", i, ", a ", name(step.op), ", ", does,
                  " a section it has no use for");
      return false;
    }
    for (const Extent &e : section) {
      if (e.buffer < 0 || static_cast<size_t>(e.buffer) >= s_.buffers.size()) {
        diag_.error(step.loc, "step %", i, " ", does, " buffer number ", e.buffer,
                    ", which does not exist");
        return false;
      }
      const Buffer &buffer = s_.buffers[e.buffer];
      if (!inside(e)) {
        diag_.error(step.loc, "step %", i, " ", does, " ", toString(e), ", but ", buffer.name,
                    " has ", buffer.blocks, buffer.blocks == 1 ? " block" : " blocks");
        return false;
      }
      if (!buffer.significant) {
        diag_.error(step.loc, "step %", i, " ", does, " ", toString(e), ", but ", buffer.name,
                    " is absent on rank ", s_.rank);
        return false;
      }
      if (e.parts > 1 && normalize(e) != e)
        diag_.error(step.loc, "step %", i, " ", does, " ", toString(e),
                    ", which is not in lowest terms");
    }
    return true;
  }

  void peer(StepId i) {
    const Step &step = s_.steps[i];
    if (!facts[int(step.op)].peer) {
      if (step.peer != -1)
        diag_.error(step.loc, "step %", i, ", a ", name(step.op), ", has peer ", step.peer);
    } else if (step.peer < 0 || step.peer >= s_.ranks) {
      diag_.error(step.loc, "step %", i, " has peer ", step.peer, ", which is not in 0..",
                  s_.ranks - 1);
    } else if (step.peer == s_.rank) {
      diag_.error(step.loc, "step %", i, " has peer ", step.peer, ", which is this rank itself");
    }
  }

  void amounts(StepId i) {
    const Step &step = s_.steps[i];
    const auto speakable = [&](const char *does, const Amount &a) {
      if (a.parts == 0)
        diag_.error(step.loc, "step %", i, " ", does, " parts finer than 1/", kMaxParts);
      return a.parts != 0;
    };
    const Facts &has = facts[int(step.op)];
    if (has.reads == 0 || has.writes == 0) {
      if (has.reads) speakable("reads", (*lengths_)(s_.from(step)));
      if (has.writes) speakable("writes", (*lengths_)(s_.to(step)));
      return;
    }
    const Amount to = (*lengths_)(s_.to(step));
    if (!speakable("writes", to)) return;
    const auto check = [&](Section read) {
      const Amount from = (*lengths_)(read);
      if (speakable("reads", from) && from != to)
        diag_.error(step.loc, "step %", i, " reads ", say(from), " but writes ", say(to));
    };
    check(s_.from(step));
    if (has.reads == 2) check(s_.with(step));
  }

  const Schedule &s_;
  Diag &diag_;
  std::optional<Lengths> lengths_;  // once it is known that buffers are like earlier ones
};

}  // namespace

void verify(const Schedule &s, Diag &diag) {
  Verifier(s, diag).run();
}

}  // namespace nbcc
