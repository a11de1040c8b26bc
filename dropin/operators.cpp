// SPDX-License-Identifier: BSD-3-Clause
// operators.cpp - which operator it is, which are in use, and how a user's is applied.

#include "dropin/operators.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "dropin/packing.h"

namespace nbcc::dropin {

nbc_op op_of(MPI_Op op) {
  // The frequent ones first; handles are no constants in one of the libraries.
  if (op == MPI_SUM) return NBC_SUM;
  if (op == MPI_MAX) return NBC_MAX;
  if (op == MPI_MIN) return NBC_MIN;
  if (op == MPI_LAND) return NBC_LAND;
  if (op == MPI_LOR) return NBC_LOR;
  if (op == MPI_BOR) return NBC_BOR;
  if (op == MPI_BAND) return NBC_BAND;
  if (op == MPI_MAXLOC) return NBC_MAXLOC;
  if (op == MPI_MINLOC) return NBC_MINLOC;
  if (op == MPI_PROD) return NBC_PROD;
  if (op == MPI_BXOR) return NBC_BXOR;
  if (op == MPI_LXOR) return NBC_LXOR;
  if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP) return NBC_OPS;
  return NBC_USER;
}

bool commutes(MPI_Op op) {
  int result = 1;
  if (op_of(op) == NBC_USER) PMPI_Op_commutative(op, &result);
  return result;
}

// --- operators in use ---

namespace {

struct Use {
  MPI_Op op;
  std::size_t calls;
  bool freed;
};

// Few at a time; never destroyed, as calls may end later than static objects.
struct Uses {
  std::mutex lock;
  std::vector<Use> all;

  std::vector<Use>::iterator find(MPI_Op op) {
    return std::find_if(all.begin(), all.end(), [op](const Use &u) { return u.op == op; });
  }
};

Uses &uses() {
  static Uses *const result = new Uses;
  return *result;
}

}  // namespace

bool retain(MPI_Op op) {
  if (op_of(op) != NBC_USER) return true;
  try {
    Uses &u = uses();
    std::lock_guard held(u.lock);
    if (auto found = u.find(op); found != u.all.end())
      ++found->calls;
    else
      u.all.push_back({op, 1, false});
    return true;
  } catch (const std::bad_alloc &) {
    return false;
  }
}

void release(MPI_Op op) {
  if (op_of(op) != NBC_USER) return;
  Uses &u = uses();
  bool last;
  {
    std::lock_guard held(u.lock);
    auto found = u.find(op);
    if (found == u.all.end() || --found->calls) return;
    last = found->freed;
    u.all.erase(found);
  }
  if (last) PMPI_Op_free(&op);
}

bool defer_free(MPI_Op op) {
  Uses &u = uses();
  std::lock_guard held(u.lock);
  auto found = u.find(op);
  if (found == u.all.end()) return false;
  found->freed = true;
  return true;
}

// --- a user's operator ---

namespace {

constexpr std::int64_t memory_for_one = 32 * 1024;  // operand: two of them leave room in a cache

std::size_t rounded(std::int64_t bytes) {
  return (static_cast<std::size_t>(bytes) + Room::alignment - 1) / Room::alignment *
         Room::alignment;
}

}  // namespace

void UserOperator::set(MPI_Op op, bool commutes, MPI_Datatype datatype, const Type &type,
                       std::int64_t elements) {
  op_ = op;
  datatype_ = datatype;
  type_ = type;
  commutes_ = commutes;
  at_once_ = 0;
  if (type.dense && commutes_) return;

  MPI_Aint lower = 0, bytes = type.size;
  if (!type.dense) PMPI_Type_get_true_extent(datatype, &lower, &bytes);
  // Where an element reaches into the next one's extent, or backwards, one at a time.
  at_once_ = 1;
  if (type.extent >= bytes)
    at_once_ = static_cast<int>(
        std::max<std::int64_t>(1, std::min(elements, memory_for_one / type.extent)));
  std::int64_t one = (at_once_ - 1) * type.extent + bytes;
  // What a type has at its address 0 is to be as aligned as if that were a variable.
  std::size_t shift = static_cast<std::size_t>(lower) % Room::alignment;
  std::size_t room = rounded(one + static_cast<std::int64_t>(shift));
  std::byte *memory = memory_.take(2 * room);
  if (!type.dense) std::memset(memory, 0, 2 * room);  // gaps, in case a function reads them
  left_ = reinterpret_cast<char *>(memory) + shift - lower;
  right_ = left_ + room;
}

void UserOperator::combine_dense(char *to, const char *left, const char *right, int n) {
  std::size_t bytes = static_cast<std::size_t>(n) * static_cast<std::size_t>(type_.size);
  if (to == left && commutes_) {
    PMPI_Reduce_local(right, to, n, datatype_, op_);
    return;
  }
  char *result = to == left ? right_ : to;
  if (result != right) std::memcpy(result, right, bytes);
  PMPI_Reduce_local(left, result, n, datatype_, op_);
  if (result != to) std::memcpy(to, result, bytes);
}

void UserOperator::combine_packed(char *to, const char *left, const char *right, int n) {
  unpack(left, left_, n, datatype_, type_);
  unpack(right, right_, n, datatype_, type_);
  PMPI_Reduce_local(left_, right_, n, datatype_, op_);
  pack(right_, n, datatype_, type_, to);
}

void UserOperator::combine(void *to, const void *left, const void *right, std::size_t n,
                           void *self) {
  UserOperator &o = *static_cast<UserOperator *>(self);
  std::size_t size = static_cast<std::size_t>(o.type_.size);
  // Without memory of its own it is limited by MPI's counts alone.
  std::size_t most = o.at_once_ ? static_cast<std::size_t>(o.at_once_) : 1u << 30;
  for (std::size_t i = 0; i < n; i += most) {
    int part = static_cast<int>(std::min(most, n - i));
    char *result = static_cast<char *>(to) + i * size;
    const char *first = static_cast<const char *>(left) + i * size;
    const char *second = static_cast<const char *>(right) + i * size;
    if (o.type_.dense)
      o.combine_dense(result, first, second, part);
    else
      o.combine_packed(result, first, second, part);
  }
}

}  // namespace nbcc::dropin
