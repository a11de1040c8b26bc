// SPDX-License-Identifier: BSD-3-Clause
/// communicator.h - what there is of ours for one of MPI's communicators: devices and plans.
///
/// Kept as an attribute of it, which is not copied, so each communicator has its own, however it
/// was made, and it ends with MPI_Comm_free, MPI_Comm_disconnect or MPI_Finalize.
///
/// MPI_Iallgather must return whatever other ranks do. So nothing here waits: making a communicator
/// of ours, and each plan, is a row of steps (steps.h) with nonblocking calls of the MPI below
/// between them, moved on by advance(). The calls that need it stand in a queue meanwhile. Since
/// ranks make the same collective calls in the same order, they make the same plans in the same
/// order, too.
///
///   context     for our messages: a communicator of the same group        (construction.cpp)
///   meet        who is where, by MPI_Iallgather; then devices are opened          (setup.cpp)
///   plan        template; queues and memory; addresses by MPI_Ialltoall; connected (plans.cpp)
///   farewell    of an adapter's queues: all ranks are done; then they are taken down
///
/// One that is freed leaves all that behind for the next of the same ranks in the same order: its
/// calls are to the plans what further calls on the old one would have been, those of neighbours
/// where no rank has other ones than it had. Ranks agree on which one it is; a few of each group
/// are kept. Of one that was never used there is the context alone, for whichever is made next.
///
/// Between steps ranks agree, by MPI_Iallreduce, whether all of them can go on. What one cannot do
/// they all do without: calls are passed through. A group of one rank needs none of all this.
///
/// MPI has one way to make a context without waiting, MPI_Comm_idup; and to wait where a call may
/// is no way out: while this rank waits in the MPI, it would move none of its calls on, which
/// others may be waiting for. It copies a program's own attributes, by its callbacks, and they are
/// deleted with the duplicate. Open MPI 4.1 carries it out by collective calls on the communicator
/// itself, which other calls get between on some ranks and not on others, and for one communicator
/// at a time, whichever that is here. There the context is made with the communicator, where all
/// ranks wait for each other anyway, and what a freed one has left is taken there; only for one
/// that MPI_Comm_idup made there is no such place.
///
/// All functions are called under the lock (calls.h).

#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "compiler/selection/table.h"
#include "dropin/exchange.h"
#include "dropin/neighbors.h"
#include "dropin/operation.h"
#include "dropin/reserve.h"
#include "dropin/steps.h"
#include "dropin/templates.h"
#include "nbc.h"

namespace nbcc::dropin {

class Lock;      // calls.h
struct Outline;  // data.h

/// One algorithm on one communicator.
struct Plan {
  enum State { making, ready, failed };
  State state = making;
  nbc_plan *plan = nullptr;
  std::string algorithm, target;  // "allgather.bruck:k=3", "shm"
  nbc_transfer transfer = NBC_TRANSFER_AUTO;
  std::uint64_t most = 0;              // bytes of a block or vector that it can take, on all ranks
  std::uint64_t calls = 0, bytes = 0;  // for the report
  bool own = false;                    // of one persistent request at a time,
  bool taken = false;                  // which there is now
};

/// Whether the MPI carries MPI_Comm_idup out by collective calls on the communicator. MPICH, which
/// does not, has no more than 2,048 contexts.
#if defined(OPEN_MPI)
constexpr bool duplicates_by_collectives = true;
#else
constexpr bool duplicates_by_collectives = false;
#endif

/// A communicator of the same ranks, without the attributes that a duplicate would have, and which
/// returns errors. Collective. Null: the MPI cannot, or it cannot be ours.
MPI_Comm same_group(Lock &, MPI_Comm);

/// Whether MPI has started all its processes, of both groups, together. With others one may mean to
/// have nothing more in common, and they need not have this library.
bool is_of_one_world(MPI_Comm);
/// For one that may have brought processes of another world to here. Until one has, none is looked
/// for, which takes the square of the ranks.
void look_for_other_worlds(MPI_Comm);
/// Alike on all its ranks. Null: it can be ours.
const char *why_not_ours(MPI_Comm);

/// What makes communicators: MPI_Cart_create, say.
class Constructor {
 public:
  /// Whether the last few of so many ranks that were freed had had no collective call.
  bool makes_for_nothing(int ranks) const {
    const auto at = unused_.find(ranks);
    return at != unused_.end() && at->second >= few;
  }
  /// Without memory nothing is known of it.
  void note_freed(int ranks, bool used) try {
    unsigned &in_a_row = unused_[ranks];
    in_a_row = used ? 0 : std::min<unsigned>(in_a_row + 1, few);
  } catch (const std::bad_alloc &) {
  }

