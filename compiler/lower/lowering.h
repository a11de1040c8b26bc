// SPDX-License-Identifier: BSD-3-Clause
// lowering.h - the state of lower(): of a module, and of one function being written.

#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <array>
#include <vector>

#include "compiler/abi/abi.h"
#include "dsl/ast.h"

namespace nbcc {

/// The calls of calls.def.
enum class Call {
#define CALL(result, name, ...) name,
#include "compiler/abi/calls.def"
};
inline constexpr size_t kCalls = 0
#define CALL(...) +1
#include "compiler/abi/calls.def"
    ;

struct ModuleLowering {
  llvm::Module &module;
  llvm::Type *number, *pointer;
  llvm::StructType *checked;
  std::array<llvm::FunctionCallee, kCalls> calls;
  llvm::DenseMap<const ast::Function *, llvm::Function *> functions;
  llvm::DenseMap<const ast::Algorithm *, llvm::Function *> builds;
  llvm::StringMap<llvm::Constant *> texts;

  explicit ModuleLowering(llvm::Module &);
  llvm::FunctionCallee callee(Call) const;
  llvm::Function *define(llvm::FunctionType *, const llvm::Twine &name, bool internal);
};

/// One function being written, and what its names stand for. The language has no
/// assignment, so each variable is an SSA value and nothing needs a stack slot.
struct FunctionLowering {
  ModuleLowering &all;
  llvm::IRBuilder<> code;
  llvm::Function *function;
  llvm::BasicBlock *stop;  // returns: an error was told to the sink
  llvm::Value *ranks = nullptr, *rank = nullptr, *root = nullptr, *sink = nullptr;
  std::vector<llvm::Value *> parameters, locals;

  FunctionLowering(ModuleLowering &, llvm::Function *);

  // lower_expression.cpp
  llvm::Value *expression(const ast::Expr &);
  llvm::Value *unary(const ast::Expr &);
  llvm::Value *binary(const ast::Expr &);
  llvm::Value *shortCircuit(const ast::Expr &);
  llvm::Value *conditional(const ast::Expr &);
  llvm::Value *builtin(const ast::Expr &);
  llvm::Value *functionCall(const ast::Expr &);
  llvm::Value *fold(const ast::Expr &);
  llvm::Value *variable(const ast::Variable &);
  llvm::Value *arithmetic(ast::Operator, llvm::Value *left, llvm::Value *right, Loc at);

  // lower_statement.cpp
  void block(const ast::Block &);
  void statement(const ast::Statement &);
  void communicate(Call, const ast::Statement &);
  void section(const ast::Section &);
  void scratch(const ast::Statement &);
  void choice(const ast::Statement &);
  void stepLoop(const ast::Statement &);
  /// What a loop hands from turn to turn. Before it: the first value; body puts the next one here;
  /// behind it: the last.
  struct Carried {
    const ast::Variable &state;
    llvm::Value *value;
  };
  void rangeLoop(const ast::Range &, const ast::Variable &, llvm::function_ref<void()> body,
                 Carried * = nullptr);
  void turns(llvm::Value *any, llvm::Value *low, llvm::Value *last, const ast::Variable &, Loc,
             const ast::Expr *condition, llvm::function_ref<void()> body, Carried * = nullptr);
  /// v = 0, ..., count - 1.
  void countedLoop(llvm::Value *count, const ast::Variable &v, Loc,
                   llvm::function_ref<void()> body);
  struct Way {
    llvm::Value *value;
    llvm::BasicBlock *from;
  };
  llvm::Value *either(Way one, Way other);
  void group(const ast::Statement &);
  void promise(const ast::Statement &);

  // lower_run.cpp
  void run(const ast::Statement &);
  void bind(const ast::Binding &, const ast::Algorithm &callee, llvm::Value *size);
  llvm::Value *arguments(const ast::Statement &);
  llvm::Value *elements(const ast::Binding &, const ast::Algorithm &callee, llvm::Value *size);
  llvm::Value *rootArgument(const ast::Statement &);

  // lower.cpp
  llvm::BasicBlock *newBlock(const llvm::Twine &name);
  llvm::Value *constant(int64_t);
  llvm::Value *place(Loc);
  llvm::Value *text(const std::string &);
  void set(const ast::Variable &, llvm::Value *);
  /// Calls the sink and stops where it says so.
  void tell(Call, std::initializer_list<llvm::Value *>);
  /// Likewise for a call that gives a value.
  llvm::Value *ask(llvm::FunctionCallee, llvm::ArrayRef<llvm::Value *>, ast::Type);
  /// Stops with a fault where `wrong` is true.
  void refuse(llvm::Value *wrong, Fault, llvm::Value *first, llvm::Value *second, Loc at);
  void stopIf(llvm::Value *wrong, llvm::function_ref<void()> explain = nullptr);
  /// Takes one from the iterations that are left, and gives whether there was none.
  llvm::Value *noIterationLeft();
  llvm::Value *counter(unsigned index);
};

}  // namespace nbcc
