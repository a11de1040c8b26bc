// SPDX-License-Identifier: BSD-3-Clause
// construction.cpp - what a communicator gets when the MPI makes it, under Open MPI.
//
//   granted (reserve.h)  ->  that context, and nobody is asked
//   else ranks agree     ->  what a freed one has left, if all mean the same
//                        ->  a context that none has used, if all have it
//                        ->  a new one, for which they wait three times more
//
// What they agree on serves the next ones, too, unless a communicator of theirs had a collective
// call since the last time, or something is left: then devices and plans are worth to be agreed on.
// One of a constructor whose last ones went unused, as grids do that are made for their rows,
// leaves those to others. With threads, which may construct in any order, nothing is granted.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "dropin/calls.h"
#include "dropin/communicator.h"

namespace nbcc::dropin {

namespace {

enum : unsigned { often = 4 };  // agreements of a group, until it gets more contexts than it has
enum : std::size_t { enough = 7 };  // of these: granted at once

/// What ranks agree on: the least of each number, and what is in all sets.
struct Proposal {
  std::int32_t able = 0;                // it has memory
  std::int32_t left = 0, opposite = 0;  // the number of what is left, and minus that; 0: nothing
  std::int32_t wanted = 0;              // and this one will be used
  std::int32_t same_neighbors = 0;      // as those of what is left
  std::int32_t grants = 0;              // what is free on all ranks may be granted
  std::int32_t more = 0;                // and there may be more of it
  std::int32_t attached = 0;            // the MPI moves our calls on
  Reserve::Slots empty, free;

  Proposal &operator&=(const Proposal &other) {
    able = std::min(able, other.able);
    left = std::min(left, other.left), opposite = std::min(opposite, other.opposite);
    wanted = std::min(wanted, other.wanted);
    same_neighbors = std::min(same_neighbors, other.same_neighbors);
    grants = std::min(grants, other.grants), more = std::min(more, other.more);
    attached = std::min(attached, other.attached);
    empty &= other.empty, free &= other.free;
    return *this;
  }
};

/// The MPI's words for that.
struct Words {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;

  Words() {
    const auto combine = [](void *from, void *to, int *count, MPI_Datatype *) {
      for (int i = 0; i < *count; ++i)
        static_cast<Proposal *>(to)[i] &= static_cast<const Proposal *>(from)[i];
    };
    if (PMPI_Type_contiguous(sizeof(Proposal), MPI_BYTE, &type) || PMPI_Type_commit(&type) ||
        PMPI_Op_create(combine, 1, &op))
      end_program("no memory is left to agree on communicators");
  }
};

/// Whether a call that waits succeeds, of whose errors the program need not hear.
template <class Call>
bool quietly(Lock &lock, MPI_Comm comm, Call call) {
  MPI_Errhandler handler;
  PMPI_Comm_get_errhandler(comm, &handler);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int error = lock.outside(call);
  PMPI_Comm_set_errhandler(comm, handler);
  PMPI_Errhandler_free(&handler);
  return error == MPI_SUCCESS;
}

/// An agreement of this rank's, until there is what it has come to. Threads may have several.
class Agreement {
 public:
  Agreement() { ++under_way_; }
  ~Agreement() { --under_way_; }
  Agreement(const Agreement &) = delete;
  Agreement &operator=(const Agreement &) = delete;
  bool is_alone() const { return under_way_ == 1; }

 private:
  static int under_way_;
};
int Agreement::under_way_ = 0;

// A slot is empty until the agreement that fills it is over.
Proposal propose(Reserve *reserve, const Agreement &agreement) {
  Proposal p;
  p.attached = is_attached();
  if (agreement.is_alone()) p.empty = reserve ? reserve->empty() : Reserve::Slots().set();
  if (!reserve) return p;
  p.free = reserve->propose();
  p.grants = !reserve->used && !has_threads() && Reserve::has_room();
  p.more = ++reserve->agreements > often;
  reserve->used = false;
  return p;
}

/// Nothing where the MPI fails, or a rank is not able.
Proposal agreed_by_all(Lock &lock, MPI_Comm comm, const Proposal &mine) {
  static const Words words;
  Proposal all;
  const bool agreed = quietly(lock, comm, [&] {
    return PASS(MPI_Allreduce).own(&mine, &all, 1, words.type, words.op, comm);
  });
  return agreed && all.able ? all : Proposal{};
}

}  // namespace

MPI_Comm same_group(Lock &lock, MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group group;
  if (why_not_ours(comm) || PMPI_Comm_group(comm, &group)) return MPI_COMM_NULL;
  const bool is_made =
      quietly(lock, comm, [&] { return PASS(MPI_Comm_create).own(comm, group, &made); });
  PMPI_Group_free(&group);
  return is_made ? made : MPI_COMM_NULL;
}

// What those of one group leave has numbers of one first rank. So what all propose alike is one.
void Communicator::at_construction(Lock &lock, MPI_Comm comm, Constructor &by) {
  int ranks = 1;
  if (!duplicates_by_collectives || over_ || comm == MPI_COMM_NULL) return;
  if (PMPI_Comm_size(comm, &ranks) || ranks == 1 || why_not_ours(comm)) return;
  Communicator *c = has_keyval() ? add(comm) : nullptr;
  if (c) c->by_ = &by;
  Reserve *reserve = Reserve::find(comm);
  if (reserve && reserve->has_granted()) {
    if (!c) end_program("no memory is left for a communicator");
    c->context_ = reserve->take_granted();
    return;
  }

  std::unique_ptr<Communicator> before = c ? take_predecessor(comm, ranks) : nullptr;
  const Agreement agreement;
  Proposal mine = propose(reserve, agreement);
  mine.able = c != nullptr;
  if (before) {
    mine.left = before->number_, mine.opposite = -mine.left;
    mine.wanted = !by.makes_for_nothing(ranks);
    if (mine.wanted) mine.grants = 0;
    mine.same_neighbors = c->has_neighbors_of(*before);
  }
  Proposal all = agreed_by_all(lock, comm, mine);
  if (comm == MPI_COMM_WORLD) set_attached_everywhere(all.attached);
  const bool succeeds = all.wanted && all.left && all.left == -all.opposite;
  Context found;
  // Calls went on meanwhile: if nothing in it was proposed, it may have ended.
  if ((reserve = Reserve::find(comm))) {
    reserve->settle(mine.free);
    if (!succeeds && all.free.any()) found = reserve->take(first_of(all.free));
    if (found.reserve) all.free.reset(found.slot);
    if (all.grants) reserve->grant(all.free);
  }
  if (succeeds)
    c->succeed(*before, all.same_neighbors);
  else if (before)
    put_back(std::move(before), all.left);
  if (!all.able) return;
  if (!succeeds && !found.reserve) {
    found = Reserve::add(same_group(lock, comm), all.empty);
    if (all.empty.any()) all.empty.reset(first_of(all.empty));
  }
  if (!succeeds) c->context_ = found;
  if (all.more && all.grants && all.free.count() < enough)
    Reserve::give_back(Reserve::add(same_group(lock, comm), all.empty));
}

}  // namespace nbcc::dropin
