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
//
// on rank r. In place, as MPI has it, there is no `in` where there is a result:
// the contribution lies where the result will, out[r] of r's own for allgather
// and gather, all of `out` else. Scatter: the root has no `out`, its block stays.

#include <algorithm>
#include <array>

#include "compiler/prove/stages.h"

namespace nbcc {

int64_t contributions(const Schedule &s) {
  switch (s.kind) {
    case ast::Kind::alltoall:
      return s.ranks * s.ranks;
    case ast::Kind::bcast:
      return 1;
    case ast::Kind::allgather:
    case ast::Kind::allreduce:
    case ast::Kind::reduce:
    case ast::Kind::gather:
    case ast::Kind::scatter:
    case ast::Kind::barrier:
      return s.ranks;
  }
  return 0;
}

Value contribution(const Schedule &s, const Buffer &buffer, int64_t block) {
  const auto own = static_cast<Value>(s.rank);
  const bool atRoot = s.rank == s.root;
  const bool in = buffer.role == Role::in, out = buffer.role == Role::out;
  switch (s.kind) {
    case ast::Kind::allgather:
      return s.inPlace ? (out && block == own ? own : kUndefined) : in ? own : kUndefined;
    case ast::Kind::alltoall:
      return (s.inPlace ? out : in) ? static_cast<Value>(s.rank * s.ranks + block) : kUndefined;
    case ast::Kind::allreduce:
      return (s.inPlace ? out : in) ? own : kUndefined;
    case ast::Kind::reduce:
      return (s.inPlace && atRoot ? out : in) ? own : kUndefined;
    case ast::Kind::bcast:
      return buffer.role == Role::data && atRoot ? 0 : kUndefined;
    case ast::Kind::gather:
      return s.inPlace && atRoot ? (out && block == own ? own : kUndefined) : in ? own : kUndefined;
    case ast::Kind::scatter:
      return in && atRoot ? static_cast<Value>(block) : kUndefined;
    case ast::Kind::barrier:
      return kUndefined;
  }
  return kUndefined;
}

Value expected(const Schedule &s, const Buffer &buffer, int64_t block) {
  const bool atRoot = s.rank == s.root;
  const bool out = buffer.role == Role::out;
  switch (s.kind) {
    case ast::Kind::allgather:
      return out ? static_cast<Value>(block) : kUndefined;
    case ast::Kind::alltoall:
      return out ? static_cast<Value>(block * s.ranks + s.rank) : kUndefined;
    case ast::Kind::allreduce:
      return out ? kAll : kUndefined;
    case ast::Kind::reduce:
      return out && atRoot ? kAll : kUndefined;
    case ast::Kind::bcast:
      return buffer.role == Role::data ? 0 : kUndefined;
    case ast::Kind::gather:
      return out && atRoot ? static_cast<Value>(block) : kUndefined;
    case ast::Kind::scatter:
      return out && !(s.inPlace && atRoot) ? static_cast<Value>(s.rank) : kUndefined;
    case ast::Kind::barrier:
      return kUndefined;
  }
  return kUndefined;
}

namespace {

class Result {
 public:
  Result(const Together &all, const Memory &memory, Values &values, Findings &findings)
      : all_(all), memory_(memory), trees_(values.trees), held_(values.held), findings_(findings) {}

  Combining check() {
    for (const Schedule &s : all_.ranks)
      for (size_t b = 0; b < s.buffers.size(); ++b) checkBuffer(s, static_cast<BufferId>(b));
    return combining_;
  }

 private:
  void checkBuffer(const Schedule &s, BufferId id) {
    const Buffer &buffer = s.buffers[id];
    if (buffer.role != Role::out && buffer.role != Role::data) return;
    bool told = false;  // what else is wrong in this buffer mostly follows
    for (int64_t block = 0; block < buffer.blocks && !told; ++block) {
      const Value wanted = expected(s, buffer, block);
      if (wanted == kUndefined) continue;
      const Cells cells = memory_.block(s.rank, id, block).cells;
      for (int64_t c = cells.begin; c < cells.end && !told; ++c) {
        const Value found = held_[memory_.firstCell(s.rank) + c];
        told = wanted == kAll ? !isAll(s, c, found) : found != wanted;
        if (told && wanted == kAll)
          reportCombined(s, c, found);
        else if (told)
          report(s, c, found, wanted);
        else if (wanted == kAll)
          compareRanks(s, c - cells.begin, found);
      }
    }
  }

  bool isAll(const Schedule &s, int64_t cell, Value found) {
    if (found < 0) return false;
    if (found == complete_) return true;  // as its neighbour
    if (!trees_.isComplete(found)) return false;
    complete_ = found;
    if (!trees_.inOrder(found) && combining_.outOfOrder.empty())
      combining_.outOfOrder =
          cat("rank ", s.rank, " combines ", at(s, cell), " as ", trees_.toString(found));
    return true;
  }

  /// Is the tree of a cell, counted from the buffer's first, that of all ranks, up to swaps?
  void compareRanks(const Schedule &s, int64_t cell, Value found) {
    if (static_cast<size_t>(cell) >= first_.size()) first_.push_back({s.rank, found});
    const First &other = first_[cell];
    if (other.value == found || !combining_.unlike.empty()) return;
    if (upToSwaps_.empty()) upToSwaps_ = trees_.upToSwaps();
    if (upToSwaps_[other.value] == upToSwaps_[found]) return;
    combining_.unlike = cat("rank ", other.rank, " combines as ", trees_.toString(other.value),
                            " what rank ", s.rank, " combines as ", trees_.toString(found));
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
    if (!trees_.isLeaf(v)) return cat("the combination ", trees_.toString(v));
    if (s.kind == ast::Kind::alltoall)
      return cat("the block of rank ", v / s.ranks, " for rank ", v % s.ranks);
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

  void reportCombined(const Schedule &s, int64_t cell, Value found) {
    const Step *last = writer(s, cell);
    const Loc loc = last ? last->loc : placeOf(s, cell);
    if (!findings_.take(loc)) return;
    if (found < 0) {
      findings_.diag.error(loc, "rank ", s.rank, " never writes ", at(s, cell),
                           ", where the result belongs");
      return;
    }
    const std::vector<uint8_t> often = trees_.occurrences(found);
    const std::string twice = ranksThatOccur(often, 2), never = ranksThatOccur(often, 0);
    if (!twice.empty())
      findings_.diag.error(loc, "contribution of ", twice, " is counted twice in ", at(s, cell),
                           " of rank ", s.rank, never.empty() ? "" : ", and that of ", never,
                           never.empty() ? "" : " is missing", whenWritten(last));
    else
      findings_.diag.error(loc, "contribution of ", never, " is missing in ", at(s, cell),
                           " of rank ", s.rank, whenWritten(last));
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

  struct First {
    int64_t rank;
    Value value;
  };

  const Together &all_;
  const Memory &memory_;
  Trees &trees_;
  const std::vector<Value> &held_;
  Findings &findings_;
  Combining combining_;
  Value complete_ = kUndefined;
  std::vector<First> first_;      // by cell of the vector: who has it first
  std::vector<Value> upToSwaps_;  // made only where it is needed
};

}  // namespace

Combining checkResult(const Together &all, const Memory &memory, Values &values,
                      Findings &findings) {
  return Result(all, memory, values, findings).check();
}

}  // namespace nbcc
