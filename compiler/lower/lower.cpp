// SPDX-License-Identifier: BSD-3-Clause
// lower.cpp - from a checked tree to an LLVM module: its functions and how they stop.
//
//   allgather ring { ... }   =>   i64  @build.allgather.ring(P, me, root, parameters, sink)
//     requires P > 1         =>   {i64, i64} @requires.allgather.ring.0(P, root, parameters, sink)
//     claims rounds == P     =>   {i64, i64} @claims.allgather.ring.0(...)
//   fn parent(v, d) = ...    =>   internal {i64, i64} @fn.parent(sink, v, d)
//   run gather.linear ...    =>   call i64 @build.gather.linear(...)       (lower_run.cpp)
//   collective halo {        =>
//     in blocks[2 * P];      =>   {i64, i64} @blocks.halo.ensures.0(P, 0, null, sink)
//     ensures { ... }        =>   i64  @build.halo.ensures(P, me, root, null, sink)
//
// Every check that fails tells the sink what was wrong, with its values and its
// place, and leaves the function by its block `stop`. Functions of the language
// stay calls and are not inlined: f1(x) = f0(x) + f0(x), f2(x) = f1(x) + f1(x), ...
// would grow without bound, and a call costs little beside a step.
//
// Time and size are linear in the source.

#include "compiler/lower/lower.h"

#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <cassert>
#include <type_traits>

#include "compiler/lower/lowering.h"

