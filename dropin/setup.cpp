// SPDX-License-Identifier: BSD-3-Clause
// setup.cpp - from a communicator of MPI's to devices: context, meet, open.
//
// A gather of some 400 bytes a rank, at the first collective call on a communicator: who is where,
// and which freed one's devices and plans would serve. Of many ranks that is agreed on before.
// Where opening a device may fail by more than want of memory, which the first plan's cards would
// tell, it is agreed on, too. Nothing of all this where a freed one's things were found when the
// communicator was constructed, or it has one rank.

#include <algorithm>
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
  std::int32_t left;      // of which freed one it has devices and plans; 0: of none
  std::int32_t status;    // why it cannot take part
  std::int32_t may_fail;  // to open a device
  std::int32_t node_status;
  std::int32_t same_neighbors;  // as those of the freed one
  std::uint64_t fragment;       // $NBC_MPI_FRAGMENT
  char node[64];                // $NBC_NODE: ranks that say different ones are on different nodes
  nbc_shm_facts facts;
};
struct Meeting {
  std::vector<Identity> all;
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
  if (shipped()) mine.library = shipped()->checksum;
  mine.target = wish();
  const char *progress = std::getenv("NBC_PROGRESS");
  mine.may_fail = adapter_of(mine.target) || (progress && *progress);
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
  std::int32_t nodes = 0;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::size_t like = 0;
    while (like < rank && !same_node(all[like], all[rank])) ++like;
    node_of[rank] = like < rank ? node_of[like] : nodes++;
  }
  return nodes;
}

bool all_have(const std::vector<Identity> &all, std::int32_t left) {
  return std::ranges::all_of(all, [left](const Identity &i) { return i.left == left; });
}

bool all_have_its_neighbors(const std::vector<Identity> &all) {
  return std::ranges::all_of(all, [](const Identity &i) { return i.same_neighbors != 0; });
}

std::int32_t least_left(const std::vector<Identity> &all) {
  return std::ranges::min_element(all, {}, &Identity::left)->left;
}

bool one_may_fail(const std::vector<Identity> &all) {
  return std::ranges::any_of(all, [](const Identity &i) { return i.may_fail != 0; });
}

int first_status(const std::vector<Identity> &all) {
  const auto at = std::ranges::find_if(all, [](const Identity &i) { return i.status != 0; });
  return at == all.end() ? 0 : at->status;
}

// Whether all ranks could say where they are.
bool all_are_somewhere(const std::vector<Identity> &all) {
  return std::ranges::all_of(all, [](const Identity &i) { return i.node_status == 0; });
}

