// SPDX-License-Identifier: BSD-3-Clause
// elements.h - one element of each type of nbc.h: what a rank gives, and how two are combined.
//
// For the reference: the operators are written down once more here, and share nothing with the
// runtime's kernels.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "nbc.h"

namespace nbcc {

std::optional<nbc_type> typeNamed(std::string_view);
/// So that results cannot be compared byte for byte: f80, and pairs of unlike members.
bool hasBytesThatMeanNothing(nbc_type);
/// sum .. lxor, and affine, which is NBC_USER with userOperator().
std::optional<nbc_op> operatorNamed(std::string_view);
/// Composition of x -> a x + b mod 2^32, a in the upper half of 64 bits:
/// associative, not commutative, and every operand counts.
nbc_reduce_function *userOperator();

// Elements lie one behind the other; their types are without such bytes.

/// The first `count` elements of what `rank` gives, pseudo-random in (seed, element), small enough
/// that floating point sums are exact in any order.
void contribute(nbc_type, nbc_op, int64_t rank, uint64_t seed, size_t count, std::byte *to);

/// left = left op right, `count` times. NBC_USER is affine.
void combine(nbc_type, nbc_op, std::byte *left, const std::byte *right, size_t count);

}  // namespace nbcc
