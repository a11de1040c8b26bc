// SPDX-License-Identifier: BSD-3-Clause
// rig.h - ranks on a network of software, and calls that are expected to succeed.

#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "devices/sisci/sisci.h"

namespace sisci {

inline Options simulated(uint64_t seed = 0) {
  return {.mode = Mode::Simulated, .seed = seed, .adversarial = seed != 0};
}
inline Options realTime(uint64_t seed = 0) {
  return {.seed = seed, .adversarial = seed != 0};
}
inline Options faultless(Options o) {
  o.faults = 0;
  return o;
}

/// Expects success, in front of the last argument: SCIOpen(&sd, 0, Ok()).
struct Ok {
  sci_error_t error = SCI_ERR_TIMEOUT;
  operator sci_error_t *() { return &error; }
  ~Ok() { EXPECT_EQ(error, SCI_ERR_OK) << SCIGetErrorString(error); }
};
/// Expects this error.
struct Fails {
  explicit Fails(sci_error_t e) : expected(e) {}
  sci_error_t expected, error = SCI_ERR_OK;
  operator sci_error_t *() { return &error; }
  ~Fails() { EXPECT_EQ(error, expected) << SCIGetErrorString(error); }
};

/// Two or more ranks, whose segments all others can connect to.
struct Rig {
  struct Rank {
    unsigned adapter, node;
    sci_desc_t sd;
  };
  std::unique_ptr<Fabric> fabric;
  std::vector<Rank> ranks;

  explicit Rig(const Options &o = simulated(), uint32_t n = 2)
      : fabric(std::make_unique<Fabric>(o)) {
    SCIInitialize(0, Ok());
    for (uint32_t i = 0; i < n; ++i) {
      Rank r;
      r.adapter = fabric->addAdapter();
      r.node = fabric->node(r.adapter);
      SCIOpen(&r.sd, 0, Ok());
      ranks.push_back(r);
    }
  }
  ~Rig() {
    SCITerminate();  // takes down whatever a test has left
    fabric.reset();
  }

  sci_local_segment_t prepared(uint32_t rank, unsigned id, size_t bytes, unsigned flags = 0) {
    sci_local_segment_t s = nullptr;
    SCICreateSegment(ranks[rank].sd, &s, id, bytes, nullptr, nullptr, flags, Ok());
    SCIPrepareSegment(s, ranks[rank].adapter, 0, Ok());
    return s;
  }
  sci_local_segment_t exported(uint32_t rank, unsigned id, size_t bytes) {
    sci_local_segment_t s = prepared(rank, id, bytes);
    SCISetSegmentAvailable(s, ranks[rank].adapter, 0, Ok());
    return s;
  }
  sci_remote_segment_t connected(uint32_t rank, uint32_t owner, unsigned id) {
    sci_remote_segment_t s = nullptr;
    SCIConnectSegment(ranks[rank].sd, &s, ranks[owner].node, id, ranks[rank].adapter, nullptr,
                      nullptr, SCI_INFINITE_TIMEOUT, 0, Ok());
    return s;
  }
  sci_dma_queue_t queue(uint32_t rank, unsigned entries = 16) {
    sci_dma_queue_t q = nullptr;
    SCICreateDMAQueue(ranks[rank].sd, &q, ranks[rank].adapter, entries, 0, Ok());
    return q;
  }
};

template <class T>
T *mapped(sci_local_segment_t s, size_t bytes, sci_map_t *map = nullptr) {
  sci_map_t ignored;
  return static_cast<T *>(SCIMapLocalSegment(s, map ? map : &ignored, 0, bytes, nullptr, 0, Ok()));
}

/// A mapped remote segment with its sequence.
template <class T>
struct Far {
  volatile T *memory = nullptr;
  sci_map_t map = nullptr;
  sci_sequence_t sequence = nullptr;

  Far(sci_remote_segment_t s, size_t bytes, size_t offset = 0) {
    memory =
        static_cast<volatile T *>(SCIMapRemoteSegment(s, &map, offset, bytes, nullptr, 0, Ok()));
    SCICreateMapSequence(map, &sequence, 0, Ok());
  }
};

/// One rank's segment, and the other rank's way to it.
struct Pair {
  Rig rig;
  size_t bytes;
  sci_local_segment_t here;
  sci_remote_segment_t there;
  uint64_t *memory;  // rank 0's
  sci_map_t local;
  Far<uint64_t> far;  // rank 1's

  explicit Pair(const Options &o = simulated(), size_t n = 8192)
      : rig(o),
        bytes(n),
        here(rig.exported(0, 7, n)),
        there(rig.connected(1, 0, 7)),
        memory(mapped<uint64_t>(here, n, &local)),
        far(there, n) {}
  void settle() { rig.fabric->run(); }
  void barrier() { SCIStoreBarrier(far.sequence, 0); }
};

}  // namespace sisci
