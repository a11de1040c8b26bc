// SPDX-License-Identifier: BSD-3-Clause
// remote.cpp - the worker's turn at the wire: packets come, peers go.
//
// A peer that is gone, or talks nonsense, is only marked at first; at the end of the turn what it
// had still sent is taken in, and its sockets are closed. To queue pairs it is from then on one
// that never answers: they try again as often as they were told to, and fail.

#include <sys/epoll.h>

#include "devices/hca/engine.h"

namespace hca {

namespace {
constexpr int most = 32;    // packets of a socket in a turn
constexpr int last = 4096;  // in the last turn: more than a socket holds
}  // namespace

/// Whether there was anything.
bool Engine::takePackets() {
  epoll_event events[most];
  int count = epoll_wait(wire->epoll, events, most, 0);
  for (int i = 0; i < count; ++i) {
    int socket = events[i].data.fd;
    if (socket == wire->listener) {
      wire->accept();
      continue;
    }
    auto found = wire->sockets.find(socket);
    if (found == wire->sockets.end()) continue;
    Peer *peer = found->second;
    if (!peer) {
      if (!wire->greet(socket)) continue;
      peer = wire->sockets[socket];
      if (!peer) continue;
    }
    if (events[i].events & (EPOLLHUP | EPOLLERR) || socket == peer->process) {
      doom(*peer, "");
      continue;
    }
    if (events[i].events & EPOLLOUT && socket == peer->requests) {
      peer->full = false;
      wire->watch(socket, EPOLLIN);
      pump(*peer);
    }
    if (events[i].events & EPOLLOUT && socket == peer->served) {
      peer->repliesFull = false;
      sendReplies(*peer);
    }
    if (events[i].events & EPOLLIN) readSocket(*peer, socket, most);
  }
  bool any = count > 0 || !doomed.empty();
  while (!doomed.empty()) {
    Peer *peer = doomed.back();
    doomed.pop_back();
    bury(*peer);
  }
  return any;
}

/// False: there was nothing left, or never will be.
bool Engine::readSocket(Peer &peer, int socket, int packets) {
  bool requests = socket == peer.served;
  while (packets-- && !(requests && peer.paused && !peer.doomed)) {
    Packet p;
    int64_t bytes = wire->receive(socket, p);
    if (bytes == -1) return false;
    bool fine = bytes >= 0;
    if (fine) {
      auto count = static_cast<uint32_t>(bytes);
      fine = requests ? takeRequest(peer, p, wire->piece.get(), count)
                      : takeReply(peer, p, wire->piece.get(), count);
    }
    if (!fine) {
      doom(peer, bytes == -3 ? "" : "has sent a packet that makes no sense");
      return false;
    }
  }
  return true;
}

void Engine::doom(Peer &peer, const char *why) {
  if (peer.doomed) return;
  peer.doomed = true;
  doomed.push_back(&peer);
  if (*why && findings.size() < 1000) findings.push_back(std::string("a peer ") + why);
}

void Engine::bury(Peer &peer) {
  for (int socket : {peer.requests, peer.served})
    if (socket >= 0) readSocket(peer, socket, last);
  wire->closeAll(peer);
  peer.lost = true;
  peer.replies.clear();
  peer.wanting.clear();
  for (uint32_t number : peer.queuePairs) {
    QueuePair &qp = *find(number);
    qp.wanting = false;
    for (uint32_t i = 0; i < qp.inFlight.size(); ++i) {
      const Message &m = qp.inFlight[i];
      if (m.stage != Stage::Away && !(m.stage == Stage::Sent && m.moved)) continue;
      goBack(qp, i);
      break;
    }
    if (qp.state == State::Ready) postDeliver(qp);
    peerIsGone(qp);
  }
}

/// It takes nothing any more; so its peer need not wait for it, either.
void Engine::sayFarewell(QueuePair &qp) {
  if (!options.keepAlive || !qp.remote || qp.remote->doomed) return;
  qp.remote->farewells.push({qp.number, qp.peer});
  pump(*qp.remote);
}

/// What it has sent is tried again, and fails in time. If there is nothing, a timeout decides.
void Engine::peerIsGone(QueuePair &qp) {
  if (!options.keepAlive || qp.state != State::Ready || qp.expires) return;
  qp.expires = now + ackTimeout(qp.retry);
  post(Kind::Expire, qp.number, qp.expires);
}

void Engine::expire(QueuePair &qp) {
  if (qp.state != State::Ready || !qp.expires || now < qp.expires || !qp.inFlight.empty()) return;
  fail(qp, MLX5_RETRY_EXCEEDED);
  wakeHost(*qp.adapter);
}

}  // namespace hca
