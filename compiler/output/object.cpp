// SPDX-License-Identifier: BSD-3-Clause
// object.cpp - from a module to the bytes of an object file, or of an archive of one.
//
// Compiled for a level of x86-64 that many machines have: `build` is integers and calls, in which
// newer instructions show nowhere (a step is spent in the sink). So the default is the first.
//
// The only file that sees the headers of LLVM's back end and of its archives.

#include "compiler/output/object.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/Archive.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

namespace nbcc {
namespace {

std::unique_ptr<llvm::TargetMachine> machineOf(const LibraryContent &content, Diag &diag) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  const llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string why;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple.str(), why);
  if (!target) {
    diag.error(Loc(), "LLVM cannot compile for this machine: ", why);
    return nullptr;
  }
  std::string cpu;
  if (triple.getArch() == llvm::Triple::x86_64)
    cpu = content.cpuLevel == 1 ? "x86-64" : cat("x86-64-v", content.cpuLevel);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple.str(), cpu, "", llvm::TargetOptions(), llvm::Reloc::PIC_, llvm::CodeModel::Small,
      content.quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default));
}

}  // namespace

int hostCpuLevel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) return 4;
  if (__builtin_cpu_supports("x86-64-v3")) return 3;
  if (__builtin_cpu_supports("x86-64-v2")) return 2;
#endif
  return 1;
}

std::string objectOf(llvm::Module &module, const LibraryContent &content, Diag &diag) {
  const std::unique_ptr<llvm::TargetMachine> machine = machineOf(content, diag);
  if (!machine) return "";
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    diag.error(Loc(), "LLVM writes no object files for ", machine->getTargetTriple().str());
    return "";
  }
  passes.run(module);
  return {bytes.data(), bytes.size()};
}

std::string archiveOf(const std::string &object, const std::string &member, Diag &diag) {
  const auto buffer = llvm::MemoryBuffer::getMemBuffer(object, member, false);
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> archive = llvm::writeArchiveToBuffer(
      llvm::NewArchiveMember(*buffer), llvm::SymtabWritingMode::NormalSymtab,
      llvm::object::Archive::K_GNU, true, false);
  if (archive) return (*archive)->getBuffer().str();
  diag.error(Loc(), "the archive cannot be made: ", llvm::toString(archive.takeError()));
  return "";
}

std::vector<std::string> membersOf(const std::string &archive, std::string &why) {
  std::vector<std::string> members;
  auto opened = llvm::object::Archive::create(llvm::MemoryBufferRef(archive, "archive"));
  if (!opened) {
    why = llvm::toString(opened.takeError());
    return {};
  }
  llvm::Error error = llvm::Error::success();
  for (const llvm::object::Archive::Child &child : (*opened)->children(error)) {
    llvm::Expected<llvm::StringRef> bytes = child.getBuffer();
    if (bytes)
      members.push_back(bytes->str());
    else
      why = llvm::toString(bytes.takeError());
  }
  if (error) why = llvm::toString(std::move(error));
  return members;
}

}  // namespace nbcc
