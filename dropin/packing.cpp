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

// Whichever side is read is not written.
char *characters(const void *at) {
  return static_cast<char *>(const_cast<void *>(at));
}

// How far it is from an element to the next, and within one from a block to the next.
struct Apart {
  std::int64_t element, block;
};

// Whether blocks share a cache's line with those of other elements, as a matrix's columns do.
bool are_mingled(const Type &t, std::int64_t count) {
  constexpr std::int64_t line = 64;
  return count > 1 && std::abs(t.extent) < t.blocks.stride && t.blocks.bytes < line;
}

// Then they are copied in groups: a few rows at a time, as long as these are still near.
std::int64_t blocks_at_once(const Type &t, std::int64_t count) {
  constexpr std::int64_t few = 8;
  return are_mingled(t, count) ? few : t.blocks.count;
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

// Between where data lie and their bytes one behind the other: of a few bytes, of blocks, and of
// elements, whose first block `data` is.
template <bool packs>
void move_bytes(char *flat, char *data, std::int64_t bytes) {
  std::memcpy(packs ? flat : data, packs ? data : flat, static_cast<std::size_t>(bytes));
}

template <bool packs>
void move_blocks(char *flat, char *data, const Blocks &b, std::int64_t n) {
  if constexpr (packs)
    copy_blocks(flat, b.bytes, data, b.stride, n, b.bytes);
  else
    copy_blocks(data, b.stride, flat, b.bytes, n, b.bytes);
}

template <bool packs>
void move_elements(char *flat, char *data, const Type &t, std::int64_t n) {
  const Apart close = {t.size, t.blocks.bytes}, lie = {t.extent, t.blocks.stride};
  if constexpr (packs)
    copy_elements(flat, close, data, lie, t, n);
  else
    copy_elements(data, lie, flat, close, t, n);
}

// Of one element, from one of its bytes on.
template <bool packs>
void move_within(char *flat, char *data, const Blocks &b, std::int64_t offset, std::int64_t bytes) {
  data += offset / b.bytes * b.stride;
  if (const std::int64_t into = offset % b.bytes) {
    const std::int64_t n = std::min(bytes, b.bytes - into);
    move_bytes<packs>(flat, data + into, n);
    flat += n, bytes -= n, data += b.stride;
  }
  const std::int64_t whole = bytes / b.bytes;
  move_blocks<packs>(flat, data, b, whole);
  move_bytes<packs>(flat + whole * b.bytes, data + whole * b.stride, bytes % b.bytes);
}

template <bool packs>
void move_some(char *flat, char *data, const Type &t, std::int64_t offset, std::int64_t bytes) {
  if (t.dense) return move_bytes<packs>(flat, data + offset, bytes);
  data += t.blocks.first + offset / t.size * t.extent;
  if (const std::int64_t into = offset % t.size) {
    const std::int64_t n = std::min(bytes, t.size - into);
    move_within<packs>(flat, data, t.blocks, into, n);
    flat += n, bytes -= n, data += t.extent;
  }
  const std::int64_t whole = bytes / t.size;
  move_elements<packs>(flat, data, t, whole);
  move_within<packs>(flat + whole * t.size, data + whole * t.extent, t.blocks, 0, bytes % t.size);
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
    move_elements<true>(static_cast<char *>(to), characters(from) + b.first, t, count);
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
    move_elements<false>(characters(from), characters(to) + b.first, t, count);
    return true;
  }
  return in_parts(count, t.size, [&](std::int64_t i, std::int64_t n) {
    return unpack_part(static_cast<const char *>(from) + i * t.size, n * t.size,
                       static_cast<char *>(to) + i * t.extent, n, type);
  });
}

bool can_be_cut(const Type &t, std::int64_t count) {
  return t.dense || (t.blocks.count && !are_mingled(t, count));
}

void pack_some(const void *from, const Type &t, std::int64_t offset, void *to, std::int64_t bytes) {
  move_some<true>(characters(to), characters(from), t, offset, bytes);
}

void unpack_some(const void *from, void *to, const Type &t, std::int64_t offset,
                 std::int64_t bytes) {
  move_some<false>(characters(from), characters(to), t, offset, bytes);
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
