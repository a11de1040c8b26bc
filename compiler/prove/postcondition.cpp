// SPDX-License-Identifier: BSD-3-Clause
// postcondition.cpp - what each collective is: where contributions lie, and where they belong.
//
//                in begins as              at the end
//   allgather    in = r                    out[i] = i
//   alltoall     in[i] = (r, i)            out[i] = (i, r)
//   allreduce    in = r                    out = all, each once
//   reduce       in = r                    out = all, each once, at the root
//   bcast        data = the root's         data = the root's
//   gather       in = r                    out[i] = i, at the root
//   scatter      in[i] = i, at the root    out = r
//   barrier      (barrier.cpp)
//   reduce_scatter, reduce_scatter_block
//                in[i] = (i, r)            out = (r, 0), ..., (r, P - 1), each once
//   scan         in = r                    out = 0, ..., r, each once
//   exscan       in = r                    out = 0, ..., r - 1, each once; rank 0: anything
//   neighbor_allgather
//                in = r                    out[i] = source i
//   neighbor_alltoall
//                in[k] = (r, k)            out[i] = (source i, its slot)
//   own          in[i] = (r, i)            what its schedules promise (own.h)
//
// on rank r. A pair (a, b) is contribution a P + b: what is expected of a reduction is
// then a run of numbers, and what is meant for another block is not in it. Of neighbours
// (r, k) is the number of the destination slot, with those of all ranks counted; and where
// a source is nobody, out[i] must not be written (values.cpp).
//
// In place, as MPI has it, there is no `in` where there is a result: the contribution
// lies where the result will, out[r] of r's own for allgather and gather, all of `out`
// else. Scatter: the root has no `out`, its block stays. reduce_scatter: `out` has P
// blocks, the contributions, and the result is put in the first. Where blocks differ in
// length MPI has no blocks there, but one row of elements that the result overlaps
// anyhow; so in place they are equally long for us.

#include <algorithm>
#include <map>

#include "compiler/prove/own.h"
#include "compiler/prove/stages.h"
#include "dsl/collectives.h"

