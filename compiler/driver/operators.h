// SPDX-License-Identifier: BSD-3-Clause
// operators.h - --op=FILE:NAME: a user's operator, through libnbc-operators.so.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/options.h"
#include "compiler/operators/compile_operator.h"

namespace nbcc {

class Jit;

/// Of a library: those that --op names.
std::vector<LibraryContent::Operator> compileOperators(const Options &, Diag &);

/// Of a run: makes it the options' operator, and the type of its operands theirs. The code stays as
/// long as what is returned.
std::unique_ptr<Jit> loadOperator(Options &, Diag &);

}  // namespace nbcc