 private:
  enum : unsigned { few = 8 };
  std::map<int, unsigned> unused_;  // how many in a row, by their ranks
};

class Communicator {
 public:
  /// That of an MPI communicator, made if there is none. Null: it cannot have one (why_not_ours();
  /// no memory). Begins to make it, and waits for nobody. Collective calls only may ask. A few
  /// nanoseconds, for those that were asked for lately.
  static Communicator *of(MPI_Comm);
  /// The same; also one of two groups, which is none of ours, for the order of its calls.
  static Communicator *in_order(MPI_Comm);
  /// The same, or null if there is none yet: nobody has to ask alike.
  static Communicator *known(MPI_Comm);
  /// For one that all its ranks have just made and have not returned yet: takes what a freed one
  /// has left, unless it will hardly be used, and what cannot be had later. May wait for all of
  /// them. The constructor stays.
  static void at_construction(Lock &, MPI_Comm, Constructor &by);
  /// Ends all that are left, before MPI_Finalize. Calls that are still under way are abandoned.
  static void end_all();
  /// Moves on what is being made, and ends what has been freed and is used no more.
  static void advance_all();
  /// From now on contexts that MPI_Comm_idup makes may have a program's own, so they end with the
  /// communicator.
  static void attributes_are_copied() { copies_attributes_ = !duplicates_by_collectives; }

  /// The program's; null: it was freed, and then had this error handler, if calls were under way.
  MPI_Comm comm() const { return comm_; }
  MPI_Errhandler handler() const { return handler_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }  // of two groups: those of the other
  bool two_groups() const { return two_groups_; }
  /// Blocks of neighbourhood collectives: how many neighbours this rank has; 0 without a topology.
  int indegree() const { return neighbors_.any() ? neighbors_.indegree() : 0; }
  int outdegree() const { return neighbors_.any() ? neighbors_.outdegree() : 0; }

  /// Moves on what is being made. True: there is nothing being made.
  bool advance();
  /// How far the communicator itself is; ready: nodes() is known, and plans may be asked for.
  Plan::State state() const { return state_; }
  int nodes() const { return nodes_; }
  const std::int32_t *node_of() const { return node_of_.data(); }  // of each rank
  bool has(const char *target) const;                              // "shm"

  /// The plan for calls of this kind; begins to make it where there is none. All ranks ask for the
  /// same ones in the same order. The outline's bytes: 0 where ranks know different ones; then any
  /// length must do. It takes what the choice is for, as far as there is memory (`most`). Failed:
  /// why() says it, and calls are passed through. Null: no memory, or the communicator is not
  /// ready.
  ///
  /// own: nobody else has it while it is `taken`. For persistent requests, which ranks may start in
  /// any order (MPI 4.1, section 6.13), whereas calls of one plan meet in the order of their
  /// starts. One that all ranks have given back serves again.
  Plan *plan(const Operation &, const Choice &, const Outline &, bool own = false);
  const char *why() const { return why_.c_str(); }
  void set_why(const char *why) { why_ = why; }

  /// Calls that use it; freed by the user, it ends with the last of them: in advance_all().
  void hold() { ++holds_; }
  void release() { --holds_; }

  std::shared_ptr<struct Calls> calls;  // queue.h

  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

 private:
  /// What tells a plan from others of its communicator.
  struct Made : Plan {
    std::vector<std::int64_t> parameters;
    std::string name;  // "allgather.bruck"
    bool each = false, neighbors = false;
    bool in_turn = false;  // of blocking calls
    std::uint32_t root = 0;
    std::uint64_t wanted = 0;  // bytes: less will not do
    /// Whether it does what the other is to do, or would have done.
    bool serves(const Made &other) const {
      return name == other.name && target == other.target && transfer == other.transfer &&
             parameters == other.parameters && each == other.each && root == other.root &&
             own == other.own && in_turn == other.in_turn &&
             most >= (other.wanted ? other.wanted : other.most);
    }
  };
  using List = std::list<std::unique_ptr<Communicator>>;

