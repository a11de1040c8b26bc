// SPDX-License-Identifier: BSD-3-Clause
// connect_msccl.cpp - which thread blocks talk to each other, and do they say the same?
//
//     gpu 0, tb 1: send="1" chan="0"
//     gpu 1, tb 0: recv="0" chan="0"   =>   connection 0 -> 1 on channel 0
//
// A connection has one thread block at each end, as many messages at both, and each is
// as many chunks at both. All that is found is reported. Linear in the steps, but for
// a search of the connection for each thread block.

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/exchange/msccl_stages.h"
#include "dsl/collectives.h"

namespace nbcc {
namespace {

class Connecting {
 public:
  Connecting(const Msccl &msccl, bool inPlace, Diag &diag)
      : m_(msccl), inPlace_(inPlace), diag_(diag), errors_(diag.errors()) {}

  std::optional<MscclNet> run() {
    if (!countChunks()) return std::nullopt;
    for (size_t gpu = 0; gpu < m_.gpus.size(); ++gpu) {
      net_.firstBlock.push_back(static_cast<int32_t>(net_.blocks.size()));
      for (const MscclBlock &block : m_.gpus[gpu].blocks) connect(static_cast<int64_t>(gpu), block);
    }
    net_.firstBlock.push_back(static_cast<int32_t>(net_.blocks.size()));
    // In the order of ranks, whichever thread block came first.
    if (fine())
      for (const auto &[key, place] : places_) checkMessages(net_.connections[place]);
    if (!fine()) return std::nullopt;
    return std::move(net_);
  }

 private:
  bool fine() const { return diag_.errors() == errors_; }

  /// How many chunks a block has, and that all buffers are as long as that.
  bool countChunks() {
    const auto gpus = static_cast<int64_t>(m_.gpus.size());
    const Collective &kind = collective(m_.kind);
    const bool vector = kind.in != Shape::blocks && kind.out != Shape::blocks;
    MscclChunks &chunks = net_.chunks;
    chunks.block = vector ? m_.chunksPerLoop : m_.chunksPerLoop / gpus;
    if (!vector && chunks.block * gpus != m_.chunksPerLoop) {
      diag_.error(m_.loc, "nchunksperloop is ", m_.chunksPerLoop, ", which cannot be divided by ",
                  gpus, " gpus");
      return false;
    }
    if (m_.kind == ast::Kind::bcast && !inPlace_) {
      diag_.error(m_.loc, "broadcast is only known in place, as MPI has it");
      return false;
    }
    chunks.in = kind.in == Shape::block ? chunks.block : m_.chunksPerLoop;
    chunks.out = kind.out == Shape::block ? chunks.block : m_.chunksPerLoop;
    int64_t scratch = 0;
    for (const MscclGpu &gpu : m_.gpus) {
      scratch += gpu.scratchChunks;
      checkChunks(gpu, "i_chunks", gpu.inChunks, chunks.in);
      checkChunks(gpu, "o_chunks", gpu.outChunks, chunks.out);
    }
    if (scratch > kMaxBlocks)
      diag_.error(m_.loc, "all gpus have ", scratch, " chunks of scratch; at most ", kMaxBlocks,
                  " are followed");
    return fine();
  }

  void checkChunks(const MscclGpu &gpu, const char *name, int64_t found, int64_t wanted) {
    // In place one of the two need not be named, as it is the other.
    if (found == wanted || (inPlace_ && found == 0)) return;
    diag_.error(gpu.loc, name, " is ", found, ", but with nchunksperloop=\"", m_.chunksPerLoop,
                "\" this collective has ", wanted, " chunks there");
  }

