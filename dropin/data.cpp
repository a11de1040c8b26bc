// SPDX-License-Identifier: BSD-3-Clause
// data.cpp - the arguments of a call, from set() to clear().

#include "dropin/data.h"

#include <algorithm>

#include "dropin/arguments.h"
#include "dropin/packing.h"
#include "dropin/shapes.h"

namespace nbcc::dropin {

// To be copied, in 2 ns. Of a constant compilers make `rep stos` here, which takes 12.
extern nbc_call no_call;
nbc_call no_call = {};

constinit std::shared_ptr<Arguments::More> Arguments::spare_;

Arguments::Arguments() = default;
Arguments::~Arguments() {
  clear();
}

bool Arguments::set(const Operation &o, int rank, int ranks, int blocks_in, int blocks_out,
                    bool they_stay) {
  clear();
  call_ = no_call;
  if (o.kind == NBC_BARRIER) return true;
  const Shapes &s = shapes_of(o.kind);
  try {
    Filler filler(o, rank, call_, more_, they_stay);
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

namespace {

// Where in the pieces an offset is, then piece by piece: Move(piece, offset in it, bytes, flat).
template <class Flat, class Move>
void in_pieces(const nbc_layout *l, std::uint64_t offset, Flat *flat, std::size_t bytes,
               Move move) {
  const auto &layout = *static_cast<const Layout *>(l);
  auto at = static_cast<std::int64_t>(offset), left = static_cast<std::int64_t>(bytes);
  const auto behind = std::ranges::upper_bound(layout.offsets, at);
  for (auto i = static_cast<std::size_t>(behind - layout.offsets.begin()) - 1; left; ++i) {
    const Piece &p = layout.pieces[i];
    const std::int64_t into = at - layout.offsets[i];
    const std::int64_t n = std::min(left, p.count * p.type.size - into);
    move(p, into, flat, n);
    flat += n, at += n, left -= n;
  }
}

void gather_pieces(const nbc_layout *l, std::uint64_t offset, void *to, std::size_t bytes) {
  in_pieces(l, offset, static_cast<std::byte *>(to), bytes,
            [](const Piece &p, std::int64_t into, std::byte *flat, std::int64_t n) {
              pack_some(p.data, p.type, into, flat, n);
            });
}

void scatter_pieces(const nbc_layout *l, std::uint64_t offset, const void *from,
                    std::size_t bytes) {
  in_pieces(l, offset, static_cast<const std::byte *>(from), bytes,
            [](const Piece &p, std::int64_t into, const std::byte *flat, std::int64_t n) {
              unpack_some(flat, p.data, p.type, into, n);
            });
}

bool pack_piece(const Piece &p) {
  return pack(p.data, p.count, p.datatype, p.type, p.image);
}

bool unpack_piece(const Piece &p) {
  if (p.pair == NBC_OPAQUE) return unpack(p.image, p.data, p.count, p.datatype, p.type);
  put_pairs(p.image, p.data, p.count, p.pair);
  return true;
}

}  // namespace

Layout::Layout() : nbc_layout{gather_pieces, scatter_pieces} {}

// Layouts for the call, if the plan takes them, or images. False: no memory.
bool Arguments::arrange(bool lies) try {
  auto &[in, out, before, behind, own, handles, user] = *more_;
  if (in.layout.bytes) {
    const std::int64_t least = own.needs_image() ? own.bytes : 0;
    own.from.image = in.room.take(size(std::max(least, lies ? 0 : in.layout.bytes)));
    call_.in = lies ? nullptr : in.layout.lie_in(own.from.image);
    call_.in_layout = lies ? &in.layout : nullptr;
  }
  if (out.layout.bytes) {
    call_.out = lies ? nullptr : out.layout.lie_in(out.room.take(size(out.layout.bytes)));
    call_.out_layout = lies ? &out.layout : nullptr;
  }
  return true;
} catch (const std::bad_alloc &) {
  return false;
}

bool Arguments::fill(bool lies) {
  if (!more_) return true;
  if (!arrange(lies)) return false;
  const auto &[from, to, bytes] = more_->own;
  if (bytes && !repack(from.data, from.count, from.datatype, from.type, to.data, to.count,
                       to.datatype, to.type, from.image))
    return false;
  const Layout &in = more_->in.layout, &out = more_->out.layout;
  return std::ranges::all_of(more_->before, pack_piece) &&
         (lies || std::ranges::all_of(in.pieces, pack_piece)) &&
         (lies || !out.prefilled || std::ranges::all_of(out.pieces, pack_piece));
}

bool Arguments::empty() {
  if (!more_) return true;
  const Layout &out = more_->out.layout;
  return std::ranges::all_of(more_->behind, unpack_piece) &&
         (call_.out_layout || std::ranges::all_of(out.pieces, unpack_piece));
}

void Arguments::clear() {
  if (more_ && more_.use_count() == 1 && !spare_) {
    more_->leave();
    spare_ = std::move(more_);
  }
  more_.reset();
}

bool Arguments::serves_again() const {
  return !more_ || (more_->before.empty() && more_->behind.empty() && !more_->own.bytes &&
                    !more_->in.layout.bytes && !more_->out.layout.bytes);
}

}  // namespace nbcc::dropin
