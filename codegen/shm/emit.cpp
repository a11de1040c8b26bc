// SPDX-License-Identifier: BSD-3-Clause
// emit.cpp - legal schedules as a template of records; of peers on other nodes it says so.

#include "codegen/common/nodes.h"
#include "codegen/messages/messages.h"
#include "codegen/shm/shm.h"

namespace nbcc {

Template shm_emit(std::span<const Legal> legals, const TargetOptions &options) {
  const int64_t rank = legals[0].schedule.rank;
  const auto remote = [&](int64_t peer) { return isRemote(options.topology, rank, peer); };
  return messages::emit(legals, options, shm, remote);
}

}  // namespace nbcc
