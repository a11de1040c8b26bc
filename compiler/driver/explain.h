// SPDX-License-Identifier: BSD-3-Clause
// explain.h - nbcc --explain-selection: what the drop-in would take for a call, and why.

#pragma once

#include <iosfwd>

#include "compiler/driver/options.h"

namespace nbcc {

/// Each row of the table that is looked at, and why it does not fit, or that it wins; then the
/// LogGP estimate of every algorithm of the collective. NBC_TABLE, NBC_LIBRARY and NBC_ALLGATHER
/// and its like are obeyed, as the drop-in does.
void explainSelection(const Options &, std::ostream &, Diag &);

}  // namespace nbcc
