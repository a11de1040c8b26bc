// SPDX-License-Identifier: BSD-3-Clause
// msccl.h - algorithms of MSCCL, as its XML files have them, become schedules.
//
//     <algo name="ring" proto="Simple" ngpus="2" nchunksperloop="2" coll="allgather"
//           inplace="0" outofplace="1">
//       <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
//         <tb id="0" send="1" recv="1" chan="0">
//           <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1"
//                 depid="-1" deps="-1" hasdep="0"/>
//     ...
//
// A thread block carries out its steps one after the other; a step with `depid` also
// waits for step `deps` of that thread block, which must say hasdep="1". A thread
// block has one connection to send on and one to receive from: peer and channel.
//
//     s  send             rcs   receive, keep and send on
//     r  receive          rrc   receive, combine with src, keep as dst
//     cpy  src -> dst     rrs   receive, combine with src, send on
//     re   dst + src      rrcs  receive, combine with src, keep as dst and send on
//     nop  wait only
//
// `coll` is allreduce, allgather, alltoall, broadcast or reduce_scatter. In place, NCCL's
// reduce_scatter has the result in the own block of `i`, MPI's in the first: there each
// rank copies it at the end.
//
// A connection buffers: a send has ended when its data are in the connection's queue,
// which holds kMscclQueue messages.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/schedule.h"
#include "dsl/diag.h"

namespace nbcc {

/// NCCL's Simple protocol moves chunks of 4 of its 8 slots; the others hold more.
inline constexpr int64_t kMscclQueue = 2;

struct MscclStep {
  enum class Type : uint8_t { s, r, rcs, rrc, rrs, rrcs, cpy, re, nop } type{};
  char from = 'i', to = 'i';  // i, o, s
  int64_t fromChunk = 0, toChunk = 0, count = 1;
  int32_t block = -1, step = -1;  // waits for; -1: for nothing
  bool awaited = false;           // hasdep
  Loc loc;

  bool receives() const;
  bool sends() const;
  bool reads() const;   // src
  bool writes() const;  // dst
};

struct MscclBlock {
  int64_t id = 0, send = -1, recv = -1, channel = 0;  // -1: no peer
  std::vector<MscclStep> steps;
  Loc loc;
};

struct MscclGpu {
  int64_t inChunks = 0, outChunks = 0, scratchChunks = 0;
  std::vector<MscclBlock> blocks;
  Loc loc;
};

struct Msccl {
  std::string name;
  ast::Kind kind{};
  int64_t root = 0, chunksPerLoop = 0;
  bool inPlace = false, outOfPlace = true;  // how it may be called
  std::vector<MscclGpu> gpus;
  Loc loc;
};

/// Reads a text that `Diag` knows; empty: something was wrong, which was reported.
/// Every peer is a gpu and not the own, `block` and `step` are there.
std::optional<Msccl> readMsccl(uint16_t file, Diag &);

/// The schedules of all ranks, Order::waits, in an order in which they can be carried
/// out. Reports connections whose ends do not fit, chunks outside their buffers, chunks
/// that come to another one's place and deadlocks; then there is nothing. All else is for prove()
/// to find.
std::vector<Schedule> scheduleMsccl(const Msccl &, bool inPlace, Diag &);

}  // namespace nbcc
