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

bool Arguments::fill() {
  if (!more_) return true;
  const auto &[from, to, bytes] = more_->own;
  if (bytes && !repack(from.data, from.count, from.datatype, from.type, to.data, to.count,
                       to.datatype, to.type, from.image))
    return false;
  return std::ranges::all_of(more_->before, [](const Piece &p) {
    return pack(p.data, p.count, p.datatype, p.type, p.image);
  });
}

bool Arguments::empty() {
  return !more_ || std::ranges::all_of(more_->behind, [](const Piece &p) {
    if (p.pair == NBC_OPAQUE) return unpack(p.image, p.data, p.count, p.datatype, p.type);
    put_pairs(p.image, p.data, p.count, p.pair);
    return true;
  });
}

void Arguments::clear() {
  if (more_ && more_.use_count() == 1 && !spare_) {
    more_->leave();
    spare_ = std::move(more_);
  }
  more_.reset();
}

bool Arguments::serves_again() const {
  return !more_ || (more_->before.empty() && more_->behind.empty() && !more_->own.bytes);
}

}  // namespace nbcc::dropin
