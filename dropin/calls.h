// SPDX-License-Identifier: BSD-3-Clause
/// calls.h - a collective call, from MPI's door to the runtime's, and those under way.
///
///   MPI_Iallreduce -> Operation -> nonblocking(): taken over, or passed on
///
/// Order. What was asked of a communicator is begun in that order: while one call waits for its
/// plan, those behind it wait in the communicator's queue, those for the MPI among them.
///
/// Progress. Who waits here, for whatever, moves all calls on: ours, and by asking the MPI for
/// something every now and then, after each rest in which others had the core, and between tests
/// that have something between them, its own. Where MPI's blocking functions would wait inside the
/// MPI, they are carried out as nonblocking ones while there are calls of ours (blocking.cpp).
///
/// Threads. One lock for all of it, taken only where MPI_THREAD_MULTIPLE was given; nobody holds it
/// while he waits.

#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "dropin/below.h"
#include "dropin/requests.h"

namespace nbcc::dropin {

/// A function to be called at once, without copying what it refers to.
template <class>
class FunctionRef;
template <class Result, class... Values>
class FunctionRef<Result(Values...)> {
 public:
  template <class F>
  FunctionRef(const F &f)
      : of_(&f), call_([](const void *of, Values... values) -> Result {
          return (*static_cast<const F *>(of))(values...);
        }) {}
  Result operator()(Values... values) const { return call_(of_, values...); }

 private:
  const void *of_;
  Result (*call_)(const void *, Values...);
};

/// Held while our state is looked at. Also marks this thread as inside: what the MPI's functions
/// that we use call in turn, by our names, goes to the MPI.
class Lock {
 public:
  Lock();
  ~Lock();
  Lock(const Lock &) = delete;
  Lock &operator=(const Lock &) = delete;
  /// Without it: for what waits, or may call back into a program.
  template <class F>
  static auto outside(F f) {
    leave();
    struct Again {
      ~Again() { enter(); }
    } again;
    return f();
  }
  /// Whether this thread holds it.
  static bool is_held();
  /// The same for who cannot know whether this thread holds it.
  template <class F>
  static auto without(F f) {
    return is_held() ? outside(f) : f();
  }
  /// Calls f with it, unless another thread has it.
  template <class F>
  static void if_free(F f) {
    if (!try_enter()) return;
    f();
    leave();
  }

 private:
  static void enter();
  static bool try_enter();
  static void leave();
};

/// Whether this call comes from the MPI, from ourselves, or from outside MPI_Init ... MPI_Finalize.
bool not_for_us();
/// Whether another thread may be in the MPI at the same time.
bool has_threads();
/// Whether calls of ours are under way, or communicators or plans being made.
bool busy();
/// Moves on all that is under way, of the MPI's own now and then. `round`: of a loop that waits,
/// from 0; who only looks, and again as a rule, has none.
void move_on(unsigned round);
void move_on();
/// Others may run; `ours` is a call of ours that is waited for, under way: this thread's alone, as
/// it is rested for without the lock. wait_a_while: both.
void rest(Lock &, unsigned round, nbc_request *ours = nullptr);
/// The same of a request, which other threads leave alone meanwhile; null, or not under way: as
/// for none.
void rest(Lock &, unsigned round, Request *);
void wait_a_while(Lock &, unsigned round, nbc_request *ours = nullptr);
/// In how many of these others may have had the processor; counts on from 0 to 0.
unsigned times_away();
/// Lets others have the processor. Whether any has probably taken it.
bool yield(Lock &);

/// Waits for a call of the MPI's own.
int wait_below(Lock &, MPI_Request *, MPI_Status *);
/// Has the MPI move our calls on wherever it waits, if it can; behind MPI_Init.
void attach_to_mpi();
bool is_attached();
/// Whether all ranks of MPI_COMM_WORLD are, on which they agree behind MPI_Init: then none has to
/// be met before the MPI waits.
void set_attached_everywhere(bool);
bool is_attached_everywhere();

/// Waits until all ranks of a communicator, of both groups, have come here: none of them needs a
/// call of ours any more to enter what the MPI does next. All ranks call it, or none. Not of
/// processes of other worlds, who may be without us.
void meet(Lock &, MPI_Comm);
/// Begins to, unless the MPI moves our calls on in there: until what it returns has ended, not all
/// have come. May wait between two groups.
MPI_Request begin_to_meet(Lock &, MPI_Comm);
/// The same before a collective call of the MPI's own; what the communicator's queue holds comes
/// first.
void gather(MPI_Comm);
/// The same around such a call, behind which all are known to have come to it. Who has no call of
/// ours under way goes in at once: nobody waits for it.
class Gathered {
 public:
  explicit Gathered(MPI_Comm);
  ~Gathered();
  Gathered(const Gathered &) = delete;
  Gathered &operator=(const Gathered &) = delete;

