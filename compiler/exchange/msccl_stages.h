// SPDX-License-Identifier: BSD-3-Clause
// msccl_stages.h - what the stages from thread blocks to schedules hand on to each other;
// scheduleMsccl() calls them in order.
//
//     connectMsccl    thread blocks => connections whose ends fit
//     runMsccl        connections   => an order in which all steps can be carried out
//     placeMsccl      that order    => where in their blocks chunks lie, wherever they are
//     declareMsccl    these places  => schedules with buffers, but no steps yet
//     scheduleMsccl   all of these  => schedules, in which the same happens

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/exchange/msccl.h"

namespace nbcc {

/// How many chunks there are.
struct MscclChunks {
  int64_t block = 1;        // in a block, or a vector
  int64_t in = 0, out = 0;  // in `i` and `o`
};

/// From one gpu to another on a channel; and which thread blocks use it, by their place
/// in MscclNet::blocks. -1: none does.
struct MscclConnection {
  int64_t from = 0, to = 0, channel = 0;
  int32_t sender = -1, receiver = -1;
  int64_t mostChunks = 0;  // of a message
};

/// A thread block and its connections, by their place in MscclNet::connections; -1: none.
struct MscclEnds {
  int64_t gpu = 0;
  const MscclBlock *block = nullptr;
  int32_t out = -1, in = -1;
};

/// All thread blocks of all gpus.
struct MscclNet {
  MscclChunks chunks;
  std::vector<MscclConnection> connections;
  std::vector<MscclEnds> blocks;
  std::vector<int32_t> firstBlock;  // by gpu, and the end

  /// The thread block that a step waits for; it waits for one.
  int32_t waitedFor(int64_t gpu, const MscclStep &step) const {
    return firstBlock[static_cast<size_t>(gpu)] + step.block;
  }
};

/// Reports buffers of other lengths than the collective's, chunks outside their buffers,
/// and connections whose ends do not fit; then there is nothing. The net points into the
/// algorithm.
std::optional<MscclNet> connectMsccl(const Msccl &, bool inPlace, Diag &);

/// By step: whose turn it is, of MscclNet::blocks. Each thread block carries out its steps
/// in their order. Reports a deadlock; then there is nothing.
std::optional<std::vector<int32_t>> runMsccl(const MscclNet &, Diag &);

/// Places of chunks: the how-manieth of a block, or of a vector.
struct MscclPlaces {
  std::vector<int64_t> moved;                 // by step of the run: of the first that it moves
  std::vector<std::vector<int64_t>> scratch;  // by gpu and chunk of `s`; -1: it is not used
};

/// Reports chunks that come to another one's place; then there is nothing.
std::optional<MscclPlaces> placeMsccl(const Msccl &, const MscclNet &,
                                      std::span<const int32_t> order, Diag &);

struct MscclBuffers {
  std::vector<Schedule> schedules;  // by gpu
  BufferId in = -1, out = -1;       // the same on each; in place there is no `in`
  std::vector<BufferId> scratch;    // by gpu
  std::vector<BufferId> tmp;        // by thread block: what is received and not kept; -1: none
  std::vector<BufferId> queues;     // by connection, at the sender; -1: nothing is sent
  std::vector<int64_t> slotChunks;  // by connection: from one message in the queue to the next
};

/// Reports where they would have too many chunks; then there is nothing.
std::optional<MscclBuffers> declareMsccl(const Msccl &, const MscclNet &, const MscclPlaces &,
                                         bool inPlace, Diag &);

}  // namespace nbcc
