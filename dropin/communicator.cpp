// SPDX-License-Identifier: BSD-3-Clause
// communicator.cpp - communicators of ours: found by MPI's handles, held, and ended.
//
//   handle  ->  one of a few places, by a hash  ->  ours
//           ->  the attribute                   ->  ours       where the place is another's
//
// A handle that is freed is used again, so the attribute's delete callback empties the place.
//
// An adapter answers for what it has received as long as its queues are there, and a call of
// another rank may wait for that answer. So queues are taken down when all ranks have freed the
// communicator and their calls on it are done.
//
// The context is freed when our last call on it is done here. PMPI_Comm_free is collective, but
// waits for nobody in Open MPI 4.1 and MPICH 4.0 (test/dropin/communicator.cpp). Nothing that
// others still have to read is lost: messages that were sent are delivered, and a context is used
// anew only once all ranks have freed it.

#include "dropin/communicator.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <optional>

#include "dropin/queue.h"

namespace nbcc::dropin {

Communicator::List Communicator::settled, Communicator::watched, Communicator::left;
bool Communicator::copies_attributes_ = false, Communicator::over_ = false;

namespace {

enum : std::size_t { places = 64, most_left = 32, most_alike = 4 };
constexpr double patience = 5;  // s, at the end, for what other ranks do not join in any more

int keyval = MPI_KEYVAL_INVALID;

// Threads that free communicators empty places without the lock.
struct Place {
  std::atomic<MPI_Comm> comm{MPI_COMM_NULL};
  Communicator *found = nullptr;
};
Place cache[places];

Place &place_of(MPI_Comm comm) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &comm, sizeof comm);
  return cache[bits * 0x9e3779b97f4a7c15u >> 58];
}

void empty_place(MPI_Comm comm) {
  MPI_Comm expected = comm;
  place_of(comm).comm.compare_exchange_strong(expected, MPI_COMM_NULL);
}

// In functions that ask MPI for what may call a program's callbacks: those may free communicators,
// and the lock is held already.
thread_local int within = 0;
struct Within {
  Within() { ++within; }
  ~Within() { --within; }
};

}  // namespace

static bool are_of_one_world(MPI_Group all) {
  MPI_Group world, others;
  int left = 1;
  if (PMPI_Comm_group(MPI_COMM_WORLD, &world)) return false;
  if (!PMPI_Group_difference(all, world, &others)) {
    PMPI_Group_size(others, &left);
    if (others != MPI_GROUP_EMPTY) PMPI_Group_free(&others);
  }
  PMPI_Group_free(&world);
  return left == 0;
}

static std::atomic<bool> others_known{false};

static bool has_one_world(MPI_Comm comm) {
  MPI_Group group;
  int two_groups = 0;
  if (PMPI_Comm_test_inter(comm, &two_groups)) return false;
  for (int remote = 0; remote < 1 + two_groups; ++remote) {
    if (remote ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)) return false;
    const bool is = are_of_one_world(group);
    PMPI_Group_free(&group);
    if (!is) return false;
  }
  return true;
}

bool is_of_one_world(MPI_Comm comm) {
  return !others_known.load(std::memory_order_relaxed) || has_one_world(comm);
}

void look_for_other_worlds(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL && !has_one_world(comm)) others_known = true;
}

const char *why_not_ours(MPI_Comm comm) {
  int two_groups = 0;
  if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &two_groups)) return "no communicator";
  if (two_groups) return "an intercommunicator";
  return is_of_one_world(comm) ? nullptr : "processes of another MPI_COMM_WORLD";
}

bool Communicator::has_keyval() {
  return keyval != MPI_KEYVAL_INVALID ||
         !PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, nullptr);
}

Communicator *Communicator::of(MPI_Comm comm) {
  const Place &p = place_of(comm);
  if (p.comm.load(std::memory_order_relaxed) == comm && comm != MPI_COMM_NULL) return p.found;
  return find(comm, true);
}

Communicator *Communicator::in_order(MPI_Comm comm) {
  Communicator *c = of(comm);
  return c || !is_of_one_world(comm) ? c : find(comm, true, true);
}

Communicator *Communicator::known(MPI_Comm comm) {
  return keyval == MPI_KEYVAL_INVALID ? nullptr : find(comm, false);
}

Communicator *Communicator::find(MPI_Comm comm, bool make_it, bool two_groups) {
  const Within here;
  if (over_ || comm == MPI_COMM_NULL || !has_keyval()) return nullptr;
  void *value = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(comm, keyval, &value, &found)) return nullptr;
  auto *c = found ? static_cast<Communicator *>(value) : nullptr;
  if (!c || !c->begun_) {
    if (!make_it) return nullptr;
    sweep();
    if (!c) c = add(comm, two_groups);
    if (!c) return nullptr;
    c->begin();
  }
  Place &p = place_of(comm);
  p.comm.store(MPI_COMM_NULL, std::memory_order_relaxed);
  p.found = c;
  p.comm.store(comm, std::memory_order_relaxed);
  return c;
}

