// SPDX-License-Identifier: BSD-3-Clause
// memory.cpp - finds where the schedules of a call cut blocks, and numbers the cells.
//
// Time: linear in the extents, and a sort of the distinct cuts. Blocks that are
// whole everywhere, the common case, cost nothing per block.

#include "compiler/prove/memory.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "compiler/prove/own.h"
#include "compiler/prove/stages.h"

namespace nbcc {

namespace {

constexpr int64_t kMostParts = std::numeric_limits<int32_t>::max();

bool isLess(int64_t part, int64_t parts, int64_t otherPart, int64_t otherParts) {
  return part * otherParts < otherPart * parts;  // all below 2^31
}

}  // namespace

Memory::Part Memory::partOf(const Place &p, int64_t block) const {
  return p.parts < 0 ? Part{} : parts_[p.parts + block];
}

int64_t Memory::lengthOf(const Place &p, int64_t block) const {
  return p.lengths < 0 ? p.length + block * p.lengthStep : lengths_[p.lengths + block];
}

int32_t Memory::cutAt(int64_t part, int64_t parts) const {
  if (even_) {
    if (parts == perBlock_) return static_cast<int32_t>(part);  // no division where all cut alike
    return static_cast<int32_t>(part * perBlock_ / parts);
  }
  const auto at = std::partition_point(cuts_.begin(), cuts_.end(), [&](const Cut &c) {
    return isLess(c.part, c.parts, part, parts);
  });
  return static_cast<int32_t>(at - cuts_.begin());
}

int64_t Memory::cellAt(const Place &p, int64_t position, int32_t parts) const {
  int64_t block = 0, part = position;
  if (position >= parts) {  // not in the only block of a vector: divisions are what takes time
    block = position / parts;
    part = position % parts;
  }
  if (p.parts < 0) {
    const int64_t cell = p.cell + block * perBlock_;
    return part == 0 ? cell : cell + cutAt(part, parts);
  }
  const Part &like = parts_[p.parts + block];
  if (part == 0) return like.cell;
  return like.cell + cutAt(int64_t{like.part} * parts + part, int64_t{like.parts} * parts) -
         like.cut;
}

Cells Memory::cells(int64_t rank, const Extent &e) const {
  const Place &p = place(rank, e.buffer);
  if (e.parts == 1 && p.parts < 0)
    return {p.cell + e.first * perBlock_, p.cell + (e.first + e.count) * perBlock_};
  return {cellAt(p, e.first, e.parts), cellAt(p, e.first + e.count, e.parts)};
}

BlockCells Memory::block(int64_t rank, BufferId buffer, int64_t block) const {
  const Place &p = place(rank, buffer);
  return {{cellAt(p, block, 1), cellAt(p, block + 1, 1)}, partOf(p, block).cut, lengthOf(p, block)};
}

Extent Memory::extent(int64_t rank, int64_t cell) const {
  // The last buffer and block that begin at or before the cell: those after it
  // that begin there too have no cells.
  BufferId buffer = 0;
  const auto count = static_cast<BufferId>(firstPlace_[rank + 1] - firstPlace_[rank]);
  while (buffer + 1 < count && place(rank, buffer + 1).cell <= cell) ++buffer;
  const Place &p = place(rank, buffer);

  int64_t low = 0, high = p.blocks;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (cellAt(p, middle, 1) <= cell ? low : high) = middle;
  }
  const Part like = partOf(p, low);
  const int64_t cut = like.cut + cell - cellAt(p, low, 1);

  // Its two ends in the scratch block's own coordinates, over a common number of parts.
  const Cut from = cuts_[cut], to = cuts_[cut + 1];
  const int64_t parts = std::lcm(int64_t{from.parts}, int64_t{to.parts});
  if (parts > kMostParts) return {buffer, 1, low, 1};
  const int64_t first = (from.part * (parts / from.parts)) * like.parts - like.part * parts;
  const int64_t last = (to.part * (parts / to.parts)) * like.parts - like.part * parts;
  const int64_t shared = std::gcd(std::gcd(first, last), parts);
  return normalize({buffer, static_cast<int32_t>(parts / shared),
                    low * (parts / shared) + first / shared, (last - first) / shared});
}

