// SPDX-License-Identifier: BSD-3-Clause
// calls.cpp - the MPI's functions by kind, contributions, and what has to come of them.

#include "tools/bench/calls.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "tools/bench/together.h"

namespace nbcc::bench {
namespace {

constexpr size_t page = 4096;

std::byte *aligned(std::vector<std::byte> &memory, size_t bytes) {
  memory.resize(bytes + 2 * page);
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  return memory.data() + (page - address % page) % page;
}

MPI_Datatype typeInMpi(const Collective &c, nbc_type type) {
  if (!c.reduces) return MPI_BYTE;
  return type == NBC_F32   ? MPI_FLOAT
         : type == NBC_I32 ? MPI_INT32_T
         : type == NBC_I64 ? MPI_INT64_T
                           : MPI_DOUBLE;
}

/// Element i of what a rank gives: sums of those of 2^16 ranks are exact in all types.
unsigned contribution(int rank, size_t i) {
  return unsigned((size_t(rank) * 89 + i * 31 + i / 251) % 127);
}

void mustMpi(int error) {
  if (error) must(NBC_ERROR_DEVICE, "MPI");
}

}  // namespace

std::string nameInMpi(const Collective &c, bool blocking) {
  std::string name(c.name);
  if (blocking) name[0] = char(std::toupper(name[0]));
  return (blocking ? "MPI_" : "MPI_I") + name;
}

Arguments::Arguments(const Collective &c, size_t largest, nbc_type type, int root)
    : collective_(c),
      type_(c.reduces ? type : NBC_BYTE),
      mpiType_(typeInMpi(c, type)),
      root_(root) {
  rank_ = rankHere();
  ranks_ = rankCount();
  size_ = nbc_type_size(type_);
  in_ = aligned(inMemory_, largest * size_t(c.in == Shape::blocks ? ranks_ : 1));
  out_ = aligned(outMemory_, largest * size_t(c.out == Shape::blocks ? ranks_ : 1));
  call_.in = in_;
  call_.out = out_;
  call_.data = out_;
  call_.type = type_;
  call_.op = NBC_SUM;
}

void Arguments::setSize(size_t bytes) {
  count_ = bytes / size_;
  call_.count = count_;
}

void Arguments::nonblockingCall(MPI_Request *r) {
  const int n = int(count_);
  const MPI_Datatype t = mpiType_;
  const MPI_Comm world = MPI_COMM_WORLD;
  switch (collective_.kind) {
    case ast::Kind::allgather:
      return mustMpi(MPI_Iallgather(in_, n, t, out_, n, t, world, r));
    case ast::Kind::alltoall:
      return mustMpi(MPI_Ialltoall(in_, n, t, out_, n, t, world, r));
    case ast::Kind::allreduce:
      return mustMpi(MPI_Iallreduce(in_, out_, n, t, MPI_SUM, world, r));
    case ast::Kind::reduce:
      return mustMpi(MPI_Ireduce(in_, out_, n, t, MPI_SUM, root_, world, r));
    case ast::Kind::bcast:
      return mustMpi(MPI_Ibcast(out_, n, t, root_, world, r));
    case ast::Kind::gather:
      return mustMpi(MPI_Igather(in_, n, t, out_, n, t, root_, world, r));
    case ast::Kind::scatter:
      return mustMpi(MPI_Iscatter(in_, n, t, out_, n, t, root_, world, r));
    case ast::Kind::barrier:
      return mustMpi(MPI_Ibarrier(world, r));
    case ast::Kind::reduce_scatter:  // of equal blocks
    case ast::Kind::reduce_scatter_block:
      return mustMpi(MPI_Ireduce_scatter_block(in_, out_, n, t, MPI_SUM, world, r));
    case ast::Kind::scan:
      return mustMpi(MPI_Iscan(in_, out_, n, t, MPI_SUM, world, r));
    case ast::Kind::exscan:
      return mustMpi(MPI_Iexscan(in_, out_, n, t, MPI_SUM, world, r));
    case ast::Kind::neighbor_allgather:
    case ast::Kind::neighbor_alltoall:
    case ast::Kind::own:
      break;
  }
  must(NBC_ERROR_UNSUPPORTED, "not measured");
}

void Arguments::blockingCall() {
  const int n = int(count_);
  const MPI_Datatype t = mpiType_;
  const MPI_Comm world = MPI_COMM_WORLD;
  switch (collective_.kind) {
    case ast::Kind::allgather:
      return mustMpi(MPI_Allgather(in_, n, t, out_, n, t, world));
    case ast::Kind::alltoall:
      return mustMpi(MPI_Alltoall(in_, n, t, out_, n, t, world));
    case ast::Kind::allreduce:
      return mustMpi(MPI_Allreduce(in_, out_, n, t, MPI_SUM, world));
    case ast::Kind::reduce:
      return mustMpi(MPI_Reduce(in_, out_, n, t, MPI_SUM, root_, world));
    case ast::Kind::bcast:
      return mustMpi(MPI_Bcast(out_, n, t, root_, world));
    case ast::Kind::gather:
      return mustMpi(MPI_Gather(in_, n, t, out_, n, t, root_, world));
    case ast::Kind::scatter:
      return mustMpi(MPI_Scatter(in_, n, t, out_, n, t, root_, world));
    case ast::Kind::barrier:
      return mustMpi(MPI_Barrier(world));
    case ast::Kind::reduce_scatter:
    case ast::Kind::reduce_scatter_block:
      return mustMpi(MPI_Reduce_scatter_block(in_, out_, n, t, MPI_SUM, world));
    case ast::Kind::scan:
      return mustMpi(MPI_Scan(in_, out_, n, t, MPI_SUM, world));
    case ast::Kind::exscan:
      return mustMpi(MPI_Exscan(in_, out_, n, t, MPI_SUM, world));
    case ast::Kind::neighbor_allgather:
    case ast::Kind::neighbor_alltoall:
    case ast::Kind::own:
      break;
  }
  must(NBC_ERROR_UNSUPPORTED, "not measured");
}

void Flight::start(const Contestant &who, Arguments &what) {
  if (who.plan) return must(nbc_start(who.plan, &what.call_, &request), "start");
  if (who.blocks) return what.blockingCall();
  what.nonblockingCall(&mpi);
}

bool Flight::test(const Contestant &who) {
  int done = 1;
  if (who.plan)
    must(nbc_test(&request, &done), "test");
  else if (!who.blocks)
    mustMpi(MPI_Test(&mpi, &done, MPI_STATUS_IGNORE));
  return done;
}

void Flight::wait(const Contestant &who) {
  if (who.plan)
    must(nbc_wait(&request), "wait");
  else if (!who.blocks)
    mustMpi(MPI_Wait(&mpi, MPI_STATUS_IGNORE));
}

// --- is it right ---

void Arguments::store(std::byte *to, size_t element, unsigned value) const {
  const auto put = [&](auto typed) { std::memcpy(to + element * size_, &typed, sizeof typed); };
  if (type_ == NBC_BYTE) put(uint8_t(value));
  if (type_ == NBC_F64) put(double(value));
  if (type_ == NBC_F32) put(float(value));
  if (type_ == NBC_I64) put(int64_t(value));
  if (type_ == NBC_I32) put(int32_t(value));
}

/// What element i of the result is made of; n elements are a block.
unsigned Arguments::wanted(size_t i) const {
  const size_t n = count_;
  const auto sum = [](int first, int end, size_t at) {
    unsigned all = 0;
    for (int r = first; r < end; ++r) all += contribution(r, at);
    return all;
  };
  switch (collective_.kind) {
    case ast::Kind::allgather:
    case ast::Kind::gather:
      return contribution(int(i / n), i % n);
    case ast::Kind::alltoall:
      return contribution(int(i / n), size_t(rank_) * n + i % n);
    case ast::Kind::scatter:
      return contribution(root_, size_t(rank_) * n + i);
    case ast::Kind::bcast:
      return contribution(root_, i);
    case ast::Kind::allreduce:
    case ast::Kind::reduce:
      return sum(0, ranks_, i);
    case ast::Kind::scan:
      return sum(0, rank_ + 1, i);
    case ast::Kind::exscan:
      return sum(0, rank_, i);
    case ast::Kind::reduce_scatter:
    case ast::Kind::reduce_scatter_block:
      return sum(0, ranks_, size_t(rank_) * n + i);
    case ast::Kind::barrier:
    case ast::Kind::neighbor_allgather:
    case ast::Kind::neighbor_alltoall:
    case ast::Kind::own:
      break;
  }
  return 0;
}

bool Arguments::isRight(const Contestant &who) {
  const Collective &c = collective_;
  const size_t ranks = size_t(ranks_), given = count_ * (c.in == Shape::blocks ? ranks : 1),
               got = count_ * (c.out == Shape::blocks ? ranks : 1);
  for (size_t i = 0; i < given; ++i) store(in_, i, contribution(rank_, i));
  std::fill_n(out_, got * size_, std::byte{0x5a});
  const bool isRoot = rank_ == root_;
  if (c.kind == ast::Kind::bcast && isRoot)
    for (size_t i = 0; i < got; ++i) store(out_, i, contribution(rank_, i));
  Flight flight;
  flight.start(who, *this);
  flight.wait(who);
  // Where nothing is said of `out`, nothing is looked at.
  if (c.kind == ast::Kind::barrier || (c.kind == ast::Kind::exscan && rank_ == 0) ||
      (c.where == Where::out_at_root && !isRoot))
    return true;
  std::vector<std::byte> element(size_);
  for (size_t i = 0; i < got; ++i) {
    store(element.data(), 0, wanted(i));
    if (std::memcmp(element.data(), out_ + i * size_, size_)) return false;
  }
  return true;
}

}  // namespace nbcc::bench
