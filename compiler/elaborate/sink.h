// SPDX-License-Identifier: BSD-3-Clause
// sink.h - what `build` talks to: takes steps in, refuses wrong ones, holds the schedule.
//
// `build` names memory by views, numbered as ast::Variable::index numbers
// buffers. A view is a row of equal elements, of one buffer; x[i] is its i-th:
//
//   in, out, data           elements are blocks
//   split x into n as s     elements are parts 1/n of a block
//   scratch t like S        elements are blocks, one for each block or part of S
//   scratch t[n] like S     elements are runs of blocks, each run one S
//
// A statement first tells its sections (whole, element, range, setBegin and
// setAdd), then what it is (send, copy, split, ...). Each call answers whether to
// stop; the first mistake stops the run and is kept with its place and values.
//
// Rounds are numbered by the round statements that held an operation on this
// rank. An empty one is nothing to wait for, so it takes no time and no number:
// an `if` around a round and an `if` inside of it mean the same.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/elaborate/elaborate.h"
#include "compiler/ir/schedule.h"
#include "compiler/lower/abi.h"

namespace nbcc {

class Sink : public Counters {
 public:
  /// For a run of `build`: with the caller's buffers as views 0, 1.
  Sink(const ast::Algorithm &, const Request &, const Limits &);
  /// For requires and claims, which have no rank and build nothing.
  Sink(const ast::Algorithm &, int64_t ranks, const Limits &);

  struct Mistake {
    Loc at;
    std::string text;
  };
  const std::optional<Mistake> &mistake() const { return mistake_; }
  Schedule take();  // the schedule; once

  /// The system gave no more memory: a mistake like any other.
  void outOfMemory() noexcept;

  /// Makes room for what another rank took.
  void reserve(size_t steps) { schedule_.steps.reserve(steps); }

  // The calls of compiler/lower/calls.def.
  int64_t roundBegin();
  int64_t roundEnd();
  int64_t whole(int64_t view, Place);
  int64_t element(int64_t view, int64_t index, Place);
  int64_t range(int64_t view, int64_t first, int64_t count, Place);
  int64_t setBegin(int64_t view, Place);
  int64_t setAdd(int64_t index);
  int64_t port(int64_t port, Place);
  int64_t send(int64_t peer, Place at, Place peerAt);
  int64_t recv(int64_t peer, Place at, Place peerAt);
  int64_t exchange(int64_t peer, Place at, Place peerAt);
  int64_t signal(int64_t peer, Place at, Place peerAt);
  int64_t await(int64_t peer, Place at, Place peerAt);
  int64_t copy(Place);
  int64_t reduce(Place);
  int64_t scratch(int64_t view, const char *name, Place);
  int64_t scratchArray(int64_t view, const char *name, int64_t extent, Place);
  int64_t scratchBegin(int64_t view, const char *name, int64_t first, Place);
  int64_t scratchElement(int64_t view, Place);
  int64_t scratchEnd(int64_t view, Place);
  int64_t split(int64_t view, const char *name, int64_t parts, Place);
  Checked power(int64_t base, int64_t exponent, Place);
  Checked digit(int64_t x, int64_t base, int64_t index, Place);
  Checked floorLog(int64_t base, int64_t x, Place);
  Checked ceilLog(int64_t base, int64_t x, Place);
  int64_t fault(int64_t fault, int64_t first, int64_t second, Place);
  int64_t endless(const char *variable, int64_t value, Place);

 private:
  /// Element i is blocks (parts) first + i * stride ..< first + (i + 1) * stride.
  struct View {
    BufferId buffer = -1;
    int32_t parts = 1;
    int64_t first = 0, elements = 0, stride = 1;
    std::string_view name;
    const char *unit = "block";  // what an element is called
  };

  /// A section that was told. Its extents are the pending ones from `begin` on,
  /// not in lowest terms.
  struct Operand {
    int64_t view = 0;
    int64_t elements = 0, stride = 1;
    size_t begin = 0;
    Place at = 0;
  };

  template <class... Part>
  int64_t refuse(Place, const Part &...);
  template <class... Part>
  Checked refuseValue(Place, const Part &...);
  std::string who() const;    // "rank 3 of 8"
  std::string where() const;  // " (rank 3 of 8)", " (rank 3 of 8, root 2)"
  std::string ofRoot(const char *before, const char *after) const;  // empty where there is none

  void addBuffer(Buffer, int64_t cut);
  std::string unusedName(std::string_view);
  int64_t open(int64_t view, int64_t elements, int64_t stride, Place);
  int64_t append(const View &, int64_t first, int64_t count);
  Section extents(size_t operand) const;
  void close();  // forgets the operands

  int64_t communicate(Op, int64_t peer, Place at, size_t operand);
  int64_t checkPeer(const char *verb, int64_t peer, Place);
  int64_t checkOperand(size_t operand, bool writes);
  Amount length(size_t operand) const;
  int64_t room(Place);  // for one more step
  Step &add(Op, Place);
  Run keep(size_t operand);

  int64_t checkBlocks(const char *name, int64_t elements, int64_t stride, const char *unit, Place);
  int64_t declareScratch(int64_t view, const char *name, int64_t elements, int64_t stride,
                         const char *unit, std::vector<Extent> like, Place);

  const Limits &limits_;
  Schedule schedule_;
  int64_t extents_ = 0;
  bool roundUsed_ = false;
  int16_t port_ = 0;
  std::vector<View> views_;
  /// By buffer: its blocks are 1/cut of a caller's block each. All of them: `like`
  /// names one view, whose elements are cut alike.
  std::vector<int64_t> cuts_;
  std::vector<Operand> operands_;
  std::vector<Extent> pending_, lowest_;
  std::unordered_map<std::string, int64_t> names_;  // of buffers, with how often each was asked for
  std::optional<Mistake> mistake_;

  // Between scratchBegin and scratchEnd.
  const char *arrayName_ = nullptr;
  int64_t arrayElements_ = 0, arrayStride_ = 0;
  std::vector<Extent> arrayLike_;
};

}  // namespace nbcc
