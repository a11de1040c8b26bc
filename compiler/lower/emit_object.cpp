// SPDX-License-Identifier: BSD-3-Clause
// emit_object.cpp - LLVM's back end, once: what kind of machine, and its code as an object file.
//
// Code is position independent, as it ends in shared objects.
//
// The only file that sees the headers of LLVM's back end.

#include "compiler/lower/emit_object.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

#include <memory>

namespace nbcc {
namespace {

std::unique_ptr<llvm::TargetMachine> machineOf(const Emission &emission, std::string &why) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  const llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple.str(), why);
  if (!target) {
    why = "LLVM cannot compile for this machine: " + why;
    return nullptr;
  }
  std::string cpu;
  if (triple.getArch() == llvm::Triple::x86_64)
    cpu = emission.cpuLevel == 1 ? "x86-64" : "x86-64-v" + std::to_string(emission.cpuLevel);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple.str(), cpu, "", llvm::TargetOptions(), llvm::Reloc::PIC_, llvm::CodeModel::Small,
      emission.quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default));
}

}  // namespace

std::string emitObject(llvm::Module &module, const Emission &emission, std::string &why) {
  const std::unique_ptr<llvm::TargetMachine> machine = machineOf(emission, why);
  if (!machine) return "";
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    why = "LLVM writes no object files for " + machine->getTargetTriple().str();
    return "";
  }
  passes.run(module);
  return {bytes.data(), bytes.size()};
}

}  // namespace nbcc
