// SPDX-License-Identifier: BSD-3-Clause
// meetings.h - which other calls of the program a collective may meet on another rank.

#pragma once

#include <optional>
#include <string>

#include "tools/overlap/collectives.h"
#include "tools/overlap/program.h"

namespace nbcc::overlap {

/// One that it may meet, in words: of the same kind, and maybe with the same communicator, root and
/// operator. None: whoever takes part in the collective is at this very call.
std::optional<std::string> mayMeet(const clang::CallExpr &, const Collective &,
                                   const clang::FunctionDecl *in, Program &);

}  // namespace nbcc::overlap