namespace nbcc {

int64_t contributions(const Together &all) {
  const Schedule &s = all.ranks[0];
  switch (s.kind) {
    case ast::Kind::alltoall:
    case ast::Kind::reduce_scatter:
    case ast::Kind::reduce_scatter_block:
      return s.ranks * s.ranks;
    case ast::Kind::neighbor_alltoall:
      return all.slots();
    case ast::Kind::bcast:
      return 1;
    case ast::Kind::neighbor_allgather:
    case ast::Kind::allgather:
    case ast::Kind::allreduce:
    case ast::Kind::reduce:
    case ast::Kind::gather:
    case ast::Kind::scatter:
    case ast::Kind::barrier:
    case ast::Kind::scan:
    case ast::Kind::exscan:
      return s.ranks;
    case ast::Kind::own:
      return s.ranks * contributionsOfRank(s);
  }
  return 0;
}

bool isNobodys(const Schedule &s, const Buffer &buffer, int64_t block) {
  return buffer.role == Role::out && collective(s).out == Shape::sources &&
         s.neighbors.sources[static_cast<size_t>(block)].rank == kNobody;
}

Value contribution(const Together &all, const Schedule &s, const Buffer &buffer, int64_t block) {
  const auto own = static_cast<Value>(s.rank);
  const bool atRoot = s.rank == s.root;
  const bool in = buffer.role == Role::in, out = buffer.role == Role::out;
  switch (s.kind) {
    case ast::Kind::allgather:
      return s.inPlace ? (out && block == own ? own : kUndefined) : in ? own : kUndefined;
    case ast::Kind::alltoall:
      return (s.inPlace ? out : in) ? static_cast<Value>(s.rank * s.ranks + block) : kUndefined;
    case ast::Kind::reduce_scatter:
    case ast::Kind::reduce_scatter_block:
      return (s.inPlace ? out : in) ? static_cast<Value>(block * s.ranks + s.rank) : kUndefined;
    case ast::Kind::allreduce:
    case ast::Kind::scan:
    case ast::Kind::exscan:
      return (s.inPlace ? out : in) ? own : kUndefined;
    case ast::Kind::reduce:
      return (s.inPlace && atRoot ? out : in) ? own : kUndefined;
    case ast::Kind::bcast:
      return buffer.role == Role::data && atRoot ? 0 : kUndefined;
    case ast::Kind::gather:
      return s.inPlace && atRoot ? (out && block == own ? own : kUndefined) : in ? own : kUndefined;
    case ast::Kind::scatter:
      return in && atRoot ? static_cast<Value>(block) : kUndefined;
    case ast::Kind::neighbor_allgather:
      return in ? own : kUndefined;
    case ast::Kind::neighbor_alltoall:
      return in ? static_cast<Value>(all.firstSlot(s.rank) + block) : kUndefined;
    case ast::Kind::barrier:
      return kUndefined;
    case ast::Kind::own:
      return (in || buffer.role == Role::data) && buffer.significant
                 ? static_cast<Value>(s.rank * buffer.blocks + block)
                 : kUndefined;
  }
  return kUndefined;
}

Expected expected(const Together &all, const Schedule &s, const Buffer &buffer, int64_t block) {
  const bool atRoot = s.rank == s.root;
  const bool out = buffer.role == Role::out;
  const auto row = [](bool isExpected, int64_t first, int64_t count) {
    return isExpected ? Expected{static_cast<Value>(first), static_cast<Value>(count)} : Expected{};
  };
  switch (s.kind) {
    case ast::Kind::allgather:
      return row(out, block, 1);
    case ast::Kind::alltoall:
      return row(out, block * s.ranks + s.rank, 1);
    case ast::Kind::allreduce:
      return row(out, 0, s.ranks);
    case ast::Kind::reduce:
      return row(out && atRoot, 0, s.ranks);
    case ast::Kind::bcast:
      return row(buffer.role == Role::data, 0, 1);
    case ast::Kind::gather:
      return row(out && atRoot, block, 1);
    case ast::Kind::scatter:
      return row(out && !(s.inPlace && atRoot), s.rank, 1);
    case ast::Kind::barrier:
      return {};
    case ast::Kind::reduce_scatter:
    case ast::Kind::reduce_scatter_block:
      return row(out && block == 0, s.rank * s.ranks, s.ranks);
    case ast::Kind::scan:
      return row(out, 0, s.rank + 1);
    case ast::Kind::exscan:
      return row(out, 0, s.rank);
    case ast::Kind::neighbor_allgather:
    case ast::Kind::neighbor_alltoall: {
      if (!out || isNobodys(s, buffer, block)) return {};
      const auto &[rank, slot] = s.neighbors.sources[static_cast<size_t>(block)];
      const bool toAll = s.kind == ast::Kind::neighbor_allgather;
      return row(true, toAll ? rank : all.firstSlot(rank) + slot, 1);
    }
    case ast::Kind::own:  // Result::checkPromises
      return {};
  }
  return {};
}

namespace {

class Result {
 public:
  Result(const Together &all, const Memory &memory, Values &values, Findings &findings)
      : all_(all),
        memory_(memory),
        trees_(values.trees),
        held_(values.held),
        findings_(findings),
        reduces_(collective(all.ranks[0]).reduces) {}

  Combining check() {
    for (const Schedule &s : all_.ranks) {
      for (size_t b = 0; b < s.buffers.size(); ++b) checkBuffer(s, static_cast<BufferId>(b));
      for (const Promise &promise : s.promises) checkPromise(s, promise);
    }
    return combining_;
  }

 private:
  struct First {
    int64_t rank;
    Value value;
  };

