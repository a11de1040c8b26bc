// SPDX-License-Identifier: BSD-3-Clause
// module.cpp - from trees and tables to one module without undefined symbols.
//
//   a.nbc: i64 @build.allgather.ring(...)   =>   internal i64 @0.build.allgather.ring(...)
//   b.nbc: i64 @build.allgather.ring(...)   =>   internal i64 @1.build.allgather.ring(...)
//   declare i64 @nbcc.copy(ptr, i64)        =>   internal i64 @nbcc.copy(ptr %sink, i64 %0) {
//                                                  tail call the function that %sink->calls has
//   the tables                              =>   @nbc_library = constant <{ header, code, rest }>
//
// The code table holds distances from the tables, which the linker knows: so nothing is left to
// be relocated when a library is loaded, and all of it is shared between processes. What `build`
// calls is found through the sink it is given, for the same reason, and so that a library may be
// loaded without libnbc-build.

#include "compiler/output/module.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>

#include <cstddef>

#include "compiler/abi/abi.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/optimize.h"
#include "compiler/operators/compile_operator.h"
#include "nbc/library.h"

namespace nbcc {
namespace {

/// Of one file, as the JIT has it.
constexpr unsigned kMostInstructions = 200'000;

std::string nameIn(size_t file, const std::string &name) {
  return file == LibraryTables::kOperators ? "operator." + name : cat(file, ".", name);
}

/// Each file's algorithms under names of their own: two files may both reach one by `run`.
bool addCode(llvm::Module &all, const LibraryContent &content, Diag &diag) {
  llvm::Linker linker(all);
  for (size_t i = 0; i < content.files.size(); ++i) {
    const ast::File &file = *content.files[i];
    std::unique_ptr<llvm::Module> one = lower(file, all.getContext());
    if (const unsigned size = one->getInstructionCount(); size > kMostInstructions) {
      diag.error(file.algorithms.front()->loc, "this program comes to ", size,
                 " instructions; at most ", kMostInstructions, " are compiled");
      return false;
    }
    optimize(*one);
    for (llvm::Function &f : *one)
      if (!f.isDeclaration() && !f.hasLocalLinkage()) f.setName(nameIn(i, f.getName().str()));
    linker.linkInModule(std::move(one));
  }
  return true;
}

/// What clang has made of users' operators. Each says itself what it was compiled for.
bool addOperators(llvm::Module &all, const LibraryContent &content, Diag &diag) {
  llvm::Linker linker(all);
  for (const LibraryContent::Operator &o : content.operators) {
    auto one = llvm::parseBitcodeFile(llvm::MemoryBufferRef(o.bitcode, o.name), all.getContext());
    if (!one) {
      diag.error(Loc(), "operator ", o.name, ": ", llvm::toString(one.takeError()));
      return false;
    }
    (*one)->getFunction(kOperatorKernel)->setName(nameIn(LibraryTables::kOperators, o.name));
    linker.linkInModule(std::move(*one));
  }
  return true;
}

/// Calls of the sink go through its table.
void defineCalls(llvm::Module &all) {
  constexpr size_t kAt = offsetof(Counters, calls);
  const char *const names[] = {
#define CALL(result, name, ...) #name,
#include "compiler/abi/calls.def"
  };
  llvm::IRBuilder<> code(all.getContext());
  for (size_t i = 0; i < std::size(names); ++i) {
    llvm::Function *f = all.getFunction(callName(names[i]));
    if (!f) continue;
    f->setLinkage(llvm::Function::InternalLinkage);
    code.SetInsertPoint(llvm::BasicBlock::Create(all.getContext(), "entry", f));
    llvm::SmallVector<llvm::Value *> arguments;
    for (llvm::Argument &a : f->args()) arguments.push_back(&a);
    llvm::Value *table = code.CreateLoad(
        code.getPtrTy(), code.CreateConstInBoundsGEP1_64(code.getInt8Ty(), arguments[0], kAt));
    llvm::Value *callee = code.CreateLoad(
        code.getPtrTy(), code.CreateConstInBoundsGEP1_64(code.getPtrTy(), table, i));
    llvm::CallInst *call = code.CreateCall(f->getFunctionType(), callee, arguments);
    call->setTailCallKind(llvm::CallInst::TCK_Tail);
    call->setDoesNotThrow();
    code.CreateRet(call);
  }
}

llvm::Constant *bytes(llvm::LLVMContext &context, const std::vector<std::byte> &data) {
  return llvm::ConstantDataArray::get(
      context, llvm::ArrayRef(reinterpret_cast<const uint8_t *>(data.data()), data.size()));
}

llvm::GlobalVariable *addTables(llvm::Module &all, const LibraryTables &tables) {
  llvm::LLVMContext &context = all.getContext();
  auto *number = llvm::Type::getInt32Ty(context), *wide = llvm::Type::getInt64Ty(context);
  const size_t code = (tables.code.size() + 1) / 2 * 2;  // what follows is aligned to 8
  auto *byte = llvm::Type::getInt8Ty(context);
  auto *type = llvm::StructType::get(
      context,
      {llvm::ArrayType::get(byte, tables.header.size()), llvm::ArrayType::get(number, code),
       llvm::ArrayType::get(byte, tables.rest.size())},
      true);
  auto *all_tables = new llvm::GlobalVariable(all, type, true, llvm::GlobalValue::InternalLinkage,
                                              nullptr, "library");
  all_tables->setAlignment(llvm::Align(64));
  all_tables->setSection(NBC_LIBRARY_SECTION);

  llvm::Constant *here = llvm::ConstantExpr::getPtrToInt(all_tables, wide);
  llvm::SmallVector<llvm::Constant *> distances;
  for (const LibraryTables::Code &c : tables.code) {
    llvm::Function *f = all.getFunction(nameIn(c.file, c.name));
    distances.push_back(llvm::ConstantExpr::getTrunc(
        llvm::ConstantExpr::getSub(llvm::ConstantExpr::getPtrToInt(f, wide), here), number));
  }
  distances.resize(code, llvm::ConstantInt::get(number, 0));
  all_tables->setInitializer(llvm::ConstantStruct::get(
      type, {bytes(context, tables.header),
             llvm::ConstantArray::get(llvm::ArrayType::get(number, code), distances),
             bytes(context, tables.rest)}));
  return all_tables;
}

/// What the tables do not lead to: claims, which were checked when the library was made.
void dropUnused(llvm::Module &all) {
  for (llvm::Function &f : all)
    if (!f.isDeclaration()) f.setLinkage(llvm::Function::InternalLinkage);
  for (bool dropped = true; dropped;) {
    dropped = false;
    for (llvm::Function &f : llvm::make_early_inc_range(all))
      if (f.use_empty()) {
        f.eraseFromParent();
        dropped = true;
      }
  }
}

/// What a program calls to get at the tables. It must not name them: a program that is linked with
/// a shared object gets a copy of the objects it names, and from a copy no distance leads to code.
void addGetter(llvm::Module &all, const llvm::Twine &name, llvm::GlobalVariable *library) {
  llvm::IRBuilder<> code(all.getContext());
  auto *f = llvm::Function::Create(llvm::FunctionType::get(code.getPtrTy(), false),
                                   llvm::Function::ExternalLinkage, name, all);
  f->setDoesNotThrow();
  code.SetInsertPoint(llvm::BasicBlock::Create(all.getContext(), "entry", f));
  code.CreateRet(library);
}

}  // namespace

std::unique_ptr<llvm::Module> moduleOf(const LibraryContent &content, const LibraryTables &tables,
                                       bool asSharedObject, llvm::LLVMContext &context,
                                       Diag &diag) {
  auto all = std::make_unique<llvm::Module>(content.name, context);
  if (!addCode(*all, content, diag) || !addOperators(*all, content, diag)) return nullptr;
  llvm::GlobalVariable *library = addTables(*all, tables);
  dropUnused(*all);
  defineCalls(*all);
  addGetter(*all, "nbc_library_" + content.name, library);
  if (asSharedObject)
    llvm::GlobalAlias::create(library->getValueType(), 0, llvm::GlobalValue::ExternalLinkage,
                              NBC_LIBRARY_SYMBOL, library, all.get());
  return all;
}

}  // namespace nbcc
