// SPDX-License-Identifier: BSD-3-Clause
/// zoo.h - datatypes of all makes, and memory for them.

#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct Animal {
  std::string name;
  MPI_Datatype type, other;  // another type of the same signature: plain, if there is one
  int others = 1;            // so many of it
  bool dense = false;
};

/// All of them, committed. The same on all ranks.
std::vector<Animal> make_zoo();

/// Memory that `count` elements of a type take up, with some more around it; `buffer` is MPI's
/// address.
struct Memory {
  std::vector<std::byte> bytes;
  std::byte *buffer = nullptr;

  Memory() = default;
  Memory(Memory &&) = default;
  Memory &operator=(Memory &&) = default;
  Memory(const Memory &other) : bytes(other.bytes) {
    buffer = bytes.data() + (other.buffer - other.bytes.data());
  }
  /// From the lowest to the highest address, filled by a pattern.
  Memory(std::int64_t lowest, std::int64_t highest, unsigned seed);
  /// For elements 0 .. count - 1.
  static Memory of(MPI_Datatype, std::int64_t count, unsigned seed);
};
