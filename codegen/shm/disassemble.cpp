// SPDX-License-Identifier: BSD-3-Clause
// disassemble.cpp - --emit=resources: what all message targets say, and what a plan takes of a
// node's shared memory.
//
//   lanes to peers: 1          rings of cells, each of as many as there are sends in one call
//   lanes from peers: 1
//   peers on other nodes: 0
//   records: 6                 of the longest variant

#include <algorithm>
#include <ostream>
#include <vector>

#include "codegen/messages/messages.h"
#include "codegen/messages/view.h"
#include "codegen/shm/shm.h"

namespace nbcc {

void shm_printResources(const Template &t, std::ostream &out) {
  messages::printResources(t, out);
  const messages::View view(t);
  std::vector<bool> to(view.peers.size()), from(view.peers.size());
  size_t records = 0, remote = 0;
  for (const nbc_variant &variant : view.variants) {
    records = std::max(records, view.records(variant).size());
    for (const nbc_message_record &r : view.records(variant)) {
      if (r.op == NBC_MESSAGE_WAIT || view.isRemote(r.peer)) continue;
      (r.op == NBC_MESSAGE_SEND ? to : from)[r.peer] = true;
    }
  }
  for (uint32_t peer = 0; peer < view.peers.size(); ++peer) remote += view.isRemote(peer);
  out << "lanes to peers: " << std::count(to.begin(), to.end(), true) << "\n"
      << "lanes from peers: " << std::count(from.begin(), from.end(), true) << "\n"
      << "peers on other nodes: " << remote << "\n"
      << "records: " << records << "\n";
}

}  // namespace nbcc
