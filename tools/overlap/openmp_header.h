// SPDX-License-Identifier: BSD-3-Clause
// openmp_header.h - omp.h where the compiler's is gcc's alone, which clang does not find.

#pragma once

#include <string_view>

namespace nbcc::overlap {

/// A folder and a name that are looked in last, where no such file is.
constexpr const char openmpFolder[] = NBCC_CLANG_RESOURCES "/openmp";
constexpr const char openmpHeader[] = NBCC_CLANG_RESOURCES "/openmp/omp.h";

/// The types and functions that section 3 of "OpenMP Application Programming Interface" 5.0 gives
/// to C and C++. Locks and handles are as large as a pointer or more, and are asked by name only.
extern const std::string_view openmpText;

}  // namespace nbcc::overlap
