// SPDX-License-Identifier: BSD-3-Clause
// calls.cpp - what becomes of a collective call: ours, or the MPI's.

#include "dropin/calls.h"

#include <cstring>
#include <new>

#include "dropin/courtesy.h"
#include "dropin/operators.h"
#include "dropin/queue.h"
#include "dropin/selection.h"
#include "dropin/shapes.h"
#include "dropin/types.h"

namespace nbcc::dropin {

namespace {

constinit Courtesy courtesy;

/// What is known of a call when it comes in.
struct Incoming {
  Communicator *communicator = nullptr;
  Outline line;
};

Incoming take_in(Communicator *c, const Operation &o, bool blocking) {
  Incoming in;
  in.communicator = c;
  if (c && c->two_groups())
    in.line.refusal = c->why();
  else if (c)
    in.line = outline(o, c->rank(), c->ranks(), c->outdegree(), c->indegree());
  else if (const char *why = why_not_ours(o.comm))
    in.line.refusal = why;
  else
    in.line.refusal = nbc_status_text(NBC_ERROR_MEMORY);
  in.line.blocking = blocking;
  return in;
}

bool set_arguments(Arguments &a, const Communicator &c, const Operation &o,
                   bool they_stay = false) {
  return a.set(o, c.rank(), c.ranks(), c.outdegree(), c.indegree(), they_stay);
}

void drain(Lock &lock, Communicator &c) {
  for (unsigned round = 0; !calls_of(c).queue.empty(); ++round) wait_a_while(lock, round);
}

// Waits for it. Null: calls are the MPI's.
Plan *make_plan(Lock &lock, Communicator &c, const Operation &o, const Outline &line, bool own) {
  drain(lock, c);
  // Each step is waited for as if it were the first: at once it may be there.
  unsigned round = 0, taken = Steps::taken();
  const auto wait = [&] {
    if (taken != Steps::taken()) round = 0;
    taken = Steps::taken();
    wait_a_while(lock, round++);
  };
  while (!c.advance() || c.state() == Plan::making) wait();
  if (c.state() != Plan::ready) return nullptr;
  Plan *plan = own ? choose_own_plan(c, o, line) : choose_plan(c, o, line);
  while (plan && plan->state == Plan::making) {
    c.advance();
    wait();
  }
  return plan && plan->state == Plan::ready ? plan : nullptr;
}

// The plan for a call that may wait; `own`: for it alone. Null: it is the MPI's, whose turn it is.
Plan *get_plan(Lock &lock, const Incoming &in, const Operation &o, const char *name,
               bool own = false) {
  Communicator *c = in.communicator;
  const char *refusal = in.line.refusal;
  if (!refusal) {
    Plan *plan = own ? nullptr : find_plan(*c, o, in.line);
    if (!plan) plan = make_plan(lock, *c, o, in.line, own);
    if (plan) return plan;
    refusal = c->why();
  }
  count_passed(name, refusal);
  if (c) drain(lock, *c);
  return nullptr;
}

void count_call(Plan &plan, std::uint64_t bytes) {
  ++plan.calls;
  plan.bytes += bytes;
}

int start_call(Plan &plan, const nbc_call &call, std::uint64_t bytes, nbc_request *request,
               bool attended = false) {
  int status = (attended ? nbc_start_attended : nbc_start)(plan.plan, &call, request);
  if (status) return error_of(status);
  count_call(plan, bytes);
  return MPI_SUCCESS;
}

// Of one rank, what its plan would do: a copy, at the most.
void copy_alone(Plan &plan, const nbc_call &call, std::uint64_t bytes) {
  count_call(plan, bytes);
  const auto has = [&call](const void *buffer) {
    return buffer && buffer != NBC_IN_PLACE && call.count > 0;
  };
  if (!has(call.in) || !has(call.out)) return;
  const std::size_t each = call.type == NBC_OPAQUE ? call.element_bytes : nbc_type_size(call.type);
  std::memcpy(call.out, call.in, call.count * each);
}

// What lies as it does goes while both ends are here. Who does not stay has it packed, to be read
// meanwhile.
int fill_and_start(Plan &plan, Arguments &arguments, std::uint64_t bytes, nbc_request *request,
                   bool attended = false) {
  const bool lies = attended && nbc_plan_layouts(plan.plan) == NBC_LAYOUTS_QUICK;
  return arguments.fill(lies) ? start_call(plan, arguments.call(), bytes, request, attended)
                              : MPI_ERR_NO_MEM;
}

int run_alone(Plan &plan, Arguments &arguments, std::uint64_t bytes) {
  if (!arguments.fill(false)) return MPI_ERR_NO_MEM;
  copy_alone(plan, arguments.call(), bytes);
  return MPI_SUCCESS;
}

// Until it is done; a status of MPI's. What the call uses is kept while others may run, before
// which most calls of some bytes are over.
int wait_for(Lock &lock, nbc_request &request, const std::shared_ptr<const void> &used = nullptr) {
  std::shared_ptr<const void> held;
  for (unsigned round = 0;; ++round) {
    int done = 0;
    int status = nbc_test(&request, &done);
    if (done) return error_of(status);
    if (round == 0) held = used;
    wait_a_while(lock, round, &request);
  }
}

// From start to end, with all it needs on the stack. `habit`: it is one already.
int run(Lock &lock, Communicator &c, Plan &plan, const Operation &o, const Outline &line,
        bool habit = false) {
  nbc_request request;
  Arguments arguments;
  // Nobody frees a type or an operator before this returns, but for another thread.
  if (!set_arguments(arguments, c, o, !has_threads())) return raise(o.comm, MPI_ERR_NO_MEM);
  if (!habit) get_used(c, o, arguments, &plan, line);
  const bool alone = is_alone(o, c.ranks());
  int error = alone ? run_alone(plan, arguments, line.counted())
                    : fill_and_start(plan, arguments, line.counted(), &request, true);
  if (!error && !alone) error = wait_for(lock, request);
  if (!error) error = hand_out(arguments, line);
  return error ? raise(o.comm, error) : MPI_SUCCESS;
}

int run_with_others(Lock &lock, const Habit &h, const Operation &o) {
  nbc_request request;
  const bool follows = h.follows;  // meanwhile it may become another call's
  const unsigned before = times_away();
  int error = start_call(*h.plan, h.call, h.bytes, &request, true);
  if (!error) error = wait_for(lock, request, h.held);
  courtesy.leave(o.kind, follows, times_away() != before, [&] { return yield(lock); });
  return error ? raise(o.comm, error) : MPI_SUCCESS;
}

int run_again(Lock &lock, Habit &h, const Operation &o) {
  if (h.alone) {
    copy_alone(*h.plan, h.call, h.bytes);
    return MPI_SUCCESS;
  }
  if (!h.own) return run_with_others(lock, h, o);
  UserOperator user;
  user.set(o.op, h.commutes, o.receive.type, type_of(o.receive.type), o.receive.count);
  h.call.user_context = &user;
  return run_with_others(lock, h, o);
}

// Where the MPI does not move our calls on, another rank may wait for one before it comes here. So
// all meet first. A nonblocking call in its place would not do: it meets no blocking one of a rank
// that has none of ours under way, and that one cannot know.
int pass_blocking(Lock &lock, const Incoming &in, MPI_Comm comm, const Forms &forms) {
  MPI_Request all = in.line.objection ? MPI_REQUEST_NULL : begin_to_meet(lock, comm);
  wait_below(lock, &all, MPI_STATUS_IGNORE);
  return lock.outside(forms.pass);
}

Request *make_request(const Incoming &in, const Operation &o, const char *name) {
  Request *r = take_request();
  if (!r) return nullptr;
  r->communicator = in.communicator;
  r->name = name;
  Looked &looked = r->looked.emplace();
  looked.operation = o;
  looked.line = in.line;
  if (in.line.refusal || set_arguments(looked.arguments, *in.communicator, o)) return r;
  give_back(r);
  return nullptr;
}

// For one that has to wait, and may be the MPI's after all.
bool prepare_to_pass(Request *r, FunctionRef<std::function<int(MPI_Request *)>()> keep) try {
  const Communicator &c = *r->communicator;
  Looked &looked = *r->looked;
  looked.hand_over = keep();
  if (!looked.line.objection)
    looked.handles.keep(looked.operation, c.rank(), c.ranks(), c.outdegree(), c.indegree());
  return true;
} catch (const std::bad_alloc &) {
  return false;
}

// Of a communicator that may be gone. MPI calls a handler for one that there is.
int raise_late(const Communicator &c, int error) {
  MPI_Errhandler own;
  if (c.comm() != MPI_COMM_NULL) return raise(c.comm(), error);
  PMPI_Comm_get_errhandler(MPI_COMM_SELF, &own);
  if (c.handler() != MPI_ERRHANDLER_NULL) PMPI_Comm_set_errhandler(MPI_COMM_SELF, c.handler());
  raise(MPI_COMM_SELF, error);
  PMPI_Comm_set_errhandler(MPI_COMM_SELF, own);
  PMPI_Errhandler_free(&own);
  return error;
}

int start_again(Communicator &c, const Habit &h, const Operation &o, const char *name,
                MPI_Request *request) {
  Request *r = take_request();
  if (!r) return raise(o.comm, MPI_ERR_NO_MEM);
  r->communicator = &c;
  r->name = name;
  r->plan = h.plan;
  r->held = h.held;
  int error = start_call(*h.plan, h.call, h.bytes, &r->call);
  if (error) {
    give_back(r);
    return raise(o.comm, error);
  }
  r->state = Request::running;
  if (!h.alone) courtesy.begin(r, h.follows);
  c.hold();
  link(r);
  *request = handle_of(r);
  return MPI_SUCCESS;
}

}  // namespace

int begin(Request *r) {
  int error = fill_and_start(*r->plan, r->looked->arguments, r->looked->line.counted(), &r->call);
  if (!error) r->state = Request::running;
  return error;
}

int hand_out(Arguments &arguments, const Outline &line) {
  if (!arguments.empty()) return MPI_ERR_OTHER;
  return line.truncates ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

int blocking(const Operation &o, const Forms &forms) try {
  Lock lock;
  Communicator *c = Communicator::of(o.comm);
  if (c) drain(lock, *c);  // those before it may be of the same plan
  if (Habit *h = c ? habit_of(*c, o, true) : nullptr) return run_again(lock, *h, o);
  const OneCall now;
  Outline line{.blocking = true};
  if (Plan *plan = c ? habit_of_bytes(*c, o, line.bytes) : nullptr) {
    if (c->ranks() > 1 || o.kind != NBC_BCAST) return run(lock, *c, *plan, o, line, true);
    count_call(*plan, line.counted());
    return MPI_SUCCESS;
  }
  Incoming in = take_in(c, o, true);
  Plan *plan = get_plan(lock, in, o, forms.name);
  return plan ? run(lock, *in.communicator, *plan, o, in.line)
              : pass_blocking(lock, in, o.comm, forms);
} catch (const std::bad_alloc &) {
  return raise(o.comm, MPI_ERR_NO_MEM);
}

int nonblocking(const Operation &o, const char *name, FunctionRef<int(MPI_Request *)> pass,
                FunctionRef<std::function<int(MPI_Request *)>()> keep, MPI_Request *request) try {
  if (!request) return pass(request);
  Lock lock;
  Communicator *c = Communicator::of(o.comm);
  bool queued = c && !calls_of(*c).queue.empty();
  if (const Habit *h = c && !queued ? habit_of(*c, o, false) : nullptr)
    return start_again(*c, *h, o, name, request);
  const OneCall now;
  Incoming in = take_in(c, o, false);
  if (in.line.refusal) {
    count_passed(name, in.line.refusal);
    if (!queued) return lock.outside([&] { return pass(request); });
  }
  Request *r = make_request(in, o, name);
  if (!r) return raise(o.comm, MPI_ERR_NO_MEM);
  if (!queued && !in.line.refusal) r->plan = find_plan(*c, o, in.line);
  if (r->plan) {
    int error = begin(r);
    if (error) {
      give_back(r);
      return raise(o.comm, error);
    }
    get_used(*c, o, r->looked->arguments, r->plan, in.line);
    c->hold();
    link(r);
  } else {
    if (!prepare_to_pass(r, keep)) {
      give_back(r);
      return raise(o.comm, MPI_ERR_NO_MEM);
    }
    append(*c, r);
    advance_queues();
  }
  *request = handle_of(r);
  return MPI_SUCCESS;
} catch (const std::bad_alloc &) {
  return raise(o.comm, MPI_ERR_NO_MEM);
}

int duplicating(MPI_Comm comm, std::function<int(MPI_Request *)> pass, MPI_Request *request) try {
  Lock lock;
  Communicator *c =
      duplicates_by_collectives ? Communicator::in_order(comm) : Communicator::of(comm);
  if (!c) return lock.outside([&] { return pass(request); });
  Request *r = take_request();
  if (!r) return raise(comm, MPI_ERR_NO_MEM);
  r->communicator = c;
  r->name = "MPI_Comm_idup";
  r->looked.emplace();
  r->looked->operation.comm = comm;
  r->looked->line.refusal = "not a collective of ours";
  r->looked->hand_over = std::move(pass);
  r->alone = duplicates_by_collectives;
  append(*c, r);
  advance_queues();
  *request = handle_of(r);
  return MPI_SUCCESS;
} catch (const std::bad_alloc &) {
  return raise(comm, MPI_ERR_NO_MEM);
}

int made_by_all(int error, const MPI_Comm *made, Constructor &by) {
  if (error || not_for_us()) return error;
  Lock lock;
  Communicator::at_construction(lock, *made, by);
  return MPI_SUCCESS;
}

void get_ready() {
  int ranks = 1;
  if (not_for_us() || PMPI_Comm_size(MPI_COMM_WORLD, &ranks) || ranks == 1) return;
  Lock lock;
  read_table();
  Communicator *c = Communicator::of(MPI_COMM_WORLD);
  for (unsigned round = 0; c && !c->advance(); ++round) wait_a_while(lock, round);
}

// MPI lets an initialisation wait for other ranks, so it does until there is a plan.
int persistent(const Operation &o, const char *name, FunctionRef<int(MPI_Request *)> pass,
               MPI_Request *request) try {
  if (!request) return pass(request);
  Lock lock;
  const OneCall now;
  Incoming in = take_in(Communicator::of(o.comm), o, false);
  Plan *plan = get_plan(lock, in, o, name, true);
  if (!plan) return lock.outside([&] { return pass(request); });
  Request *r = make_request(in, o, name);
  if (!r) {
    plan->taken = false;
    return raise(o.comm, MPI_ERR_NO_MEM);
  }
  r->plan = plan;
  r->persistent = true;
  r->communicator->hold();
  *request = handle_of(r);
  return MPI_SUCCESS;
} catch (const std::bad_alloc &) {
  return raise(o.comm, MPI_ERR_NO_MEM);
}

// Never behind calls that wait for plans: others may wait for this one before they make those.
int start(Request *r) try {
  if (!r->persistent || r->state != Request::idle)
    return raise_late(*r->communicator, MPI_ERR_REQUEST);
  int error = begin(r);
  if (error) return raise_late(*r->communicator, error);
  r->communicator->hold();
  link(r);
  return MPI_SUCCESS;
} catch (const std::bad_alloc &) {
  return raise_late(*r->communicator, MPI_ERR_NO_MEM);
}

void was_waited_for(const Request *r, bool away) {
  courtesy.end(r, away);
}

int wait_and_collect(Lock &lock, Request *r, MPI_Request *request, MPI_Status *status) {
  const unsigned before = times_away();
  for (unsigned round = 0;; ++round) {
    move_on(round);
    if (is_over(r)) break;
    rest(lock, round, r);
  }
  was_waited_for(r, times_away() != before);
  return collect(r, request, status);
}

int collect(Request *r, MPI_Request *request, MPI_Status *status) {
  const int error = r->error;
  Communicator *c = r->communicator;
  if (status != MPI_STATUS_IGNORE) set_empty(status);
  r->error = MPI_SUCCESS;
  if (r->persistent) {
    r->state = Request::idle;
  } else {
    give_back(r);
    *request = MPI_REQUEST_NULL;
  }
  if (!error) return MPI_SUCCESS;
  raise_late(*c, error);
  c->release();
  return error;
}

void empty_queue(Lock &lock, MPI_Comm comm) {
  Communicator *c = Communicator::known(comm);
  if (c && c->calls) drain(lock, *c);
}

void free_request(Request *r) {
  if (!is_over(r)) {
    r->abandoned = true;
    return;
  }
  if (r->error) r->communicator->release();
  Communicator *c = r->persistent ? r->communicator : nullptr;
  give_back(r);
  if (c) c->release();
}

void set_empty(MPI_Status *status) {
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
}

int raise(MPI_Comm comm, int error) {
  Lock::without([=] { return PMPI_Comm_call_errhandler(comm, error); });
  return error;
}

void end() {
  Lock lock;
  constexpr double patience = 10;  // seconds, for ranks that are on their way here
  finish_all(patience);
  Communicator::end_all();
  close_meeting_place();
  report();
  set_over();
}

}  // namespace nbcc::dropin
