// SPDX-License-Identifier: BSD-3-Clause
// plans.cpp - from a choice to a plan that all ranks have connected.
//
//   reuse      of plans for persistent requests: one that all ranks have given back
//   template
//   create     cards to peers, by MPI_Ialltoall; they say whether all have created it. Where ranks
//              are many it is agreed on meanwhile whether all have memory for cards, and a template
//   connect    agreed: all have, unless all cards say that nobody can fail
//
// Memory. Lanes of shared memory are bounded by 256 KiB a plan and rank: of 64 ranks on a node each
// takes 99 to 128 KiB a plan, and 232 KiB where it talks to all others (528 without the bound), so
// 30 plans take 186 to 435 MiB of the node. Scratch is reserved for the longest call that the
// choice is for, and costs what calls touch of it.

#include <algorithm>
#include <bit>
#include <new>

#include "compiler/selection/able.h"
#include "dropin/calls.h"
#include "dropin/communicator.h"
#include "dropin/data.h"
#include "dropin/shapes.h"
#include "dropin/shipped.h"

namespace nbcc::dropin {

namespace {

constexpr std::uint64_t usual = std::uint64_t{1} << 20;
constexpr std::uint64_t most_of_all = std::uint64_t{1}
                                      << 36;  // bytes, of all ranks' blocks together
// So much that of each of 8 ranks 8 KiB go eager, and of two calls at once (nbc_plan_options).
constexpr std::size_t slot_memory = std::size_t{384} << 10;

// The same on all ranks: of what all of them know.
std::uint64_t most_bytes(const Choice &choice, std::uint64_t bytes, int ranks) {
  const std::uint64_t enough = std::max(most_of_all / static_cast<std::uint64_t>(ranks), usual);
  const std::uint64_t most = std::max({usual, bytes, std::min(choice.to, enough)});
  return most > INT64_MAX / 2 ? most : std::bit_ceil(most);
}

std::string text_of(const Choice &choice) {
  std::string text = choice.algorithm;
  for (const auto &[name, value] : choice.parameters)
    text += (&name == &choice.parameters[0].first ? ":" : ",") + name + "=" + std::to_string(value);
  return text;
}

}  // namespace

Plan *Communicator::plan(const Operation &o, const Choice &choice, const Outline &line, bool own) {
  if (state_ != Plan::ready) return nullptr;
  try {
    Made made;
    made.name = choice.algorithm;
    made.algorithm = text_of(choice);
    made.target = choice.target;
    made.transfer = choice.transfer;
    made.each = o.each;
    made.neighbors = has_neighbors(o.kind);
    made.root = has_root(o.kind) ? static_cast<std::uint32_t>(o.root) : 0;
    made.wanted = line.bytes;
    made.most = most_bytes(choice, line.bytes, ranks_);
    made.own = made.taken = own;
    made.in_turn = line.blocking;
    std::string why;
    const nbc_library_algorithm *a = nbc_library_named(shipped(), choice.algorithm.c_str());
    if (!a)
      why =
          "the library " + std::string(shipped()->name) + " holds no algorithm " + choice.algorithm;
    if (!a || !parametersOf(*shipped(), *a, choice.parameters, made.parameters, why)) {
      made.state = Plan::failed;
      why_ = a ? choice.algorithm + ": " + why : why;
    }
    for (Made &p : plans_)
      if (!own && made.state != Plan::failed && p.serves(made)) return &p;
    plans_.push_back(std::move(made));
    Made &p = plans_.back();
    if (p.state == Plan::making) to_make_.push_back(&p);
    advance();
    return &p;
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

int Communicator::build(const Made &p, Template &made, std::string &why) {
  nbc_build_request request = {};
  request.algorithm = p.name.c_str();
  request.target = p.target.c_str();
  request.lengths = p.each ? NBC_LENGTHS_EACH : NBC_LENGTHS_EQUAL;
  request.ranks = static_cast<std::uint32_t>(ranks_);
  request.rank = static_cast<std::uint32_t>(rank_);
  request.root = p.root;
  request.parameters = p.parameters.data();
  request.parameter_count = static_cast<std::uint32_t>(p.parameters.size());
  request.node_of = node_of_.data();
  request.graph = p.neighbors ? neighbors_.graph() : nullptr;
  const int status = find_template(request, made, why);
  try {
    if (!why.empty()) why = p.algorithm + ": " + why;
  } catch (const std::bad_alloc &) {
  }
  return status;
}

int Communicator::create(Made &p, const Template &of, std::string &why) {
  nbc_plan_options options = {};
  options.slot_memory = slot_memory;
  options.max_bytes = p.most;
  options.transfer = p.transfer;
  options.persistent = p.own;
  options.in_turn = p.in_turn;
  options.depth = p.in_turn ? 1 : 0;
  int status = nbc_plan_create(ours_, of.data.get(), of.bytes, &options, &p.plan);
  why.clear();
  try {
    if (status) why = p.algorithm + ": " + nbc_plan_why();
  } catch (const std::bad_alloc &) {
  }
  return status;
}

void Communicator::fail(Made &p, int own, int all, const std::string &why) {
  nbc_plan_free(p.plan);
  p.plan = nullptr;
  p.state = Plan::failed;
  try {
    why_ = why_not(own, all, why);
  } catch (const std::bad_alloc &) {
  }
}

// Of a distributed graph each rank knows its own neighbours.
Steps Communicator::meet_neighbors() {
  std::vector<std::int32_t> degrees, lists;
  std::vector<int> counts, places;
  const auto ranks = static_cast<std::size_t>(ranks_);
  int status = 0;
  neighbors_failed_ = true;
  try {
    degrees.resize(2 * ranks);
    counts.resize(ranks);
    places.resize(ranks);
  } catch (const std::bad_alloc &) {
    status = NBC_ERROR_MEMORY;
  }
  int error = co_await agree(status);
  if (error || agreed_[0]) co_return;

  const std::int32_t mine[2] = {neighbors_.indegree(), neighbors_.outdegree()};
  Posted gather;
  gather.error = PMPI_Iallgather(mine, 2, MPI_INT32_T, degrees.data(), 2, MPI_INT32_T,
                                 context_.comm, &gather.request);
  error = co_await gather;
  if (error) co_return;
  std::int64_t all = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    places[rank] = static_cast<int>(all);
    counts[rank] = degrees[2 * rank] + degrees[2 * rank + 1];
    all += counts[rank];
  }
  try {
    if (all > INT32_MAX) throw std::bad_alloc();
    lists.resize(static_cast<std::size_t>(all) + 1);
  } catch (const std::bad_alloc &) {
    status = NBC_ERROR_MEMORY;
  }
  error = co_await agree(status);
  if (error || agreed_[0]) co_return;

  Posted exchange;
  exchange.error = PMPI_Iallgatherv(
      neighbors_.mine().data(), counts[static_cast<std::size_t>(rank_)], MPI_INT32_T, lists.data(),
      counts.data(), places.data(), MPI_INT32_T, context_.comm, &exchange.request);
  error = co_await exchange;
  if (error) co_return;
  try {
    neighbors_.complete(std::move(degrees), std::move(lists));
  } catch (const std::bad_alloc &) {
    status = NBC_ERROR_MEMORY;
  }
  error = co_await agree(status);
  neighbors_failed_ = error || agreed_[0];
}

Posted Communicator::send_cards() {
  Posted p;
  if (ranks_ > 1)
    p.error = PMPI_Ialltoall(exchange_->sent(), exchange_->bytes(), MPI_BYTE, exchange_->received(),
                             exchange_->bytes(), MPI_BYTE, context_.comm, &p.request);
  return p;
}

std::size_t Communicator::in_place_of(const Made &p, Others &others) {
  std::size_t found = 0;
  for (Made &q : plans_)
    if (&q != &p && q.state == Plan::ready && q.serves(p) && found < others.size())
      others[found++] = &q;
  return found;
}

Posted Communicator::agree_on_given_back() {
  Posted p;
  given_back_by_all_ = ranks_ == 1 ? given_back_ : 0;
  if (ranks_ > 1)
    p.error = PMPI_Iallreduce(&given_back_, &given_back_by_all_, 1, MPI_UINT64_T, MPI_BAND,
                              context_.comm, &p.request);
  return p;
}

Steps Communicator::make_plan(Made &p) {
  std::string why;
  Template of;
  if (p.own) {
    Others others;
    const std::size_t count = in_place_of(p, others);
    given_back_ = 0;
    for (std::size_t i = 0; i < count; ++i) given_back_ |= std::uint64_t{!others[i]->taken} << i;
    const int failed = co_await agree_on_given_back();
    if (!failed && given_back_by_all_) {
      Made &q = *others[static_cast<std::size_t>(std::countr_zero(given_back_by_all_))];
      std::swap(p.plan, q.plan);
      p.most = q.most, p.calls = q.calls, p.bytes = q.bytes;
      p.state = Plan::ready;
      plans_.remove_if([&](const Made &made) { return &made == &q; });
      co_return;
    }
  }
  int built = p.neighbors && neighbors_failed_ ? NBC_ERROR_MEMORY : broken_;
  if (!built) built = build(p, of, why);
  try {
    exchange_->prepare(ranks_, p.target == "mpi" ? Exchange::plain : Exchange::with_address);
  } catch (const std::bad_alloc &) {
    built = NBC_ERROR_MEMORY;
  }
  int status = built, error = 0, all = 0;
  // Without a template it takes a number alone.
  const auto create_as_built = [&] {
    std::string why_not_created;
    const int created = create(p, of, why_not_created);
    if (built) return;
    status = created;
    why.swap(why_not_created);
  };
  if (Exchange::is_kept(ranks_)) {
    create_as_built();
  } else {
    const Posted agreement = agree(built);
    create_as_built();
    error = co_await agreement;
    all = agreed_[0];
  }
  bool emptied = false;
  while (!error && !all) {
    exchange_->sign(status, nbc_plan_reachable(p.plan));
    error = co_await send_cards();
    if (error) break;
    all = ranks_ > 1 ? exchange_->status() : status;
    if (!all) {
      status = nbc_plan_connect(p.plan);
      if (ranks_ > 1 && exchange_->reachable()) {
        if (status)
          end_program(p.algorithm + ": not connected, as it had to be: " + nbc_status_text(status));
        break;
      }
      error = co_await agree(status);
      all = agreed_[0];
      break;
    }
    // Where no more memory may be reserved than there is, freed communicators leave nothing behind
    // any more; then less is asked for.
    const std::uint64_t least = std::max(usual, std::bit_ceil(p.wanted));
    const bool less = !p.each && p.most > least;
    if (all != NBC_ERROR_MEMORY || (emptied && !less)) break;
    nbc_plan_free(p.plan);
    p.plan = nullptr;
    if (emptied) p.most = least;
    left.clear();
    emptied = true;
    create_as_built();
    all = 0;
  }
  exchange_->clear();
  if (error || all)
    fail(p, status, error ? NBC_ERROR_DEVICE : all, why);
  else
    p.state = Plan::ready;
}

}  // namespace nbcc::dropin
