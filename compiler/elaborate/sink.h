// SPDX-License-Identifier: BSD-3-Clause
// sink.h - what `build` talks to: takes steps in, refuses wrong ones, holds the schedule.
//
// `build` names memory by views, numbered as ast::Variable::index numbers
// buffers. A view is a row of elements, of one buffer; x[i] is its i-th:
//
//   in, out, data           elements are blocks
//   split x into n as s     elements are the n-th parts of x
//   scratch t like S        elements are blocks, one for each block or part of S
//   scratch t[n] like S     elements are runs of blocks, each run one S
//
// What an algorithm takes for a block may be several of the caller's where `run`
// started it: an atom, never taken apart but by split. So an element is a run of
// atoms, an atom a run of units, and a unit is 1/parts of a block of the buffer.
// Where all elements are alike and lie one behind the other, four numbers say
// it; else a Layout does.
//
// `run` opens a frame: what `build` of the callee says is of its own ranks and views.
// Groups, topology and the peers of operations are translated here; a schedule
// knows nothing of frames.
//
// A statement first tells its sections (whole, element, range, setBegin and
// setAdd), then what it is (send, copy, split, ...). Each call answers whether to
// stop; the first mistake stops the run and is kept with its place and values.
//
// Rounds are numbered by the round statements that held an operation on this
// rank. An empty one is nothing to wait for, so it takes no time and no number:
// an `if` around a round and an `if` inside of it mean the same.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/abi/abi.h"
#include "compiler/elaborate/elaborate.h"
#include "compiler/ir/schedule.h"
#include "dsl/collectives.h"

namespace nbcc {

class Sink : public Counters {
 public:
  /// For a run of `build`: with the caller's buffers as views 0, 1. How many blocks they have is
  /// said where a declared collective says it, by buffer.
  Sink(const CompiledAlgorithm &, const Request &, const Limits &,
       const std::vector<std::optional<int64_t>> &blocks = {});
  /// For requires and claims, which have no rank and build nothing.
  struct Bounds {};
  Sink(const CompiledAlgorithm &, const Request &, const Limits &, Bounds);

  struct Mistake {
    Loc at;
    std::string text;
    std::vector<Loc> runFrom;  // the run statements it happened in, innermost first
    Loc other = {};            // a second place that explains it, and
    std::string why = {};      // how
  };
  const std::optional<Mistake> &mistake() const { return mistake_; }
  Schedule take();  // the schedule; once

  /// The system gave no more memory: a mistake like any other.
  void outOfMemory() noexcept;

  /// Makes room for what another rank took.
  void reserve(size_t steps) { schedule_.steps.reserve(steps); }

  // The calls of compiler/abi/calls.def.
  int64_t roundBegin();
  int64_t roundEnd();
  int64_t whole(int64_t view, Place);
  int64_t element(int64_t view, int64_t index, Place);
  int64_t range(int64_t view, int64_t first, int64_t count, Place);
  int64_t setBegin(int64_t view, Place);
  int64_t setAdd(int64_t index);
  int64_t elementsOf(int64_t view, int64_t group, Place);
  int64_t port(int64_t port, Place);
  int64_t send(int64_t peer, Place at, Place peerAt);
  int64_t recv(int64_t peer, Place at, Place peerAt);
  int64_t exchange(int64_t peer, Place at, Place peerAt);
  int64_t signal(int64_t peer, Place at, Place peerAt);
  int64_t await(int64_t peer, Place at, Place peerAt);
  int64_t copy(Place);
  int64_t reduce(Place);
  int64_t promiseBegin(Place);
  int64_t promiseOf(int64_t rank, Place);
  int64_t promiseOfGroup(int64_t group, Place);
  int64_t promiseEnd();
  int64_t scratch(int64_t view, const char *name, Place);
  int64_t scratchArray(int64_t view, const char *name, int64_t extent, Place);
  int64_t scratchBegin(int64_t view, const char *name, int64_t first, Place);
  int64_t scratchElement(int64_t view, Place);
  int64_t scratchEnd(int64_t view, Place);
  int64_t split(int64_t view, const char *name, int64_t parts, Place);
  int64_t groupBegin(Place);
  int64_t groupAdd(int64_t rank);
  Checked groupEnd();
  Checked size(int64_t group, Place);
  Checked rank_in(int64_t group, int64_t rank, Place);
  Checked member(int64_t group, int64_t index, Place);
  int64_t bind(int64_t view, int64_t elements, Place);
  int64_t bindBegin(int64_t view, Place);
  int64_t bindElement(Place);
  int64_t bindEnd(int64_t view, int64_t elements, Place);
  int64_t enter(int64_t group, const char *callee, int64_t kind, int64_t buffers, int64_t root,
                Place);
  int64_t leave();
  int64_t doesNotApply(Place);
  Checked nodes(Place);
  Checked node_of(int64_t rank, Place);
  Checked ranks_on(int64_t node, Place);
  Checked first_on_node(int64_t rank, Place);
  Checked local_rank(int64_t rank, Place);
  Checked indegree(Place);
  Checked outdegree(Place);
  Checked source(int64_t slot, Place);
  Checked destination(int64_t slot, Place);
  Checked source_slot(int64_t slot, Place);
  Checked arrival(int64_t slot, Place);
  Checked power(int64_t base, int64_t exponent, Place);
  Checked digit(int64_t x, int64_t base, int64_t index, Place);
  Checked floorLog(int64_t base, int64_t x, Place);
  Checked ceilLog(int64_t base, int64_t x, Place);
  int64_t fault(int64_t fault, int64_t first, int64_t second, Place);
  int64_t endless(const char *variable, int64_t value, Place);