  Communicator() = default;
  static Communicator *find(MPI_Comm, bool make_it, bool two_groups = false);
  static std::unique_ptr<Communicator> make(MPI_Comm);
  static std::unique_ptr<Communicator> make_of_two_groups(MPI_Comm);
  static Communicator *add(MPI_Comm, bool two_groups = false);
  void begin();
  void watch();
  static bool has_keyval();
  static int on_delete(MPI_Comm, int, void *, void *);
  static bool sweep();  // true: nothing is being made, and nobody says farewell
  bool owes_farewell() const;
  Steps farewell();
  bool leaves_something() const;
  /// Of a freed one: whether it was of the same ranks in the same order.
  bool had_ranks_of(MPI_Comm, int ranks) const;
  /// The one to propose, which nobody else does meanwhile; null: none is of these ranks.
  static std::unique_ptr<Communicator> take_predecessor(MPI_Comm, int ranks);
  /// What nobody wanted, if its number is not greater than the least that ranks proposed; else some
  /// rank has it no more. It is the first to go.
  static void put_back(std::unique_ptr<Communicator>, std::int32_t least);
  static void limit_left();
  /// As far as this rank knows.
  bool has_neighbors_of(const Communicator &other) const {
    return neighbors_.seem_to_be(other.neighbors_, rank_);
  }
  void succeed(Communicator &, bool same_neighbors);
  void forget_neighbors();
  /// Those that are being made, or are freed and have not ended; and the others.
  static List watched, settled;
  static List left;  // freed, and their calls have ended; oldest first
  static bool copies_attributes_;
  static bool over_;

  // setup.cpp
  Steps set_up();
  bool make_room();
  void take_over(std::unique_ptr<Communicator> before, bool same_neighbors);
  bool open(nbc_device *node);
  /// Ranks' least values; into agreed_.
  Posted agree(int first, int second = 0, int third = 0);
  void give_up(const std::string &why);

  // plans.cpp
  Steps make_plan(Made &);
  /// Plans that would serve as well and are ready, in the order in which all ranks have made them.
  using Others = std::array<Made *, 64>;
  std::size_t in_place_of(const Made &, Others &);
  static void end_plan(Made &);
  Posted agree_on_given_back();
  Steps meet_neighbors();
  Posted send_cards();
  int build(const Made &, Template &, std::string &why);
  int create(Made &, const Template &, std::string &why);
  void fail(Made &, int own_status, int status, const std::string &why);
  std::string why_not(int own, int all, const std::string &why) const;

  MPI_Comm comm_ = MPI_COMM_NULL;  // the program's; null: it was freed
  Context context_;
  Constructor *by_ = nullptr;  // null: nobody has said
  bool duplicating_ = false;   // MPI may still write there
  bool two_groups_ = false;
  bool begun_ = false, advancing_ = false, is_watched_ = true;
  bool has_met_ = false;  // for the last time
  int rank_ = 0, ranks_ = 1, nodes_ = 1, holds_ = 0;
  bool has_messages_ = false, has_node_ = false;
  const char *adapter_ = nullptr;  // the target of a device that was asked for; null: none
  Plan::State state_ = Plan::making;
  std::string why_;
  Neighbors neighbors_;
  bool neighbors_failed_ = false;  // on some rank
  std::vector<std::int32_t> node_of_;
  std::shared_ptr<struct Meeting> meeting_;  // while ranks meet
  int broken_ = 0;                           // why no plan can be made on this rank
  std::int32_t number_ = 0;                  // of its first rank's; 0: it has not met
  std::unique_ptr<Exchange> exchange_;       // where ours_ knows it
  nbc_comm *ours_ = nullptr;
  std::list<Made> plans_;
  std::deque<Made *> to_make_;
  Steps steps_;
  int proposed_[3] = {}, agreed_[3] = {};
  std::uint64_t given_back_ = 0, given_back_by_all_ = 0;  // of in_place_of()
  List::iterator place_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;  // of a freed one, for calls then under way
};

}  // namespace nbcc::dropin
