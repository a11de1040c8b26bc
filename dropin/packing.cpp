// SPDX-License-Identifier: BSD-3-Clause
// packing.cpp - MPI_Pack and MPI_Unpack, which count in ints, for data of any length.

#include "dropin/packing.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace nbcc::dropin {

namespace {

// The most bytes at once. Tests set less, to see what is cut into several.
#ifdef NBC_PACK_UNIT
constexpr std::int64_t pack_unit = NBC_PACK_UNIT;
#else
constexpr std::int64_t pack_unit = INT_MAX;
#endif

// MPI_BOTTOM, which is null, with a type that holds addresses: MPICH packs nothing from there. So
// the data's own address, and a type moved back by as much.
struct Somewhere {
  const void *buffer;
  int count;
  MPI_Datatype type;
  bool made;

  Somewhere(const void *at, std::int64_t n, MPI_Datatype of)
      : buffer(at), count(static_cast<int>(n)), type(of), made(!at) {
    if (!made) return;
    MPI_Aint lower, back, extent;
    PMPI_Type_get_true_extent(of, &lower, &extent);
    back = -lower;
    PMPI_Type_create_hindexed(1, &count, &back, of, &type);
    PMPI_Type_commit(&type);
    buffer = reinterpret_cast<const void *>(lower);
    count = 1;
  }
  Somewhere(const Somewhere &) = delete;
  Somewhere &operator=(const Somewhere &) = delete;
  ~Somewhere() {
    if (made) PMPI_Type_free(&type);
  }
};

// Elements that are no more bytes than an int counts; a single one may be where there is MPI 4.
bool pack_part(const void *from, std::int64_t n, MPI_Datatype of, std::int64_t bytes, void *to) {
  Somewhere s(from, n, of);
#if MPI_VERSION >= 4
  if (bytes > pack_unit) {
    MPI_Count position = 0;
    return PMPI_Pack_c(s.buffer, s.count, s.type, to, bytes, &position, MPI_COMM_SELF) ==
           MPI_SUCCESS;
  }
#endif
  int position = 0;
  return bytes <= INT_MAX && PMPI_Pack(s.buffer, s.count, s.type, to, static_cast<int>(bytes),
                                       &position, MPI_COMM_SELF) == MPI_SUCCESS;
}

bool unpack_part(const void *from, std::int64_t bytes, void *to, std::int64_t n, MPI_Datatype of) {
  Somewhere s(to, n, of);
  void *buffer = const_cast<void *>(s.buffer);
#if MPI_VERSION >= 4
  if (bytes > pack_unit) {
    MPI_Count position = 0;
    return PMPI_Unpack_c(from, bytes, &position, buffer, s.count, s.type, MPI_COMM_SELF) ==
           MPI_SUCCESS;
  }
#endif
  int position = 0;
  return bytes <= INT_MAX && PMPI_Unpack(from, static_cast<int>(bytes), &position, buffer, s.count,
                                         s.type, MPI_COMM_SELF) == MPI_SUCCESS;
}

// Calls part(first element, how many) with no more than `pack_unit` bytes each, while it returns
// true.
template <class Part>
bool in_parts(std::int64_t count, std::int64_t size, Part part) {
  const std::int64_t at_once = std::max<std::int64_t>(1, pack_unit / size);
  for (std::int64_t i = 0; i < count; i += at_once)
    if (!part(i, std::min(at_once, count - i))) return false;
  return true;
}

template <std::size_t bytes>
void copy_each(char *to, std::int64_t next, const char *from, std::int64_t behind, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i, to += next, from += behind) std::memcpy(to, from, bytes);
}

