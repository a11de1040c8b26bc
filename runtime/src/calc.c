// SPDX-License-Identifier: BSD-3-Clause
// calc.c - values to slots and back; see calc.h. MIN and MAX of floating point stay
// with the host: which of two NaNs wins is not what an order of bits would say.

#include "runtime/src/calc.h"

#include <string.h>

enum mlx5_calc calc_operation(enum nbc_type type, enum nbc_op op) {
  if (type == NBC_F64) return op == NBC_SUM ? MLX5_CALC_ADD_F64 : MLX5_CALC_NONE;
  if (type != NBC_I64 && type != NBC_U64) return MLX5_CALC_NONE;
  switch (op) {
    case NBC_SUM:
      return MLX5_CALC_ADD_U64;
    case NBC_MIN:
    case NBC_MAX:
      return MLX5_CALC_MAX_U64;
    case NBC_BAND:
    case NBC_LAND:
      return MLX5_CALC_AND;
    case NBC_BOR:
    case NBC_LOR:
      return MLX5_CALC_OR;
    case NBC_BXOR:
    case NBC_LXOR:
      return MLX5_CALC_XOR;
    case NBC_PROD:
    case NBC_MINLOC:
    case NBC_MAXLOC:
    case NBC_USER:
    case NBC_OPS:
      break;
  }
  return MLX5_CALC_NONE;
}

// What MIN and MAX turn around, there and back.
static uint64_t turned(enum nbc_type type, enum nbc_op op) {
  if (op != NBC_MIN && op != NBC_MAX) return 0;
  uint64_t sign = type == NBC_I64 ? UINT64_C(1) << 63 : 0;
  return op == NBC_MIN ? ~sign : sign;
}

void calc_encode(void *slot, const void *value, enum nbc_type type, enum nbc_op op) {
  uint64_t v;
  memcpy(&v, value, sizeof v);
  if (op == NBC_LAND || op == NBC_LOR || op == NBC_LXOR) v = v != 0;
  mlx5_put64(slot, v ^ turned(type, op));
  mlx5_put64((uint8_t *)slot + 8, 0);
}

void calc_decode(void *value, const void *slot, enum nbc_type type, enum nbc_op op) {
  uint64_t v = mlx5_get64(slot) ^ turned(type, op);
  memcpy(value, &v, sizeof v);
}
