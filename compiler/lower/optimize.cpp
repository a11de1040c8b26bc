// SPDX-License-Identifier: BSD-3-Clause
// optimize.cpp - folds constants and equal values, and the blocks that this leaves empty.
//
// lower() makes SSA values and checks everything, as often as it is written. So:
// equal checks are joined (EarlyCSE, with what branches prove), what is known is
// folded, blocks are merged. Loops are left alone: their bodies are calls.
//
// All checks of a function branch to one block, which makes merging quadratic; so
// what is longer than any algorithm that someone wrote by hand stays as it is.
//
// The only file that sees PassBuilder's headers; they take 15 s to compile.

#include "compiler/lower/optimize.h"

#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace nbcc {

namespace {

constexpr unsigned kMostInstructions = 20'000;

}  // namespace

void optimize(llvm::Module &module) {
  if (module.getInstructionCount() > kMostInstructions) return;

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function &f : module)
    if (!f.isDeclaration()) passes.run(f, functions);
}

}  // namespace nbcc
