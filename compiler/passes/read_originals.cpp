// SPDX-License-Identifier: BSD-3-Clause
// read_originals.cpp - what is a copy of the caller's input is read there instead.
//
//   %0 = copy in -> out[1] round 0             %0 = copy in -> out[1] round 0
//   %1 = send out[1] to 2 round 0         =>   %1 = send in to 2 round 0
//   %2 = recv out[0] from 0 round 0            %2 = recv out[0] from 0 round 0
//   %3 = send out[0 +: 2] to 3 round 1         %3 = send out[0 +: 2] to 3 round 1
//
// So the first messages of a ring wait for no copy: nbc_start need not move long data before it
// returns, and the network starts at once. What becomes of the copy: drop_dead_copies.cpp.
//
// Originals are the caller's buffers that no step of this rank writes: they are the same at any
// time. Of each byte elsewhere it is known which byte of an original it is a copy of, if any; a
// write ends that, a copy hands it on. A section is read at the originals if it then is no more
// runs of memory than before: a message that would have to be packed (%3) stays what it is.
//
// An original is named by a map of positions, since parts of a copy are parts of the original:
// only where both begin equally far into their blocks, or they would be cut elsewhere.
//
// The pass takes Order::rounds. Near-linear in extents.

#include <numeric>
#include <optional>

#include "compiler/ir/wide.h"
#include "compiler/passes/intervals.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/side_by_side.h"

namespace nbcc {
namespace {

/// Position x of one buffer is position (x * times + shift) / parts of `buffer`. In lowest terms,
/// so that equal maps are equal.
struct Map {
  BufferId buffer = -1;
  int64_t times = 1, shift = 0, parts = 1;

  friend bool operator==(const Map &, const Map &) = default;

  /// Equally many parts of both, one to one.
  static Map between(const Extent &copy, const Extent &original) {
    const int64_t shift = original.first - copy.first;
    const int64_t shared = std::gcd(std::gcd(int64_t{copy.parts}, int64_t{original.parts}), shift);
    return {original.buffer, copy.parts / shared, shift / shared, original.parts / shared};
  }

  /// Empty: its parts would be too fine.
  std::optional<Extent> operator()(const Extent &e) const {
    const Wide fine = Wide{parts} * e.parts;
    if (fine > kMaxParts) return std::nullopt;
    const Wide first = Wide{e.first} * times + Wide{shift} * e.parts, count = Wide{e.count} * times;
    return normalize({buffer, static_cast<int32_t>(fine), static_cast<int64_t>(first),
                      static_cast<int64_t>(count)});
  }
};

class Reading {
 public:
  explicit Reading(Schedule &s) : s_(s), isOriginal_(originals(s)) {}

  void run() {
    if (!cutCopies()) return;
    where_.emplace(s_, ends_);
    copyOf_.emplace(where_->size(), kNone);
    for (size_t begin = 0, copy = 0; begin < s_.steps.size();) {
      size_t end = begin + 1;
      if (s_.steps[begin].peer >= 0)
        while (end < s_.steps.size() && s_.steps[end].round == s_.steps[begin].round) ++end;
      for (size_t i = begin; i < end; ++i) read(s_.steps[i]);
      for (size_t i = begin; i < end; ++i) write(s_.steps[i], copy);
      begin = end;
    }
  }

 private:
  static constexpr int32_t kNone = -1;

  /// A piece of a copy, as the program has it; whether it is cut alike at both ends.
  struct CopyPiece {
    Extent from, to;
    bool alike;
  };

  static std::vector<char> originals(const Schedule &s) {
    std::vector<char> result(s.buffers.size());
    for (size_t b = 0; b < s.buffers.size(); ++b) result[b] = s.buffers[b].ofCaller();
    for (const Step &step : s.steps)
      for (const Extent &e : s.to(step)) result[e.buffer] = false;
    return result;
  }