 private:
  MPI_Request coming_ = MPI_REQUEST_NULL;
};

/// How MPI would do it.
struct Forms {
  const char *name;  // "MPI_Allreduce"
  FunctionRef<int()> pass;
};
int blocking(const Operation &, const Forms &);
int nonblocking(const Operation &, const char *name, FunctionRef<int(MPI_Request *)> pass,
                FunctionRef<std::function<int(MPI_Request *)>()> keep, MPI_Request *);
int persistent(const Operation &, const char *name, FunctionRef<int(MPI_Request *)> pass,
               MPI_Request *);

/// MPI_Comm_idup, which keeps the order of the collective calls on its communicator. Where the MPI
/// makes several of it, it is alone there meanwhile.
int duplicating(MPI_Comm, std::function<int(MPI_Request *)> pass, MPI_Request *);
/// Whether there are some that the MPI takes before what makes a communicator of this one, and
/// could not begin in there: Open MPI's order is that of the communicators.
bool is_duplicated_before(MPI_Comm);
/// What the MPI has returned to all ranks of a communicator that it has just made; passes it on.
/// The constructor stays.
int made_by_all(int error, const MPI_Comm *made, Constructor &by);

/// Behind MPI_Init, where all ranks are: what the first collective call would have to wait for but
/// its plan.
void get_ready();

/// What MPI_Comm_create_group and MPI_Intercomm_create meet by: there from MPI_Init to
/// MPI_Finalize.
void open_meeting_place();
void close_meeting_place();

/// MPI_Start; a status of MPI's.
int start(Request *);
/// Ends a request that is done or idle, as MPI_Wait leaves it. A status of MPI's.
int collect(Request *, MPI_Request *, MPI_Status *);
/// It is over, and was waited for at once; `away`: as in times_away(), meanwhile.
void was_waited_for(const Request *, bool away);
/// The same as soon as it is.
int wait_and_collect(Lock &, Request *, MPI_Request *, MPI_Status *);
/// Before MPI_Comm_free: what the queue holds may be the MPI's after all, and that needs the
/// communicator.
void empty_queue(Lock &, MPI_Comm);
/// MPI_Request_free.
void free_request(Request *);
/// As MPI_Wait leaves it for what has no message. MPI_ERROR stays: what waits for one request does
/// not touch it.
void set_empty(MPI_Status *);
/// Whether there is nothing left to wait for.
inline bool is_over(const Request *r) {
  return r->state == Request::done || r->state == Request::idle;
}
/// Tells a communicator's error handler, which may call MPI's functions, ours among them, and need
/// not come back.
int raise(MPI_Comm, int error);

/// Ends what is left, and says what was done. Before MPI_Finalize.
void end();

/// On stderr, without being asked: one rank says what all would say.
void complain(const std::string &what);
/// By MPI_Abort: what others go by has come to nothing here, and they would wait.
void end_program(const std::string &why);
/// For the report: one call that was passed on; what the user has said and a call did not get; what
/// a plan has done, when it ends.
void count_passed(const char *name, const char *why);
void count_unheeded(const std::string &what);
void count_plan(const Plan &);
/// One of several ranks, on its first one. served: by what a freed one left.
void count_communicator(bool served);
/// Collective over MPI_COMM_WORLD, before MPI_Finalize, once all plans have ended.
void report();

}  // namespace nbcc::dropin
