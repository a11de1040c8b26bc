// SPDX-License-Identifier: BSD-3-Clause
// calc.h - a value of 64 bits in the form in which the adapter reduces it.
//
// A slot of 16 bytes: the value, big-endian, and 8 bytes that say where a maximum
// was found, which we leave 0. What the adapter has no operation for is put in terms
// of one that it has: a minimum is the complement of the maximum of complements; a
// signed order is the unsigned one with the sign bit turned; logical operations
// are bitwise ones on 0 and 1.

#pragma once

#include "nbc.h"
#include "nbc/mlx5_wqe.h"

// MLX5_CALC_NONE: not on an adapter.
enum mlx5_calc calc_operation(enum nbc_type, enum nbc_op);

void calc_encode(void *slot, const void *value, enum nbc_type, enum nbc_op);
void calc_decode(void *value, const void *slot, enum nbc_type, enum nbc_op);
