// SPDX-License-Identifier: BSD-3-Clause
// reduce.c - to[i] = left[i] op right[i], for each type and operation of MPI.
//
// One loop per pair, made by macros; the compiler makes vectors of them. Integers
// wrap: what could overflow is computed unsigned. MIN and MAX take `left` when
// neither is smaller, so that of two NaNs or zeros of different sign the result is
// the same for the same order. Elements may lie anywhere: no alignment is assumed.

#include "nbc.h"

// Reads and writes at any address, whatever was stored there.
#define ANYWHERE(name, type) typedef type __attribute__((aligned(1), may_alias)) name;
ANYWHERE(i8, int8_t)
ANYWHERE(u8, uint8_t)
ANYWHERE(i16, int16_t)
ANYWHERE(u16, uint16_t)
ANYWHERE(i32, int32_t)
ANYWHERE(u32, uint32_t)
ANYWHERE(i64, int64_t)
ANYWHERE(u64, uint64_t)
ANYWHERE(f32, float)
ANYWHERE(f64, double)

#define LOOP(op, name, type, expression)                                           \
  static void op##_##name(void *to, const void *left, const void *right, size_t n, \
                          void *context) {                                         \
    type *t = (type *)to;                                                          \
    const type *l = (const type *)left, *r = (const type *)right;                  \
    (void)context;                                                                 \
    for (size_t i = 0; i < n; ++i) {                                               \
      type a = l[i], b = r[i];                                                     \
      t[i] = (type)(expression);                                                   \
    }                                                                              \
  }

// 1u: a product of two shorter ones would be one of (signed) int. Converting back
// to a signed type wraps with the compilers we use.
#define INTEGER(name, type, wide)                \
  LOOP(sum, name, type, (wide)a + (wide)b)       \
  LOOP(prod, name, type, 1u * (wide)a * (wide)b) \
  ORDERED(name, type)                            \
  BITWISE(name, type)                            \
  LOOP(land, name, type, a &&b)                  \
  LOOP(lor, name, type, a || b)                  \
  LOOP(lxor, name, type, !a != !b)
#define ORDERED(name, type)            \
  LOOP(min, name, type, b < a ? b : a) \
  LOOP(max, name, type, a < b ? b : a)
#define BITWISE(name, type)    \
  LOOP(band, name, type, a &b) \
  LOOP(bor, name, type, a | b) \
  LOOP(bxor, name, type, a ^ b)
#define FLOATING(name, type)   \
  LOOP(sum, name, type, a + b) \
  LOOP(prod, name, type, a *b) \
  ORDERED(name, type)

INTEGER(i8, i8, uint8_t)
INTEGER(u8, u8, uint8_t)
INTEGER(i16, i16, uint16_t)
INTEGER(u16, u16, uint16_t)
INTEGER(i32, i32, uint32_t)
INTEGER(u32, u32, uint32_t)
INTEGER(i64, i64, uint64_t)
INTEGER(u64, u64, uint64_t)
FLOATING(f32, f32)
FLOATING(f64, f64)

#define BITWISE_ROW(name) [NBC_BAND] = band_##name, [NBC_BOR] = bor_##name, [NBC_BXOR] = bxor_##name
#define FLOATING_ROW(name) \
  [NBC_SUM] = sum_##name, [NBC_PROD] = prod_##name, [NBC_MIN] = min_##name, [NBC_MAX] = max_##name
#define INTEGER_ROW(name)                                                                  \
  FLOATING_ROW(name), BITWISE_ROW(name), [NBC_LAND] = land_##name, [NBC_LOR] = lor_##name, \
                                         [NBC_LXOR] = lxor_##name

nbc_reduce_function *nbc_reduction(enum nbc_type type, enum nbc_op op) {
  static nbc_reduce_function *const table[NBC_TYPES][NBC_OPS] = {
      [NBC_BYTE] = {BITWISE_ROW(u8)},  [NBC_I8] = {INTEGER_ROW(i8)},
      [NBC_U8] = {INTEGER_ROW(u8)},    [NBC_I16] = {INTEGER_ROW(i16)},
      [NBC_U16] = {INTEGER_ROW(u16)},  [NBC_I32] = {INTEGER_ROW(i32)},
      [NBC_U32] = {INTEGER_ROW(u32)},  [NBC_I64] = {INTEGER_ROW(i64)},
      [NBC_U64] = {INTEGER_ROW(u64)},  [NBC_F32] = {FLOATING_ROW(f32)},
      [NBC_F64] = {FLOATING_ROW(f64)},
  };
  if ((unsigned)type >= NBC_TYPES || (unsigned)op >= NBC_OPS) return NULL;
  return table[type][op];
}
