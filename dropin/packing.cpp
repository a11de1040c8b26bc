// SPDX-License-Identifier: BSD-3-Clause
// packing.cpp - MPI_Pack and MPI_Unpack, which count in ints, for data of any length.

#include "dropin/packing.h"

#include <algorithm>
#include <climits>
#include <cstring>

namespace nbcc::dropin {

namespace {

// The most bytes at once. Tests set less, to see what is cut into several.
#ifdef NBC_PACK_UNIT
constexpr std::int64_t most = NBC_PACK_UNIT;
#else
constexpr std::int64_t most = INT_MAX;
#endif

// Of an element that is longer.
bool pack_long(const void *from, MPI_Datatype type, std::int64_t bytes, void *to) {
#if MPI_VERSION >= 4
  MPI_Count position = 0;
  return PMPI_Pack_c(from, 1, type, to, bytes, &position, MPI_COMM_SELF) == MPI_SUCCESS;
#else
  int position = 0;
  return bytes <= INT_MAX && PMPI_Pack(from, 1, type, to, static_cast<int>(bytes), &position,
                                       MPI_COMM_SELF) == MPI_SUCCESS;
#endif
}

bool unpack_long(const void *from, void *to, MPI_Datatype type, std::int64_t bytes) {
#if MPI_VERSION >= 4
  MPI_Count position = 0;
  return PMPI_Unpack_c(from, bytes, &position, to, 1, type, MPI_COMM_SELF) == MPI_SUCCESS;
#else
  int position = 0;
  return bytes <= INT_MAX && PMPI_Unpack(from, static_cast<int>(bytes), &position, to, 1, type,
                                         MPI_COMM_SELF) == MPI_SUCCESS;
#endif
}

// Calls part(first element, how many) with no more than `most` bytes each, while it returns true.
template <class Part>
bool in_parts(std::int64_t count, std::int64_t size, Part part) {
  const std::int64_t at_once = std::max<std::int64_t>(1, most / size);
  for (std::int64_t i = 0; i < count; i += at_once)
    if (!part(i, std::min(at_once, count - i))) return false;
  return true;
}

}  // namespace

bool pack(const void *from, std::int64_t count, MPI_Datatype type, const Type &t, void *to) {
  if (count == 0 || t.size == 0) return true;
  if (t.dense) {
    std::memcpy(to, from, static_cast<std::size_t>(count * t.size));
    return true;
  }
  return in_parts(count, t.size, [&](std::int64_t i, std::int64_t n) {
    const char *element = static_cast<const char *>(from) + i * t.extent;
    char *bytes = static_cast<char *>(to) + i * t.size;
    int position = 0;
    if (t.size > most) return pack_long(element, type, t.size, bytes);
    return PMPI_Pack(element, static_cast<int>(n), type, bytes, static_cast<int>(n * t.size),
                     &position, MPI_COMM_SELF) == MPI_SUCCESS;
  });
}

bool unpack(const void *from, void *to, std::int64_t count, MPI_Datatype type, const Type &t) {
  if (count == 0 || t.size == 0) return true;
  if (t.dense) {
    std::memcpy(to, from, static_cast<std::size_t>(count * t.size));
    return true;
  }
  return in_parts(count, t.size, [&](std::int64_t i, std::int64_t n) {
    const char *bytes = static_cast<const char *>(from) + i * t.size;
    char *element = static_cast<char *>(to) + i * t.extent;
    int position = 0;
    if (t.size > most) return unpack_long(bytes, element, type, t.size);
    return PMPI_Unpack(bytes, static_cast<int>(n * t.size), &position, element, static_cast<int>(n),
                       type, MPI_COMM_SELF) == MPI_SUCCESS;
  });
}

}  // namespace nbcc::dropin