  void checkBuffer(const Schedule &s, BufferId id) {
    const Buffer &buffer = s.buffers[id];
    if (!buffer.ofResult()) return;
    bool told = false;  // what else is wrong in this buffer mostly follows
    for (int64_t block = 0; block < buffer.blocks && !told; ++block) {
      const Expected wanted = expected(all_, s, buffer, block);
      if (wanted.nothing()) continue;
      const Cells cells = memory_.block(s.rank, id, block).cells;
      for (int64_t c = cells.begin; c < cells.end && !told; ++c) {
        const Value found = held_[memory_.firstCell(s.rank) + c];
        told = reduces_ ? !isCombined(s, c, found, wanted) : found != wanted.first;
        if (told && reduces_)
          reportCombined(s, c, found, wanted);
        else if (told)
          report(s, c, found, wanted.first);
        else if (s.kind == ast::Kind::allreduce)  // elsewhere no two ranks have the same result
          compareRanks(s, c - cells.begin, found, first_);
      }
    }
  }

  void checkPromise(const Schedule &s, const Promise &promise) {
    for (int64_t i = 0; i < promise.to.count; ++i) {
      const std::vector<Value> wanted = promised(s, promise, i);
      const Cells cells = memory_.block(s.rank, promise.to.buffer, promise.to.first + i).cells;
      std::vector<First> *same = nullptr;  // all ranks that are promised this reduction
      Value right = kUndefined;            // as its neighbour: the same tree is the same set
      for (int64_t c = cells.begin; c < cells.end; ++c) {
        const Value found = held_[memory_.firstCell(s.rank) + c];
        if (found < 0 || (found != right && !trees_.isSet(found, wanted)))
          return reportPromised(s, promise, c, found, wanted);
        right = found;
        if (wanted.size() == 1) continue;
        noteOrder(s, c, found);
        if (!same) same = &firstOf_[wanted];
        compareRanks(s, c - cells.begin, found, *same);
      }
    }
  }

  bool isCombined(const Schedule &s, int64_t cell, Value found, Expected wanted) {
    if (found < 0) return false;
    // As its neighbour: the same tree is the same run.
    if (found == complete_ && wanted.first == run_.first && wanted.count == run_.count) return true;
    if (!trees_.isRun(found, wanted.first, wanted.count)) return false;
    complete_ = found;
    run_ = wanted;
    noteOrder(s, cell, found);
    return true;
  }

  void noteOrder(const Schedule &s, int64_t cell, Value found) {
    if (!trees_.inOrder(found) && combining_.outOfOrder.empty())
      combining_.outOfOrder =
          cat("rank ", s.rank, " combines ", at(s, cell), " as ", treeOf(found));
  }

  std::string treeOf(Value v) const {
    const Schedule &s = all_.ranks[0];
    const int64_t each = s.kind == ast::Kind::own ? contributionsOfRank(s) : 1;
    return trees_.toString(v, static_cast<Value>(s.ranks), static_cast<Value>(each));
  }

  /// Is the tree of a cell, counted from the block's first, that of all ranks, up to swaps?
  void compareRanks(const Schedule &s, int64_t cell, Value found, std::vector<First> &first) {
    if (static_cast<size_t>(cell) >= first.size()) first.push_back({s.rank, found});
    const First &other = first[cell];
    if (other.value == found || !combining_.unlike.empty()) return;
    if (upToSwaps_.empty()) upToSwaps_ = trees_.upToSwaps();
    if (upToSwaps_[other.value] == upToSwaps_[found]) return;
    combining_.unlike = cat("rank ", other.rank, " combines as ", treeOf(other.value),
                            " what rank ", s.rank, " combines as ", treeOf(found));
  }

  std::string at(const Schedule &s, int64_t cell) const {
    const Extent e = memory_.extent(s.rank, cell);
    return toString(s, Section(&e, 1));
  }

  /// The last step that writes the cell: as there are no races, the last in the list.
  const Step *writer(const Schedule &s, int64_t cell) const {
    for (size_t i = s.steps.size(); i-- > 0;) {
      bool here = false;
      eachRun(memory_, s.rank, s.to(s.steps[i]),
              [&](Cells run) { here = here || (run.begin <= cell && cell < run.end); });
      if (here) return &s.steps[i];
    }
    return nullptr;
  }