namespace nbcc {

std::string buildName(const ast::Algorithm &a) {
  return cat("build.", a.symbol);
}
std::string requirementName(const ast::Algorithm &a, size_t index) {
  return cat("requires.", a.symbol, ".", index);
}
std::string claimName(const ast::Algorithm &a, size_t index) {
  return cat("claims.", a.symbol, ".", index);
}

std::string extentName(const ast::OwnCollective &own, size_t buffer) {
  return cat("blocks.", own.ensures.symbol, ".", buffer);
}

namespace {

template <class T>
llvm::Type *typeOf(const ModuleLowering &all) {
  if constexpr (std::is_same_v<T, Checked>)
    return all.checked;
  else if constexpr (std::is_pointer_v<T>)
    return all.pointer;
  else
    return all.number;
}

/// The LLVM type of a call that C++ knows as Result(Arguments...), sink first.
template <class Result, class... Arguments>
llvm::FunctionType *callType(const ModuleLowering &all) {
  return llvm::FunctionType::get(typeOf<Result>(all), {all.pointer, typeOf<Arguments>(all)...},
                                 false);
}

}  // namespace

ModuleLowering::ModuleLowering(llvm::Module &m)
    : module(m),
      number(llvm::Type::getInt64Ty(m.getContext())),
      pointer(llvm::PointerType::getUnqual(m.getContext())),
      checked(llvm::StructType::get(number, number)) {
  auto declare = [&](const char *call, llvm::FunctionType *type) {
    auto *f = llvm::Function::Create(type, llvm::Function::ExternalLinkage, callName(call), m);
    f->setDoesNotThrow();
    return llvm::FunctionCallee(f);
  };
  size_t i = 0;
#define CALL(result, name, ...) \
  calls[i++] = declare(#name, callType<result __VA_OPT__(, ) __VA_ARGS__>(*this));
#include "compiler/abi/calls.def"
  for (Call call : {Call::fault, Call::endless})
    llvm::cast<llvm::Function>(callee(call).getCallee())->addFnAttr(llvm::Attribute::Cold);
}

llvm::FunctionCallee ModuleLowering::callee(Call call) const {
  return calls[static_cast<size_t>(call)];
}

llvm::Function *ModuleLowering::define(llvm::FunctionType *type, const llvm::Twine &name,
                                       bool internal) {
  auto *f = llvm::Function::Create(
      type, internal ? llvm::Function::InternalLinkage : llvm::Function::ExternalLinkage, name,
      module);
  f->setDoesNotThrow();
  return f;
}

FunctionLowering::FunctionLowering(ModuleLowering &m, llvm::Function *f)
    : all(m),
      code(llvm::BasicBlock::Create(m.module.getContext(), "entry", f)),
      function(f),
      stop(llvm::BasicBlock::Create(m.module.getContext(), "stop", f)) {
  llvm::IRBuilder<> atStop(stop);
  if (f->getReturnType() == m.checked)
    atStop.CreateRet(llvm::Constant::getNullValue(m.checked));
  else
    atStop.CreateRet(constant(1));
}

llvm::BasicBlock *FunctionLowering::newBlock(const llvm::Twine &name) {
  return llvm::BasicBlock::Create(code.getContext(), name, function);
}

llvm::Value *FunctionLowering::constant(int64_t value) {
  return code.getInt64(static_cast<uint64_t>(value));
}

llvm::Value *FunctionLowering::place(Loc at) {
  return code.getInt64(toPlace(at));
}

llvm::Value *FunctionLowering::text(const std::string &s) {
  llvm::Constant *&known = all.texts[s];
  if (!known) known = code.CreateGlobalStringPtr(s, "text", 0, &all.module);
  return known;
}

void FunctionLowering::set(const ast::Variable &v, llvm::Value *value) {
  assert(v.index >= 0 && static_cast<size_t>(v.index) < locals.size());
  locals[static_cast<size_t>(v.index)] = value;
}

void FunctionLowering::stopIf(llvm::Value *wrong, llvm::function_ref<void()> explain) {
  if (auto *known = llvm::dyn_cast<llvm::ConstantInt>(wrong); known && known->isZero()) return;
  llvm::BasicBlock *bad = explain ? newBlock("wrong") : stop, *good = newBlock("right");
  code.CreateCondBr(wrong, bad, good,
                    llvm::MDBuilder(code.getContext()).createBranchWeights(1, 1 << 20));
  if (explain) {
    code.SetInsertPoint(bad);
    explain();
    code.CreateBr(stop);
  }
  code.SetInsertPoint(good);
}

void FunctionLowering::refuse(llvm::Value *wrong, Fault fault, llvm::Value *first,
                              llvm::Value *second, Loc at) {
  stopIf(wrong, [&] {
    code.CreateCall(all.callee(Call::fault),
                    {sink, constant(static_cast<int64_t>(fault)), first, second, place(at)});
  });
}

void FunctionLowering::tell(Call call, std::initializer_list<llvm::Value *> arguments) {
  llvm::SmallVector<llvm::Value *> with{sink};
  with.append(arguments);
  llvm::Value *stopped = code.CreateCall(all.callee(call), with);
  stopIf(code.CreateICmpNE(stopped, constant(0)));
}

llvm::Value *FunctionLowering::ask(llvm::FunctionCallee callee,
                                   llvm::ArrayRef<llvm::Value *> arguments, ast::Type type) {
  llvm::SmallVector<llvm::Value *> with{sink};
  with.append(arguments.begin(), arguments.end());
  llvm::Value *answer = code.CreateCall(callee, with);
  stopIf(code.CreateICmpEQ(code.CreateExtractValue(answer, 1), constant(0)));
  llvm::Value *value = code.CreateExtractValue(answer, 0);
  return type == ast::Type::boolean ? code.CreateIsNotNull(value) : value;
}

llvm::Value *FunctionLowering::counter(unsigned index) {
  return code.CreateConstInBoundsGEP1_64(all.number, sink, index);
}

llvm::Value *FunctionLowering::noIterationLeft() {
  llvm::Value *left = code.CreateSub(code.CreateLoad(all.number, counter(0)), constant(1));
  code.CreateStore(left, counter(0));
  return code.CreateICmpSLT(left, constant(0));
}

namespace {

/// A value as a Checked that is there.
llvm::Value *present(FunctionLowering &f, llvm::Value *value) {
  llvm::Value *wide = f.code.CreateZExt(value, f.all.number);
  llvm::Value *result = f.code.CreateInsertValue(llvm::PoisonValue::get(f.all.checked), wide, 0);
  return f.code.CreateInsertValue(result, f.constant(1), 1);
}

void loadParameters(FunctionLowering &f, const ast::Algorithm &a, llvm::Value *values) {
  for (size_t i = 0; i < a.parameters.size(); ++i)
    f.parameters.push_back(
        f.code.CreateLoad(f.all.number, f.code.CreateConstInBoundsGEP1_64(f.all.number, values, i),
                          a.parameters[i].variable->name));
}

llvm::FunctionType *boundType(const ModuleLowering &all) {
  return llvm::FunctionType::get(all.checked, {all.number, all.number, all.pointer, all.pointer},
                                 false);
}

void lowerBound(ModuleLowering &all, const ast::Algorithm &a, const std::string &name,
                const ast::Expr &e) {
  llvm::Function *declared = all.module.getFunction(name);
  FunctionLowering f(all, declared ? declared : all.define(boundType(all), name, false));
  f.ranks = f.function->getArg(0);
  f.root = f.function->getArg(1);
  f.sink = f.function->getArg(3);
  f.locals.resize(static_cast<size_t>(a.locals));
  loadParameters(f, a, f.function->getArg(2));
  f.code.CreateRet(present(f, f.expression(e)));
}

/// How many blocks a buffer has; fewer than none is a fault.
void lowerExtent(ModuleLowering &all, const ast::OwnCollective &own, size_t buffer) {
  FunctionLowering f(all, all.define(boundType(all), extentName(own, buffer), false));
  f.ranks = f.function->getArg(0);
  f.sink = f.function->getArg(3);
  f.locals.resize(static_cast<size_t>(own.ensures.locals));
  const ast::Expr &e = *own.buffers[buffer].extent;
  llvm::Value *blocks = f.expression(e);
  f.refuse(f.code.CreateICmpSLT(blocks, f.constant(0)), Fault::extent, blocks, f.constant(0),
           e.loc);
  f.code.CreateRet(present(f, blocks));
}

/// What `run` calls.
void declareAlgorithm(ModuleLowering &all, const ast::Algorithm &a) {
  auto *type = llvm::FunctionType::get(
      all.number, {all.number, all.number, all.number, all.pointer, all.pointer}, false);
  all.builds[&a] = all.define(type, buildName(a), false);
  for (size_t i = 0; i < a.requirements.size(); ++i)
    all.define(boundType(all), requirementName(a, i), false);
}

void lowerAlgorithm(ModuleLowering &all, const ast::Algorithm &a) {
  FunctionLowering f(all, all.builds[&a]);
  llvm::Value **arguments[] = {&f.ranks, &f.rank, &f.root};
  const char *names[] = {"P", "me", "root"};
  for (unsigned i = 0; i < 3; ++i) {
    *arguments[i] = f.function->getArg(i);
    (*arguments[i])->setName(names[i]);
  }
  f.sink = f.function->getArg(4);
  f.sink->setName("sink");
  loadParameters(f, a, f.function->getArg(3));
  f.locals.resize(static_cast<size_t>(a.locals));
  f.block(a.body);
  f.code.CreateRet(f.constant(0));

  for (size_t i = 0; i < a.requirements.size(); ++i)
    lowerBound(all, a, requirementName(a, i), *a.requirements[i]);
  for (size_t i = 0; i < a.claims.size(); ++i)
    if (a.claims[i].bound) lowerBound(all, a, claimName(a, i), *a.claims[i].bound);
}

void declareFunction(ModuleLowering &all, const ast::Function &fn) {
  llvm::SmallVector<llvm::Type *> types{all.pointer};
  types.append(fn.parameters.size(), all.number);
  all.functions[&fn] =
      all.define(llvm::FunctionType::get(all.checked, types, false), "fn." + fn.name, true);
}

/// Each call takes from the iterations, as a turn of a loop does: calls alone can
/// take forever. And it takes from the depth, which it gives back.
void lowerFunction(ModuleLowering &all, const ast::Function &fn) {
  FunctionLowering f(all, all.functions[&fn]);
  f.sink = f.function->getArg(0);
  for (size_t i = 0; i < fn.parameters.size(); ++i) {
    f.parameters.push_back(f.function->getArg(static_cast<unsigned>(i) + 1));
    f.parameters.back()->setName(fn.parameters[i]->name);
  }
  f.locals.resize(static_cast<size_t>(fn.locals));
  // The sink knows how many there were; it fills in $0.
  f.refuse(f.noIterationLeft(), Fault::callCount, f.constant(0), f.constant(0), fn.loc);
  llvm::Value *depth = f.code.CreateSub(f.code.CreateLoad(all.number, f.counter(1)), f.constant(1));
  f.refuse(f.code.CreateICmpSLT(depth, f.constant(0)), Fault::callDepth, f.constant(kMaxCallDepth),
           f.constant(0), fn.loc);
  f.code.CreateStore(depth, f.counter(1));
  llvm::Value *value = f.expression(*fn.body);
  f.code.CreateStore(f.code.CreateAdd(depth, f.constant(1)), f.counter(1));
  f.code.CreateRet(present(f, value));
}

}  // namespace

std::unique_ptr<llvm::Module> lower(const ast::File &file, llvm::LLVMContext &context) {
  auto module = std::make_unique<llvm::Module>("nbcc", context);
  ModuleLowering all(*module);
  for (const auto &fn : file.functions) declareFunction(all, *fn);
  for (const auto &fn : file.functions) lowerFunction(all, *fn);
  for (const auto &own : file.collectives) {
    declareAlgorithm(all, own->ensures);
    lowerAlgorithm(all, own->ensures);
    for (size_t i = 0; i < own->buffers.size(); ++i)
      if (own->buffers[i].extent) lowerExtent(all, *own, i);
  }
  const auto sources = {&file.algorithms, &file.called};
  for (const auto *algorithms : sources)
    for (const auto &a : *algorithms) declareAlgorithm(all, *a);
  for (const auto *algorithms : sources)
    for (const auto &a : *algorithms) lowerAlgorithm(all, *a);
  assert(!llvm::verifyModule(*module, &llvm::errs()));
  return module;
}

}  // namespace nbcc
