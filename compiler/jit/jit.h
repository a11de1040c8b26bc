// SPDX-License-Identifier: BSD-3-Clause
// jit.h - machine code of a module, as addresses by name. No LLVM header is needed to use it.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "compiler/elaborate/sink_functions.h"
#include "dsl/ast.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace nbcc {

class Jit {
 public:
  /// Lowers, optimises and compiles; the functions are those that the module calls. Null where
  /// that cannot be done; `why` says why.
  static std::unique_ptr<Jit> make(const ast::File &, std::span<const SinkFunction>,
                                   std::string &why);
  /// Compiles a module that calls nothing.
  static std::unique_ptr<Jit> load(const std::string &bitcode, std::string &why);
  ~Jit();

  /// Of a function with external linkage.
  void *address(const std::string &name) const { return addresses_.at(name); }

 private:
  Jit();
  bool add(std::unique_ptr<llvm::Module>, std::unique_ptr<llvm::LLVMContext>,
           std::span<const SinkFunction>, bool quickly, std::string &why);
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::unordered_map<std::string, void *> addresses_;
};

}  // namespace nbcc
