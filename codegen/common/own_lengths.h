// SPDX-License-Identifier: BSD-3-Clause
// own_lengths.h - schedules for calls in which each block has a length and a place of its own.

#pragma once

#include <string_view>

#include "compiler/ir/schedule.h"
#include "dsl/diag.h"

namespace nbcc::codegen {

/// Of Collective::hasOwnLengths(), kinds where every rank knows how long all blocks are.
bool allKnowAllLengths(ast::Kind);
/// Makes a schedule fit for such calls; false: it is not, which was reported, as by `target`.
bool giveOwnLengths(Schedule &, std::string_view target, Diag &);
/// From then on no extent names more than one block of a caller's buffer.
void cutAtBlocks(Schedule &);

}  // namespace nbcc::codegen
