// SPDX-License-Identifier: BSD-3-Clause
// trace.cpp - what happened, for timelines and for people who look for a mistake.

#include "devices/hca/engine.h"

namespace hca {

const char *name(Event event) {
  switch (event) {
    case Event::Doorbell:
      return "doorbell";
    case Event::WaitBegin:
      return "wait begin";
    case Event::WaitEnd:
      return "wait end";
    case Event::Enable:
      return "enable";
    case Event::SendStart:
      return "send start";
    case Event::Deliver:
      return "deliver";
    case Event::Completion:
      return "completion";
    case Event::Rnr:
      return "rnr";
    case Event::Error:
      return "error";
  }
  return "?";
}

uint32_t Engine::rankOfPeer(const QueuePair &qp) {
  if (qp.remote) return qp.peerRank;
  const QueuePair *peer = find(qp.peer);
  return (peer ? peer->adapter : qp.adapter)->rank;
}

void Engine::record(Event event, const QueuePair &qp, uint32_t peer, uint32_t index,
                    uint64_t bytes) {
  if (options.trace)
    records.push_back({clock(), qp.adapter->rank, event, qp.number, peer, index, bytes});
}

std::vector<std::string> Fabric::waiting() const {
  auto guard = engine_->lock();
  std::vector<std::string> lines;
  for (const auto &adapter : engine_->adapters) {
    if (!adapter) continue;
    for (uint32_t number : adapter->queuePairs) {
      QueuePair &qp = *engine_->find(number);
      std::ostringstream line;
      line << "rank " << adapter->rank << ": queue pair " << number;
      int left = ahead(qp.limit, qp.next);
      if (adapter->dead || qp.state == State::Error) continue;
      if (qp.waiting && qp.watch.word) {
        Span word;
        line << " waits for a word to be " << (qp.watch.inverted ? "other than " : "")
             << __builtin_bswap64(qp.watch.value);
        if (Engine::check(*adapter, qp.watch.key, qp.watch.word, 8, 0, word))
          line << ", which is " << mlx5_get64(word.at);
      } else if (qp.waiting) {
        CompletionQueue *cq = engine_->findQueue(qp.waitQueue);
        line << " waits for entry " << qp.waitIndex << " of cq " << qp.waitQueue
             << ", which has had " << cq->total;
        // Where it did not begin at 0, the last entry's index is what can be compared.
        if (cq->total != cq->producer) line << ", up to index " << cq->producer - 1;
      } else if (qp.receiverNotReady) {
        line << " has entry " << qp.inFlight[qp.delivered].index << " for rank "
             << engine_->rankOfPeer(qp) << ", whose queue pair " << qp.peer
             << " has no receive posted";
      } else if (qp.partial) {
        line << " has entry " << qp.next << " of more than the " << left << " blocks enabled";
      } else if (qp.state == State::Reset && left > 0) {
        line << " has " << left << " blocks to execute and is not connected";
      } else {
        continue;
      }
      lines.push_back(line.str());
    }
  }
  return lines;
}

}  // namespace hca
