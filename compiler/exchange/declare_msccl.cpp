// SPDX-License-Identifier: BSD-3-Clause
// declare_msccl.cpp - what a gpu's thread blocks need in memory, as buffers of a schedule.
//
//     i, o, s         in, out, and scratch of as many chunks
//     send="1"        queue0: kMscclQueue messages on their way
//     type="rrs"      tmp0: what is received, combined and not kept
//
// A chunk of scratch is as long as the chunk of a block that is put there, so it is like
// that; see place_msccl.cpp. Linear in the chunks.

#include <algorithm>

#include "compiler/exchange/msccl_stages.h"
#include "dsl/collectives.h"

namespace nbcc {
namespace {

using Type = MscclStep::Type;

bool isNamePart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Declaring {
 public:
  Declaring(const Msccl &msccl, const MscclNet &net, bool inPlace, Diag &diag)
      : m_(msccl), net_(net), inPlace_(inPlace), diag_(diag), parts_(net.chunks.block) {
    result_.tmp.assign(net.blocks.size(), -1);
    result_.queues.assign(net.connections.size(), -1);
    for (const MscclConnection &c : net.connections)
      result_.slotChunks.push_back(rowOf(c.mostChunks));
  }

  std::optional<MscclBuffers> run(const MscclPlaces &places) {
    const int before = diag_.errors();
    for (size_t gpu = 0; gpu < m_.gpus.size(); ++gpu)
      ofGpu(static_cast<int64_t>(gpu), places.scratch[gpu]);
    for (size_t b = 0; b < net_.blocks.size(); ++b) ofBlock(b);
    if (diag_.errors() != before) return std::nullopt;
    return std::move(result_);
  }

 private:
  void ofGpu(int64_t gpu, const std::vector<int64_t> &places) {
    Schedule s;
    for (const char c : m_.name) s.algorithm += isNamePart(c) ? c : '_';
    if (s.algorithm.empty()) s.algorithm = "msccl";
    s.kind = m_.kind;
    s.ranks = static_cast<int64_t>(m_.gpus.size());
    s.rank = gpu;
    s.root = m_.root;
    s.inPlace = inPlace_ && m_.kind != ast::Kind::bcast;
    s.order = Order::waits;
    result_.schedules.push_back(std::move(s));
    callers(gpu);
    const BufferId scratch = add(gpu, "s", static_cast<int64_t>(places.size()));
    result_.scratch.push_back(scratch);
    if (scratch < 0) return;
    for (const int64_t place : places)
      result_.schedules[gpu].buffers[scratch].like.push_back(
          {result_.out, static_cast<int32_t>(parts_), std::max<int64_t>(0, place), 1});
  }

  void callers(int64_t gpu) {
    const Collective &kind = collective(m_.kind);
    if (m_.kind == ast::Kind::bcast) {
      result_.out = caller(gpu, "data", Role::data, Shape::vector);
      return;
    }
    if (!inPlace_) result_.in = caller(gpu, "in", Role::in, kind.in);
    const bool allInOut = inPlace_ && kind.hasAllInOut();
    result_.out = caller(gpu, "out", Role::out, allInOut ? Shape::blocks : kind.out);
  }

  BufferId caller(int64_t gpu, const char *name, Role role, Shape shape) {
    Schedule &s = result_.schedules[gpu];
    Buffer b;
    b.name = name;
    b.role = role;
    b.blocks = shape == Shape::blocks ? s.ranks : 1;
    b.loc = m_.gpus[gpu].loc;
    s.buffers.push_back(std::move(b));
    return static_cast<BufferId>(s.buffers.size() - 1);
  }

  void ofBlock(size_t b) {
    const auto &[gpu, block, out, in] = net_.blocks[b];
    int64_t most = 0;
    for (const MscclStep &s : block->steps)
      if (s.receives() && s.type != Type::r && s.type != Type::rcs) most = std::max(most, s.count);
    if (most > 0) result_.tmp[b] = addRows(gpu, cat("tmp", block->id), rowOf(most));
    if (out >= 0 && net_.connections[out].mostChunks > 0)
      result_.queues[out] =
          addRows(gpu, cat("queue", block->id), kMscclQueue * result_.slotChunks[out]);
  }

  /// So many chunks may begin at any place in a block: whole blocks that they fit in.
  int64_t rowOf(int64_t chunks) const {
    return (parts_ - 1 + chunks + parts_ - 1) / parts_ * parts_;
  }

  /// Chunk c of it is like part c mod n of a block.
  BufferId addRows(int64_t gpu, std::string name, int64_t chunks) {
    const BufferId id = add(gpu, std::move(name), chunks);
    if (id < 0) return id;
    std::vector<Extent> &like = result_.schedules[gpu].buffers[id].like;
    const Extent block{result_.out, static_cast<int32_t>(parts_), 0, parts_};
    like.assign(parts_ == 1 ? 1 : static_cast<size_t>(chunks / parts_), block);
    return id;
  }

  /// Scratch of so many chunks. A few words of XML can ask for any number of them.
  BufferId add(int64_t gpu, std::string name, int64_t chunks) {
    const bool fine = chunks_ <= kMaxBlocks;
    chunks_ += chunks;
    if (chunks_ > kMaxBlocks) {
      if (fine)  // told once
        diag_.error(m_.gpus[gpu].loc, "up to the ", name, " of gpu ", gpu,
                    " scratch and queues have ", chunks_, " chunks; at most ", kMaxBlocks,
                    " are followed");
      return -1;
    }
    Buffer b;
    b.name = std::move(name);
    b.blocks = chunks;
    b.loc = m_.gpus[gpu].loc;
    Schedule &s = result_.schedules[gpu];
    s.buffers.push_back(std::move(b));
    return static_cast<BufferId>(s.buffers.size() - 1);
  }

  const Msccl &m_;
  const MscclNet &net_;
  const bool inPlace_;
  Diag &diag_;
  const int64_t parts_;  // of a block: its chunks
  int64_t chunks_ = 0;   // of all scratch and queues so far
  MscclBuffers result_;
};

}  // namespace

std::optional<MscclBuffers> declareMsccl(const Msccl &msccl, const MscclNet &net,
                                         const MscclPlaces &places, bool inPlace, Diag &diag) {
  return Declaring(msccl, net, inPlace, diag).run(places);
}

}  // namespace nbcc
