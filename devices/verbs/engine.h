// SPDX-License-Identifier: BSD-3-Clause
// engine.h - queues as a provider keeps them; inside devices/verbs only.
//
//   device.cpp   queues and registrations: made, connected, ended
//   post.cpp     work requests -> work queue entries
//   poll.cpp     completion queue entries -> work completions
//
// Nothing here is locked: what belongs to one completion queue is used by one thread at a time.

#pragma once

#include <unordered_map>
#include <vector>

#include "devices/verbs/verbs.h"
#include "nbc/mlx5_wqe.h"

namespace verbs {

struct Adapter : nbc_verbs {
  nbc_hca *hca;
  Options options;
};

struct Queue;

struct Completions {
  nbc_hca_cq cq;
  uint32_t next = 0;                             // entry to look at
  std::unordered_map<uint32_t, Queue *> queues;  // by number
};

/// Work requests under way, oldest first: `posted - done` of them.
struct Ring {
  uint32_t most = 0;               // as was asked for
  uint32_t posted = 0, done = 0;   // work requests
  std::vector<uint64_t> ids;       // by the entry that a completion names
  std::vector<uint32_t> requests;  // likewise: which of `posted` it is

  bool full() const { return posted - done == most; }
  void put(uint32_t entry, uint64_t id) {
    ids[entry % ids.size()] = id;
    requests[entry % ids.size()] = posted++;
  }
  /// Ends this request and, as none overtakes another, those before it.
  uint64_t take(uint32_t entry) {
    done = requests[entry % ids.size()] + 1;
    return ids[entry % ids.size()];
  }
};

struct Queue {
  Completions *completions;
  nbc_hca_qp qp;
  bool connected = false;
  uint32_t gather, scatter, inlineBytes;
  uint32_t rail = 0, peerRail = 0;
  uint16_t blocks = 0, received = 0;  // as the doorbell records count
  Ring sends, receives;
};

/// Blocks of the longest entry that a send of so much can become.
uint32_t blocksOfSend(uint32_t gather, uint32_t inlineBytes);

/// A key for peers, from the one for oneself, and back: another number, as adapters may do.
inline uint32_t turnKey(uint32_t key) {
  return key ^ 0x5a5a5a5a;
}

/// A rail's key, from that of rail 0, and back.
inline uint32_t keyOnRail(uint32_t key, uint32_t rail) {
  return key ^ rail * 0x01000100;
}

inline Adapter &self(nbc_verbs *verbs) {
  return *static_cast<Adapter *>(verbs);
}

int postSend(nbc_verbs *, void *qp, ibv_send_wr *);
int postReceive(nbc_verbs *, void *qp, ibv_recv_wr *);
int poll(nbc_verbs *, void *cq, int count, ibv_wc *);

}  // namespace verbs
