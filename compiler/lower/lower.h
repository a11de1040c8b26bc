// SPDX-License-Identifier: BSD-3-Clause
// lower.h - from a checked tree to an LLVM module. Cannot fail.
//
// One function `build` per algorithm walks through what one rank does and tells
// a sink about each step (compiler/elaborate/sink.h has the calls and who may
// refuse); small functions beside it evaluate `requires` and the bounds of
// `claims`. These functions are the only executor of the language.

#pragma once

#include <memory>
#include <string>

#include "dsl/ast.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace nbcc {

/// The names of the functions in the module; what they are, compiler/abi/abi.h says.
std::string buildName(const ast::Algorithm &);
std::string requirementName(const ast::Algorithm &, size_t index);
std::string claimName(const ast::Algorithm &, size_t index);
std::string extentName(const ast::OwnCollective &, size_t buffer);

std::unique_ptr<llvm::Module> lower(const ast::File &, llvm::LLVMContext &);

}  // namespace nbcc
