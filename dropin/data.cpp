// SPDX-License-Identifier: BSD-3-Clause
// data.cpp - the arguments of a call, for a plan.
//
// What is dense is handed on where it lies. Of anything else there is an image: its bytes, packed,
// one block behind the other, in memory of ours. `before` is what is packed into it before the
// call, `behind` what is unpacked afterwards:
//
//   allgather, received side not dense      before: nothing        behind: all blocks
//   the same, in place                      before: the own one    behind: all
//   neighbours, received side               before: all            behind: all
//
// (Nobody's block is not written, so its image must be what was there.) Where one block of a row is
// not dense, all of it is packed: a device takes a row for one piece of memory.

#include "dropin/data.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

#include "dropin/operators.h"
#include "dropin/packing.h"
#include "dropin/shapes.h"
#include "dropin/types.h"

namespace nbcc::dropin {

namespace {

// Memory for data.
class Room {
 public:
  Room() = default;
  Room(const Room &) = delete;
  Room &operator=(const Room &) = delete;
  ~Room() { std::free(begin_); }

  std::byte *take(std::int64_t bytes) {
    constexpr std::size_t line = 64;
    bytes_ = static_cast<std::size_t>(bytes);
    begin_ = static_cast<std::byte *>(std::aligned_alloc(line, (bytes_ + line) / line * line));
    if (!begin_) throw std::bad_alloc();
    return begin_;
  }
  std::span<std::byte> span() const { return {begin_, bytes_}; }

 private:
  std::byte *begin_ = nullptr;
  std::size_t bytes_ = 0;
};

// Elements of the caller's, and their image.
struct Piece {
  std::byte *data, *image;
  std::int64_t count;
  MPI_Datatype datatype;
  Type type;
};

// The buffer may be MPI_BOTTOM, which is null.
std::byte *bytes_at(const void *buffer, std::int64_t offset = 0) {
  return reinterpret_cast<std::byte *>(reinterpret_cast<std::uintptr_t>(buffer) +
                                       static_cast<std::uintptr_t>(offset));
}

std::size_t size(std::int64_t n) {
  return static_cast<std::size_t>(n);
}

// How a side is laid out for nbc_call: in bytes, or elements of a reduction.
struct Laid {
  Room room;
  std::vector<std::size_t> counts;
  std::vector<std::ptrdiff_t> displacements;
};

}  // namespace

struct Arguments::More {
  Laid in, out;
  std::vector<Piece> before, behind;
  std::vector<MPI_Datatype> kept;
  MPI_Datatype last_kept = MPI_DATATYPE_NULL;  // a row often has one type many times
  UserOperator user;
  MPI_Op op = MPI_OP_NULL;

  More() = default;
  More(const More &) = delete;
  More &operator=(const More &) = delete;
  ~More() {
    user.clear();
    for (MPI_Datatype &type : kept) PMPI_Type_free(&type);
    if (op != MPI_OP_NULL) release(op);
  }

  // A program may free its type while the call is under way. What is made of it keeps it, and the
  // handle; a duplicate would be another handle, which an operator might not know, and copying its
  // attributes would be seen.
  void keep(MPI_Datatype type, const Type &t) {
    if (t.named || type == last_kept) return;
    kept.push_back(MPI_DATATYPE_NULL);
    if (PMPI_Type_contiguous(1, type, &kept.back()) != MPI_SUCCESS) {
      kept.pop_back();
      throw std::bad_alloc();
    }
    last_kept = type;
  }
};

namespace {

// Which blocks of what is received are packed before the call: they are read, or must not change.
enum class Prefill { nothing, own, all };

}  // namespace

// Fills in a call. Throws std::bad_alloc.
class Arguments::Filler {
 public:
  Filler(const Operation &o, int rank, nbc_call &call, std::unique_ptr<More> &more)
      : o_(o), rank_(rank), call_(call), more_(more) {}

  void move(int blocks_in, int blocks_out);
  void reduce(int ranks);

 private:
  const Operation &o_;
  const int rank_;
  nbc_call &call_;
  std::unique_ptr<More> &more_;

