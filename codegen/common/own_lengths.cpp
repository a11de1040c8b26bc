// SPDX-License-Identifier: BSD-3-Clause
// own_lengths.cpp - schedules for calls in which each block has a length and a place of its own.
//
//   %0 = send out[2 +: 3] to 1       =>   %0 = send out[2], out[3], out[4] to 1
//
// With displacements blocks are no neighbours, so no extent may name two. Where the
// program was right for blocks of equal length only, or needs a length that MPI does not tell
// this rank, it is refused, with the step. What one rank's schedule shows is looked at
// here: local steps, and lengths. That what is sent is as long as what is received
// only a proof can say, which sees both ends.
//
// Which lengths are known: those of a buffer that is there. gather tells a rank's own
// block as `in` everywhere, scatter as `out`: where the P blocks are absent, scratch
// that is like the own one of them is like that instead.
//
// Linear in extents and in the blocks that they name.

#include "codegen/common/own_lengths.h"

#include <algorithm>
#include <unordered_map>

#include "codegen/common/ticks.h"

namespace nbcc::codegen {
namespace {

/// How many of its units an extent has in the block in which it begins.
int64_t unitsInBlock(const Extent &e) {
  return std::min(e.count, e.parts - e.first % e.parts);
}

/// The extents, none of which names two blocks of a caller's buffer.
std::vector<Extent> cut(const Schedule &s, Section section) {
  std::vector<Extent> result;
  for (Extent rest : section) {
    if (!s.buffers[rest.buffer].ofCaller()) {
      result.push_back(rest);
      continue;
    }
    while (rest.count > 0) {
      Extent part = rest;
      part.count = unitsInBlock(rest);
      result.push_back(normalize(part));
      rest.first += part.count;
      rest.count -= part.count;
    }
  }
  return result;
}

/// Where the P blocks are that one block of this rank is one of.
struct Own {
  BufferId one = -1, all = -1;
};

Own ownOf(const Schedule &s) {
  const BufferId in = s.buffer(Role::in), out = s.buffer(Role::out);
  switch (s.kind) {
    case ast::Kind::allgather:
    case ast::Kind::gather:
      return {in, out};
    case ast::Kind::scatter:
    case ast::Kind::reduce_scatter:
      return {out, in};
    case ast::Kind::alltoall:
    case ast::Kind::allreduce:
    case ast::Kind::reduce:
    case ast::Kind::bcast:
    case ast::Kind::barrier:
    case ast::Kind::reduce_scatter_block:
    case ast::Kind::scan:
    case ast::Kind::exscan:
    case ast::Kind::neighbor_allgather:
    case ast::Kind::neighbor_alltoall:
    case ast::Kind::own:
      return {};
  }
  return {};
}

class OwnLengths {
 public:
  OwnLengths(Schedule &s, std::string_view target, Diag &diag)
      : s_(s), target_(target), diag_(diag), own_(ownOf(s)) {
    findTwins();
  }

  bool run() {
    if (own_.all >= 0 && !s_.buffers[own_.all].significant) likeOwn();
    const Ticks ticks(s_);
    if (!ticks.fits()) return true;  // the legalizers say so
    ticks_ = &ticks;
    for (const Step &step : s_.steps)
      if (!isKnown(step) || !isEquallyLong(step)) return false;
    return true;
  }

 private:
  /// Scratch like this rank's block of the absent row is like the block that is there.
  void likeOwn() {
    for (Buffer &buffer : s_.buffers) {
      std::vector<Extent> like;
      for (Extent rest : buffer.like) {
        while (rest.count > 0) {
          // Up to the own block, in it, behind it.
          const int64_t begin = s_.rank * rest.parts, end = begin + rest.parts;
          Extent part = rest;
          if (rest.buffer == own_.all) {
            const int64_t stop = rest.first < begin ? begin : rest.first < end ? end : INT64_MAX;
            part.count = std::min(rest.count, stop - rest.first);
            if (stop == end) {
              part.buffer = own_.one;
              part.first -= begin;
            }
          }
          like.push_back(part);
          rest.first += part.count;
          rest.count -= part.count;
        }
      }
      buffer.like = std::move(like);
      buffer.likeEnds.clear();
    }
  }

  /// Blocks of `out` that come from one block: the own one, or that of a source that is there
  /// twice.
  void findTwins() {
    if (!collective(s_).hasGraph()) return;
    const bool toAll = s_.kind == ast::Kind::neighbor_allgather;
    const BufferId in = s_.buffer(Role::in), out = s_.buffer(Role::out);
    std::unordered_map<int32_t, int64_t> first;  // by source
    for (size_t slot = 0; slot < s_.neighbors.sources.size(); ++slot) {
      const auto &[rank, there] = s_.neighbors.sources[slot];
      int64_t twin = numberOf(out, static_cast<int64_t>(slot));
      if (rank == s_.rank && in >= 0)
        twin = numberOf(in, toAll ? 0 : there);
      else if (toAll && rank != kNobody)
        twin = first.emplace(rank, twin).first->second;
      twins_.push_back(twin);
    }
  }

  static int64_t numberOf(BufferId buffer, int64_t block) { return buffer * kMaxBlocks + block; }

