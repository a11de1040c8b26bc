// SPDX-License-Identifier: BSD-3-Clause
// builder.h - templates written by hand, for tests of the runtime alone.
//
// A builder collects the tables of one rank's template; finish() lays them out. In
// a variant, code is appended queue by queue: begin(queue), then entries, in order. The
// collectives of builder.cpp are small but use everything a template can hold.

#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "nbc.h"
#include "nbc/mlx5_wqe.h"
#include "nbc/template.h"

namespace build {

struct Bytes {
  std::vector<uint64_t> words;
  const void *data() const { return words.data(); }
  void *data() { return words.data(); }
  size_t size() const { return words.size() * 8; }
  nbc_template *header() { return reinterpret_cast<nbc_template *>(words.data()); }
  /// After a change.
  void seal() { header()->checksum = nbc_template_checksum(data(), size()); }
  template <class T>
  T *table(nbc_table t) {
    return reinterpret_cast<T *>(reinterpret_cast<char *>(words.data()) + t.offset);
  }
};

class Builder {
 public:
  nbc_template header = {};
  std::vector<nbc_buffer> buffers;
  std::vector<uint32_t> peers;
  std::vector<nbc_queue> queues;
  std::vector<nbc_variant> variants;
  std::vector<nbc_piece> pieces;
  std::vector<nbc_host> hosts;
  std::vector<nbc_stage> stages;
  std::vector<nbc_segment> segments;
  std::vector<nbc_reloc> relocs;
  std::vector<uint8_t> code;

  Builder(const char *algorithm, nbc_kind kind, uint32_t ranks, uint32_t rank);

  uint32_t buffer(uint32_t role, uint64_t blocks = 0, uint64_t first = 0);
  uint32_t peer(uint32_t rank);                                     // its index; made when new
  uint32_t queue(nbc_queue_kind kind, uint32_t rank = UINT32_MAX);  // made when new

  /// Of the caller's memory: parts [first, first + count).
  uint32_t piece(uint32_t buffer, uint64_t first, uint64_t count = 1, uint32_t parts = 1);
  /// In a room, as long as those parts of `shape`, behind the pieces `before`.
  uint32_t inRoom(uint32_t buffer, uint64_t room, uint32_t shape, uint64_t first = 0,
                  uint64_t count = 1, uint32_t parts = 1, nbc_range before = {0, 0});

  void beginVariant(nbc_protocol, uint32_t flags = 0, uint32_t calc = 0, uint32_t scalars = 0);
  /// Entries of the management queue, in order.
  void wait(uint32_t queue, nbc_side, uint32_t addend);
  void enable(uint32_t queue, uint32_t limit);
  void waitCredit(uint32_t queue);
  /// An entry of another queue that sends these pieces (each one data segment).
  void send(uint32_t queue, const std::vector<uint32_t> &pieces, bool signalled,
            uint8_t opcode = MLX5_SEND, uint32_t target = UINT32_MAX);
  /// Of each piece `count` slots from `first` on; two pieces: reduced.
  void calc(uint32_t queue, const std::vector<uint32_t> &pieces, uint32_t first, uint32_t count);
  void receive(uint32_t queue, const std::vector<uint32_t> &pieces, bool slots = false,
               uint32_t first = 0);
  void receivePlain(uint32_t queue, uint32_t entries);
  void copy(uint32_t from, uint32_t to);
  void reduce(uint32_t from, uint32_t with, uint32_t to);
  /// Ends a stage: what was put into the management queue since the last is enabled.
  void stage();
  void endVariant();
  /// Receives posted ahead: one room each. Before the first variant.
  void ahead(const std::vector<std::pair<uint32_t, uint32_t>> &queueAndRoom, uint32_t slots);

  Bytes finish();

 private:
  struct Entry {
    std::vector<uint8_t> bytes;
    std::vector<nbc_reloc> relocs;  // `at` from the beginning of the entry
    std::vector<nbc_reloc> bind;
    bool signalled = false;
  };
  struct Ring {
    std::vector<Entry> entries;
    uint32_t plain = 0;
    uint32_t blocks = 0;  // of 64 bytes, in a send queue
  };
  Entry &entry(uint32_t queue, nbc_ring ring, size_t length);
  static void mark(Entry &);

  uint32_t mq_ = UINT32_MAX;
  std::map<std::pair<uint32_t, uint32_t>, Ring> rings_;
  std::vector<nbc_stage> pendingStages_;
  uint32_t firstHost_ = 0;
};

/// allgather, everyone to everyone: eager, rendezvous, both also in place, credits.
Bytes allgather(uint32_t ranks, uint32_t rank);
/// allreduce along a chain and back, in rank order, eager only; reduced by hosts between stages.
Bytes chainAllreduce(uint32_t ranks, uint32_t rank);
/// allreduce of two ranks, reduced by the adapter; with a host's variant behind it.
Bytes calcAllreduce(uint32_t rank);
/// Of so many elements at most.
Bytes vectorAllreduce(uint32_t rank, uint32_t scalars);
/// bcast from rank 0 to rank 1 in `parts` parts, gathered in one message, by rendezvous.
Bytes partsBcast(uint32_t rank, uint32_t parts);
/// gather to rank 0 of `ranks`, eager: data go one way, credits the other.
Bytes gather(uint32_t ranks, uint32_t rank);
/// barrier of two ranks: messages without bytes.
Bytes barrier(uint32_t rank);

}  // namespace build
