// SPDX-License-Identifier: BSD-3-Clause
/// selection.h - the table of this process: NBC_TABLE, or the one beside the library, and
/// NBC_<COLLECTIVE>.

#pragma once

#include <optional>

#include "compiler/selection/table.h"
#include "dropin/communicator.h"
#include "dropin/data.h"

namespace nbcc::dropin {

/// Reads it now; else the first choice does.
void read_table();
/// What the table says of a call on a communicator that is ready. None: no row fits; no table.
std::optional<Choice> choose(const Communicator &, const Operation &, const Outline &);

}  // namespace nbcc::dropin
