// SPDX-License-Identifier: BSD-3-Clause
// world.h - all ranks of a test on SISCI in software, in one thread; and its functions, to be
// counted or made to fail.
//
// At its end: whatever was made was given back.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "devices/sisci/sisci.h"
#include "nbc/sci.h"
#include "test/runtime/board.h"
#include "test/runtime/messages.h"

/// A template of target mpi for target sci: the records mean the same.
inline build::Bytes forSci(build::Bytes b) {
  std::strcpy(b.header()->target, "sci");
  b.seal();
  return b;
}

/// What tests change: one at a time, for all ranks of the process.
struct Hooks {
  int made = 0;  // handles that were given, and not given back
  uint64_t checks = 0, transfers = 0, elements = 0;
  std::function<sci_sequence_status_t()> check;  // what else a check says; OK: as it is
  std::function<sci_error_t()> transfer;         // what else the start of a transfer says
  std::function<sci_dma_queue_state_t()> state;  // of one that is done
  int usedIds = 0;                               // so many segments' numbers are taken
  int refusals = 0;                              // so many interrupts are refused
  sci_error_t queue = SCI_ERR_OK;                // why no DMA queue is given
  std::vector<uint8_t *> segments;               // of the ranks' plans, mapped
};
inline Hooks hooks;

/// The software's functions, by way of `hooks`.
inline const nbc_sci_api &hooked() {
  static nbc_sci_api api = {
#define NBC_SCI_LINKED(name) .name = &::name,
      NBC_SCI_FUNCTIONS(NBC_SCI_LINKED)
#undef NBC_SCI_LINKED
  };
  api.SCIOpen = [](sci_desc_t *sd, unsigned flags, sci_error_t *error) {
    SCIOpen(sd, flags, error);
    hooks.made += *error == SCI_ERR_OK;
  };
  api.SCIClose = [](sci_desc_t sd, unsigned flags, sci_error_t *error) {
    SCIClose(sd, flags, error);
    EXPECT_EQ(*error, SCI_ERR_OK);
    hooks.made -= *error == SCI_ERR_OK;
  };
  api.SCIPrepareSegment = [](sci_local_segment_t segment, unsigned adapter, unsigned flags,
                             sci_error_t *error) {
    if (hooks.usedIds-- > 0)
      *error = SCI_ERR_SEGMENTID_USED;
    else
      SCIPrepareSegment(segment, adapter, flags, error);
  };
  api.SCIMapLocalSegment = [](sci_local_segment_t segment, sci_map_t *map, size_t offset,
                              size_t size, void *address, unsigned flags, sci_error_t *error) {
    void *memory = SCIMapLocalSegment(segment, map, offset, size, address, flags, error);
    hooks.segments.push_back(static_cast<uint8_t *>(memory));
    return memory;
  };
  api.SCICheckSequence = [](sci_sequence_t sequence, unsigned flags, sci_error_t *error) {
    ++hooks.checks;
    const sci_sequence_status_t as = SCICheckSequence(sequence, flags, error);
    const sci_sequence_status_t said = hooks.check ? hooks.check() : SCI_SEQ_OK;
    return said == SCI_SEQ_OK ? as : said;
  };
  api.SCIStartSequence = [](sci_sequence_t sequence, unsigned flags, sci_error_t *error) {
    const sci_sequence_status_t as = SCIStartSequence(sequence, flags, error);
    const sci_sequence_status_t said = hooks.check ? hooks.check() : SCI_SEQ_OK;
    return said == SCI_SEQ_OK ? as : said;
  };
  api.SCICreateDMAQueue = [](sci_desc_t sd, sci_dma_queue_t *queue, unsigned adapter,
                             unsigned entries, unsigned flags, sci_error_t *error) {
    *error = hooks.queue;
    if (*error == SCI_ERR_OK) SCICreateDMAQueue(sd, queue, adapter, entries, flags, error);
  };
  api.SCIStartDmaTransferVec = [](sci_dma_queue_t queue, sci_local_segment_t local,
                                  sci_remote_segment_t remote, size_t length, dis_dma_vec_t *vector,
                                  sci_cb_dma_t callback, void *context, unsigned flags,
                                  sci_error_t *error) {
    *error = hooks.transfer ? hooks.transfer() : SCI_ERR_OK;
    if (*error != SCI_ERR_OK) return;
    ++hooks.transfers;
    hooks.elements += length;
    SCIStartDmaTransferVec(queue, local, remote, length, vector, callback, context, flags, error);
    EXPECT_EQ(*error, SCI_ERR_OK);
  };
  api.SCIDMAQueueState = [](sci_dma_queue_t queue) {
    const sci_dma_queue_state_t as = SCIDMAQueueState(queue);
    return as == SCI_DMAQUEUE_DONE && hooks.state ? hooks.state() : as;
  };
  api.SCITriggerInterrupt = [](sci_remote_interrupt_t interrupt, unsigned flags,
                               sci_error_t *error) {
    if (hooks.refusals-- > 0)
      *error = SCI_ERR_NOSPC;
    else
      SCITriggerInterrupt(interrupt, flags, error);
  };
  return api;
}

