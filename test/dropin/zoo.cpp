// SPDX-License-Identifier: BSD-3-Clause
// zoo.cpp - how its types are made: with gaps, out of order, before their address, one in another.

#include "test/dropin/zoo.h"

#include <algorithm>

std::vector<Animal> make_zoo() {
  std::vector<Animal> zoo;
  auto add = [&](const char *name, MPI_Datatype type, MPI_Datatype other, int others, bool dense) {
    PMPI_Type_commit(&type);
    zoo.push_back({name, type, other, others, dense});
    return type;
  };
  zoo.push_back({"int", MPI_INT, MPI_INT, 1, true});
  zoo.push_back({"double and int", MPI_DOUBLE_INT, MPI_DOUBLE_INT, 1, false});
  zoo.push_back({"short and int", MPI_SHORT_INT, MPI_SHORT_INT, 1, false});
  MPI_Datatype t, u;

  PMPI_Type_contiguous(3, MPI_INT, &t);
  add("row", t, MPI_INT, 3, true);
  PMPI_Type_vector(2, 3, 3, t, &t);
  add("rows", t, MPI_INT, 18, true);
  PMPI_Type_create_hvector(3, 1, 4, MPI_INT, &t);
  add("dense hvector", t, MPI_INT, 3, true);
  PMPI_Type_dup(t, &t);
  PMPI_Type_create_resized(t, 0, 12, &t);
  add("the same, resized to what it is", t, MPI_INT, 3, true);
  PMPI_Type_create_resized(MPI_INT, 0, 12, &t);
  add("int in 12 bytes", t, MPI_INT, 1, false);
  PMPI_Type_vector(3, 2, 4, MPI_INT, &t);
  add("vector", t, MPI_INT, 6, false);
  PMPI_Type_contiguous(2, t, &u);
  add("vectors", u, MPI_INT, 12, false);
  PMPI_Type_dup(t, &u);
  add("twin", u, MPI_INT, 6, false);
  PMPI_Type_vector(3, 2, -4, MPI_INT, &t);
  add("backwards", t, MPI_INT, 6, false);

  int lengths[] = {2, 1}, elements[] = {3, 0};
  PMPI_Type_indexed(2, lengths, elements, MPI_SHORT, &t);
  add("out of order, with gaps", t, MPI_SHORT, 3, false);
  int swapped[] = {1, 0}, ones[] = {1, 1};
  PMPI_Type_indexed(2, ones, swapped, MPI_INT, &t);
  add("out of order, without gaps", t, MPI_INT, 2, false);
  PMPI_Type_contiguous(2, t, &t);
  add("two of those", t, MPI_INT, 4, false);

  MPI_Aint places[] = {0, 8, 20};
  int counts[] = {1, 1, 3};
  MPI_Datatype members[] = {MPI_CHAR, MPI_DOUBLE, MPI_CHAR};
  PMPI_Type_create_struct(3, counts, places, members, &t);
  PMPI_Type_create_resized(t, 0, 24, &t);
  add("struct with holes", t, t, 1, false);
  MPI_Aint crossed[] = {4, 0};
  MPI_Datatype both[] = {MPI_INT, MPI_INT};
  PMPI_Type_create_struct(2, ones, crossed, both, &t);
  add("struct out of order, without gaps", t, MPI_INT, 2, false);
  MPI_Aint before[] = {-12, 4};
  PMPI_Type_create_hindexed(2, ones, before, MPI_INT, &t);
  add("before its address", t, MPI_INT, 2, false);
  PMPI_Type_create_resized(t, -16, 40, &t);
  add("the same in more room", t, MPI_INT, 2, false);
  MPI_Aint behind[] = {24, 12};
  PMPI_Type_create_hindexed(2, ones, behind, MPI_INT, &t);
  add("behind its address", t, MPI_INT, 2, false);
  PMPI_Type_vector(3, 1, 96, MPI_DOUBLE, &t);
  PMPI_Type_create_resized(t, 0, 8, &t);
  add("column", t, MPI_DOUBLE, 3, false);
  PMPI_Type_create_resized(t, 0, -8, &u);
  add("columns from the last", u, MPI_DOUBLE, 3, false);
  int sizes[] = {4, 5}, part[] = {2, 3}, start[] = {1, 1};
  PMPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT, &t);
  add("inner of an array", t, MPI_INT, 6, false);
  int wide[] = {20, 6}, columns[] = {18, 3}, second[] = {1, 2};
  PMPI_Type_create_subarray(2, wide, columns, second, MPI_ORDER_FORTRAN, MPI_INT, &t);
  add("long columns of an array", t, MPI_INT, 54, false);
  PMPI_Type_vector(2, 27, 30, MPI_INT, &t);
  PMPI_Type_create_resized(t, -4, 244, &t);
  add("long blocks", t, MPI_INT, 54, false);
  PMPI_Type_contiguous(0, MPI_INT, &t);
  add("nothing", t, t, 1,
      true);  // of 0 ints, and one of these, some of the MPIs wait for each other
  return zoo;
}

Memory::Memory(std::int64_t lowest, std::int64_t highest, unsigned seed) {
  constexpr std::int64_t around = 16;
  lowest = std::min<std::int64_t>(lowest, 0) & -around;
  highest = std::max<std::int64_t>(highest, 0);
  bytes.resize(static_cast<std::size_t>(highest - lowest + 2 * around));
  buffer = bytes.data() - lowest + around;
  // Many zeros, which the operator that does not commute wants.
  std::uint32_t state = seed * 2654435761u + 1;
  for (std::byte &b : bytes) {
    state = state * 1664525u + 1013904223u;
    b = static_cast<std::byte>(state >> 30 ? state >> 16 : 0);
  }
}

Memory Memory::of(MPI_Datatype type, std::int64_t count, unsigned seed) {
  MPI_Aint lower, extent, true_lower, true_extent;
  PMPI_Type_get_extent(type, &lower, &extent);
  PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
  std::int64_t last = std::max<std::int64_t>(count - 1, 0) * extent;
  return {true_lower + std::min<std::int64_t>(last, 0),
          true_lower + true_extent + std::max<std::int64_t>(last, 0), seed};
}
