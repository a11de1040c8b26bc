// SPDX-License-Identifier: BSD-3-Clause
// queue.cpp - which plan a call gets, and the calls that wait for it.
//
// A communicator's calls leave the queue in the order in which they came, and a plan is asked for
// only by the first of them. So all ranks ask for the same plans in the same order, however long
// each of them takes, and what is handed to the MPI after all is handed to it in order, too.
//
// A plan takes all lengths that its choice is for, if there is address space for their scratch;
// else a longer call gets a plan of its own (growth.c).

#include "dropin/queue.h"

#include <algorithm>

#include "dropin/selection.h"
#include "dropin/shapes.h"

namespace nbcc::dropin {

namespace {

std::vector<Communicator *> waiting;  // those with a queue

std::vector<Calls::Chosen> &all_chosen(Communicator &c, const Operation &o, const Outline &line) {
  return calls_of(c).chosen[o.kind][o.each][line.commutes][line.blocking];
}

// Null: none has been yet.
Calls::Chosen *find_chosen(Communicator &c, const Operation &o, const Outline &line) {
  for (Calls::Chosen &chosen : all_chosen(c, o, line))
    if (chosen.choice.from <= line.bytes && line.bytes <= chosen.choice.to) return &chosen;
  return nullptr;
}

Plan *&plan_of(Calls::Chosen &chosen, const Operation &o) {
  return chosen.of[has_root(o.kind) ? static_cast<std::size_t>(o.root) : 0];
}

std::optional<Choice> choose_row(Communicator &c, const Operation &o, const Outline &line) {
  std::optional<Choice> choice = choose(c, o, line);
  if (!choice) c.set_why("no row of the table is for it");
  return choice;
}

int hand_over(Request *r) {
  r->plan = nullptr;
  r->looked->arguments.clear();
  r->error = r->looked->hand_over(&r->of_mpi);
  r->state = Request::below;
  return r->error;
}

void take_first(Communicator &c) {
  calls_of(c).queue.pop_front();
  count_under_way(-1);
}

// Of the first in a queue. False: it has to wait. One that is to be alone stays until it has ended.
bool advance(Communicator &c, Request *r) {
  if (r->state != Request::queued || !c.advance()) return false;
  const bool refused = r->looked->line.refusal != nullptr;
  if (!refused && c.state() == Plan::ready)
    r->plan = choose_plan(c, r->looked->operation, r->looked->line);
  if (r->plan && r->plan->state == Plan::making) return false;
  bool ours = r->plan && r->plan->state == Plan::ready;
  if (!ours && !refused) count_passed(r->name, c.why());
  int error = ours ? begin(r) : hand_over(r);
  link(r);
  if (r->alone) return false;  // a call that has failed has no request, and ends by the next look
  if (error) finish(r, error);
  return true;
}

}  // namespace

Lengths lengths_of(Communicator &c, const Operation &o, const Outline &line) {
  const Calls::Chosen *chosen = find_chosen(c, o, line);
  return chosen ? Lengths{chosen->choice.from, chosen->choice.to} : Lengths{};
}

Plan *find_plan(Communicator &c, const Operation &o, const Outline &line) {
  Calls::Chosen *chosen = find_chosen(c, o, line);
  Plan *found = chosen ? plan_of(*chosen, o) : nullptr;
  return found && found->state == Plan::ready && line.bytes <= found->most ? found : nullptr;
}

Plan *choose_plan(Communicator &c, const Operation &o, const Outline &line) {
  Calls::Chosen *chosen = find_chosen(c, o, line);
  if (!chosen) {
    std::optional<Choice> choice = choose_row(c, o, line);
    if (!choice) return nullptr;
    std::size_t roots = has_root(o.kind) ? static_cast<std::size_t>(c.ranks()) : 1;
    chosen = &all_chosen(c, o, line).emplace_back(*choice, std::vector<Plan *>(roots));
  }
  Plan *&plan = plan_of(*chosen, o);
  if (plan && (plan->state == Plan::failed || line.bytes <= plan->most)) return plan;
  plan = c.plan(o, chosen->choice, line);
  calls_of(c).habits = {};
  return plan;
}

Plan *choose_own_plan(Communicator &c, const Operation &o, const Outline &line) {
  std::optional<Choice> choice = choose_row(c, o, line);
  return choice ? c.plan(o, *choice, line, true) : nullptr;
}

void append(Communicator &c, Request *r) {
  std::deque<Request *> &queue = calls_of(c).queue;
  if (queue.empty()) waiting.push_back(&c);
  queue.push_back(r);
  r->state = Request::queued;
  count_under_way(1);
  c.hold();
}

// Open MPI numbers communicators for Fortran as it does for itself.
bool is_duplicated_before(MPI_Comm comm) {
  return std::ranges::any_of(waiting, [comm](Communicator *c) {
    return std::ranges::any_of(calls_of(*c).queue, [comm](const Request *r) {
      return r->alone && PMPI_Comm_c2f(r->looked->operation.comm) <= PMPI_Comm_c2f(comm);
    });
  });
}

void end_alone(Communicator &c) {
  take_first(c);
  if (calls_of(c).queue.empty()) std::erase(waiting, &c);
}

void advance_queues() {
  Communicator::advance_all();
  for (std::size_t i = 0; i < waiting.size();) {
    Communicator &c = *waiting[i];
    std::deque<Request *> &queue = calls_of(c).queue;
    while (!queue.empty() && advance(c, queue.front())) take_first(c);
    if (queue.empty())
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
}

}  // namespace nbcc::dropin