class SciWorld {
 public:
  Board board;
  sisci::Fabric fabric;
  std::vector<Board::Context> contexts;
  std::vector<nbc_device *> devices;  // a communicator closes its own
  std::vector<nbc_comm *> comms;
  std::vector<nbc_plan *> plans;

  static sisci::Options adversary(uint64_t seed) {
    return {.mode = sisci::Mode::Simulated, .seed = seed, .adversarial = seed != 0};
  }

  /// Each rank has a device of its own.
  explicit SciWorld(std::vector<nbc_sci_options> options, sisci::Options how = adversary(0))
      : fabric(how) {
    const auto ranks = int(options.size());
    hooks = {};
    for (int r = 0; r < ranks; ++r) contexts.push_back({&board, r});
    for (int r = 0; r < ranks; ++r) {
      options[size_t(r)].adapter = fabric.addAdapter() + 1;
      nbc_device *device = nullptr;
      const char *why = "";
      EXPECT_EQ(nbc_sci_open_with(&hooked(), &options[size_t(r)], &device, &why), 0) << why;
      devices.push_back(device);
      nbc_bootstrap b = {r, ranks, &contexts[size_t(r)], Board::put, Board::get, nullptr};
      nbc_comm *comm = nullptr;
      EXPECT_EQ(nbc_comm_create(&b, &device, 1, &comm), 0);
      comms.push_back(comm);
    }
  }
  explicit SciWorld(uint32_t ranks, nbc_sci_options options = {}, uint64_t seed = 0)
      : SciWorld(std::vector(ranks, options), adversary(seed)) {}

  const nbc_sci_facts &facts(size_t r) const {
    return reinterpret_cast<nbc_sci *>(devices[r])->facts;
  }

  void addPlans(const MakeTemplate &make, nbc_plan_options options = {}) {
    plans = connectedPlans(comms, [&](uint32_t r) { return forSci(make(r)); }, options);
    all_.insert(all_.end(), plans.begin(), plans.end());
  }

  /// Before the others.
  void freePlan(uint32_t rank) {
    EXPECT_EQ(nbc_plan_free(plans[rank]), 0);
    std::erase(all_, plans[rank]);
    plans[rank] = nullptr;
  }

  ~SciWorld() {
    hooks.check = nullptr;
    fabric.run();
    for (nbc_plan *p : all_) nbc_plan_abandon(p);
    for (nbc_plan *p : all_) EXPECT_EQ(nbc_plan_free(p), 0);
    for (nbc_comm *c : comms) EXPECT_EQ(nbc_comm_free(c), 0);
    EXPECT_EQ(hooks.made, 0) << "something was not given back";
  }

  /// Whether all requests end well. Each look is at one of them; in between, the fabric carries
  /// out a few events, or many.
  bool finish(std::vector<nbc_request> &requests, unsigned seed = 0) {
    constexpr int kIdle = 2000;  // a fault is over some looks later, without any event
    std::mt19937 random(seed);
    std::vector<size_t> open(requests.size());
    for (size_t i = 0; i < open.size(); ++i) open[i] = i;
    for (int idle = 0; !open.empty() && idle < kIdle;) {
      const uint64_t before = fabric.counters().events;
      const size_t left = open.size();
      fabric.run({}, {.events = random() % 4 ? 1 + random() % 40 : UINT64_MAX});
      std::shuffle(open.begin(), open.end(), random);
      const size_t looks = random() % 3 ? 1 + random() % open.size() : open.size();
      for (size_t i = 0; i < looks; ++i) {
        int done = 0;
        if (int status = nbc_test(&requests[open[i]], &done)) {
          ADD_FAILURE() << "request " << open[i] << ": " << nbc_status_text(status);
          return false;
        }
        if (done) open[i] = SIZE_MAX;
      }
      std::erase(open, SIZE_MAX);
      const bool moved = open.size() < left || fabric.counters().events != before;
      idle = moved ? 0 : idle + 1;
    }
    return open.empty();
  }

 private:
  std::vector<nbc_plan *> all_;
};
