// SPDX-License-Identifier: BSD-3-Clause
// carry_out.cpp - blocks are sent one by one; reductions gather all there is everywhere.

#include "test/dropin/carry_out.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "dropin/shapes.h"

using namespace nbcc::dropin;

namespace {

struct Block {
  char *at;
  int bytes;
};

std::size_t element_bytes(const nbc_call &c) {
  return c.type == NBC_OPAQUE ? c.element_bytes : nbc_type_size(c.type);
}

std::vector<Block> blocks(const nbc_call &c, const void *base, int n, const std::size_t *counts,
                          const std::ptrdiff_t *displacements) {
  std::size_t size = element_bytes(c);
  std::vector<Block> result;
  if (base == NBC_IN_PLACE) return result;
  std::ptrdiff_t next = 0;
  for (int i = 0; i < n; ++i) {
    std::ptrdiff_t bytes = static_cast<std::ptrdiff_t>((counts ? counts[i] : c.count) * size);
    std::ptrdiff_t at = displacements ? displacements[i] * static_cast<std::ptrdiff_t>(size) : next;
    result.push_back({static_cast<char *>(const_cast<void *>(base)) + at, static_cast<int>(bytes)});
    next += bytes;
  }
  return result;
}

// Parts of all lengths, as through windows: Part(offset, bytes).
template <class Part>
void in_parts(std::size_t at, std::size_t bytes, Part part) {
  for (std::size_t next = 1; bytes; next = next % 13 + 1) {
    const std::size_t n = std::min(next, bytes);
    part(at, n);
    at += n, bytes -= n;
  }
}

// What a layout stands for, in one piece.
std::vector<char> image_of(const nbc_layout *l, const nbc_call &c, int n,
                           const std::size_t *counts) {
  std::size_t bytes = 0;
  for (int i = 0; i < n && l; ++i) bytes += (counts ? counts[i] : c.count) * element_bytes(c);
  return std::vector<char>(bytes);
}

int blocks_of(Shape s, int ranks) {
  return s == Shape::none ? 0 : s == Shape::one ? 1 : s == Shape::ranks ? ranks : 2;
}

void move(nbc_kind kind, const nbc_call &c, int root, const Peers &p) {
  const Shapes &s = shapes_of(kind);
  bool rooted = s.send_at_root || s.receive_at_root || kind == NBC_BCAST;
  const int n = blocks_of(s.send, p.ranks), m = blocks_of(s.receive, p.ranks);
  std::vector<char> gathered = image_of(c.in_layout, c, n, c.in_counts);
  std::vector<char> arrived = image_of(c.out_layout, c, m, c.out_counts);
  in_parts(0, gathered.size(), [&](std::size_t at, std::size_t bytes) {
    c.in_layout->gather(c.in_layout, at, &gathered[at], bytes);
  });
  std::vector<Block> in =
      blocks(c, c.in_layout ? gathered.data() : c.in, n, c.in_counts, c.in_displacements);
  std::vector<Block> out =
      blocks(c, c.out_layout ? arrived.data() : c.out, m, c.out_counts, c.out_displacements);
  if (kind == NBC_BCAST) in = out = blocks(c, c.data, 1, nullptr, nullptr);
  std::vector<std::vector<char>> copies;  // in place contributions lie where results come
  if (c.in == NBC_IN_PLACE) in = kind == NBC_ALLTOALL ? out : std::vector{out[p.rank]};
  if (c.out == NBC_IN_PLACE) out = {in[p.rank]};
  bool sends = !s.send_at_root || p.rank == root, receives = !s.receive_at_root || p.rank == root;
  if (kind == NBC_BCAST) sends = p.rank == root;
  for (Block &b : in)
    if (sends && b.bytes) {
      copies.emplace_back(b.at, b.at + b.bytes);
      b.at = copies.back().data();
    }

  bool near = s.receive == Shape::neighbors;
  std::vector<MPI_Request> requests;
  // To everybody, or to the root; of a graph, along it: what goes left arrives as from the right.
  for (int i = 0; sends && i < (near ? 2 : p.ranks); ++i) {
    int to = near ? p.destinations[i] : i;
    if (s.receive_at_root && to != root) continue;
    const Block &b = in.size() == 1 ? in[0] : in[i];
    requests.emplace_back();
    PMPI_Isend(b.at, b.bytes, MPI_BYTE, to, near ? i : 0, p.comm, &requests.back());
  }
  for (int i = 0; receives && i < (near ? 2 : p.ranks); ++i) {
    int from = near ? p.sources[i] : i;
    if (rooted && !s.receive_at_root && from != root) continue;
    const Block &b = out.size() == 1 ? out[0] : out[i];
    requests.emplace_back();
    PMPI_Irecv(b.at, b.bytes, MPI_BYTE, from, near ? 1 - i : 0, p.comm, &requests.back());
  }
  PMPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; c.out_layout && i < (near ? 2 : p.ranks); ++i) {
    if (near && p.sources[i] == MPI_PROC_NULL) continue;
    in_parts(out[i].at - arrived.data(), out[i].bytes, [&](std::size_t at, std::size_t bytes) {
      c.out_layout->scatter(c.out_layout, at, &arrived[at], bytes);
    });
  }
}

