// SPDX-License-Identifier: BSD-3-Clause
// messages.cpp - ends of messages are posted, meet, and are done.

#include <algorithm>
#include <cstring>

#include "devices/p2p/engine.h"

namespace p2p {

namespace {
uint64_t key(uint32_t peer, uint32_t tag) {
  return uint64_t{peer} << 32 | tag;
}
}  // namespace

void Engine::dropIfUnused(Post &p) {
  if (p.held || p.uses) return;
  if (p.match) p.match->match = nullptr;
  endpoints[p.rank]->posts.erase(&p);
  delete &p;
}

void Engine::release(Post &p) {
  --p.uses;
  dropIfUnused(p);
}

void Engine::end(Post &p, int state) {
  if (p.state.load(std::memory_order_relaxed)) return;
  if (options.adversarial && !simulated) p.unseen = static_cast<uint32_t>(below(4));
  p.state.store(state, std::memory_order_release);
  Endpoint &e = *endpoints[p.rank];
  if (simulated) {
    ended.push_back(p.rank);
  } else {
    e.changes.fetch_add(1);
    e.changed.notify_all();
  }
}

/// MPI gives memory to a message until the program has seen that it is done; of two that share
/// some, neither may write.
void Engine::lookAtMemory(const Endpoint &e, const Post &p) {
  if (p.bytes == 0) return;
  for (const Post *other : e.posts) {
    if (other == &p || !other->held || (p.isSend && other->isSend)) continue;
    if (other->memory < p.memory + p.bytes && p.memory < other->memory + other->bytes)
      found("rank ", e.rank, ": a ", p.isSend ? "send" : "receive", " of ", p.bytes,
            " bytes shares memory with a ", other->isSend ? "send to" : "receive from", " rank ",
            other->peer, " that is under way");
  }
}

int Engine::post(Endpoint &e, bool isSend, uint8_t *memory, uint64_t bytes, uint32_t peer,
                 uint32_t tag, union nbc_p2p_message *message) {
  if (peer >= endpoints.size() || peer == e.rank || tag > options.largestTag || (bytes && !memory))
    return NBC_ERROR_ARGUMENT;
  if (bytes > options.longest) return NBC_ERROR_TOO_LONG;
  Endpoint &other = *endpoints[peer];
  if (e.dead || other.dead) return NBC_ERROR_DEVICE;
  auto owner = std::make_unique<Post>();
  Post &p = *owner;
  p.rank = e.rank, p.peer = peer, p.tag = tag, p.isSend = isSend;
  p.memory = memory, p.bytes = bytes, p.number = posts++;
  e.posts.insert(owner.release());
  message->pointer = &p;
  ++counters.events;
  if (options.adversarial) {
    lookAtMemory(e, p);
    if (!isSend && bytes && below(2)) std::memset(memory, 0xdb, bytes);
  }
  p.buffered = isSend && (options.adversarial ? below(2) == 0 : simulated);
  if (p.buffered) {
    ++counters.buffered;
    p.copy = std::make_unique_for_overwrite<uint8_t[]>(bytes);
    if (bytes) std::memcpy(p.copy.get(), memory, bytes);
    if (!simulated) end(p, 1);
  }
  e.hostFree = std::max(e.hostFree, now) + options.cost.overhead;
  if (p.buffered && simulated) depart(p, e.hostFree);

  Unmatched &here = isSend ? other.unmatched[key(e.rank, tag)] : e.unmatched[key(peer, tag)];
  std::deque<Post *> &partners = isSend ? here.receives : here.sends;
  if (partners.empty()) {
    (isSend ? here.sends : here.receives).push_back(&p);
    ++p.uses;
    return NBC_OK;
  }
  Post &partner = *partners.front();
  partners.pop_front();
  if (isSend)
    meet(p, partner);
  else
    meet(partner, p);
  release(partner);
  return NBC_OK;
}

void Engine::meet(Post &send, Post &receive) {
  send.match = &receive;
  receive.match = &send;
  if (send.bytes != receive.bytes) {
    found("rank ", receive.rank, " receives ", receive.bytes, " bytes where rank ", send.rank,
          " sends ", send.bytes);
    end(send, NBC_ERROR_DEVICE);
    end(receive, NBC_ERROR_DEVICE);
    return;
  }
  if (!simulated)
    arrive(send);
  else if (send.arrived)
    schedule(send, true, now);
  else if (!send.buffered)  // the receiver has said that it is ready
    depart(send, std::max(endpoints[send.rank]->hostFree, endpoints[receive.rank]->hostFree) +
                     options.cost.latency);
}

void Engine::arrive(Post &send) {
  send.arrived = true;
  Post *receive = send.match;
  if (!receive || receive->state.load(std::memory_order_relaxed)) return;
  if (send.bytes)
    std::memcpy(receive->memory, send.buffered ? send.copy.get() : send.memory, send.bytes);
  ++counters.messages;
  counters.bytes += send.bytes;
  if (options.trace)
    transfers.push_back({send.rank, receive->rank, send.sent, clock(), send.bytes});
  end(*receive, 1);
  if (send.buffered) return;
  if (simulated)
    schedule(send, false, now);
  else
    end(send, 1);
}

int Engine::test(Post &p) {
  if (int state = p.state.load(std::memory_order_acquire); state == 0) return 0;
  auto guard = lock();
  if (p.unseen > 0) {
    --p.unseen;
    return 0;
  }
  int state = p.state.load(std::memory_order_relaxed);
  p.held = false;
  dropIfUnused(p);
  return state;
}

/// A receive is taken back; a send can be, since it can be buffered now.
void Engine::forget(Post &p) {
  p.held = false;
  if (p.isSend) {
    if (!p.buffered && p.bytes) {
      p.copy = std::make_unique_for_overwrite<uint8_t[]>(p.bytes);
      std::memcpy(p.copy.get(), p.memory, p.bytes);
    }
    p.arrived = p.arrived || (!p.buffered && !p.match);  // it waits at the receiver now
    p.buffered = true;
  } else if (!p.match && p.uses) {
    std::deque<Post *> &list = endpoints[p.rank]->unmatched[key(p.peer, p.tag)].receives;
    std::erase(list, &p);
    --p.uses;
  }
  dropIfUnused(p);
}

void Engine::kill(Endpoint &dead) {
  dead.dead = true;
  for (const auto &e : endpoints)
    for (Post *p : e->posts)
      if (p->rank == dead.rank || p->peer == dead.rank) end(*p, NBC_ERROR_DEVICE);
}

}  // namespace p2p
