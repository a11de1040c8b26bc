// SPDX-License-Identifier: BSD-3-Clause
// headers.h - which files that a source includes are looked into as the program's own.
//
// A compiler is told of folders where headers are of the system, and warns of nothing there. That
// is no good guide here: a library's template may be made for the program's types and call
// collectives, and an MPI may lie in a folder of the user's.

#pragma once

#include <clang/AST/DeclBase.h>
#include <clang/Basic/SourceManager.h>

#include <set>
#include <string>

namespace nbcc::overlap {

/// The headers of a library whose text names a collective, and those that include one, are looked
/// into as the program's own: from here on they are no headers of the system.
void lookInto(clang::SourceManager &);

/// An MPI's own headers are of the system, however the compiler was told where they are.
void leaveToMpi(clang::SourceManager &);

/// Functions with bodies, or other names for these, that other sources may call by their names.
void findOwn(const clang::DeclContext &in, std::set<std::string> &names);

}  // namespace nbcc::overlap
