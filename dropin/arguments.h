// SPDX-License-Identifier: BSD-3-Clause
/// arguments.h - how a call's arguments are put together: for data.cpp, moved.cpp and reduced.cpp
/// alone.
///
/// What is dense is handed on where it lies. Of anything else there is an image: its bytes, packed,
/// one block behind the other, in memory of ours. `before` is what is packed into it before the
/// call, `behind` what is unpacked afterwards:
///
///   allgather, received side not dense      before: nothing        behind: all blocks
///   the same, in place                      before: the own one    behind: all but that
///   neighbours, received side               before: all            behind: all
///
/// (Nobody's block is not written, so its image must be what was there.) Where one block of a row
/// is not dense, all of it is packed: a device takes a row for one piece of memory.

#pragma once

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "dropin/data.h"
#include "dropin/handles.h"
#include "dropin/operators.h"
#include "dropin/packing.h"
#include "dropin/room.h"
#include "dropin/shapes.h"
#include "dropin/types.h"

namespace nbcc::dropin {

/// Elements of the caller's, and their image.
struct Piece {
  std::byte *data, *image;
  std::int64_t count;
  MPI_Datatype datatype;
  Type type;
  nbc_type pair = NBC_OPAQUE;  // the image is as long as the data, of whose gaps none is written
};

/// The buffer may be MPI_BOTTOM, which is null.
inline std::byte *bytes_at(const void *buffer, std::int64_t offset = 0) {
  return reinterpret_cast<std::byte *>(reinterpret_cast<std::uintptr_t>(buffer) +
                                       static_cast<std::uintptr_t>(offset));
}

/// What is known not to be negative.
inline std::size_t size(std::int64_t n) {
  return static_cast<std::size_t>(n);
}

/// What a rank sends to itself by rows: in them it has no bytes, and goes from type to type.
struct Own {
  Piece from = {}, to = {};
  std::int64_t bytes = 0;  // 0: it goes as the others do

  bool needs_image() const { return bytes && needs_room(from.type, to.type); }
};

/// Blocks that the plan gathers or scatters on their way, or where it does not, an image of all of
/// them.
struct Layout : nbc_layout {
  std::vector<Piece> pieces;          // one behind the other in the image
  std::vector<std::int64_t> offsets;  // there
  std::int64_t bytes = 0;             // of all; 0: there is none
  bool prefilled = false;             // an image has to be what was there

  Layout();
  void add(const Piece &p) {
    if (!p.count || !p.type.size) return;
    pieces.push_back(p);
    offsets.push_back(bytes);
    bytes += p.count * p.type.size;
  }
  void clear() {
    pieces.clear();
    offsets.clear();
    bytes = 0;
  }
  std::byte *lie_in(std::byte *image) {
    for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i].image = image + offsets[i];
    return image;
  }
};

/// How a side is laid out for nbc_call: in bytes, or elements of a reduction.
struct Laid {
  Room room;
  Layout layout;
  std::size_t *counts = nullptr;
  std::ptrdiff_t *displacements = nullptr;

  /// Room for a row, of zeros.
  void make_row(int blocks) {
    const std::size_t n = size(blocks);
    if (n > most_few) {
      many_counts_.resize(n);
      many_displacements_.resize(n);
    }
    counts = n > most_few ? many_counts_.data() : few_counts_;
    displacements = n > most_few ? many_displacements_.data() : few_displacements_;
    std::fill_n(counts, n, 0);
    std::fill_n(displacements, n, 0);
  }
  void leave() {
    room.leave();
    layout.clear();
    counts = nullptr;
    displacements = nullptr;
  }

 private:
  // Without a further allocation, which would be seen among so few.
  static constexpr std::size_t most_few = 8;
  std::size_t few_counts_[most_few];
  std::ptrdiff_t few_displacements_[most_few];
  std::vector<std::size_t> many_counts_;
  std::vector<std::ptrdiff_t> many_displacements_;
};

struct Arguments::More {
  Laid in, out;
  std::vector<Piece> before, behind;
  Own own;
  Handles handles;
  UserOperator user;

  /// For the next call: without handles, and with the memory.
  void leave() {
    in.leave();
    out.leave();
    before.clear();
    behind.clear();
    own.bytes = 0;
    handles.clear();
    user.leave();
  }
};

/// Which blocks of what is received are packed before the call: they are read, or must not change.
enum class Prefill { none, own, all };

/// Fills in a call. Throws std::bad_alloc.
class Arguments::Filler {
 public:
  Filler(const Operation &o, int rank, nbc_call &call, std::shared_ptr<More> &more, bool they_stay)
      : o_(o), rank_(rank), call_(call), more_(more), they_stay_(they_stay) {}

  void move(int blocks_in, int blocks_out);
  void reduce(int ranks);

 private:
  const Operation &o_;
  const int rank_;
  const bool in_place_ = sends_in_place(o_, rank_);
  nbc_call &call_;
  std::shared_ptr<More> &more_;
  const bool they_stay_;

  More &more() {
    if (!more_) more_ = spare_ ? std::move(spare_) : std::make_shared<More>();
    return *more_;
  }
  template <class... Handle>
  void keep(const Handle &...handle) {
    if (!they_stay_) more().handles.keep(handle...);
  }
  void take_own_apart();
  bool is_apart(int block) const { return block == rank_ && more_ && more_->own.bytes; }
  void *side(const Side &, bool sent, bool row, int blocks, Prefill);
  void *equal_blocks(const Side &, bool sent, int blocks, Prefill);
  void *own_lengths(const Side &, bool sent, int blocks, Prefill);
  bool can_lie(const std::vector<Piece> &, std::int64_t bytes) const;
  void *packed_row(const Side &, bool sent, int blocks, Prefill);
  void *dense_row(const Side &, Laid &, int blocks);
  void *image(const Type &, const void *buffer, std::int64_t count, Room &, bool before,
              std::int64_t behind, nbc_type pair = NBC_OPAQUE);
  std::int64_t given_elements(int ranks);
  void element(const Type &, std::int64_t elements);
  void reduce_nothing(int ranks);
};

}  // namespace nbcc::dropin
