// SPDX-License-Identifier: BSD-3-Clause
// schedule.h - what one rank does, step by step, for one number of ranks.
//
// Lengths are symbolic. A buffer is a row of blocks, each as long as the call
// says; a block can be cut in parts, so a position is a block and a fraction of
// it. Part i of n of a block of N elements begins at element floor(N * i / n),
// so part i of n is parts 2i and 2i+1 of 2n, and positions can be compared
// without knowing N.

#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "dsl/ast.h"
#include "dsl/collectives.h"
#include "dsl/diag.h"

namespace nbcc {

using StepId = int32_t;
using BufferId = int32_t;

enum class Op : uint8_t {
#define OP(name, ...) name,
#include "compiler/ir/ops.def"
};
std::string_view name(Op);

/// From position first/parts up to (first + count)/parts of a buffer, in blocks.
/// parts == 1: whole blocks. Always in lowest terms unless empty (normalize()).
struct Extent {
  BufferId buffer = -1;
  int32_t parts = 1;
  int64_t first = 0, count = 0;

  friend bool operator==(const Extent &, const Extent &) = default;
};

/// Divides first, count and parts by what they share.
Extent normalize(Extent);

/// Where `next` begins where `extent` ends, lets it grow by `next`; says whether.
/// The result is in lowest terms.
bool extend(Extent &extent, const Extent &next);
/// Puts a non-empty extent behind the others, or extends the last one.
void append(std::vector<Extent> &, const Extent &);

/// Compares positions a/p and b/q exactly: <0, 0, >0.
int comparePositions(int64_t a, int32_t p, int64_t b, int32_t q);

/// Whether the extents share a byte for some length of their blocks.
bool overlap(const Extent &, const Extent &);

/// The most blocks a buffer may have, and the finest cut: what a section
/// resolves to has parts of at most kMaxParts.
inline constexpr int64_t kMaxBlocks = 1 << 24;
inline constexpr int32_t kMaxParts = INT32_MAX;

/// What one operation reads or writes: extents, in order, one after the other.
using Section = std::span<const Extent>;

/// Who executes a step. Only legalize() sets anything but `any`.
enum class Unit : uint8_t {
  any,
  host_before,  // the host, in start, before anything is sent
  host,         // the host, between two stages
  host_after,   // the host, when all else is done
  nic,          // the adapter: a transfer to itself, or a calc
};
std::string_view name(Unit);

/// Those of the caller come first.
enum class Role : uint8_t {
  in,       // the caller's, as are
  out,      //   out
  data,     //   and data
  scratch,  // of one instance
  slots,    // of one instance, receives are posted into it ahead (legalize)
};
std::string_view name(Role);

struct Buffer {
  std::string name;
  Role role = Role::scratch;
  /// Not significant on this rank (`out` of gather elsewhere than at the root):
  /// may be named in `like` only.
  bool significant = true;
  int64_t blocks = 0;
  /// scratch, slots: how long its blocks are. Each extent names `count` units of
  /// 1/parts block each (not in lowest terms). Block i is like the i-th unit; if
  /// there is one unit in all, every block is like it. Names only earlier
  /// buffers. Empty for the caller's buffers.
  ///
  /// A block that is like part i of n is measured in the coordinates of what it
  /// is like: its own part j of m is part i * m + j of n * m there. So lengths
  /// agree to the byte wherever resolve() agrees.
  std::vector<Extent> like;
  Loc loc;
  /// Of an own collective's buffers: as long on every rank.
  bool vector = false;
  /// Where each extent of `like` ends, in blocks: resolve() fills it when it is
  /// first needed. Clear it after changing a count in `like` in place.
  mutable std::vector<int64_t> likeEnds = {};

  /// Given to the call; else it is the instance's own.
  bool ofCaller() const { return role <= Role::data; }
  /// Of the caller, and where results belong.
  bool ofResult() const { return role == Role::out || role == Role::data; }
  /// Every block is like the one unit.
  bool uniform() const { return like.size() == 1 && like[0].count == 1; }
};

/// Where an own collective finds what it promises: as it is at the beginning, on ranks
/// rank ..< rank + ranks the same block of the same buffer.
struct Source {
  Role role = Role::in;  // in or data
  int32_t rank = 0, ranks = 1;
  int64_t block = 0;

