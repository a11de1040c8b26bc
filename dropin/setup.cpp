// SPDX-License-Identifier: BSD-3-Clause
// setup.cpp - from a communicator of MPI's to devices: context, meet, open.
//
// Three agreements and a gather of some 400 bytes a rank, one after the other, at the first
// collective call on a communicator; the first alone, if all ranks have a freed one's devices and
// plans; nothing where it has had those since it was constructed, or has one rank.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "dropin/calls.h"
#include "dropin/shipped.h"
#include "nbc/shm.h"
#include "runtime/mpi/nbc_mpi.h"

namespace nbcc::dropin {

/// What ranks tell each other.
struct Identity {
  std::uint64_t library;  // its checksum
  std::int32_t number;    // of communicators that this rank has met on
  std::int32_t target;    // enum Wish
  std::int32_t node_status;
  char node[64];  // $NBC_NODE: ranks that say different ones are on different nodes
  nbc_shm_facts facts;
};

namespace {

enum Wish : std::int32_t { whatever, messages, node, exported, adapter, queues };

Wish read_wish() {
  const char *said = std::getenv("NBC_TARGET");
  if (!said || !*said) return whatever;
  if (!std::strcmp(said, "mpi")) return messages;
  if (!std::strcmp(said, "shm")) return node;
  if (!std::strcmp(said, "sci")) return exported;
  if (!std::strcmp(said, "verbs")) return adapter;
  if (!std::strcmp(said, "coredirect")) return queues;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::fprintf(
        stderr,
        "nbc: NBC_TARGET=%s: there are coredirect, mpi, sci, shm and verbs; the table chooses\n",
        said);
  return whatever;
}

// Whether what was said leaves calls to this.
bool allows(std::int32_t said, Wish way) {
  return said == way || said == whatever;
}

// The target of the device that was asked for; null: none was. Only who asks for one gets it.
const char *adapter_of(std::int32_t said) {
  switch (said) {
    case exported:
      return "sci";
    case adapter:
      return "verbs";
    case queues:
      return "coredirect";
  }
  return nullptr;
}

// Said once, so it is complained of once.
Wish wish() {
  static const Wish once = read_wish();
  return once;
}

nbc_device *identify(Identity &mine, int rank, int ranks) {
  static std::int32_t met = 0;
  mine = {};
  mine.number = met = met % INT32_MAX + 1;
  mine.library = shipped()->checksum;
  mine.target = wish();
  const char *said = std::getenv("NBC_NODE");
  std::snprintf(mine.node, sizeof mine.node, "%s", said ? said : "");
  nbc_device *device = nullptr;
  mine.node_status = nbc_shm_begin(rank, ranks, &mine.facts, &device);
  return device;
}

bool same_node(const Identity &a, const Identity &b) {
  return nbc_shm_same_node(&a.facts, &b.facts) && !std::strncmp(a.node, b.node, sizeof a.node);
}

// By the first rank there; returns how many there are.
int number_nodes(const std::vector<Identity> &all, std::vector<std::int32_t> &node_of) {
  std::vector<const Identity *> firsts;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::size_t n = 0;
    while (n < firsts.size() && !same_node(*firsts[n], all[rank])) ++n;
    if (n == firsts.size()) firsts.push_back(&all[rank]);
    node_of[rank] = static_cast<std::int32_t>(n);
  }
  return static_cast<int>(firsts.size());
}

// Null: all ranks say the same.
const char *difference(const std::vector<Identity> &all) {
  for (const Identity &i : all) {
    if (i.library != all[0].library) return "ranks have different libraries of algorithms";
    if (i.target != all[0].target) return "ranks have different values of NBC_TARGET";
  }
  return nullptr;
}

}  // namespace

void Communicator::give_up(const std::string &why) {
  state_ = Plan::failed;
  why_ = why;
  for (Made &p : plans_)
    if (p.state == Plan::making) p.state = Plan::failed;
}

Posted Communicator::agree(int first, int second) {
  proposed_[0] = first;
  proposed_[1] = second;
  Posted p;
  if (ranks_ == 1)
    std::memcpy(agreed_, proposed_, sizeof agreed_);
  else
    p.error = PMPI_Iallreduce(proposed_, agreed_, 2, MPI_INT, MPI_MIN, context_.comm, &p.request);
  return p;
}

std::string Communicator::why_not(int own, int all, const std::string &why) const {
  if (!own) return std::string("another rank: ") + nbc_status_text(all);
  return why.empty() ? nbc_status_text(own) : why;
}

// Sets up all that is local; agreed_ is not known yet.
void Communicator::open(const std::vector<Identity> &all, nbc_device *device) {
  std::vector<nbc_shm_facts> facts;
  std::vector<std::uint32_t> nodes(node_of_.begin(), node_of_.end());
  for (const Identity &i : all) facts.push_back(i.facts);
  const nbc_shm_options options = {nodes.data(), 0};
  has_node_ = device && nbc_shm_finish(device, facts.data(), &options) == 0;
}

