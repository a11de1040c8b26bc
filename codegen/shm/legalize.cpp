// SPDX-License-Identifier: BSD-3-Clause
// legalize.cpp - what goes to another node becomes one run of memory; within the node it stays.
//
//   with rank 1 on this node, rank 2 on another:
//
//   %0 = send in[0], in[2] to 1    =>   %0 = send in[0], in[2] to 1
//   %1 = send in[0], in[2] to 2         %1 = copy in[0], in[2] -> packed0 by host
//                                       %2 = send packed0 to 2 after %1

#include "codegen/common/nodes.h"
#include "codegen/messages/messages.h"
#include "codegen/shm/shm.h"

namespace nbcc {

std::vector<Legal> shm_legalize(const Schedule &given, const Schedule *inPlace,
                                const TargetOptions &options, Diag &diag) {
  if (options.protocol == Protocol::eager || options.protocol == Protocol::direct) {
    diag.error({}, "shm: there is no protocol to choose: the runtime knows each message's length");
    return {};
  }
  const auto onThisNode = [&](const Step &message, size_t) {
    return !isRemote(options.topology, given.rank, message.peer);
  };
  return messages::legalize(given, inPlace, options, "shm", onThisNode, diag);
}

}  // namespace nbcc