  friend bool operator==(const Source &, const Source &) = default;
};

/// A run in one of the schedule's pools.
struct Run {
  uint32_t begin = 0, size = 0;
};

/// What an own collective promises this rank: at the end, block i of `to` is the reduction of block
/// i of all sources, counted from where they begin. Of one rank alone: that block itself.
struct Promise {
  Extent to;  // blocks of `out` or `data`
  Run of;     // sources, by ascending rank
  Loc loc;
};

/// One operation. Sections and waits are kept in pools: steps are many.
struct Step {
  Op op{};
  Unit unit = Unit::any;
  int16_t port = 0;
  int32_t peer = -1;   // -1: none
  int32_t round = 0;   // see Order
  Run from, with, to;  // reduce: C = A op B with from = A, with = B, to = C
  Run after;
  Loc loc;
};

inline bool sends(const Step &step) {
  return step.op == Op::send || step.op == Op::signal;
}
inline bool receives(const Step &step) {
  return step.op == Op::recv || step.op == Op::await;
}
/// Of a legal schedule; messages, too.
inline bool byHost(const Step &step) {
  return step.unit == Unit::host || step.unit == Unit::host_before || step.unit == Unit::host_after;
}

/// What the order of the steps means.
enum class Order : uint8_t {
  /// As written. Communication of round r starts when all steps of smaller
  /// rounds and the copies and reductions numbered r are done; its steps run at
  /// the same time. Copies and reductions run one after the other: those
  /// numbered r after the communication of round r - 1. `after` is empty.
  rounds,
  /// A step starts when those in `after` are done; and a send (signal) when the
  /// earlier ones to the same peer have started, likewise a recv (await).
  waits,
};
std::string_view name(Order);

/// Steps are numbered by position. What always holds, and verify() checks:
///
///   - rank and root are ranks; so are neighbours, or kNobody, and only kinds that
///     have a graph have any; a source that is a rank has a slot there, and no slot
///     of another stands in two; the own rank's slots speak of each other; and such
///     kinds are never in place
///   - buffers have a name each of their own, of
///     letters, digits, `_` and `.`, and at most kMaxBlocks blocks; `like` names
///     units inside earlier buffers, one in all or one per block, and only
///     scratch and slots have it
///   - a step waits only for steps before it; so there is no cycle, and one
///     walk from front to back sees each step after all it waits for
///   - rounds never decrease, and within a round copies and reductions stand
///     before communication
///   - a section lies inside its buffer, the buffer is significant, and its
///     extents are in lowest terms with count >= 0
///   - send, recv, signal, await have a peer, which is a rank and not the own;
///     copy and reduce have none
///   - what copy and reduce read and write is equally long: amount() of the
///     sections agrees; and no section is finer than kMaxParts
///   - no step writes `in`
///   - an own collective has a name, is not in place, and promises whole blocks of `out` or `data`,
///     none twice; sources are blocks of `in` or `data` of ranks, ascending, each once. Other kinds
///     promise nothing: what they are is known
///   - the k-th send or signal to a peer meets the k-th recv or await there
///     (only prove() sees both ends)
class Schedule {
 public:
  std::string algorithm;
  ast::Kind kind{};
  std::string collective;         // of kind own: its name, and
  std::vector<Promise> promises;  // what it is
  int64_t ranks = 1, rank = 0, root = 0;
  Neighbors neighbors;   // of kinds that have a graph
  bool inPlace = false;  // `in` was replaced as MPI_IN_PLACE says
  Order order = Order::rounds;
  int32_t rounds = 0;  // how many
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  /// The text this was read from. A step whose place is there has none in a
  /// program, so print() does not write it.
  uint16_t textFile = UINT16_MAX;

  Section from(const Step &s) const { return view(s.from); }
  Section with(const Step &s) const { return view(s.with); }
  Section to(const Step &s) const { return view(s.to); }
  std::span<const StepId> after(const Step &s) const {
    return {waits_.data() + s.after.begin, s.after.size};
  }

  /// Puts a section in the pool: `step.from = schedule.keep(section)`. It may be
  /// a view of the pool itself. What is replaced stays there, unused.
  Run keep(Section);
  /// Likewise for waits; sorts them and drops doubles.
  Run keepWaits(std::vector<StepId>);
  std::span<const Source> sources(const Promise &p) const {
    return {sources_.data() + p.of.begin, p.of.size};
  }
  /// Likewise for sources.
  Run keepSources(std::span<const Source>);
  /// Buffer b becomes to[b] in every section, promise and `like` (-1: it is named nowhere).
  void renumberBuffers(std::span<const BufferId> to);

  BufferId buffer(std::string_view name) const;  // -1: none
  BufferId buffer(Role) const;                   // the first of this role; -1: none
  size_t bytes() const;                          // what it takes in memory