  std::string nameOf(Value v) const {
    const Schedule &s = all_.ranks[0];
    if (!trees_.isLeaf(v)) return cat("the combination ", treeOf(v));
    if (s.kind == ast::Kind::own) return nameOfContribution(s, v);
    if (s.kind == ast::Kind::alltoall)
      return cat("the block of rank ", v / s.ranks, " for rank ", v % s.ranks);
    if (s.kind == ast::Kind::neighbor_alltoall) {
      int64_t rank = 0;
      while (all_.firstSlot(rank + 1) <= v) ++rank;
      const int64_t slot = v - all_.firstSlot(rank);
      return cat("in[", slot, "] of rank ", rank, ", which is for rank ",
                 all_.schedule(rank).neighbors.destinations[static_cast<size_t>(slot)]);
    }
    if (s.kind == ast::Kind::scatter) return cat("the root's block for rank ", v);
    if (s.kind == ast::Kind::bcast) return "the root's data";
    return cat("the block of rank ", v);
  }

  void report(const Schedule &s, int64_t cell, Value found, Value wanted) {
    const Step *last = writer(s, cell);
    const Loc loc = last ? last->loc : placeOf(s, cell);
    if (!findings_.take(loc)) return;
    if (found == kUndefined)
      findings_.diag.error(loc, "rank ", s.rank, " never writes ", at(s, cell),
                           ", where at the end ", nameOf(wanted), " belongs");
    else
      findings_.diag.error(loc, "at the end ", at(s, cell), " of rank ", s.rank, " holds ",
                           nameOf(found), ", not ", nameOf(wanted), whenWritten(last));
  }

  void reportCombined(const Schedule &s, int64_t cell, Value found, Expected wanted) {
    const Step *last = writer(s, cell);
    const Loc loc = last ? last->loc : placeOf(s, cell);
    if (!findings_.take(loc)) return;
    if (found < 0) {
      findings_.diag.error(loc, "rank ", s.rank, " never writes ", at(s, cell),
                           ", where the result belongs");
      return;
    }
    const std::vector<uint8_t> all = trees_.occurrences(found);
    if (const std::string stray = strayIn(s, all, wanted); !stray.empty()) {
      findings_.diag.error(loc, "contribution of ", stray, " is in ", at(s, cell), " of rank ",
                           s.rank, ", where it does not belong", whenWritten(last));
      return;
    }
    // Leaf wanted.first + r is rank r's: a run begins at a multiple of the ranks.
    const std::vector<uint8_t> often(all.begin() + wanted.first,
                                     all.begin() + wanted.first + wanted.count);
    const std::string twice = ranksThatOccur(often, 2), never = ranksThatOccur(often, 0);
    if (!twice.empty())
      findings_.diag.error(loc, "contribution of ", twice, " is counted twice in ", at(s, cell),
                           " of rank ", s.rank, never.empty() ? "" : ", and that of ", never,
                           never.empty() ? "" : " is missing", whenWritten(last));
    else
      findings_.diag.error(loc, "contribution of ", never, " is missing in ", at(s, cell),
                           " of rank ", s.rank, whenWritten(last));
  }

  void reportPromised(const Schedule &s, const Promise &promise, int64_t cell, Value found,
                      const std::vector<Value> &wanted) {
    const Step *last = writer(s, cell);
    const Loc loc = last ? last->loc : promise.loc;
    if (!findings_.take(loc)) return;
    if (found < 0)
      findings_.diag.error(loc, "rank ", s.rank, " never writes ", at(s, cell),
                           ", where at the end ",
                           wanted.size() == 1 ? nameOf(wanted[0]) : "a reduction", " belongs");
    else if (wanted.size() == 1)
      findings_.diag.error(loc, "at the end ", at(s, cell), " of rank ", s.rank, " holds ",
                           nameOf(found), ", not ", nameOf(wanted[0]), whenWritten(last));
    else
      reportReduction(s, loc, cell, found, wanted, last);
    findings_.diag.note(promise.loc, "promised here");
  }