  More &more() {
    if (!more_) more_ = std::make_unique<More>();
    return *more_;
  }
  void *side(const Side &, bool sent, bool row, int blocks, Prefill);
  void *equal_blocks(const Side &, bool sent, int blocks, Prefill);
  void *own_lengths(const Side &, bool sent, int blocks, Prefill);
  void *packed_row(const Side &, bool sent, int blocks, Prefill);
  void *dense_row(const Side &, Laid &, int blocks);
  void *image(const Type &, const void *buffer, std::int64_t count, Room &, bool before,
              std::int64_t behind);
  std::int64_t given_elements(int ranks);
  void element(const Type &);
  void reduce_nothing(int ranks);
};

// --- what is moved ---

void *Arguments::Filler::equal_blocks(const Side &s, bool sent, int blocks, Prefill prefill) {
  Type t = type_of(s.type);
  call_.count = size(s.count * t.size);
  if (t.dense) return bytes_at(s.buffer);
  More &m = more();
  std::int64_t all = s.count * blocks;
  std::byte *room = (sent ? m.in : m.out).room.take(all * t.size), *data = bytes_at(s.buffer);
  Piece piece = {data, room, all, s.type, t};
  if (sent || prefill == Prefill::all) m.before.push_back(piece);
  if (!sent) m.behind.push_back(piece);
  if (prefill == Prefill::own)
    m.before.push_back({bytes_at(s.buffer, rank_ * s.count * t.extent),
                        room + rank_ * s.count * t.size, s.count, s.type, t});
  m.keep(s.type, t);
  return room;
}

// Displacements from the buffer; from a block's own address where the buffer is MPI_BOTTOM.
void *Arguments::Filler::dense_row(const Side &s, Laid &row, int blocks) {
  Type t;
  if (!s.types) t = type_of(s.type);
  std::byte *base = bytes_at(s.buffer);
  row.counts.resize(size(blocks));
  row.displacements.resize(size(blocks));
  for (int i = 0; i < blocks; ++i) {
    if (s.types && s.counts[i]) t = type_of(s.types[i]);
    row.counts[size(i)] = size(s.counts[i] * t.size);
    if (row.counts[size(i)] == 0) continue;
    std::int64_t offset = s.displacements[i] * (s.types ? 1 : t.size);
    if (!base) base = bytes_at(nullptr, offset);
    row.displacements[size(i)] = bytes_at(s.buffer, offset) - base;
  }
  return base;
}

void *Arguments::Filler::packed_row(const Side &s, bool sent, int blocks, Prefill prefill) {
  More &m = more();
  Laid &row = sent ? m.in : m.out;
  std::vector<Piece> pieces(size(blocks));
  row.counts.resize(size(blocks));
  std::int64_t total = 0;
  for (int i = 0; i < blocks; ++i) {
    if (s.counts[i] == 0) continue;
    MPI_Datatype type = s.types ? s.types[i] : s.type;
    Type t = type_of(type);
    std::int64_t offset = s.displacements[i] * (s.types ? 1 : t.extent);
    pieces[size(i)] = {bytes_at(s.buffer, offset), nullptr, s.counts[i], type, t};
    row.counts[size(i)] = size(s.counts[i] * t.size);
    if (__builtin_add_overflow(total, s.counts[i] * t.size, &total)) throw std::bad_alloc();
    if (s.types) m.keep(type, t);
  }
  if (!s.types) m.keep(s.type, type_of(s.type));
  std::byte *room = row.room.take(total), *at = room;
  for (int i = 0; i < blocks; ++i) {
    Piece &p = pieces[size(i)];
    p.image = at;
    at += row.counts[size(i)];
    if (p.count == 0) continue;
    if (sent || prefill == Prefill::all || (prefill == Prefill::own && i == rank_))
      m.before.push_back(p);
    if (!sent) m.behind.push_back(p);
  }
  return room;
}

void *Arguments::Filler::own_lengths(const Side &s, bool sent, int blocks, Prefill prefill) {
  bool dense = s.types || blocks == 0 || type_of(s.type).dense;
  for (int i = 0; i < blocks && s.types && dense; ++i)
    dense = s.counts[i] == 0 || type_of(s.types[i]).dense;
  Laid &row = sent ? more().in : more().out;
  void *base = dense ? dense_row(s, row, blocks) : packed_row(s, sent, blocks, prefill);
  const std::size_t *counts = row.counts.data();
  // One behind the other, if packed.
  const std::ptrdiff_t *displacements = dense ? row.displacements.data() : nullptr;
  (sent ? call_.in_counts : call_.out_counts) = counts;
  (sent ? call_.in_displacements : call_.out_displacements) = displacements;
  return base;
}

void *Arguments::Filler::side(const Side &s, bool sent, bool row, int blocks, Prefill prefill) {
  return o_.each && row ? own_lengths(s, sent, blocks, prefill)
                        : equal_blocks(s, sent, row ? blocks : 1, prefill);
}

void Arguments::Filler::move(int blocks_in, int blocks_out) {
  const Shapes &shapes = shapes_of(o_.kind);
  call_.type = NBC_BYTE;
  bool in_place = sends_in_place(o_, rank_);
  if (in_place)
    call_.in = NBC_IN_PLACE;
  else if (sends(o_, rank_))
    call_.in = side(o_.send, true, is_row(shapes.send), blocks_in, Prefill::nothing);
  if (receives_in_place(o_, rank_)) {
    call_.out = NBC_IN_PLACE;
    return;
  }
  if (!receives(o_, rank_)) return;
  Prefill prefill = Prefill::nothing;
  if (in_place) prefill = o_.kind == NBC_ALLTOALL ? Prefill::all : Prefill::own;
  if (shapes.receive == Shape::neighbors) prefill = Prefill::all;
  if (o_.kind != NBC_BCAST) {
    call_.out = side(o_.receive, false, is_row(shapes.receive), blocks_out, prefill);
    return;
  }
  // The root's is read, and others' written.
  bool root = rank_ == o_.root;
  call_.data = side(o_.receive, root, false, 1, prefill);
}

// --- reductions ---

// Elements of what is given, of all blocks.
std::int64_t Arguments::Filler::given_elements(int ranks) {
  if (o_.kind == NBC_REDUCE_SCATTER_BLOCK) return o_.receive.count * ranks;
  if (o_.kind != NBC_REDUCE_SCATTER) return o_.receive.count;
  std::vector<std::size_t> &counts = more().in.counts;
  std::int64_t all = 0;
  counts.resize(size(ranks));
  for (int i = 0; i < ranks; ++i) {
    counts[size(i)] = size(o_.send.counts[i]);
    all += o_.send.counts[i];
  }
  call_.in_counts = counts.data();
  return all;
}

// Type and operator of a type that has data.
void Arguments::Filler::element(const Type &t) {
  call_.op = op_of(o_.op);
  call_.type = t.element;
  if (call_.op != NBC_USER) return;
  More &m = more();
  if (!retain(o_.op)) throw std::bad_alloc();
  m.op = o_.op;
  m.keep(o_.receive.type, t);
  if (!m.user.set(o_.op, o_.receive.type, t)) throw std::bad_alloc();
  call_.type = NBC_OPAQUE;
  call_.element_bytes = size(t.size);
  call_.user = UserOperator::combine;
  call_.user_context = &m.user;
}

// Nothing, of whatever type it is that has no data.
void Arguments::Filler::reduce_nothing(int ranks) {
  call_.type = NBC_BYTE;
  call_.op = NBC_BAND;
  if (o_.kind != NBC_REDUCE_SCATTER) return;
  more().in.counts.assign(size(ranks), 0);
  call_.in_counts = more().in.counts.data();
}

// The buffer, or where it has no place in the call an image of it. `before`: packs all of `count`
// elements; `behind`: unpacks so many of them.
void *Arguments::Filler::image(const Type &t, const void *buffer, std::int64_t count, Room &room,
                               bool before, std::int64_t behind) {
  More &m = more();
  std::byte *to = room.take(count * t.size);
  Piece piece = {bytes_at(buffer), to, count, o_.receive.type, t};
  if (before) m.before.push_back(piece);
  piece.count = behind;
  if (behind) m.behind.push_back(piece);
  return to;
}

void Arguments::Filler::reduce(int ranks) {
  Type t = type_of(o_.receive.type);
  if (t.size == 0) return reduce_nothing(ranks);
  call_.count = size(o_.receive.count);
  std::int64_t all = given_elements(ranks);
  element(t);
  // What reductions take a pair for has its gaps, too.
  if (call_.op != NBC_USER) {
    t.size = t.extent;
    t.dense = true;
  }
  std::int64_t result = o_.receive.count;
  if (o_.kind == NBC_REDUCE_SCATTER) result = o_.send.counts[rank_];
  bool in_place = sends_in_place(o_, rank_), nothing_received = o_.kind == NBC_EXSCAN && rank_ == 0;
  // reduce_scatter with lengths of its own has no place for the result in the row of inputs; and
  // the first rank of an exscan keeps what it had.
  bool apart = in_place && (o_.kind == NBC_REDUCE_SCATTER || nothing_received);
  const void *given = in_place ? o_.receive.buffer : o_.send.buffer;
  void *out = bytes_at(o_.receive.buffer);
  if (in_place && !apart)
    call_.in = NBC_IN_PLACE;
  else if (!t.dense || (apart && !nothing_received))
    call_.in = image(t, given, all, more().in.room, true, 0);
  else
    call_.in = given;
  if (!receives(o_, rank_)) return;
  bool both = in_place && !apart;
  if (nothing_received)
    out = image(t, nullptr, result, more().out.room, false, 0);
  else if (!t.dense)
    out = image(t, out, both ? all : result, more().out.room, both, result);
  call_.out = out;
}

// --- Arguments ---

// To be copied, in 2 ns. Of a constant compilers make `rep stos` here, which takes 12.
extern nbc_call no_call;
nbc_call no_call = {};

Arguments::Arguments() = default;
Arguments::~Arguments() = default;

bool Arguments::set(const Operation &o, int rank, int ranks, int blocks_in, int blocks_out) {
  clear();
  call_ = no_call;
  if (o.kind == NBC_BARRIER) return true;
  const Shapes &s = shapes_of(o.kind);
  try {
    Filler filler(o, rank, call_, more_);
    if (s.reduces)
      filler.reduce(ranks);
    else
      filler.move(s.send == Shape::ranks ? ranks : blocks_in,
                  s.receive == Shape::ranks ? ranks : blocks_out);
    return true;
  } catch (const std::bad_alloc &) {
    clear();
    return false;
  }
}

bool Arguments::fill() {
  return !more_ || std::ranges::all_of(more_->before, [](const Piece &p) {
    return pack(p.data, p.count, p.datatype, p.type, p.image);
  });
}

bool Arguments::empty() {
  return !more_ || std::ranges::all_of(more_->behind, [](const Piece &p) {
    return unpack(p.image, p.data, p.count, p.datatype, p.type);
  });
}

void Arguments::clear() { more_.reset(); }

Arguments::Memory Arguments::memory() const {
  return more_ ? Memory{more_->in.room.span(), more_->out.room.span()} : Memory{};
}

}  // namespace nbcc::dropin
