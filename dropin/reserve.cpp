// SPDX-License-Identifier: BSD-3-Clause
// reserve.cpp - which contexts there are of a group, and which of them are free.

#include "dropin/reserve.h"

#include <algorithm>
#include <new>

namespace nbcc::dropin {

std::list<Reserve> Reserve::all_;
std::size_t Reserve::free_in_all_ = 0;

enum : std::size_t { most_free = 256 };  // on this rank

bool are_congruent(MPI_Comm a, MPI_Comm b) {
  int same = MPI_UNEQUAL;
  return !PMPI_Comm_compare(a, b, &same) && same == MPI_CONGRUENT;
}

std::size_t first_of(const Reserve::Slots &set) {
  std::size_t slot = 0;
  while (!set[slot]) ++slot;
  return slot;
}

bool Reserve::is_of(MPI_Comm comm) const {
  return are_congruent(comm, contexts_[first_of(exists_)]);
}

Reserve *Reserve::find(MPI_Comm comm) {
  const auto at = std::ranges::find_if(all_, [comm](const Reserve &r) { return r.is_of(comm); });
  if (at == all_.end()) return nullptr;
  all_.splice(all_.begin(), all_, at);
  return &all_.front();
}

Context Reserve::add(MPI_Comm context, const Slots &empty) {
  if (context == MPI_COMM_NULL || empty.none()) return {context};
  const std::size_t slot = first_of(empty);
  Reserve *r = find(context);
  try {
    if (!r) {
      all_.push_front(Reserve());
      r = &all_.front();
    }
    if (r->contexts_.size() <= slot) r->contexts_.resize(slot + 1, MPI_COMM_NULL);
  } catch (const std::bad_alloc &) {
    if (r) erase_if_empty(r);
    return {context};
  }
  r->contexts_[slot] = context;
  r->exists_.set(slot);
  return {context, r, slot};
}

Reserve::Slots Reserve::propose() {
  const Slots proposal = free_ & ~proposed_;
  proposed_ |= proposal;
  return proposal;
}

Context Reserve::take(std::size_t slot) {
  free_.reset(slot);
  granted_.reset(slot);
  --free_in_all_;
  return {contexts_[slot], this, slot};
}

Context Reserve::take_granted() {
  return take(first_of(granted_));
}

bool Reserve::has_room() {
  return free_in_all_ <= most_free;
}

void Reserve::give_back(Context c) {
  if (!c.reserve) {
    if (c.comm != MPI_COMM_NULL) PMPI_Comm_free(&c.comm);
    return;
  }
  c.reserve->free_.set(c.slot);
  ++free_in_all_;
  while (!has_room() && let_one_go()) {
  }
}

void Reserve::release(Context &c) {
  if (!c.reserve) return;
  c.reserve->forget(c.slot);
  erase_if_empty(c.reserve);
  c.reserve = nullptr;
}

void Reserve::forget(std::size_t slot) {
  contexts_[slot] = MPI_COMM_NULL;
  exists_.reset(slot);
}

void Reserve::erase_if_empty(Reserve *r) {
  if (r->exists_.none()) all_.remove_if([r](const Reserve &other) { return &other == r; });
}

// Of the group that nobody has asked for the longest. False: all are granted, or proposed.
bool Reserve::let_one_go() {
  for (auto r = all_.rbegin(); r != all_.rend(); ++r) {
    const Slots idle = r->free_ & ~r->granted_ & ~r->proposed_;
    if (idle.none()) continue;
    Context c = r->take(first_of(idle));
    PMPI_Comm_free(&c.comm);
    r->forget(c.slot);
    erase_if_empty(c.reserve);
    return true;
  }
  return false;
}

void Reserve::end() {
  for (Reserve &r : all_)
    for (r.granted_.reset(); r.free_.any();) {
      Context c = r.take(first_of(r.free_));
      PMPI_Comm_free(&c.comm);
    }
}

}  // namespace nbcc::dropin
