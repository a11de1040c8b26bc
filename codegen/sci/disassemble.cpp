// SPDX-License-Identifier: BSD-3-Clause
// disassemble.cpp - --emit=resources: what all message targets say, and what a plan takes of an
// adapter where its options say nothing else.
//
//   connections: 2             to segments of peers, each with a sequence
//   maps: 3                    of the peers' areas, and of the own segment
//   DMA queues: 2              at most: of as many as the adapter gives, one for each that is sent
//   to slots: 128                 for what peers send segment bytes: 2113536     with areas, flags,
//   and staging

#include <algorithm>
#include <ostream>
#include <vector>

#include "codegen/messages/messages.h"
#include "codegen/messages/view.h"
#include "codegen/sci/sci.h"
#include "nbc/sci_segment.h"

namespace nbcc {
namespace {

/// With each peer, in the variant that has most with it.
std::vector<nbc_sci_traffic> trafficOf(const messages::View &view) {
  std::vector<nbc_sci_traffic> most(view.peers.size());
  for (const nbc_variant &variant : view.variants) {
    std::vector<nbc_sci_traffic> all(view.peers.size());
    for (const nbc_message_record &r : view.records(variant))
      if (r.op != NBC_MESSAGE_WAIT)
        ++(r.op == NBC_MESSAGE_SEND ? all[r.peer].sends : all[r.peer].receives);
    for (size_t p = 0; p < all.size(); ++p) {
      most[p].sends = std::max(most[p].sends, all[p].sends);
      most[p].receives = std::max(most[p].receives, all[p].receives);
    }
  }
  return most;
}

}  // namespace

void sci_printResources(const Template &t, std::ostream &out) {
  messages::printResources(t, out);
  std::vector<nbc_sci_traffic> peers = trafficOf(messages::View(t));
  uint64_t slots = 0;
  size_t sentTo = 0;
  for (nbc_sci_traffic &p : peers) {
    sentTo += p.sends > 0;
    p.sends *= NBC_SCI_DEPTH;
    p.receives *= NBC_SCI_DEPTH;
  }
  const auto count = static_cast<uint32_t>(peers.size());
  const uint32_t limit =
      nbc_sci_limit(peers.data(), count, NBC_SCI_SLOT_BYTES, NBC_SCI_SLOT_MEMORY);
  for (const nbc_sci_traffic &p : peers) slots += nbc_sci_slots(p.receives, limit);
  out << "connections: " << count << "\n"
      << "maps: " << (count ? count + 1 : 0) << "\n"
      << "DMA queues: " << std::min<size_t>(sentTo, NBC_SCI_DMA_QUEUES) << "\n"
      << "slots: " << slots << "\n"
      << "segment bytes: " << nbc_sci_segment_bytes(peers.data(), count, NBC_SCI_SLOT_BYTES, limit)
      << "\n";
}

}  // namespace nbcc
