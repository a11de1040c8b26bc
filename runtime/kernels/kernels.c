// SPDX-License-Identifier: BSD-3-Clause
// kernels.c - to[i] = left[i] op right[i], for each type and operation of MPI.
//
// One loop for each pair, made by macros from types.def; LLVM makes vectors of them. The file is
// compiled once for each level of the processor (KERNELS is the table's name, see reduce.c), always
// with -ffp-contract=off: a fused multiply-add rounds once where the others round twice, and ranks
// on different processors must get the same bits.
//
// Integers wrap: what could overflow is computed unsigned, and at least as wide as int, since a
// product of two shorter ones would be one of signed ints. MIN and MAX take `left` when neither is
// smaller, so that of two NaNs or zeros of different sign the result is the same for the same
// order. MINLOC and MAXLOC are as MPI 4.1, section 6.9.4 has them: of equal values the lower index.
// A result is an operand or apart from both (nbc.h), so the order of elements is no matter to LLVM.
// Elements may lie anywhere: no alignment is assumed. What is between the members of a pair, or
// behind the ten bytes of an 80 bit number, is not said to be anything.

#include "runtime/src/kernels.h"

#include <string.h>

#define LOOP(op, name, type, expression)                                            \
  static void op##_##name(void *to, const void *left, const void *right, size_t n,  \
                          void *context) {                                          \
    (void)context;                                                                  \
    _Pragma("clang loop vectorize(assume_safety)") for (size_t i = 0; i < n; ++i) { \
      type a, b;                                                                    \
      memcpy(&a, (const char *)left + i * sizeof a, sizeof a);                      \
      memcpy(&b, (const char *)right + i * sizeof b, sizeof b);                     \
      type c = expression;                                                          \
      memcpy((char *)to + i * sizeof c, &c, sizeof c);                              \
    }                                                                               \
  }

#define LOOPS_BYTES(name, type, wide)   \
  LOOP(band, name, type, (type)(a & b)) \
  LOOP(bor, name, type, (type)(a | b))  \
  LOOP(bxor, name, type, (type)(a ^ b))
#define LOOPS_LOGICAL(name, type, wide)  \
  LOOP(land, name, type, (type)(a && b)) \
  LOOP(lor, name, type, (type)(a || b))  \
  LOOP(lxor, name, type, (type)(!a != !b))
#define LOOPS_ORDERED(name, type)        \
  LOOP(min, name, type, (b < a ? b : a)) \
  LOOP(max, name, type, (a < b ? b : a))
#define LOOPS_INTEGER(name, type, wide)                  \
  LOOP(sum, name, type, (type)((wide)a + (wide)b))       \
  LOOP(prod, name, type, (type)(1u * (wide)a * (wide)b)) \
  LOOPS_ORDERED(name, type)                              \
  LOOPS_BYTES(name, type, wide)                          \
  LOOPS_LOGICAL(name, type, wide)
#define LOOPS_COMPLEX(name, type, wide) \
  LOOP(sum, name, type, a + b)          \
  LOOP(prod, name, type, a *b)
#define LOOPS_FLOATING(name, type, wide) \
  LOOPS_COMPLEX(name, type, wide)        \
  LOOPS_ORDERED(name, type)
#define LOOPS_PAIR(name, type, wide)                                                     \
  LOOP(minloc, name, type,                                                               \
       (a.value == b.value ? (b.index < a.index ? b : a) : (b.value < a.value ? b : a))) \
  LOOP(maxloc, name, type,                                                               \
       (a.value == b.value ? (b.index < a.index ? b : a) : (a.value < b.value ? b : a)))

#define NBC_TYPE_ROW(NAME, name, kind, type, wide) LOOPS_##kind(name, type, wide)
#include "runtime/src/types.def"

#define ROW_BYTES(name) [NBC_BAND] = band_##name, [NBC_BOR] = bor_##name, [NBC_BXOR] = bxor_##name
#define ROW_LOGICAL(name) [NBC_LAND] = land_##name, [NBC_LOR] = lor_##name, [NBC_LXOR] = lxor_##name
#define ROW_COMPLEX(name) [NBC_SUM] = sum_##name, [NBC_PROD] = prod_##name
#define ROW_FLOATING(name) ROW_COMPLEX(name), [NBC_MIN] = min_##name, [NBC_MAX] = max_##name
#define ROW_INTEGER(name) ROW_FLOATING(name), ROW_BYTES(name), ROW_LOGICAL(name)
#define ROW_PAIR(name) [NBC_MINLOC] = minloc_##name, [NBC_MAXLOC] = maxloc_##name

nbc_reduce_function *const KERNELS[NBC_TYPES][NBC_OPS] = {
#define NBC_TYPE_ROW(NAME, name, kind, type, wide) [NBC_##NAME] = {ROW_##kind(name)},
#include "runtime/src/types.def"
};