Steps Communicator::set_up() {
  if (!shipped()) {
    why_ = why_not_shipped();
  }
  int status = shipped() ? 0 : NBC_ERROR_LIBRARY;
  if (ranks_ == 1) {
    if (std::unique_ptr<Communicator> before = take_predecessor(MPI_COMM_NULL, 1)) {
      succeed(*before);
      co_return;
    }
    has_messages_ = allows(wish(), messages);
    has_node_ = allows(wish(), node);
    adapter_ = adapter_of(wish());
    node_of_.assign(1, 0);
    const nbc_bootstrap bootstrap = exchange_->bootstrap(0, 1);
    nbc_device *device = nullptr;
    try {
      // Its copies go over a queue to itself.
      if (!status && wish() == queues) status = open_adapter(adapter_, &device, why_);
    } catch (const std::bad_alloc &) {
      status = NBC_ERROR_MEMORY;
    }
    if (!status) status = nbc_comm_create(&bootstrap, &device, device ? 1 : 0, &ours_);
    if (!status) status = nbc_comm_progress(ours_, NBC_PROGRESS_CALLS);  // waits for nobody
    if (device && !ours_) device->close(device);
    if (status)
      give_up(why_not(status, status, why_));
    else
      state_ = Plan::ready;
    co_return;
  }

  if (context_.comm == MPI_COMM_NULL) {
    Posted duplicate;
    duplicating_ = true;
    duplicate.error = PMPI_Comm_idup(comm_, &context_.comm, &duplicate.request);
    const int error = co_await duplicate;
    duplicating_ = false;
    if (error) {
      context_ = {};
      give_up("MPI could not duplicate the communicator");
      co_return;
    }
  }
  PMPI_Comm_set_errhandler(context_.comm, MPI_ERRORS_RETURN);

  Identity mine;
  std::vector<Identity> all;
  nbc_device *device = nullptr;
  try {
    all.resize(static_cast<std::size_t>(ranks_));
    node_of_.resize(all.size());
  } catch (const std::bad_alloc &) {
    status = NBC_ERROR_MEMORY;
  }
  // The least and the greatest number that ranks propose; what has failed is less than any.
  std::unique_ptr<Communicator> before = take_predecessor(context_.comm, ranks_);
  const std::int32_t number = before ? before->number_ : 0;
  int error = co_await agree(status ? status : number, -number);
  if (!error && agreed_[0] > 0 && agreed_[0] == -agreed_[1]) {
    succeed(*before);
    if (rank_ == 0) count_communicator(true);
    co_return;
  }
  if (before) put_back(std::move(before), agreed_[0]);
  context_.unused = false;
  if (error || agreed_[0] < 0) {
    give_up(error ? "MPI failed" : why_not(status, agreed_[0], why_));
    co_return;
  }

  device = identify(mine, rank_, ranks_);
  Posted gather;
  gather.error = PMPI_Iallgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE,
                                 context_.comm, &gather.request);
  error = co_await gather;
  nbc_device *devices[2] = {};
  std::size_t count = 0;
  if (!error) {
    try {
      nodes_ = number_nodes(all, node_of_);
      number_ = all[0].number;
      open(all, device);
      if (adapter_of(mine.target))
        status = open_adapter(adapter_of(mine.target), &devices[count], why_);
    } catch (const std::bad_alloc &) {
      status = NBC_ERROR_MEMORY;
    }
    if (!status && !adapter_of(mine.target))
      status = nbc_mpi_device(context_.comm, &devices[count]);
    if (!status) ++count;
    if (!status && has_node_) devices[count++] = device;
    const nbc_bootstrap bootstrap = exchange_->bootstrap(rank_, ranks_);
    if (!status) status = nbc_comm_create(&bootstrap, devices, count, &ours_);
    // Who has read others' memory here says so by this: no device is closed before.
    error = co_await agree(status, has_node_);
  }
  if (!ours_ && count > 0) devices[0]->close(devices[0]);
  if (device && (!ours_ || !has_node_)) device->close(device);
  has_node_ = has_node_ && !error && agreed_[1];
  const char *differ = error ? "MPI failed" : difference(all);
  if (error || agreed_[0] || differ) {
    give_up(differ ? differ : why_not(status, agreed_[0], why_));
    co_return;
  }
  adapter_ = adapter_of(mine.target);
  has_messages_ = allows(mine.target, messages);
  if (rank_ == 0) count_communicator(false);
  // Where each rank is alone, there is nobody to share memory with.
  has_node_ = has_node_ && allows(mine.target, node) && (nodes_ < ranks_ || mine.target == node);
  if (has_node_ || has_messages_ || adapter_)
    state_ = Plan::ready;
  else
    give_up("NBC_TARGET=shm, which is not to be had on all ranks");
}

}  // namespace nbcc::dropin
