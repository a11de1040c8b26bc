// SPDX-License-Identifier: BSD-3-Clause
// algorithms.h - std::fill() and such, over pointers to numbers and iterators of vectors of them.
//
// What such a call touches lies between a begin and an end, which are looked at where they stand:
// v.begin(), std::end(v), v.begin() + n. An iterator that is kept in a variable is not followed,
// nor is one that such a call returns.

#pragma once

#include <vector>

#include "tools/overlap/known_calls.h"

namespace clang {
class Expr;
}

namespace nbcc::overlap {

/// Null: it is none of these, or is given something else. The letters are those of known_calls.def,
/// and
///
///   e  the end of what the argument before begins
const KnownCall *findAlgorithm(const clang::CallExpr &);

/// What is computed for an argument of such a call: itself; or, of an iterator, the container (a
/// vector of numbers, or a pointer to one) and then the distances from its begin or end.
std::vector<const clang::Expr *> partsOf(const clang::Expr *argument);

}  // namespace nbcc::overlap
