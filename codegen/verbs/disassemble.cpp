// SPDX-License-Identifier: BSD-3-Clause
// disassemble.cpp - --emit=resources: what all message targets say, and what a plan takes of an
// adapter.
//
//   queue pairs: 2
//   doorbells: 3               of sends, at most: one for each peer and each stretch between WAITs
//   work requests: 4           sends to one peer in one call, at most
//   receives: 4                from one peer
//   gathered: 2                runs of memory of one send, at most

#include <algorithm>
#include <ostream>
#include <vector>

#include "codegen/messages/messages.h"
#include "codegen/messages/view.h"
#include "codegen/verbs/verbs.h"

namespace nbcc {
namespace {

struct Needs {
  uint32_t doorbells = 0, sends = 0, receives = 0, gathered = 0, waits = 0;

  void atLeast(const Needs &n) {
    doorbells = std::max(doorbells, n.doorbells);
    sends = std::max(sends, n.sends);
    receives = std::max(receives, n.receives);
    gathered = std::max(gathered, n.gathered);
    waits = std::max(waits, n.waits);
  }
};

Needs needsOf(const messages::View &view, const nbc_variant &variant) {
  struct Peer {
    uint32_t sends = 0, receives = 0, stretch = 0;
  };
  Needs n;
  std::vector<Peer> peers(view.peers.size());
  const auto records = view.records(variant);
  for (uint32_t k = 0; k < records.size(); ++k) {
    if (records[k].op == NBC_MESSAGE_WAIT) {
      ++n.waits;
      continue;
    }
    Peer &peer = peers[records[k].peer];
    if (records[k].op == NBC_MESSAGE_RECV) {
      n.receives = std::max(n.receives, ++peer.receives);
      continue;
    }
    n.sends = std::max(n.sends, ++peer.sends);
    if (peer.stretch <= n.waits) ++n.doorbells;  // the first since the last WAIT
    peer.stretch = n.waits + 1;
    for (const nbc_reloc &r : view.fills(variant, records[k]))
      n.gathered = std::max(n.gathered, r.rule == NBC_RELOC_PIECES ? r.extra + 1 : 1);
  }
  return n;
}

}  // namespace

void verbs_printResources(const Template &t, std::ostream &out) {
  messages::printResources(t, out);
  const messages::View view(t);
  Needs n;
  for (const nbc_variant &variant : view.variants) n.atLeast(needsOf(view, variant));
  out << "queue pairs: " << view.peers.size() << "\n"
      << "doorbells: " << n.doorbells << "\n"
      << "work requests: " << n.sends << "\n"
      << "receives: " << n.receives << "\n"
      << "gathered: " << n.gathered << "\n";
}

}  // namespace nbcc
