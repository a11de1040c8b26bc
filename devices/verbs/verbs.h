// SPDX-License-Identifier: BSD-3-Clause
// verbs.h - struct nbc_verbs (nbc/verbs.h) on the software HCA.
//
//   hca::Fabric fabric({.mode = hca::Mode::Simulated});
//   verbs::Device rank0 = verbs::deviceOn(fabric.addAdapter());
//   verbs::Device rank1 = verbs::deviceOn(fabric.addAdapter(), {.rendezvous = NBC_VERBS_READ});
//   rank0->ops->create_cq(rank0.get(), 64, &cq); ...
//
// What a provider such as libmlx5 does: work requests become mlx5 work queue entries, entries of
// completion queues become work completions. Unsignalled sends are retired by a later completion,
// each chain costs one doorbell, and consumer indices are kept up to date, so that a queue which is
// too short overruns. Time and the adversary are the fabric's.
//
// Stricter than hardware, where that finds mistakes:
//
//   - keys for peers are not the keys for oneself; nor are those of one rail those of another
//   - of a completion that is an error, opcode and lengths are rubbish
//   - posting more than a queue was asked to hold, or before it is connected, is refused
//
// Queues belong to who made them, and have to be destroyed before their device.

#pragma once

#include <cstdint>
#include <memory>

#include "nbc/hca.h"
#include "nbc/verbs.h"

namespace verbs {

/// What the device says of itself. Where the HCA can do less, less.
struct Options {
  nbc_verbs_rendezvous rendezvous = NBC_VERBS_WRITE;
  nbc_transfer transfer = NBC_TRANSFER_AUTO;
  nbc_verbs_offers offers = NBC_VERBS_KEPT;
  uint32_t patience = 0;  // nanoseconds, which do not pass in simulated time
  uint32_t rnrTimer = 0;  // a code; 0: as the number of peers makes it
  uint64_t longest = 1u << 30;
  uint32_t gather = 30;
  uint32_t queue = 4096;
  uint32_t completions = 1u << 22;
  uint32_t inlineBytes = 220;
  uint32_t reads = 16;
  /// Says that it pages on demand. It always does: what it knows is addresses.
  bool onDemand = false;
  nbc_verbs_memory memory = NBC_VERBS_MEMORY_AUTO;
  /// Ports: the HCA has one, but keys are another rail's.
  uint32_t rails = 1;
  /// Queues and completion queues begin at this entry, for tests that indices wrap.
  uint32_t firstIndex = 0;
};

struct Close {
  void operator()(nbc_verbs *) const;
};
using Device = std::unique_ptr<nbc_verbs, Close>;

/// The adapter must outlive the device, which nbc_comm_free leaves open.
Device deviceOn(nbc_hca *, const Options & = {});

}  // namespace verbs
