// SPDX-License-Identifier: BSD-3-Clause
// kernels.h - the tables of reductions that kernels.c is compiled to, and the pairs.

#pragma once

#include <stdint.h>

#include "nbc.h"

// As MPI's pair types lie in memory.
#define PAIR(first, second, value_type, index_type) \
  struct first##_##second {                         \
    value_type value;                               \
    index_type index;                               \
  };
PAIR(i16, i32, int16_t, int32_t)
PAIR(i32, i32, int32_t, int32_t)
PAIR(i64, i32, int64_t, int32_t)
PAIR(f32, i32, float, int32_t)
PAIR(f64, i32, double, int32_t)
PAIR(f80, i32, long double, int32_t)
PAIR(f32, f32, float, float)
PAIR(f64, f64, double, double)
#undef PAIR

typedef nbc_reduce_function *const kernel_table[NBC_TYPES][NBC_OPS];

// For any processor; for x86-64-v3.
extern kernel_table kernels_any, kernels_v3;