// Null: all ranks say the same.
const char *difference(const std::vector<Identity> &all) {
  for (const Identity &i : all) {
    if (i.library != all[0].library) return "ranks have different libraries of algorithms";
    if (i.target != all[0].target) return "ranks have different values of NBC_TARGET";
    if (i.fragment != all[0].fragment) return "ranks have different values of NBC_MPI_FRAGMENT";
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

Posted Communicator::agree(int first, int second, int third) {
  proposed_[0] = first;
  proposed_[1] = second;
  proposed_[2] = third;
  Posted p;
  if (ranks_ == 1)
    std::memcpy(agreed_, proposed_, sizeof agreed_);
  else
    p.error = PMPI_Iallreduce(proposed_, agreed_, 3, MPI_INT, MPI_MIN, context_.comm, &p.request);
  return p;
}

std::string Communicator::why_not(int own, int all, const std::string &why) const {
  if (!own) return std::string("another rank: ") + nbc_status_text(all);
  return why.empty() ? nbc_status_text(own) : why;
}

bool Communicator::make_room() try {
  auto meeting = std::make_shared<Meeting>();
  meeting->all.resize(static_cast<std::size_t>(ranks_));
  node_of_.resize(meeting->all.size());
  if (Exchange::is_kept(ranks_)) exchange_->prepare(ranks_, Exchange::with_address);
  meeting_ = std::move(meeting);
  return true;
} catch (const std::bad_alloc &) {
  return false;
}

// Whether the device is ready.
bool Communicator::open(nbc_device *device) try {
  std::vector<nbc_shm_facts> facts;
  std::vector<std::uint32_t> nodes(node_of_.begin(), node_of_.end());
  for (const Identity &i : meeting_->all) facts.push_back(i.facts);
  const nbc_shm_options options = {nodes.data(), 0};
  return nbc_shm_finish(device, facts.data(), &options) == 0;
} catch (const std::bad_alloc &) {
  return false;
}

void Communicator::take_over(std::unique_ptr<Communicator> before, bool same_neighbors) {
  meeting_.reset();
  succeed(*before, same_neighbors);
  if (rank_ == 0) count_communicator(true);
}

Steps Communicator::set_up() {
  if (!shipped()) {
    why_ = why_not_shipped();
  }
  int status = shipped() ? 0 : NBC_ERROR_LIBRARY;
  if (ranks_ == 1) {
    if (std::unique_ptr<Communicator> before = take_predecessor(MPI_COMM_NULL, 1)) {
      succeed(*before, has_neighbors_of(*before));
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

  std::unique_ptr<Communicator> before = take_predecessor(context_.comm, ranks_);
  const std::int32_t left_before = before ? before->number_ : 0;
  const bool same_neighbors = before && has_neighbors_of(*before);
  int error = MPI_SUCCESS;
  if (Exchange::is_kept(ranks_)) {
    if (!make_room()) end_program("no memory is left to meet on a communicator");
  } else {
    if (!make_room()) status = NBC_ERROR_MEMORY;
    // The least and the greatest that ranks propose; what has failed is less than any.
    error = co_await agree(status ? status : left_before, -left_before, same_neighbors);
    if (!error && agreed_[0] > 0 && agreed_[0] == -agreed_[1]) {
      take_over(std::move(before), agreed_[2]);
      co_return;
    }
    if (before) put_back(std::move(before), agreed_[0]);
    if (error || agreed_[0] < 0) {
      give_up(error ? "MPI failed" : why_not(status, agreed_[0], why_));
      co_return;
    }
  }

  Identity mine;
  std::vector<Identity> &all = meeting_->all;
  nbc_device *device = identify(mine, rank_, ranks_);
  mine.left = before ? left_before : 0;
  mine.same_neighbors = same_neighbors;
  if (!status && (status = nbc_mpi_fragment(&mine.fragment)))
    why_ = "NBC_MPI_FRAGMENT is no number of bytes";
  mine.status = status;
  Posted gather;
  gather.error = PMPI_Iallgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE,
                                 context_.comm, &gather.request);
  error = co_await gather;
  if (before && !error && all_have(all, left_before)) {
    if (device) device->close(device);
    take_over(std::move(before), all_have_its_neighbors(all));
    co_return;
  }
  if (before) put_back(std::move(before), error ? 0 : least_left(all));
  Reserve::release(context_);
  nbc_device *devices[2] = {};
  std::size_t count = 0;
  const int failed = error ? NBC_ERROR_DEVICE : first_status(all);
  const char *differ = error ? "MPI failed" : failed ? nullptr : difference(all);
  const bool has_adapter = adapter_of(mine.target), may_fail = one_may_fail(all);
  if (!failed && !differ) {
    nodes_ = number_nodes(all, node_of_);
    number_ = all[0].number;
    has_node_ = all_are_somewhere(all);
    if (has_node_ && !open(device)) status = NBC_ERROR_MEMORY;
    try {
      if (!status && has_adapter)
        status = open_adapter(adapter_of(mine.target), &devices[count], why_);
    } catch (const std::bad_alloc &) {
      status = NBC_ERROR_MEMORY;
    }
    if (!status && !has_adapter) status = nbc_mpi_device(context_.comm, &devices[count]);
    if (!status) ++count;
    if (!status && has_node_) devices[count++] = device;
    const nbc_bootstrap bootstrap = exchange_->bootstrap(rank_, ranks_);
    if (!status) status = nbc_comm_create(&bootstrap, devices, count, &ours_);
    if (may_fail) {
      error = co_await agree(status);
      if (error) differ = "MPI failed";
    }
  }
  if (!ours_ && count > 0) devices[0]->close(devices[0]);
  if (device && (!ours_ || !has_node_)) device->close(device);
  meeting_.reset();
  if (failed || differ || (may_fail && agreed_[0])) {
    give_up(differ ? differ : why_not(status, failed ? failed : agreed_[0], why_));
    co_return;
  }
  broken_ = status;
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
