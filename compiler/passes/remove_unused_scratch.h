// SPDX-License-Identifier: BSD-3-Clause
// remove_unused_scratch.h - forget scratch that no step names.

#pragma once

#include "compiler/ir/schedule.h"

namespace nbcc {

/// Scratch and slots that no step names go away, and the others move up. A `like`
/// that named one of them names what that one is like instead: the same units.
/// Linear in steps, extents and `like` lists.
void removeUnusedScratch(Schedule &);

}  // namespace nbcc