  void reportReduction(const Schedule &s, Loc loc, int64_t cell, Value found,
                       const std::vector<Value> &wanted, const Step *last) {
    std::vector<Value> stray, twice, missing;
    const std::vector<uint8_t> often = trees_.occurrences(found);
    for (Value v = 0; v < trees_.leaves(); ++v) {
      const bool isWanted = std::ranges::binary_search(wanted, v);
      if (often[v] > 0 && !isWanted) stray.push_back(v);
      if (often[v] > 1 && isWanted) twice.push_back(v);
      if (often[v] == 0 && isWanted) missing.push_back(v);
    }
    std::string text;
    const auto say = [&](const std::vector<Value> &which, const char *one, const char *several) {
      if (which.empty()) return;
      text += cat(text.empty() ? "" : "; ", namesOf(which), which.size() == 1 ? one : several);
    };
    say(stray, " does not belong there", " do not belong there");
    say(twice, " is counted twice", " are counted twice");
    say(missing, " is missing", " are missing");
    findings_.diag.error(loc, "at the end ", at(s, cell), " of rank ", s.rank,
                         " holds another reduction: ", text, whenWritten(last));
  }

  /// "in[0] of rank 3, in[1] of rank 3 and 5 more"
  std::string namesOf(const std::vector<Value> &which) const {
    constexpr size_t kMost = 3;
    std::string text;
    for (size_t i = 0; i < std::min(which.size(), kMost); ++i)
      text += cat(i == 0 ? "" : ", ", nameOf(which[i]));
    if (which.size() > kMost) text += cat(" and ", which.size() - kMost, " more");
    return text;
  }

  /// The first contribution that is not wanted at all: "rank 3", "rank 3 to block 2".
  static std::string strayIn(const Schedule &s, const std::vector<uint8_t> &often,
                             Expected wanted) {
    for (size_t leaf = 0; leaf < often.size(); ++leaf) {
      const auto v = static_cast<Value>(leaf);
      if (often[leaf] == 0 || (v >= wanted.first && v - wanted.first < wanted.count)) continue;
      const bool ofBlock = collective(s).in == Shape::blocks;
      return cat("rank ", v % s.ranks, ofBlock ? cat(" to block ", v / s.ranks) : "");
    }
    return {};
  }

  static std::string whenWritten(const Step *last) {
    return last ? cat(", last written in round ", last->round) : std::string{};
  }

  /// "rank 3", "ranks 1, 2, 5 and 9 more"; empty: none.
  static std::string ranksThatOccur(const std::vector<uint8_t> &often, uint8_t times) {
    constexpr int64_t kMost = 4;
    std::string text;
    int64_t count = 0;
    for (size_t r = 0; r < often.size(); ++r)
      if (often[r] == times && ++count <= kMost) text += cat(count == 1 ? "" : ", ", r);
    if (count == 0) return {};
    if (count > kMost) text += cat(" and ", count - kMost, " more");
    return (count == 1 ? "rank " : "ranks ") + text;
  }

  /// Of a buffer that no step writes.
  Loc placeOf(const Schedule &s, int64_t cell) const {
    const Loc loc = s.buffers[memory_.extent(s.rank, cell).buffer].loc;
    return loc.known() || s.steps.empty() ? loc : s.steps.back().loc;
  }

  const Together &all_;
  const Memory &memory_;
  Trees &trees_;
  const std::vector<Value> &held_;
  Findings &findings_;
  const bool reduces_;
  Combining combining_;
  Value complete_ = kUndefined;  // found last, and
  Expected run_;                 // of what
  std::vector<First> first_;     // by cell of the vector: who has it first
  std::map<std::vector<Value>, std::vector<First>> firstOf_;  // of an own collective, by what it is
  std::vector<Value> upToSwaps_;                              // made only where it is needed
};

}  // namespace

Combining checkResult(const Together &all, const Memory &memory, Values &values,
                      Findings &findings) {
  return Result(all, memory, values, findings).check();
}

}  // namespace nbcc