 private:
  /// Elements that differ in length, or do not lie one behind the other.
  struct Layout {
    std::vector<Extent> extents;    // of one buffer and one `parts`, not in lowest terms
    std::vector<int64_t> ends;      // of the extents, in units
    std::vector<int64_t> atoms;     // where each begins, in units; and the end
    std::vector<int64_t> elements;  // the atom that each begins with; and the end
  };

  /// Element i is units first + i * stride ..< first + (i + 1) * stride: `atoms` of `width` each.
  struct View {
    BufferId buffer = -1;
    int32_t parts = 1;
    int64_t first = 0, elements = 0, stride = 1;
    std::string_view name;
    const char *unit = "block";  // what an element is called
    int64_t atoms = 1, width = 1;
    int32_t absentIn = -1;                 // the frame whose root alone has it; -1: is there
    std::shared_ptr<const Layout> layout;  // then first, stride, atoms and width say nothing
  };

  /// A section that was told. Its extents are the pending ones from `begin` on,
  /// not in lowest terms.
  struct Operand {
    int64_t view = 0;
    int64_t elements = 0, atoms = 1, width = 1;
    size_t begin = 0;
    Place at = 0;
    // Of a view with a layout: the lengths of its atoms and elements are the pending ones from
    // these on.
    bool regular = true;
    size_t atomsBegin = 0, runsBegin = 0;
  };

  /// What `run` started, and at the bottom what the caller asked for.
  struct Frame {
    std::string name;  // "gather.linear"
    int64_t kind = 0;  // KindFacts
    Place at = 0;      // of the run statement
    int64_t ranks = 1, rank = -1, root = 0;
    size_t views = 0, groups = 0;      // where its own begin
    std::vector<int32_t> members;      // its ranks as the caller's; empty: they are the same
    std::optional<Topology> topology;  // once it was asked for
    std::unordered_map<int64_t, int64_t> onNode;  // groups made by ranks_on
  };

  struct Group {
    std::vector<int32_t> members;
    std::vector<std::pair<int32_t, int32_t>> sorted;  // (rank, where); empty: members ascend
  };

  template <class... Part>
  int64_t refuse(Place, const Part &...);
  template <class... Part>
  Checked refuseValue(Place, const Part &...);
  std::string who() const;  // "rank 3 of 8", "rank 3 of 8, which is rank 1 of 4 in gather.linear"
  std::string whoDoes() const;  // before a verb
  std::string where() const;    // " (rank 3 of 8)", " (rank 3 of 8, root 2)"
  std::string ofRoot(const char *before, const char *after) const;  // empty where there is none

  View &view(int64_t index) { return views_[base_ + static_cast<size_t>(index)]; }
  const View &view(int64_t index) const { return views_[base_ + static_cast<size_t>(index)]; }
  Frame &frame() { return frames_.back(); }
  const Frame &frame() const { return frames_.back(); }