 private:
  Section view(Run r) const { return {extents_.data() + r.begin, r.size}; }
  std::vector<Extent> extents_;
  std::vector<StepId> waits_;
  std::vector<Source> sources_;
};

/// How many blocks the caller's buffer of this shape has; 0: there is none.
int64_t blocksOf(const Schedule &, Shape);
/// The name of its collective, as a program has it.
std::string_view kindName(const Schedule &);
/// How its collective looks. Of an own one what can be seen in one rank's schedule.
Collective collective(const Schedule &);

/// An extent whose lengths come from one run of a caller's buffer: as many units,
/// each 1/base.parts long there. `raw` is not in lowest terms, nor is `base`.
struct Piece {
  Extent raw, base;
};
/// The longest beginning of an extent that is one piece. Logarithmic in the
/// extents of the `like` lists it goes through. Needs count > 0.
Piece firstPiece(const Schedule &, const Extent &);

/// Where a section's lengths come from: the same row of blocks, in the caller's
/// buffers (Buffer::like followed to its end). Neighbours are joined.
std::vector<Extent> resolve(const Schedule &, Section);

/// How long a section is, in blocks of the caller's buffers: count/parts in
/// lowest terms. parts 0: cut so unevenly that 64 bits cannot say it.
struct Amount {
  int64_t count = 0;
  int64_t parts = 1;
  friend bool operator==(const Amount &, const Amount &) = default;
};
Amount amount(const Schedule &, Section);

/// amount() of many sections of one schedule. What follows `like` buffer by buffer is
/// done once: where all blocks of a buffer are the same fraction of the caller's, its
/// extents are counted and not followed. Sees no later change of the buffers, and wants
/// their `like` lists to name what comes before them.
class Lengths {
 public:
  explicit Lengths(const Schedule &);
  Amount operator()(Section) const;

 private:
  const Schedule &s_;
  std::vector<int32_t> parts_;  // by buffer: its blocks are 1/parts of the caller's; 0: they differ
};

/// The text form. What print() writes, read() takes back, step for step. A text
/// may hold several schedules, of several ranks.
///
///     schedule @bruck allgather rank 3 of 8 root 0 order waits rounds 3
///       in in[1]
///       out out[8]
///       scratch tmp[8] like out[3 +: 5], out[0 +: 3]
///       %0 = copy in -> tmp[0] round 0
///       %1 = send tmp[0 +: 2], tmp[4] to 2 round 1 port 1 after %0 at 12:9
///       %2 = reduce tmp[0 +: 2 of 8] with out[0 +: 2 of 8] -> out[0 +: 2 of 8] round 2 by host
///     end
///
/// Neighbours stand before the buffers: of sources with the slot there, nobody is `none`.
///
///       sources 3[1], none, 1[0]
///       destinations 3, none, 1
///
/// After `rounds 3` may stand `in-place`. Of what follows a step's sections all
/// but `round` is written only where it says something, and all may be left out;
/// [] is a section of no extents. `at` is a place in the program.
/// Where an own collective is achieved, `own NAME` stands for the kind, `vector` behind buffers
/// that are as long on every rank, and between buffers and steps what is promised:
///
///       promise out[0 +: 2] == in[3 +: 2] of 1 at 4:7
///       promise out[2] == reduce in[0] of 0 +: 4, in[1] of 6, 8 at 5:7
///
/// x[i], x[i +: n]: blocks. x[i of p], x[i +: n of p]: parts, of all blocks
/// cut in p. x: all of a buffer of one block. A buffer that is not significant
/// here is followed by `absent`. # begins a comment.
/// `from with` keeps the two operands of a reduction apart.
void print(const Schedule &, std::ostream &);
std::string toString(const Schedule &, Section);
/// Reads all schedules of a text that `Diag` knows; those without a mistake are
/// returned. They need not keep the promises above: verify() comes next.
std::vector<Schedule> readSchedules(uint16_t file, Diag &);

/// Reports every step that breaks a promise above. Runs between all passes.
void verify(const Schedule &, Diag &);

/// step -> do the steps in a bag of earlier ones all finish before it may start?
/// Answers from `after` alone (order waits), which must not change meanwhile.
class Reach {
 public:
  /// Longer schedules are searched; of others all that finishes before a step is
  /// kept: a bit for each pair.
  static constexpr size_t kMostKept = 4096;

  explicit Reach(const Schedule &);
  /// Whether `before` is finished whenever `step` may start.
  bool finishedBefore(StepId before, StepId step);

 private:
  void keepUpTo(StepId step);
  bool search(StepId before, StepId step);

  const Schedule &s_;
  size_t words_ = 0;            // of a row; 0: search
  StepId kept_ = 0;             // the rows of steps below are there
  std::vector<uint64_t> rows_;  // by step: a bit for each one that has finished before it
  std::vector<uint32_t> seen_;
  std::vector<StepId> stack_;
  uint32_t mark_ = 0;
};

}  // namespace nbcc