/// Which blocks of the caller's are equally long in a v-variant: all that stand
/// for the same contribution, whichever rank they are on.
void Memory::placeCaller(const Together &all, const Schedule &s, const Buffer &buffer, Place &p) {
  switch (s.kind) {
    case ast::Kind::allgather:
    case ast::Kind::gather:
    case ast::Kind::scatter:
      if (buffer.blocks == s.ranks) p.lengthStep = 1;
      if (buffer.blocks == 1) p.length = s.rank;
      return;
    case ast::Kind::alltoall:
      // From rank a to rank b: number a * P + b. In place MPI wants that to be as
      // long as from b to a, so both have the smaller number; see lengths_ there.
      if (buffer.role == Role::in) p.length = s.rank * s.ranks, p.lengthStep = 1;
      if (buffer.role == Role::out) p.length = s.rank, p.lengthStep = s.ranks;
      return;
    case ast::Kind::reduce_scatter:
      // In place all are equally long; see postcondition.cpp.
      if (s.inPlace) return;
      if (buffer.role == Role::in) p.lengthStep = 1;
      if (buffer.role == Role::out) p.length = s.rank;
      return;
    case ast::Kind::neighbor_allgather:
      if (buffer.role == Role::in) p.length = s.rank;
      if (buffer.role == Role::out) placeSources(all, s, p);
      return;
    case ast::Kind::neighbor_alltoall:
      if (buffer.role == Role::in) p.length = all.firstSlot(s.rank), p.lengthStep = 1;
      if (buffer.role == Role::out) placeSources(all, s, p);
      return;
    case ast::Kind::allreduce:
    case ast::Kind::reduce:
    case ast::Kind::bcast:
    case ast::Kind::barrier:
    case ast::Kind::reduce_scatter_block:
    case ast::Kind::scan:
    case ast::Kind::exscan:
    case ast::Kind::own:  // see lengths_ there
      return;
  }
}

/// Nobody's block is as long as nothing else is.
void Memory::placeSources(const Together &all, const Schedule &s, Place &p) {
  const bool toAll = s.kind == ast::Kind::neighbor_allgather;
  p.lengths = static_cast<int64_t>(lengths_.size());
  for (const auto &[rank, slot] : s.neighbors.sources)
    lengths_.push_back(rank == kNobody ? -1 : toAll ? rank : all.firstSlot(rank) + slot);
}

bool Memory::placeScratch(const Schedule &s, const Buffer &buffer, Place &p, Diag &diag) {
  int64_t units = 0;
  bool wholeBlocks = true, equallyLong = true;
  for (const Extent &like : buffer.like) {
    const Place &model = place(s.rank, like.buffer);
    units += like.count;
    wholeBlocks = wholeBlocks && like.parts == 1 && model.parts < 0;
    equallyLong = equallyLong && model.lengths < 0 && model.lengthStep == 0 && model.length == 0;
  }
  const bool each = units != 1;  // else every block is like the one unit
  if (equallyLong && wholeBlocks) return true;

  if (!equallyLong && each) p.lengths = static_cast<int64_t>(lengths_.size());
  if (!wholeBlocks) p.parts = static_cast<int64_t>(parts_.size());
  int64_t done = 0;
  for (const Extent &like : buffer.like) {
    const Place model = place(s.rank, like.buffer);
    for (int64_t i = 0; i < like.count && done < buffer.blocks; ++i, ++done) {
      const int64_t position = like.first + i;
      const int64_t block = position / like.parts;
      if (p.lengths >= 0)
        lengths_.push_back(lengthOf(model, block));
      else
        p.length = lengthOf(model, block);
      if (wholeBlocks) continue;

      const Part outer = partOf(model, block);
      const int64_t parts = int64_t{outer.parts} * like.parts;
      if (parts > kMostParts) {
        diag.error(buffer.loc, "blocks of ", buffer.name, " are 1/", parts,
                   " of a block, finer than the proof can tell apart");
        return false;
      }
      const int64_t part = int64_t{outer.part} * like.parts + position % like.parts;
      parts_.push_back({static_cast<int32_t>(part), static_cast<int32_t>(parts)});
    }
  }
  if (!wholeBlocks) {
    // A copy: growing the vector would pull the element from under insert().
    const Part last = parts_.empty() ? Part{} : parts_.back();
    if (!each) parts_.insert(parts_.end(), static_cast<size_t>(buffer.blocks - done), last);
    parts_.push_back({});  // only its cell counts: where the last block ends
  }
  return true;
}

bool Memory::placeBuffers(const Together &all, const Schedule &s, const OwnLengths *own,
                          Diag &diag) {
  int64_t blocks = 0;
  for (const Buffer &buffer : s.buffers) {
    if (buffer.blocks > kMostCellsOfRank - blocks) {
      diag.error(buffer.loc, "up to ", buffer.name, " the buffers of rank ", s.rank,
                 " have more than the ", kMostCellsOfRank, " blocks that a proof can follow");
      return false;
    }
    blocks += buffer.blocks;
    Place p;
    p.blocks = buffer.blocks;
    if (buffer.like.empty()) {
      placeCaller(all, s, buffer, p);
      if (s.inPlace && s.kind == ast::Kind::alltoall && buffer.role == Role::out) {
        p.lengths = static_cast<int64_t>(lengths_.size());
        for (int64_t i = 0; i < buffer.blocks; ++i)
          lengths_.push_back(std::min(i, s.rank) * s.ranks + std::max(i, s.rank));
      }
      if (own && buffer.ofCaller()) {
        p.lengths = static_cast<int64_t>(lengths_.size());
        for (int64_t i = 0; i < buffer.blocks; ++i)
          lengths_.push_back(own->of(s.rank, buffer.role, i));
      }
    } else if (!placeScratch(s, buffer, p, diag)) {
      return false;
    }
    places_.push_back(p);
    firstPlace_.back() = static_cast<int64_t>(places_.size());
  }
  return true;
}