  void addBuffer(Buffer, int64_t cut);
  std::string unusedName(std::string_view);
  int64_t open(int64_t view, int64_t elements, int64_t atoms, int64_t width, Place);
  int64_t append(const View &, int64_t first, int64_t count);
  int64_t appendExtent(const Extent &);
  Section extents(size_t operand) const;
  void close();  // forgets the operands

  // sink_layout.cpp
  void openIrregular(int64_t view, Place);
  int64_t appendLayout(const View &, int64_t first, int64_t count);
  int64_t appendAtoms(const View &, int64_t element);
  int64_t appendUnits(const View &, int64_t first, int64_t count);
  int64_t units(size_t operand) const;
  /// An operand as a view, of which each element is an atom; or all of it is one.
  View viewOf(size_t operand, bool asOne) const;
  /// A view of these extents. Atoms: units of each; elements: atoms of each.
  static View viewOver(std::vector<Extent>, const std::vector<int64_t> &atoms,
                       const std::vector<int64_t> &elements);
  /// Puts the units of each atom, the atoms of each element behind what is there.
  void atomLengths(size_t operand, std::vector<int64_t> &) const;
  void elementLengths(size_t operand, std::vector<int64_t> &) const;

  int64_t communicate(Op, int64_t peer, Place at, size_t operand);
  int64_t checkPeer(const char *verb, int64_t peer, Place);
  int64_t checkOperand(size_t operand, bool writes);
  Amount length(size_t operand) const;
  bool sameSection() const;
  int64_t room(Place);  // for one more step
  Step &add(Op, Place);
  Run keep(size_t operand);

  int64_t checkBlocks(const char *name, int64_t elements, int64_t stride, const char *unit, Place);
  /// Blocks of a new buffer, in the shape of a view that names none yet.
  int64_t declareScratch(int64_t view, const char *name, View shape, int64_t blocks,
                         std::vector<Extent> like, Place);

  int64_t addArrayElement(bool asAtom, Place);

  // sink_group.cpp
  const Group &group(int64_t index) const { return groups_[static_cast<size_t>(index)]; }
  int64_t groupSize(int64_t index) const;
  int64_t position(int64_t group, int64_t rank) const;  // -1: not in it
  Checked addGroup(std::vector<int32_t> members, Place);
  const Topology *topology(Place);
  Checked askRank(const char *builtin, int64_t rank, int64_t (*)(const Topology &, int64_t), Place);

  // sink_neighbors.cpp
  bool checkSlot(const char *builtin, int64_t slot, int64_t slots, const char *what, Place);

  const Limits &limits_;
  const Topology *topology_ = nullptr;  // of the caller's ranks
  Schedule schedule_;
  std::vector<Frame> frames_;
  size_t base_ = 0;  // of the frame's views
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
  std::vector<int32_t> arrivals_;  // of the source slots; made when first asked for
  std::optional<Mistake> mistake_;

  std::vector<int64_t> atoms_, runs_;  // of operands with a layout: units, atoms
  std::vector<Group> groups_;
  int64_t groupMembers_ = 0;  // of all groups

  // sink_promise.cpp
  bool hasOnRank(Role, int64_t rank) const;
  int64_t addSource(int64_t rank, Place);
  void sourcesOf(size_t block, std::vector<Source> &) const;
  int64_t promisedAlready(const Promise &, int64_t block, std::span<const Source>);

  // Between promiseBegin and promiseEnd.
  Place promiseAt_ = 0;
  BufferId promisedBuffer_ = -1;
  bool promisedElsewhere_ = false;  // the buffer is not on this rank
  Role given_ = Role::in;
  std::vector<int64_t> promised_;       // the blocks
  std::vector<int32_t> givenBy_;        // the ranks that have what they are to be, and
  std::vector<int64_t> givenBlocks_;    // where: of each rank as many blocks as are promised
  std::vector<int32_t> promisedBy_[3];  // by role, by block: the promise; -1: none

  // Between scratchBegin and scratchEnd, and between bindBegin and bindEnd.
  const char *arrayName_ = nullptr;
  std::vector<Extent> arrayExtents_;
  std::vector<int64_t> arrayAtoms_, arrayElements_;

  // Between groupBegin and groupEnd.
  std::vector<int32_t> newMembers_;
  Place groupAt_ = 0;

  int32_t arrayAbsentIn_ = -1;

  // Before enter: views of the callee.
  std::vector<std::pair<int64_t, View>> bound_;
};

}  // namespace nbcc