void reduce(nbc_kind kind, const nbc_call &c, int root, const Peers &p) {
  std::size_t size = element_bytes(c), all = c.count, first = 0, mine = c.count;
  if (kind == NBC_REDUCE_SCATTER_BLOCK) all *= p.ranks, first = c.count * p.rank;
  if (kind == NBC_REDUCE_SCATTER) {
    all = 0;
    for (int i = 0; i < p.ranks; ++i) {
      if (i == p.rank) first = all;
      all += c.in_counts[i];
    }
    mine = c.in_counts[p.rank];
  }
  nbc_reduce_function *op = c.op == NBC_USER ? c.user : nbc_reduction(c.type, c.op);
  std::vector<char> every(size * all * p.ranks);
  int bytes = static_cast<int>(size * all);
  PMPI_Allgather(c.in == NBC_IN_PLACE ? c.out : c.in, bytes, MPI_BYTE, every.data(), bytes,
                 MPI_BYTE, p.comm);
  if (kind == NBC_REDUCE && p.rank != root) return;
  int begin = 0, end = p.ranks;
  if (kind == NBC_SCAN) end = p.rank + 1;
  if (kind == NBC_EXSCAN) end = p.rank;
  char *out = static_cast<char *>(c.out);
  if (c.in == NBC_IN_PLACE && kind == NBC_REDUCE_SCATTER_BLOCK) std::memset(out, 0xee, size * all);
  if (end == 0 && mine) std::memset(out, 0xee, size * mine);
  if (end == 0) return;
  // Alternately into either operand, and elsewhere, as algorithms do.
  std::vector<char> sum(every.begin() + size * first, every.begin() + size * (first + mine));
  for (int i = begin + 1; i < end; ++i) {
    std::vector<char> next(every.begin() + size * (all * i + first),
                           every.begin() + size * (all * i + first + mine));
    if (i % 3 == 0) {
      op(sum.data(), sum.data(), next.data(), mine, c.user_context);
    } else if (i % 3 == 1) {
      op(next.data(), sum.data(), next.data(), mine, c.user_context);
      sum = next;
    } else {
      std::vector<char> third(sum.size());
      op(third.data(), sum.data(), next.data(), mine, c.user_context);
      sum = third;
    }
  }
  if (mine) std::memcpy(out, sum.data(), sum.size());
}

const int *ints(Row r) {
  return static_cast<const int *>(r.values);
}
const MPI_Aint *addresses(Row r) {
  return static_cast<const MPI_Aint *>(r.values);
}

}  // namespace

void carry_out(nbc_kind kind, const nbc_call &c, int root, const Peers &p) {
  if (shapes_of(kind).reduces)
    reduce(kind, c, root, p);
  else
    move(kind, c, root, p);
}

void carry_out_below(const Operation &o) {
  const void *from = o.send.buffer;
  void *to = const_cast<void *>(o.receive.buffer);
  const int n = static_cast<int>(o.send.count), m = static_cast<int>(o.receive.count);
  const int *ns = ints(o.send.counts), *ms = ints(o.receive.counts);
  const int *at = ints(o.send.displacements), *into = ints(o.receive.displacements);
  MPI_Datatype a = o.send.type, b = o.receive.type;
  bool w = o.send.types;
  switch (o.kind) {
    case NBC_ALLGATHER:
      o.each ? PMPI_Allgatherv(from, n, a, to, ms, into, b, o.comm)
             : PMPI_Allgather(from, n, a, to, m, b, o.comm);
      break;
    case NBC_ALLTOALL:
      w        ? PMPI_Alltoallw(from, ns, at, o.send.types, to, ms, into, o.receive.types, o.comm)
      : o.each ? PMPI_Alltoallv(from, ns, at, a, to, ms, into, b, o.comm)
               : PMPI_Alltoall(from, n, a, to, m, b, o.comm);
      break;
    case NBC_GATHER:
      o.each ? PMPI_Gatherv(from, n, a, to, ms, into, b, o.root, o.comm)
             : PMPI_Gather(from, n, a, to, m, b, o.root, o.comm);
      break;
    case NBC_SCATTER:
      o.each ? PMPI_Scatterv(from, ns, at, a, to, m, b, o.root, o.comm)
             : PMPI_Scatter(from, n, a, to, m, b, o.root, o.comm);
      break;
    case NBC_NEIGHBOR_ALLGATHER:
      o.each ? PMPI_Neighbor_allgatherv(from, n, a, to, ms, into, b, o.comm)
             : PMPI_Neighbor_allgather(from, n, a, to, m, b, o.comm);
      break;
    case NBC_NEIGHBOR_ALLTOALL:
      w ? PMPI_Neighbor_alltoallw(from, ns, addresses(o.send.displacements), o.send.types, to, ms,
                                  addresses(o.receive.displacements), o.receive.types, o.comm)
      : o.each ? PMPI_Neighbor_alltoallv(from, ns, at, a, to, ms, into, b, o.comm)
               : PMPI_Neighbor_alltoall(from, n, a, to, m, b, o.comm);
      break;
    case NBC_BCAST:
      PMPI_Bcast(to, m, b, o.root, o.comm);
      break;
    case NBC_ALLREDUCE:
      PMPI_Allreduce(from, to, m, b, o.op, o.comm);
      break;
    case NBC_REDUCE:
      PMPI_Reduce(from, to, m, b, o.op, o.root, o.comm);
      break;
    case NBC_REDUCE_SCATTER:
      PMPI_Reduce_scatter(from, to, ns, b, o.op, o.comm);
      break;
    case NBC_REDUCE_SCATTER_BLOCK:
      PMPI_Reduce_scatter_block(from, to, m, b, o.op, o.comm);
      break;
    case NBC_SCAN:
      PMPI_Scan(from, to, m, b, o.op, o.comm);
      break;
    case NBC_EXSCAN:
      PMPI_Exscan(from, to, m, b, o.op, o.comm);
      break;
    case NBC_BARRIER:
    case NBC_OWN:
    case NBC_KINDS:
      break;
  }
}