Communicator *Communicator::add(MPI_Comm comm, bool two_groups) {
  const Within here;
  try {
    std::unique_ptr<Communicator> made = two_groups ? make_of_two_groups(comm) : make(comm);
    if (!made) return nullptr;
    watched.push_back(std::move(made));
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
  Communicator *c = watched.back().get();
  c->place_ = std::prev(watched.end());
  if (PMPI_Comm_set_attr(comm, keyval, c)) {
    watched.pop_back();
    return nullptr;
  }
  return c;
}

void Communicator::watch() {
  if (!is_watched_) watched.splice(watched.end(), settled, place_);
  is_watched_ = true;
}

void Communicator::begin() {
  begun_ = true;
  if (Reserve *reserve = Reserve::find(comm_)) reserve->used = true;
  if (state_ == Plan::ready) {  // since it was constructed
    if (rank_ == 0) count_communicator(true);
    return;
  }
  watch();
  if (state_ == Plan::failed) return;  // since it was made
  steps_ = set_up();
  if (!steps_) give_up("no memory is left");
  advance();
}

std::unique_ptr<Communicator> Communicator::make(MPI_Comm comm) {
  if (why_not_ours(comm)) return nullptr;
  std::unique_ptr<Communicator> c(new Communicator);
  c->comm_ = comm;
  c->exchange_ = std::make_unique<Exchange>();
  if (PMPI_Comm_rank(comm, &c->rank_) || PMPI_Comm_size(comm, &c->ranks_) ||
      c->neighbors_.read(comm, c->ranks_))
    return nullptr;
  return c;
}

std::unique_ptr<Communicator> Communicator::make_of_two_groups(MPI_Comm comm) {
  const char *why = why_not_ours(comm);
  if (!why) return nullptr;  // there was no memory for one of ours
  std::unique_ptr<Communicator> c(new Communicator);
  c->comm_ = comm;
  if (PMPI_Comm_rank(comm, &c->rank_) || PMPI_Comm_remote_size(comm, &c->ranks_)) return nullptr;
  c->two_groups_ = true;
  c->give_up(why);
  return c;
}

bool Communicator::advance() {
  const Within here;
  advancing_ = true;
  bool ended = true;
  while ((ended = steps_.advance()) && !to_make_.empty() && state_ == Plan::ready) {
    Made &next = *to_make_.front();
    const bool meet = next.neighbors && !neighbors_.complete() && !neighbors_failed_;
    if (!meet) to_make_.pop_front();
    steps_ = meet ? meet_neighbors() : make_plan(next);
    if (!steps_) give_up("no memory is left");
  }
  advancing_ = false;
  return ended;
}

bool Communicator::has(const char *target) const {
  return (has_node_ && std::string_view(target) == "shm") ||
         (has_messages_ && std::string_view(target) == "mpi") ||
         (adapter_ && std::string_view(target) == adapter_);
}

int Communicator::on_delete(MPI_Comm comm, int, void *value, void *) {
  auto *c = static_cast<Communicator *>(value);
  std::optional<Lock> lock;  // the MPI may end it within any of its calls, ours among them
  if (!Lock::is_held()) lock.emplace();
  empty_place(comm);
  // Of a communicator that is freed while it is being duplicated Open MPI forgets what it needs.
  // All ranks have begun it, and MPI_Comm_free is allowed to wait for them. MPICH is here only when
  // it has the duplicate: from within the test that has ended it.
  while (c->duplicating_ && !c->advancing_) {
    c->advance();
    if (!c->duplicating_) break;
    if (lock)
      lock->outside([] { sched_yield(); });
    else
      sched_yield();
  }
  c->comm_ = MPI_COMM_NULL;
  if (c->by_) c->by_->note_freed(c->ranks_, c->begun_);
  if (c->holds_ > 0) PMPI_Comm_get_errhandler(comm, &c->handler_);
  c->watch();
  if (!within) sweep();
  return MPI_SUCCESS;
}

// Callbacks that are called meanwhile may add to those that are watched, behind them; nobody else
// takes any away.
bool Communicator::sweep() {
  static bool sweeping = false;
  if (sweeping) return false;
  const Within here;
  sweeping = true;
  bool all = true;
  for (auto at = watched.begin(); at != watched.end();) {
    Communicator &c = **at;
    const bool made = c.advance(), freed = c.comm_ == MPI_COMM_NULL;
    all = all && made;
    if (!made || (freed && c.holds_ > 0)) {
      ++at;
    } else if (freed && c.owes_farewell()) {
      c.has_met_ = true;
      c.steps_ = c.farewell();
      c.advance();
      all = false;
      ++at;
    } else if (freed && c.leaves_something()) {
      left.splice(left.end(), watched, at++);
      limit_left();
    } else if (freed) {
      at = watched.erase(at);
    } else {
      c.is_watched_ = false;
      settled.splice(settled.end(), watched, at++);
    }
  }
  sweeping = false;
  return all;
}

/// All ranks have made the same plans, so they answer alike.
bool Communicator::owes_farewell() const {
  return adapter_ && ranks_ > 1 && !has_met_ &&
         std::any_of(plans_.begin(), plans_.end(),
                     [](const Made &p) { return p.state == Plan::ready; });
}

/// An adapter's queues need a farewell, and what has failed here may fail again.
bool Communicator::leaves_something() const {
  return !over_ && (!copies_attributes_ || ranks_ == 1) && state_ == Plan::ready && !broken_ &&
         !adapter_ && std::all_of(plans_.begin(), plans_.end(), [](const Made &p) {
           return p.state == Plan::ready && !p.taken;
         });
}

// One rank is this one, whatever the communicator.
bool Communicator::had_ranks_of(MPI_Comm comm, int ranks) const {
  return ranks_ == ranks && (ranks == 1 || are_congruent(comm, context_.comm));
}

// Ranks keep alike what is of the same ranks, whatever else each of them keeps.
void Communicator::limit_left() {
  const Communicator &last = *left.back();
  std::size_t alike = 0;
  for (auto at = left.end(); at != left.begin();)
    if ((*--at)->had_ranks_of(last.context_.comm, last.ranks_) && ++alike > most_alike)
      at = left.erase(at);
  if (left.size() > most_left) left.pop_front();
}

// The youngest: ranks may have freed them in different orders, and then have let others go.
std::unique_ptr<Communicator> Communicator::take_predecessor(MPI_Comm comm, int ranks) {
  auto found = left.end();
  for (auto at = left.begin(); at != left.end(); ++at) {
    if (!(*at)->had_ranks_of(comm, ranks)) continue;
    if (found == left.end() || (*at)->number_ > (*found)->number_) found = at;
  }
  if (found == left.end()) return nullptr;
  std::unique_ptr<Communicator> taken = std::move(*found);
  left.erase(found);
  return taken;
}

void Communicator::put_back(std::unique_ptr<Communicator> c, std::int32_t least) {
  if (!over_ && c->number_ <= least) left.push_front(std::move(c));
}

void Communicator::succeed(Communicator &c, bool same_neighbors) {
  if (same_neighbors)
    std::swap(neighbors_, c.neighbors_);  // of which all ranks may be known
  else
    c.forget_neighbors();
  std::swap(context_, c.context_);  // it leaves the new one
  std::swap(exchange_, c.exchange_);
  std::swap(ours_, c.ours_);
  std::swap(plans_, c.plans_);
  std::swap(node_of_, c.node_of_);
  number_ = c.number_, nodes_ = c.nodes_;
  has_messages_ = c.has_messages_, has_node_ = c.has_node_;
  if (!calls)
    calls = std::move(c.calls);
  else if (c.calls)
    std::swap(calls->chosen, c.calls->chosen);
  state_ = Plan::ready;
}

// All ranks' calls have ended: they have agreed on it. What was chosen names the plans.
void Communicator::forget_neighbors() {
  const auto ended = plans_.remove_if([](Made &p) {
    if (p.neighbors) end_plan(p);
    return p.neighbors;
  });
  if (ended > 0) calls.reset();
}

Steps Communicator::farewell() {
  co_await agree(0);  // if the MPI cannot, so be it
}

void Communicator::advance_all() {
  if (!watched.empty()) sweep();
}

void Communicator::end_all() {
  const Within here;
  if (over_) return;
  over_ = true;
  left.clear();
  Reserve::end();
  for (const double begin = PMPI_Wtime(); !sweep() && PMPI_Wtime() < begin + patience;)
    sched_yield();
  while (!settled.empty() &&
         !PMPI_Comm_delete_attr(settled.front()->comm_, keyval)) {  // on_delete() has it watched
  }
  for (const double begin = PMPI_Wtime(); !sweep() && PMPI_Wtime() < begin + patience;)
    sched_yield();
  // What is left is used by requests, or waits for ranks that do not come. It stays where it is.
  for (auto &c : watched) {
    for (Made &p : c->plans_) {
      count_plan(p);
      if (p.plan) nbc_plan_abandon(p.plan);
    }
    (void)c.release();
  }
  watched.clear();
  if (keyval != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&keyval);
}

void Communicator::end_plan(Made &p) {
  count_plan(p);
  if (p.plan && nbc_plan_free(p.plan) == NBC_ERROR_BUSY) {
    nbc_plan_abandon(p.plan);
    nbc_plan_free(p.plan);
  }
}

Communicator::~Communicator() {
  for (Made &p : plans_) end_plan(p);
  nbc_comm_free(ours_);
  if (handler_ != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler_);
  if (over_) context_.reserve = nullptr;
  Reserve::give_back(context_);
}

}  // namespace nbcc::dropin
