// SPDX-License-Identifier: BSD-3-Clause
// jit.cpp - LLJIT, told to do as little as possible.
//
// No platform (there are no constructors to run, no threads' storage), no symbols
// of the process (the module calls the sink and nothing else, by addresses that
// are given), one lookup for all functions. Instructions are selected the quick
// way: a third of the time, and a step is spent in the sink.
//
// The only file that sees ORC's headers; they take 15 s to compile.

#include "compiler/jit/jit.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ThreadSafeModule.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>

#include "compiler/lower/lower.h"
#include "compiler/lower/optimize.h"

namespace nbcc {

namespace {

/// Each value may get a slot on the stack, and time should not run away either.
/// A long algorithm has a thousand.
constexpr unsigned kMostInstructions = 200'000;

void initializeOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

}  // namespace

struct Jit::Impl {
  std::unique_ptr<llvm::orc::LLJIT> lljit;
};

Jit::Jit() : impl_(std::make_unique<Impl>()) {}
Jit::~Jit() = default;

/// Compiles a module in which the functions are what it may call.
bool Jit::add(std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context,
              std::span<const SinkFunction> functions, bool quickly, std::string &why) {
  const auto failed = [&](llvm::Error error) {
    if (!error) return false;
    why = llvm::toString(std::move(error));
    return true;
  };
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (failed(host.takeError())) return false;
  if (quickly) host->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);

  llvm::orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(std::move(*host))
      .setLinkProcessSymbolsByDefault(false)
      .setPlatformSetUp(llvm::orc::setUpInactivePlatform);
  auto lljit = builder.create();
  if (failed(lljit.takeError())) return false;
  impl_->lljit = std::move(*lljit);
  llvm::orc::LLJIT &jit = *impl_->lljit;

  llvm::orc::SymbolMap calls;
  for (const SinkFunction &f : functions)
    calls[jit.mangleAndIntern(f.name)] = {llvm::orc::ExecutorAddr::fromPtr(f.address),
                                          llvm::JITSymbolFlags::Exported};
  if (failed(jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(calls)))))
    return false;

  std::vector<std::string> names;
  llvm::orc::SymbolLookupSet wanted;
  for (const llvm::Function &f : *module) {
    if (f.isDeclaration() || f.hasLocalLinkage()) continue;
    names.push_back(f.getName().str());
    wanted.add(jit.mangleAndIntern(names.back()));
  }
  if (failed(jit.addIRModule({std::move(module), std::move(context)}))) return false;
  auto found = jit.getExecutionSession().lookup(
      llvm::orc::makeJITDylibSearchOrder(&jit.getMainJITDylib()), std::move(wanted));
  if (failed(found.takeError())) return false;
  for (const std::string &name : names)
    addresses_[name] = (*found)[jit.mangleAndIntern(name)].getAddress().toPtr<void *>();
  return true;
}

std::unique_ptr<Jit> Jit::make(const ast::File &file, std::span<const SinkFunction> functions,
                               std::string &why) {
  initializeOnce();
  std::unique_ptr<Jit> made(new Jit);
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module = lower(file, *context);
  if (unsigned size = module->getInstructionCount(); size > kMostInstructions) {
    why = cat("this program comes to ", size, " instructions; at most ", kMostInstructions,
              " are compiled");
    return nullptr;
  }
  optimize(*module);
  return made->add(std::move(module), std::move(context), functions, true, why) ? std::move(made)
                                                                                : nullptr;
}

std::unique_ptr<Jit> Jit::load(const std::string &bitcode, std::string &why) {
  initializeOnce();
  std::unique_ptr<Jit> made(new Jit);
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "bitcode"), *context);
  if (!module) {
    why = llvm::toString(module.takeError());
    return nullptr;
  }
  return made->add(std::move(*module), std::move(context), {}, false, why) ? std::move(made)
                                                                           : nullptr;
}

}  // namespace nbcc
