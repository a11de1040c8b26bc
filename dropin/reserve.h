// SPDX-License-Identifier: BSD-3-Clause
/// reserve.h - contexts that were never used, for the communicators that are made next.
///
/// What a constructor costs is that ranks wait for each other. So what ranks agree on in one serves
/// several: which contexts of their group all of them have. The next constructors take these, the
/// first one first, and ask nobody, since those of one group come in one order on all ranks.
///
///   free here  --agree-->  granted, free on all  --take-->  in use  --give back-->  free here
///
/// construction.cpp decides when. All functions are called under the lock (calls.h).

#pragma once

#include <mpi.h>

#include <bitset>
#include <cstddef>
#include <list>
#include <vector>

namespace nbcc::dropin {

class Reserve;

/// A communicator for our messages, of the same ranks as the program's.
struct Context {
  MPI_Comm comm = MPI_COMM_NULL;
  Reserve *reserve = nullptr;  // which it goes back to, unused; null: it was used, or has no slot
  std::size_t slot = 0;
};

/// Of one group of ranks, in one order. There is one while it has contexts, in use or not.
class Reserve {
 public:
  /// Alive at once; those beyond are freed with their communicators.
  enum : std::size_t { slots = 256 };
  using Slots = std::bitset<slots>;

  /// That of a communicator's ranks; null: there is none.
  static Reserve *find(MPI_Comm);
  /// A context that its ranks have just made, and which slots all of them have empty: it gets the
  /// first. Without a slot if there is none, or no memory.
  static Context add(MPI_Comm context, const Slots &empty);
  /// Frees those that are not in use.
  static void end();

  /// What all ranks have, alike on all of them.
  bool has_granted() const { return granted_.any(); }
  Context take_granted();
  void grant(const Slots &common) { granted_ = common; }
  /// Whether more may be granted: there are no more than a rank is to keep.
  static bool has_room();

  /// What this rank has, for ranks to agree on. Nobody else has it until settle().
  Slots propose();
  Slots empty() const { return ~exists_; }
  void settle(const Slots &proposed) { proposed_ &= ~proposed; }
  Context take(std::size_t slot);

  /// How often ranks have agreed; and whether a communicator of theirs has had a collective call
  /// since they did.
  unsigned agreements = 0;
  bool used = false;

  /// Of what is needed no more: kept if it has a slot, else freed.
  static void give_back(Context);
  /// It is used, and loses its slot.
  static void release(Context &);

 private:
  Reserve() = default;
  bool is_of(MPI_Comm) const;
  void forget(std::size_t slot);
  static void erase_if_empty(Reserve *);
  static bool let_one_go();

  static std::list<Reserve> all_;  // that which was asked for last comes first
  static std::size_t free_in_all_;

  std::vector<MPI_Comm> contexts_;
  Slots exists_, free_, proposed_, granted_;
};

/// Whether they are of the same ranks in the same order.
bool are_congruent(MPI_Comm, MPI_Comm);
/// The first of a set that is not empty.
std::size_t first_of(const Reserve::Slots &);

}  // namespace nbcc::dropin