bool Memory::findCuts(std::span<const Schedule> ranks, Diag &diag) {
  std::unordered_set<uint64_t> cuts;
  // Most cuts are made again and again: those seen last, by where they are kept.
  std::vector<std::pair<int64_t, int64_t>> recent(1024);
  const auto cut = [&](int64_t part, int64_t parts) {
    auto &last = recent[(part + parts) % recent.size()];
    if (last == std::pair(part, parts)) return;
    last = {part, parts};
    const int64_t shared = std::gcd(part, parts);
    cuts.insert(static_cast<uint64_t>(part / shared) << 32 | static_cast<uint64_t>(parts / shared));
  };
  cut(0, 1);
  cut(1, 1);

  for (const Place &p : places_)
    if (p.parts >= 0)
      for (int64_t i = 0; i < p.blocks; ++i) {
        const Part &like = parts_[p.parts + i];
        cut(like.part, like.parts);
        cut(like.part + 1, like.parts);
      }

  for (const Schedule &s : ranks) {
    const auto cutEnd = [&](const Extent &e, int64_t position, const Step &step) {
      const int64_t part = position % e.parts;
      if (part == 0) return true;
      const Part like = partOf(place(s.rank, e.buffer), position / e.parts);
      const int64_t parts = int64_t{like.parts} * e.parts;
      if (parts > kMostParts) {
        diag.error(step.loc, "this cuts a block in ", parts,
                   " parts, finer than the proof can tell apart");
        return false;
      }
      cut(int64_t{like.part} * e.parts + part, parts);
      return true;
    };
    for (const Step &step : s.steps)
      for (const Section section : {s.from(step), s.with(step), s.to(step)})
        for (const Extent &e : section)
          if (e.parts != 1 && e.count > 0 &&
              !(cutEnd(e, e.first, step) && cutEnd(e, e.first + e.count, step)))
            return false;
  }

  cuts_.reserve(cuts.size());
  for (const uint64_t c : cuts)
    cuts_.push_back({static_cast<int32_t>(c >> 32), static_cast<int32_t>(c & 0xffffffff)});
  std::sort(cuts_.begin(), cuts_.end(),
            [](const Cut &a, const Cut &b) { return isLess(a.part, a.parts, b.part, b.parts); });
  perBlock_ = static_cast<int64_t>(cuts_.size()) - 1;
  even_ = true;
  for (int64_t i = 0; i <= perBlock_; ++i)
    even_ = even_ && cuts_[i].part * perBlock_ == i * cuts_[i].parts;
  return true;
}

bool Memory::numberCells(std::span<const Schedule> ranks, Diag &diag) {
  firstCell_.assign(1, 0);
  for (const Schedule &s : ranks) {
    int64_t next = 0;
    for (size_t b = 0; b < s.buffers.size(); ++b) {
      Place &p = places_[firstPlace_[s.rank] + b];
      p.cell = next;
      if (p.parts < 0) {
        next += p.blocks * perBlock_;
      } else {
        for (int64_t i = 0; i < p.blocks; ++i) {
          Part &like = parts_[p.parts + i];
          like.cut = cutAt(like.part, like.parts);
          like.cell = next;
          next += cutAt(like.part + 1, like.parts) - like.cut;
        }
        parts_[p.parts + p.blocks].cell = next;
      }
      if (next > kMostCellsOfRank || firstCell_.back() + next > kMostCells) {
        diag.error(s.buffers[b].loc, "up to ", s.buffers[b].name, " of rank ", s.rank,
                   " the buffers hold more than ",
                   next > kMostCellsOfRank ? kMostCellsOfRank : kMostCells,
                   " pieces that must be told apart, with blocks cut in ", perBlock_,
                   ": too many to follow");
        return false;
      }
    }
    firstCell_.push_back(firstCell_.back() + next);
  }
  return true;
}

bool Memory::boundWork(std::span<const Schedule> ranks, Diag &diag) const {
  int64_t moved = 0;
  for (const Schedule &s : ranks)
    for (const Step &step : s.steps) {
      for (const Section section : {s.from(step), s.with(step), s.to(step)})
        eachRun(*this, s.rank, section, [&](Cells run) { moved += run.size(); });
      if (moved > kMostMovedCells) {
        diag.error(step.loc, "up to here the schedules move more than ", kMostMovedCells,
                   " blocks or parts of blocks: too many to follow");
        return false;
      }
    }
  return true;
}

bool Memory::layOut(const Together &all, Diag &diag) {
  const std::span<const Schedule> ranks = all.ranks;
  firstPlace_.assign(1, 0);
  std::optional<OwnLengths> own;
  if (ranks[0].kind == ast::Kind::own) own.emplace(ranks);
  for (const Schedule &s : ranks) {
    firstPlace_.push_back(firstPlace_.back());
    if (!placeBuffers(all, s, own ? &*own : nullptr, diag)) return false;
  }
  return findCuts(ranks, diag) && numberCells(ranks, diag) && boundWork(ranks, diag);
}

}  // namespace nbcc
