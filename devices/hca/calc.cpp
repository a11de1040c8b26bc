// SPDX-License-Identifier: BSD-3-Clause
// calc.cpp - a send that reduces: n slots of 16 bytes become one.
//
// A slot is a big-endian value of 8 bytes and 8 bytes that say where it is from, of use to MAX
// only: the first of equal maxima wins. The other operations deliver 0 there.

#include <bit>

#include "devices/hca/engine.h"

namespace hca {

void reduceSlots(uint8_t op, const Spans &slots, uint8_t result[16]) {
  uint64_t value = 0, place = 0;
  bool first = true;
  for (int i = 0; i < slots.count; ++i)
    for (const uint8_t *s = slots.span[i].at; s < slots.span[i].at + slots.span[i].bytes; s += 16) {
      uint64_t next = mlx5_get64(s), nextPlace = mlx5_get64(s + 8);
      if (first) {
        value = next;
        place = op == MLX5_CALC_MAX_U64 ? nextPlace : 0;
        first = false;
        continue;
      }
      switch (op) {
        case MLX5_CALC_ADD_U64:
          value += next;
          break;
        case MLX5_CALC_ADD_F64:
          value =
              std::bit_cast<uint64_t>(std::bit_cast<double>(value) + std::bit_cast<double>(next));
          break;
        case MLX5_CALC_MAX_U64:
          if (next > value) value = next, place = nextPlace;
          break;
        case MLX5_CALC_AND:
          value &= next;
          break;
        case MLX5_CALC_OR:
          value |= next;
          break;
        case MLX5_CALC_XOR:
          value ^= next;
          break;
      }
    }
  mlx5_put64(result, value);
  mlx5_put64(result + 8, place);
}

}  // namespace hca
