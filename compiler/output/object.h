// SPDX-License-Identifier: BSD-3-Clause
// object.h - object files and archives of them, as bytes.

#pragma once

#include <string>
#include <vector>

#include "compiler/output/output.h"

namespace llvm {
class Module;
}

namespace nbcc {

/// Empty: it cannot be done, which was reported.
std::string objectOf(llvm::Module &, const LibraryContent &, Diag &);
std::string archiveOf(const std::string &object, const std::string &member, Diag &);
/// What is in an archive; `why` says what was wrong with it, after the members before that.
std::vector<std::string> membersOf(const std::string &archive, std::string &why);

}  // namespace nbcc