  /// False: no copy reads an original.
  bool cutCopies() {
    bool any = false;
    firstPiece_ = walkCopies(s_, [&](const Piece &from, const Piece &to) {
      const bool alike = (from.base.first - to.base.first) % from.base.parts == 0;
      pieces_.push_back({from.raw, to.raw, alike});
      ends_.insert(ends_.end(), {from.raw, to.raw});
      any |= isOriginal_[from.raw.buffer];
    });
    return any && !firstPiece_.empty();
  }

  /// What these bytes are a copy of, all of them; kNone: of nothing, or not of one run.
  int32_t mapOf(const Extent &e) const {
    int32_t map = kNone;
    bool one = true, first = true;
    copyOf_->look((*where_)(e), [&](int32_t m) {
      if (first)
        map = m;
      else
        one &= map == m || (m != kNone && map != kNone && maps_[map] == maps_[m]);
      first = false;
    });
    return one ? map : kNone;
  }

  std::optional<Extent> originalOf(const Extent &e) const {
    const int32_t map = e.count == 0 || isOriginal_[e.buffer] ? kNone : mapOf(e);
    return map == kNone ? std::nullopt : maps_[map](e);
  }

  Run readAt(Run section, Section now) {
    std::vector<Extent> before, after;
    bool any = false;
    for (const Extent &e : now) {
      const std::optional<Extent> original = originalOf(e);
      any |= original.has_value();
      append(before, e);
      append(after, original.value_or(e));
    }
    return any && after.size() <= before.size() ? s_.keep(after) : section;
  }

  void read(Step &step) {
    step.from = readAt(step.from, s_.from(step));
    step.with = readAt(step.with, s_.with(step));
  }

  void write(const Step &step, size_t &copy) {
    if (step.op != Op::copy) {
      for (const Extent &e : s_.to(step)) forget(e);
      return;
    }
    // All of it is read before any of it is written.
    const size_t begin = firstPiece_[copy], end = firstPiece_[copy + 1];
    std::vector<int32_t> maps;
    for (size_t k = begin; k < end; ++k) maps.push_back(mapTo(pieces_[k]));
    for (size_t k = begin; k < end; ++k) {
      if (maps[k - begin] == kNone)
        forget(pieces_[k].to);
      else
        copyOf_->assign((*where_)(pieces_[k].to), maps[k - begin]);
    }
    ++copy;
  }

  void forget(const Extent &e) { copyOf_->assign((*where_)(e), kNone); }

  int32_t mapTo(const CopyPiece &piece) {
    if (!piece.alike || isOriginal_[piece.to.buffer]) return kNone;
    Extent from = piece.from, to = piece.to;
    if (!isOriginal_[from.buffer]) {
      const int32_t known = mapOf(from);
      if (known == kNone) return kNone;
      // In parts of both: as many of the original as of what is written.
      const Map &map = maps_[known];
      if (Wide{map.parts} * from.parts > kMaxParts || Wide{to.parts} * map.times > kMaxParts)
        return kNone;
      from = {map.buffer, static_cast<int32_t>(map.parts * from.parts),
              from.first * map.times + map.shift * from.parts, from.count * map.times};
      to.parts = static_cast<int32_t>(to.parts * map.times);
      to.first *= map.times;
    }
    const Map map = Map::between(to, from);
    if (maps_.empty() || maps_.back() != map) maps_.push_back(map);
    return static_cast<int32_t>(maps_.size() - 1);
  }

  Schedule &s_;
  const std::vector<char> isOriginal_;  // by buffer
  std::vector<CopyPiece> pieces_;       // of all copies, in their order
  std::vector<size_t> firstPiece_;      // of each copy, and the end
  std::vector<Extent> ends_;
  std::optional<Coordinates> where_;
  std::optional<IntervalMap<int32_t>> copyOf_;  // which map these bytes are a copy by
  std::vector<Map> maps_;
};

}  // namespace

void readOriginals(Schedule &s, const PassContext &) {
  if (s.order == Order::rounds) Reading(s).run();
}

}  // namespace nbcc