  std::string describe(const Step &step) const {
    const auto text = [&](Section section) { return toString(s_, section); };
    switch (step.op) {
      case Op::send:
        return cat("sends ", text(s_.from(step)), " to ", step.peer);
      case Op::recv:
        return cat("receives ", text(s_.to(step)), " from ", step.peer);
      case Op::copy:
        return cat("copies ", text(s_.from(step)), " -> ", text(s_.to(step)));
      case Op::reduce:
        return cat("reduces ", text(s_.from(step)), ", ", text(s_.with(step)), " -> ",
                   text(s_.to(step)));
      case Op::signal:
      case Op::await:
        break;
    }
    return std::string(name(step.op));
  }

  template <class Each>
  void eachBlock(Section section, Each each) const {
    for (Extent rest : section) {
      while (rest.count > 0) {
        Piece piece = firstPiece(s_, rest);
        piece.base.count = unitsInBlock(piece.base);
        each(piece.base);
        rest.first += piece.base.count;
        rest.count -= piece.base.count;
      }
    }
  }

  bool isKnown(const Step &step) {
    for (const Section section : {s_.from(step), s_.with(step), s_.to(step)}) {
      std::string unknown;
      eachBlock(section, [&](const Extent &base) {
        const Buffer &buffer = s_.buffers[base.buffer];
        if (unknown.empty() && !buffer.significant)
          unknown = cat(buffer.name, "[", base.first / base.parts, "]");
      });
      if (unknown.empty()) continue;
      diag_.error(step.loc, target_, ": own lengths: rank ", s_.rank, " of ", s_.ranks, " ",
                  describe(step), " in round ", step.round, ", but the length of ", unknown,
                  " is known at the root only, rank ", s_.root);
      return false;
    }
    return true;
  }

  /// A caller's block; blocks of one number are equally long in every call.
  int64_t blockOf(const Extent &base) const {
    int64_t block = base.first / base.parts;
    BufferId buffer = base.buffer;
    if (!twins_.empty() && s_.buffers[buffer].role == Role::out)
      return twins_[static_cast<size_t>(block)];
    if (buffer == own_.one) {
      buffer = own_.all;
      block = s_.rank;
    } else if (s_.kind == ast::Kind::alltoall && (block == s_.rank || s_.inPlace)) {
      buffer = 0;  // to oneself as from oneself; in place all of `in` is as `out`
    }
    return numberOf(buffer, block);
  }

  struct Stretch {
    int64_t block, ticks;
    friend bool operator==(const Stretch &, const Stretch &) = default;
  };
  std::vector<Stretch> stretches(Section section) const {
    std::vector<Stretch> result;
    eachBlock(section, [&](const Extent &base) {
      const int64_t block = blockOf(base), ticks = ticks_->perBlock() / base.parts * base.count;
      if (!result.empty() && result.back().block == block)
        result.back().ticks += ticks;
      else
        result.push_back({block, ticks});
    });
    return result;
  }

  std::string nameOf(int64_t block) const {
    return cat(s_.buffers[block / kMaxBlocks].name, "[", block % kMaxBlocks, "]");
  }

  bool isEquallyLong(const Step &step) {
    if (step.peer >= 0) return true;  // the proof's business
    const std::vector<Stretch> to = stretches(s_.to(step));
    std::vector<std::vector<Stretch>> read{stretches(s_.from(step))};
    if (step.op == Op::reduce) read.push_back(stretches(s_.with(step)));
    for (const std::vector<Stretch> &from : read) {
      if (from == to) continue;
      const auto [a, b] = std::mismatch(from.begin(), from.end(), to.begin(), to.end());
      const bool named = a != from.end() && b != to.end() && a->block != b->block;
      diag_.error(step.loc, target_, ": own lengths: rank ", s_.rank, " of ", s_.ranks, " ",
                  describe(step), " in round ", step.round,
                  ", which is right only if all blocks are equally long",
                  named ? cat(": ", nameOf(a->block), " need not be as long as ", nameOf(b->block))
                        : std::string());
      return false;
    }
    return true;
  }

  Schedule &s_;
  const std::string_view target_;
  Diag &diag_;
  const Own own_;
  std::vector<int64_t> twins_;  // of neighbours: by block of `out`, the number of its length
  const Ticks *ticks_ = nullptr;
};

}  // namespace

bool allKnowAllLengths(ast::Kind kind) {
  return kind == ast::Kind::allgather || kind == ast::Kind::reduce_scatter;
}

bool giveOwnLengths(Schedule &s, std::string_view target, Diag &diag) {
  return OwnLengths(s, target, diag).run();
}

void cutAtBlocks(Schedule &s) {
  for (Step &step : s.steps)
    for (Run *run : {&step.from, &step.with, &step.to}) {
      const Section section = run == &step.from   ? s.from(step)
                              : run == &step.with ? s.with(step)
                                                  : s.to(step);
      const bool fine = std::all_of(section.begin(), section.end(), [&](const Extent &e) {
        return !s.buffers[e.buffer].ofCaller() || (e.count > 0 && unitsInBlock(e) == e.count);
      });
      if (!fine) *run = s.keep(cut(s, section));
    }
}

}  // namespace nbcc::codegen
