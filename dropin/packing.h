// SPDX-License-Identifier: BSD-3-Clause
/// packing.h - data of any type into bytes one behind the other, in the order of its type map, and
/// back.
///
/// MPI_Pack does just that among processes of one kind of machine, in both libraries, and a test
/// holds them to it. Dense data, and blocks at equal distances, are copied.

#pragma once

#include "dropin/types.h"

namespace nbcc::dropin {

/// `count` elements at `from` into count * size bytes, and back. Gaps are not touched. False: the
/// MPI could not, as where one element has more bytes than an int counts in MPI 3.
bool pack(const void *from, std::int64_t count, MPI_Datatype, const Type &, void *to);
bool unpack(const void *from, void *to, std::int64_t count, MPI_Datatype, const Type &);

/// `bytes` of what pack() would make, from `offset` on, and of what unpack() would take: of
/// elements that can be cut, and take no longer so. Of columns each part would need all their lines
/// again.
void pack_some(const void *from, const Type &, std::int64_t offset, void *to, std::int64_t bytes);
void unpack_some(const void *from, void *to, const Type &, std::int64_t offset, std::int64_t bytes);
bool can_be_cut(const Type &, std::int64_t count);

/// Elements of one type to elements of another, as many bytes. Of blocks that are long it takes one
/// copy. `room`: for as many bytes, where needs_room() says so.
bool repack(const void *from, std::int64_t from_count, MPI_Datatype, const Type &, void *to,
            std::int64_t to_count, MPI_Datatype, const Type &, void *room);
bool needs_room(const Type &from, const Type &to);

/// Pairs, as they lie in memory, without what is between their members or behind them.
void put_pairs(const void *from, void *to, std::int64_t count, nbc_type);

}  // namespace nbcc::dropin
