// SPDX-License-Identifier: BSD-3-Clause
// place_msccl.cpp - which chunk of a block lies where, followed through scratch and messages.
//
//     gpu 0: s   i[5] to gpu 1      with 4 chunks in a block:
//     gpu 1: r   s[0]          =>   chunk 1 of a block; so s[0] is like a chunk 1
//            cpy s[0] -> o[1]       comes to where a chunk 1 lies
//
// A chunk is only sure to be as long as another one at the same place of its block, as
// lengths need not be divisible. So data that change their place are refused: they are a
// mistake, or a chunk of `o` or of scratch is used for two things. Linear in the chunks moved.

#include "compiler/exchange/msccl_stages.h"

namespace nbcc {
namespace {

class Places {
 public:
  Places(const Msccl &msccl, const MscclNet &net, Diag &diag)
      : net_(net),
        diag_(diag),
        errors_(diag.errors()),
        inBlock_(net.chunks.block),
        next_(net.blocks.size(), 0),
        sent_(net.connections.size()),
        received_(net.connections.size(), 0) {
    for (const MscclGpu &gpu : msccl.gpus)
      places_.scratch.emplace_back(static_cast<size_t>(gpu.scratchChunks), -1);
  }

  std::optional<MscclPlaces> run(std::span<const int32_t> order) {
    places_.moved.reserve(order.size());
    for (const int32_t block : order) {
      const MscclEnds &ends = net_.blocks[block];
      places_.moved.push_back(move(ends, ends.block->steps[next_[block]++]));
    }
    if (diag_.errors() != errors_) return std::nullopt;
    return std::move(places_);
  }

 private:
  /// Of the first chunk that the step moves.
  int64_t move(const MscclEnds &ends, const MscclStep &s) {
    int64_t place = 0;
    if (s.receives())
      place = sent_[ends.in][received_[ends.in]++];
    else if (s.reads())
      place = read(ends.gpu, s);
    if (s.receives() && s.reads()) check(ends.gpu, s, s.from, s.fromChunk, place);
    if (s.writes()) check(ends.gpu, s, s.to, s.toChunk, place);
    if (s.sends()) sent_[ends.out].push_back(place);
    return place;
  }

  /// Of scratch, what was put there last.
  int64_t read(int64_t gpu, const MscclStep &s) {
    if (s.from != 's') return s.fromChunk % inBlock_;
    int64_t &first = scratch(gpu, s.fromChunk);
    if (first < 0)  // nothing was: prove() will say so
      first = s.writes() && s.to != 's' ? s.toChunk % inBlock_ : 0;
    for (int64_t i = 1; i < s.count; ++i) {
      int64_t &next = scratch(gpu, s.fromChunk + i);
      if (next < 0) next = (first + i) % inBlock_;
      if (next == (first + i) % inBlock_) continue;
      diag_.error(s.loc, "s[", s.fromChunk + i, "] of gpu ", gpu, " holds chunk ", next,
                  " of a block, which does not follow chunk ", (first + i - 1) % inBlock_);
      break;
    }
    return first;
  }

  /// What begins at `place` of a block is written, or combined with what is read.
  void check(int64_t gpu, const MscclStep &s, char buffer, int64_t chunk, int64_t place) {
    for (int64_t i = 0; i < s.count; ++i) {
      const int64_t comes = (place + i) % inBlock_;
      int64_t there = (chunk + i) % inBlock_;
      if (buffer == 's') {
        int64_t &held = scratch(gpu, chunk + i);
        if (held < 0) held = comes;
        there = held;
      }
      if (there == comes) continue;
      diag_.error(s.loc, "chunk ", comes, " of a block comes to ", buffer, "[", chunk + i,
                  "] of gpu ", gpu, ", which holds chunk ", there);
      break;
    }
  }

  int64_t &scratch(int64_t gpu, int64_t chunk) {
    return places_.scratch[static_cast<size_t>(gpu)][static_cast<size_t>(chunk)];
  }

  const MscclNet &net_;
  Diag &diag_;
  const int errors_;
  const int64_t inBlock_;
  std::vector<size_t> next_;                // by thread block: its next step
  std::vector<std::vector<int64_t>> sent_;  // by connection and message: its first chunk's
  std::vector<size_t> received_;            // by connection: messages
  MscclPlaces places_;
};

}  // namespace

std::optional<MscclPlaces> placeMsccl(const Msccl &msccl, const MscclNet &net,
                                      std::span<const int32_t> order, Diag &diag) {
  return Places(msccl, net, diag).run(order);
}

}  // namespace nbcc