  void connect(int64_t gpu, const MscclBlock &block) {
    MscclEnds ends{gpu, &block};
    const auto id = static_cast<int32_t>(net_.blocks.size());
    if (block.send >= 0) {
      ends.out = connection(gpu, block.send, block.channel);
      use(&MscclConnection::sender, id, block, "sends on", net_.connections[ends.out]);
    }
    if (block.recv >= 0) {
      ends.in = connection(block.recv, gpu, block.channel);
      use(&MscclConnection::receiver, id, block, "receives on", net_.connections[ends.in]);
    }
    for (const MscclStep &s : block.steps) {
      checkInside(gpu, s);
      if (s.sends() && ends.out < 0)
        diag_.error(s.loc, "this sends, but thread block ", block.id, " has send=\"-1\"");
      if (s.receives() && ends.in < 0)
        diag_.error(s.loc, "this receives, but thread block ", block.id, " has recv=\"-1\"");
      if (s.sends() && ends.out >= 0) {
        int64_t &most = net_.connections[ends.out].mostChunks;
        most = std::max(most, s.count);
      }
    }
    net_.blocks.push_back(ends);
  }

  int32_t connection(int64_t from, int64_t to, int64_t channel) {
    const auto [at, isNew] =
        places_.try_emplace({from, to, channel}, static_cast<int32_t>(net_.connections.size()));
    if (isNew) net_.connections.push_back({from, to, channel});
    return at->second;
  }

  void use(int32_t MscclConnection::*end, int32_t id, const MscclBlock &block, const char *does,
           MscclConnection &c) {
    if (c.*end >= 0) {
      diag_.error(block.loc, "a second thread block that ", does, " channel ", c.channel,
                  " from gpu ", c.from, " to gpu ", c.to);
      diag_.note(net_.blocks[c.*end].block->loc, "the first is here");
    }
    c.*end = id;
  }

  void checkInside(int64_t gpu, const MscclStep &s) {
    if (s.reads()) checkInside(gpu, s, "reads", s.from, s.fromChunk);
    if (s.writes()) checkInside(gpu, s, "writes", s.to, s.toChunk);
  }

  void checkInside(int64_t gpu, const MscclStep &s, const char *does, char buffer, int64_t chunk) {
    const int64_t chunks = buffer == 's'   ? m_.gpus[gpu].scratchChunks
                           : buffer == 'i' ? net_.chunks.in
                                           : net_.chunks.out;
    if (chunk + s.count > chunks)
      diag_.error(s.loc, "gpu ", gpu, " ", does, " ", s.count, " chunks from ", buffer, "[", chunk,
                  "] on, but ", buffer, " has ", chunks, " chunks");
  }

  std::vector<const MscclStep *> messages(int32_t block, bool (MscclStep::*wanted)() const) const {
    std::vector<const MscclStep *> result;
    if (block < 0) return result;
    for (const MscclStep &s : net_.blocks[block].block->steps)
      if ((s.*wanted)()) result.push_back(&s);
    return result;
  }

  /// The k-th message of a connection: there at both ends, and equally long.
  void checkMessages(const MscclConnection &c) {
    const auto sends = messages(c.sender, &MscclStep::sends);
    const auto receives = messages(c.receiver, &MscclStep::receives);
    const std::string where =
        cat(" on channel ", c.channel, " from gpu ", c.from, " to gpu ", c.to);
    for (size_t k = 0; k < std::max(sends.size(), receives.size()); ++k) {
      if (k >= receives.size()) {
        diag_.error(sends[k]->loc, "message ", k, where, " is sent, but gpu ", c.to,
                    " receives only ", receives.size());
        return;
      }
      if (k >= sends.size()) {
        diag_.error(receives[k]->loc, "message ", k, where, " is received, but gpu ", c.from,
                    " sends only ", sends.size());
        return;
      }
      if (sends[k]->count == receives[k]->count) continue;
      diag_.error(receives[k]->loc, "message ", k, where, " is received as ", receives[k]->count,
                  " chunks, but ", sends[k]->count, " are sent");
      diag_.note(sends[k]->loc, "it is sent here");
      return;
    }
  }

  const Msccl &m_;
  const bool inPlace_;
  Diag &diag_;
  const int errors_;
  MscclNet net_;
  std::map<std::tuple<int64_t, int64_t, int64_t>, int32_t> places_;  // from, to, channel
};

}  // namespace

std::optional<MscclNet> connectMsccl(const Msccl &msccl, bool inPlace, Diag &diag) {
  return Connecting(msccl, inPlace, diag).run();
}

}  // namespace nbcc
