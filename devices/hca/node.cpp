// SPDX-License-Identifier: BSD-3-Clause
// node.cpp - lanes of a node's memory, in simulated time.
//
// Each end of a lane has what has arrived and what was posted to receive, both in order; a message
// moves when it has both. Arrivals keep the order of the lane.

#include "devices/hca/node.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>

namespace hca {

namespace {

struct Arrived {
  std::vector<std::byte> bytes;
  nbc_shm_message *sender;  // of a long one, which reads from there; null: it is done
  uint32_t rank;            // of the sender
};

struct Lane {
  uint32_t rank = 0;             // of the peer
  nbc_shm_lanes *far = nullptr;  // the peer's end; null: not connected, or gone
  uint32_t there = 0;            // its number there
  std::deque<Arrived> arrived;
  std::deque<nbc_shm_message *> posted;
  Time last = 0;        // when the latest message to the peer arrives
  bool failed = false;  // a message was of another length than its receive
};

struct Rank : nbc_shm {
  NodeMemory::Shared *shared;
  uint32_t rank;
  bool dead = false;
};

}  // namespace

}  // namespace hca

/// Those of one plan.
struct nbc_shm_lanes {
  hca::Rank *of;
  uint64_t number;
  uint64_t eagerBytes;
  std::vector<hca::Lane> lanes;
};

namespace hca {

struct NodeMemory::Shared {
  Shared(Fabric &f, NodeOptions o) : fabric(f), options(std::move(o)), random(options.seed) {}

