// SPDX-License-Identifier: BSD-3-Clause
// module.h - a whole library as one LLVM module.

#pragma once

#include <memory>

#include "compiler/output/output.h"
#include "compiler/output/tables.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace nbcc {

/// The code of all files, and the tables, which know where it is. Exported are the function
/// `nbc_library_NAME`, and the tables as `nbc_library` where that is asked for. Null: it was too
/// large, which was reported.
std::unique_ptr<llvm::Module> moduleOf(const LibraryContent &, const LibraryTables &,
                                       bool asSharedObject, llvm::LLVMContext &, Diag &);

}  // namespace nbcc
