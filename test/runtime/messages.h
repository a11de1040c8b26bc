// SPDX-License-Identifier: BSD-3-Clause
// messages.h - templates of target mpi written by hand, and all ranks of a test on messages.

#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "devices/p2p/p2p.h"
#include "nbc/message_record.h"
#include "test/runtime/board.h"
#include "test/runtime/plans.h"

namespace build {

/// The tables are the builder's; this one writes records.
class Messages {
 public:
  Builder b;

  Messages(const char *algorithm, nbc_kind kind, uint32_t ranks, uint32_t rank);

  void beginVariant(uint32_t flags = 0);
  /// A piece and those that are directly behind it; nothing: a message of no bytes. Returns the
  /// record's index.
  uint32_t send(uint32_t rank, std::optional<uint32_t> piece = {}, uint32_t extra = 0);
  uint32_t receive(uint32_t rank, std::optional<uint32_t> piece = {}, uint32_t extra = 0);
  void wait(uint32_t record);
  void stage();
  void endVariant();
  Bytes finish() { return b.finish(); }

 private:
  uint32_t add(const nbc_message_record &, std::optional<uint32_t> piece, uint32_t extra);
  std::vector<nbc_message_record> records_;
  std::vector<nbc_reloc> relocs_;
  std::vector<nbc_stage> stages_;
  uint32_t firstHost_ = 0;
};

/// allgather around the ring, also in place: a receive is posted ahead of all waits.
Bytes ringAllgather(uint32_t ranks, uint32_t rank);
MakeTemplate ringAllgather(uint32_t ranks);
/// allgather of two ranks, also in place: the own block is copied last.
Bytes ownLastAllgather(uint32_t rank);
/// allreduce along a chain and back, in rank order, reduced between stages.
Bytes messageAllreduce(uint32_t ranks, uint32_t rank);
/// bcast from rank 0 of so many parts, two neighbouring ones a message; by way of staging there.
Bytes pairsBcast(uint32_t ranks, uint32_t rank, uint32_t parts);
/// bcast from rank 1 to rank 0 of 100 parts, a message each, all at once.
Bytes manyBcast(uint32_t rank);
/// barrier, all with all: no bytes, and no waits.
Bytes allBarrier(uint32_t ranks, uint32_t rank);

}  // namespace build

/// In simulated time, in one thread.
class MessageWorld {
 public:
  p2p::Fabric fabric;
  Board board;
  std::vector<Board::Context> contexts;
  std::vector<nbc_p2p *> ends;
  std::vector<nbc_comm *> comms;
  std::vector<nbc_plan *> plans;

  static p2p::Options options(uint64_t seed) {
    return {.mode = p2p::Mode::Simulated, .seed = seed, .adversarial = seed != 0};
  }

  MessageWorld(uint32_t ranks, const MakeTemplate &make, nbc_plan_options = {},
               p2p::Options = options(0));
  ~MessageWorld();
  void addPlans(const MakeTemplate &make, nbc_plan_options = {});
  /// That of one rank, before the others.
  void freePlan(uint32_t rank);
  /// Lets everything happen that can; returns whether all requests are done, with 0.
  bool finish(std::vector<nbc_request> &);

 private:
  std::vector<nbc_plan *> all_;
};