  Time late() {
    return options.adversarial
               ? static_cast<Time>(random() % (random() % 4 ? 2000 : 50'000)) * nanosecond
               : 0;
  }

  Fabric &fabric;
  const NodeOptions options;
  std::mt19937_64 random;
  std::vector<std::unique_ptr<Rank>> ranks;
  std::vector<nbc_shm_lanes *> plans;  // by number; null: it has ended
  uint64_t messages = 0;
};

namespace {

void move(std::byte *bytes, const nbc_shm_message &m, bool gather) {
  for (uint32_t i = 0; i < m.run_count; ++i) {
    const iovec &run = m.runs[i];
    if (run.iov_len == 0) continue;
    if (gather)
      std::memcpy(bytes, run.iov_base, run.iov_len);
    else
      std::memcpy(run.iov_base, bytes, run.iov_len);
    bytes += run.iov_len;
  }
}

std::vector<std::byte> gathered(const nbc_shm_message &m) {
  std::vector<std::byte> bytes(m.bytes);
  move(bytes.data(), m, true);
  return bytes;
}

/// The first that has arrived goes where the first that was posted says. Negative: their lengths
/// differ.
int deliver(Lane &lane) {
  while (!lane.arrived.empty() && !lane.posted.empty()) {
    Arrived &a = lane.arrived.front();
    nbc_shm_message &m = *lane.posted.front();
    if (a.sender) a.bytes = gathered(*a.sender);
    if (a.bytes.size() != m.bytes) return NBC_ERROR_DEVICE;
    move(a.bytes.data(), m, false);
    m.open = 0;
    if (a.sender) a.sender->open = 0;
    lane.posted.pop_front();
    lane.arrived.pop_front();
  }
  return 0;
}

int send(nbc_shm_lanes *lanes, uint32_t number, nbc_shm_message *m) {
  NodeMemory::Shared &s = *lanes->of->shared;
  Lane &lane = lanes->lanes[number];
  if (!lane.far || s.ranks[lane.rank]->dead) return NBC_ERROR_DEVICE;
  ++s.messages;
  const bool isLong = m->bytes > lanes->eagerBytes;
  m->open = isLong;
  auto a = std::make_shared<Arrived>();
  *a = {{}, isLong ? m : nullptr, lanes->of->rank};
  if (!isLong) a->bytes = gathered(*m);
  s.fabric.hostBusy(lanes->of->rank, s.options.overhead);
  const Time carried = static_cast<Time>(m->bytes) * s.options.perByte;
  const Time due = s.options.latency + carried + s.late();
  // Never at the same time: which comes first then is the fabric's to say.
  lane.last = std::max(s.fabric.hostFree(lanes->of->rank) + due, lane.last + 1);
  s.fabric.at(lane.last, lane.rank, [&s, a, plan = lane.far->number, there = lane.there] {
    nbc_shm_lanes *far = s.plans[plan];
    if (!far) return;
    far->lanes[there].arrived.push_back(std::move(*a));
    const uint32_t sender = far->lanes[there].arrived.back().rank;
    far->lanes[there].failed |= deliver(far->lanes[there]) < 0;
    s.fabric.at(s.fabric.now(), sender, [] {});  // it may be done
  });
  return !isLong;
}

int receive(nbc_shm_lanes *lanes, uint32_t number, nbc_shm_message *m) {
  Lane &lane = lanes->lanes[number];
  NodeMemory::Shared &s = *lanes->of->shared;
  m->open = 1;
  lane.posted.push_back(m);
  const bool waits = !lane.arrived.empty() && lane.arrived.front().sender;
  const uint32_t sender = waits ? lane.arrived.front().rank : 0;
  if (int status = deliver(lane)) return status;
  if (waits) s.fabric.at(s.fabric.now(), sender, [] {});
  return !m->open;
}

int near(const nbc_shm *device, uint32_t rank) {
  const auto *own = static_cast<const Rank *>(device);
  const std::vector<uint32_t> &nodes = own->shared->options.nodes;
  return nodes[rank] == nodes[own->rank];
}

int make(nbc_shm *device, const nbc_shm_wish *wish, nbc_shm_lanes **result, const char **) {
  auto *own = static_cast<Rank *>(device);
  auto lanes = std::make_unique<nbc_shm_lanes>();
  lanes->of = own;
  lanes->number = own->shared->plans.size();
  lanes->eagerBytes = wish->eager_bytes;
  for (uint32_t i = 0; i < wish->count; ++i) lanes->lanes.push_back({.rank = wish->ranks[i]});
  own->shared->plans.push_back(lanes.get());
  *result = lanes.release();
  return 0;
}

void describe(const nbc_shm_lanes *lanes, uint32_t lane, nbc_shm_address *address) {
  *address = {};
  address->bytes = lanes->number;
  address->offset = lane;
}

int connect(nbc_shm_lanes *lanes, uint32_t lane, const nbc_shm_address *address) {
  const std::vector<nbc_shm_lanes *> &plans = lanes->of->shared->plans;
  if (address->bytes >= plans.size() || !plans[address->bytes]) return NBC_ERROR_BOOTSTRAP;
  lanes->lanes[lane].far = plans[address->bytes];
  lanes->lanes[lane].there = static_cast<uint32_t>(address->offset);
  return 0;
}

const void *hot(const nbc_shm_lanes *lanes, uint32_t, size_t *bytes) {
  *bytes = sizeof *lanes;
  return lanes;
}

size_t memory(const nbc_shm_lanes *) {
  return 0;
}

/// The fabric's events do.
int moveLane(nbc_shm_lanes *lanes, uint32_t lane) {
  return lanes->lanes[lane].failed ? NBC_ERROR_DEVICE : 0;
}

int rest(nbc_shm_lanes *) {
  return 0;
}

int lost(nbc_shm_lanes *lanes) {
  for (const Lane &lane : lanes->lanes)
    if (!lane.posted.empty() && lanes->of->shared->ranks[lane.rank]->dead) return NBC_ERROR_DEVICE;
  return 0;
}

int close(nbc_shm_lanes *lanes) {
  if (!lanes) return 0;
  NodeMemory::Shared &s = *lanes->of->shared;
  s.plans[lanes->number] = nullptr;
  for (nbc_shm_lanes *other : s.plans)
    for (size_t i = 0; other && i < other->lanes.size(); ++i)
      if (other->lanes[i].far == lanes) other->lanes[i].far = nullptr;
  delete lanes;
  return 0;
}

const nbc_shm_ops operations = {
    .send = send,
    .receive = receive,
    .near = near,
    .make = make,
    .describe = describe,
    .connect = connect,
    .hot = hot,
    .memory = memory,
    .move = moveLane,
    .rest = rest,
    .lost = lost,
    .close = close,
};

}  // namespace

NodeMemory::NodeMemory(Fabric &fabric, NodeOptions options)
    : shared_(std::make_unique<Shared>(fabric, std::move(options))) {}

NodeMemory::~NodeMemory() = default;

nbc_shm *NodeMemory::add() {
  auto rank = std::make_unique<Rank>();
  rank->device.target = NBC_SHM_TARGET;
  rank->ops = &operations;
  rank->shared = shared_.get();
  rank->rank = static_cast<uint32_t>(shared_->ranks.size());
  return shared_->ranks.emplace_back(std::move(rank)).get();
}

uint64_t NodeMemory::messages() const {
  return shared_->messages;
}

void NodeMemory::kill(uint32_t rank) {
  shared_->ranks.at(rank)->dead = true;
}

}  // namespace hca