// n blocks, at each side so far apart.
void copy_blocks(char *to, std::int64_t next, const char *from, std::int64_t behind, std::int64_t n,
                 std::int64_t bytes) {
  switch (bytes) {
    case 4:
      return copy_each<4>(to, next, from, behind, n);
    case 8:
      return copy_each<8>(to, next, from, behind, n);
    case 16:
      return copy_each<16>(to, next, from, behind, n);
    default:
      for (std::int64_t i = 0; i < n; ++i, to += next, from += behind)
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

// How far it is from an element to the next, and within one from a block to the next.
struct Apart {
  std::int64_t element, block;
};

// Blocks that share a cache's line with those of other elements are copied in groups: a matrix's
// columns a few rows at a time, as long as these are still near.
std::int64_t blocks_at_once(const Type &t, std::int64_t count) {
  constexpr std::int64_t line = 64, few = 8;
  const Blocks &b = t.blocks;
  const bool mingled = count > 1 && std::abs(t.extent) < b.stride && b.bytes < line;
  return mingled ? few : b.count;
}

void copy_elements(char *to, Apart next, const char *from, Apart behind, const Type &t,
                   std::int64_t count) {
  const Blocks &b = t.blocks;
  const std::int64_t at_once = blocks_at_once(t, count);
  for (std::int64_t j = 0; j < b.count; j += at_once) {
    char *target = to + j * next.block;
    const char *source = from + j * behind.block;
    for (std::int64_t i = 0; i < count; ++i, target += next.element, source += behind.element)
      copy_blocks(target, next.block, source, behind.block, std::min(at_once, b.count - j),
                  b.bytes);
  }
}

// Along the blocks of elements of a type.
class Walk {
 public:
  Walk(const void *data, const Type &t)
      : blocks_(t.blocks),
        extent_(t.extent),
        element_(static_cast<const char *>(data) + t.blocks.first) {}

  const char *at() const { return element_ + block_ * blocks_.stride + done_; }
  std::int64_t left() const { return blocks_.bytes - done_; }  // of the block
  void go_on(std::int64_t bytes) {
    done_ += bytes;
    if (done_ < blocks_.bytes) return;
    done_ = 0;
    if (++block_ < blocks_.count) return;
    block_ = 0;
    element_ += extent_;
  }

 private:
  const Blocks blocks_;
  const std::int64_t extent_;
  const char *element_;
  std::int64_t block_ = 0, done_ = 0;
};

void walk(const void *from, const Type &f, void *to, const Type &t, std::int64_t bytes) {
  Walk source(from, f), target(to, t);
  while (bytes) {
    const std::int64_t n = std::min(source.left(), target.left());
    std::memcpy(const_cast<char *>(target.at()), source.at(), static_cast<std::size_t>(n));
    source.go_on(n);
    target.go_on(n);
    bytes -= n;
  }
}

// Shorter ones are quicker copied twice, by a loop for their length.
bool has_long_blocks(const Type &t) {
  constexpr std::int64_t enough = 64;
  return t.blocks.count && t.blocks.bytes >= enough;
}

}  // namespace

bool pack(const void *from, std::int64_t count, MPI_Datatype type, const Type &t, void *to) {
  if (count == 0 || t.size == 0) return true;
  if (t.dense) {
    std::memcpy(to, from, static_cast<std::size_t>(count * t.size));
    return true;
  }
  if (const Blocks &b = t.blocks; b.count && from) {
    copy_elements(static_cast<char *>(to), {t.size, b.bytes},
                  static_cast<const char *>(from) + b.first, {t.extent, b.stride}, t, count);
    return true;
  }
  return in_parts(count, t.size, [&](std::int64_t i, std::int64_t n) {
    return pack_part(static_cast<const char *>(from) + i * t.extent, n, type, n * t.size,
                     static_cast<char *>(to) + i * t.size);
  });
}

bool unpack(const void *from, void *to, std::int64_t count, MPI_Datatype type, const Type &t) {
  if (count == 0 || t.size == 0) return true;
  if (t.dense) {
    std::memcpy(to, from, static_cast<std::size_t>(count * t.size));
    return true;
  }
  if (const Blocks &b = t.blocks; b.count && to) {
    copy_elements(static_cast<char *>(to) + b.first, {t.extent, b.stride},
                  static_cast<const char *>(from), {t.size, b.bytes}, t, count);
    return true;
  }
  return in_parts(count, t.size, [&](std::int64_t i, std::int64_t n) {
    return unpack_part(static_cast<const char *>(from) + i * t.size, n * t.size,
                       static_cast<char *>(to) + i * t.extent, n, type);
  });
}

bool needs_room(const Type &from, const Type &to) {
  return !from.dense && !to.dense && !(has_long_blocks(from) && has_long_blocks(to));
}

bool repack(const void *from, std::int64_t from_count, MPI_Datatype from_type, const Type &f,
            void *to, std::int64_t to_count, MPI_Datatype to_type, const Type &t, void *room) {
  if (f.dense) return unpack(from, to, to_count, to_type, t);
  if (t.dense) return pack(from, from_count, from_type, f, to);
  if (needs_room(f, t))
    return pack(from, from_count, from_type, f, room) && unpack(room, to, to_count, to_type, t);
  walk(from, f, to, t, from_count * f.size);
  return true;
}

void put_pairs(const void *from, void *to, std::int64_t count, nbc_type pair) {
  const auto each = static_cast<std::int64_t>(nbc_type_size(pair));
  const std::int64_t second = pair == NBC_I16_I32 ? 4 : pair == NBC_F80_I32 ? 16 : 8;
  const std::int64_t first = pair == NBC_I16_I32 ? 2 : pair == NBC_F80_I32 ? 10 : second;
  const auto *source = static_cast<const char *>(from);
  auto *target = static_cast<char *>(to);
  copy_blocks(target, each, source, each, count, first);
  copy_blocks(target + second, each, source + second, each, count, sizeof(std::int32_t));
}

}  // namespace nbcc::dropin
