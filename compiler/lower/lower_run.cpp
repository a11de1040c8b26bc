// SPDX-License-Identifier: BSD-3-Clause
// lower_run.cpp - `run`: `build` of one algorithm calls that of another, in a frame of the sink.
//
//   run gather.knomial(k = 2, root = 0) among mates with in = in, out = tmp;
//     =>   n = nbcc.size(sink, mates); i = nbcc.rank_in(sink, mates, me)
//          if i >= 0:                                             the others do nothing
//            nbcc.whole(sink, in);  nbcc.bind(sink, in', -1)      sections, in our frame
//            nbcc.whole(sink, tmp); nbcc.bind(sink, out', n)
//            nbcc.enter(sink, mates, "gather.knomial", buffers, 0)
//            @requires.gather.knomial.0(n, 0, [2], sink)          false: nbcc.doesNotApply
//            @build.gather.knomial(n, i, 0, [2], sink)
//            nbcc.leave(sink)
//
// A run takes from the iterations, as a turn of a loop does: a chain of algorithms that
// each run the next twice would take for ever without a loop. What is required is asked
// in the frame, where P and the topology are the callee's.

#include <algorithm>
#include <cassert>

#include "compiler/lower/lower.h"
#include "compiler/lower/lowering.h"
#include "dsl/collectives.h"

namespace nbcc {

namespace {

const ast::Argument *argumentNamed(const ast::Statement &s, const std::string &name) {
  auto found = std::ranges::find(s.arguments, name, &ast::Argument::name);
  return found == s.arguments.end() ? nullptr : &*found;
}

}  // namespace

void FunctionLowering::run(const ast::Statement &s) {
  const ast::Algorithm &callee = *s.callee;
  refuse(noIterationLeft(), Fault::callCount, constant(0), constant(0), s.loc);
  llvm::Value *among = s.value ? expression(*s.value) : constant(-1);
  llvm::Value *size = ask(all.callee(Call::size), {among, place(s.loc)}, ast::Type::integer);
  llvm::Value *own =
      ask(all.callee(Call::rank_in), {among, rank, place(s.loc)}, ast::Type::integer);
  llvm::BasicBlock *takesPart = newBlock("member"), *done = newBlock("done");
  code.CreateCondBr(code.CreateICmpSGE(own, constant(0)), takesPart, done);
  code.SetInsertPoint(takesPart);

  llvm::Value *values = arguments(s), *rootThere = rootArgument(s);
  for (const ast::Binding &b : s.bindings) bind(b, callee, size);
  tell(Call::enter, {among, text(s.kind + "." + s.text), constant(kindFacts(collective(callee))),
                     constant(callee.buffers), rootThere, place(s.loc)});
  for (size_t i = 0; i < callee.requirements.size(); ++i) {
    llvm::Value *holds = code.CreateCall(all.module.getFunction(requirementName(callee, i)),
                                         {size, rootThere, values, sink});
    stopIf(code.CreateICmpEQ(code.CreateExtractValue(holds, 1), constant(0)));
    stopIf(code.CreateICmpEQ(code.CreateExtractValue(holds, 0), constant(0)), [&] {
      code.CreateCall(all.callee(Call::doesNotApply), {sink, place(callee.requirements[i]->loc)});
    });
  }
  llvm::Value *stopped =
      code.CreateCall(all.builds.lookup(&callee), {size, own, rootThere, values, sink});
  stopIf(code.CreateICmpNE(stopped, constant(0)));
  tell(Call::leave, {});
  code.CreateBr(done);
  code.SetInsertPoint(done);
}

/// The callee's parameters, in its order: as given, or what they are by themselves. Their room
/// is taken once, at the entry: a run in a loop must not take more stack each time.
llvm::Value *FunctionLowering::arguments(const ast::Statement &s) {
  const auto &wanted = s.callee->parameters;
  if (wanted.empty())
    return llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(code.getContext()));
  llvm::BasicBlock &entry = function->getEntryBlock();
  llvm::IRBuilder<> atEntry(&entry, entry.begin());
  llvm::Value *values =
      atEntry.CreateAlloca(llvm::ArrayType::get(all.number, wanted.size()), nullptr, "arguments");
  for (size_t i = 0; i < wanted.size(); ++i) {
    const ast::Argument *given = argumentNamed(s, wanted[i].variable->name);
    llvm::Value *value = given ? expression(*given->value) : constant(*wanted[i].initial);
    code.CreateStore(value, code.CreateConstInBoundsGEP1_64(all.number, values, i));
  }
  return values;
}

/// 0 where the callee has none: nobody looks at it.
llvm::Value *FunctionLowering::rootArgument(const ast::Statement &s) {
  const ast::Argument *given = argumentNamed(s, "root");
  bool rooted = collective(*s.callee).hasRoot();
  assert((given || !rooted) && "check() wants it");
  return rooted ? expression(*given->value) : constant(0);
}

/// How many elements a buffer of the callee has; -1: all that is bound is one.
llvm::Value *FunctionLowering::elements(const ast::Binding &b, const ast::Algorithm &callee,
                                        llvm::Value *size) {
  const Shape shape = collective(callee).shape(b.name);
  if (shape == Shape::sources || shape == Shape::destinations)
    return ask(all.callee(shape == Shape::sources ? Call::indegree : Call::outdegree),
               {place(b.loc)}, ast::Type::integer);
  if (shape != Shape::blocks) return constant(-1);
  if (!callee.own) return size;
  const auto &buffers = callee.own->buffers;
  const auto i = std::ranges::find(buffers, b.name, &ast::OwnCollective::Buffer::name);
  if (!i->extent) return size;
  llvm::Value *none =
      llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(code.getContext()));
  llvm::Value *answer = code.CreateCall(
      all.module.getFunction(extentName(*callee.own, static_cast<size_t>(i - buffers.begin()))),
      {size, constant(0), none, sink});
  stopIf(code.CreateICmpEQ(code.CreateExtractValue(answer, 1), constant(0)));
  return code.CreateExtractValue(answer, 0);
}

void FunctionLowering::bind(const ast::Binding &b, const ast::Algorithm &callee,
                            llvm::Value *size) {
  llvm::Value *view = constant(b.buffer->index);
  llvm::Value *wanted = elements(b, callee, size);
  if (!b.element) {
    section(*b.section);
    return tell(Call::bind, {view, wanted, place(b.section->loc)});
  }
  tell(Call::bindBegin, {view, place(b.loc)});
  countedLoop(wanted, *b.element, b.loc, [&] {  // check() has seen that these are blocks
    section(*b.section);
    tell(Call::bindElement, {place(b.section->loc)});
  });
  tell(Call::bindEnd, {view, wanted, place(b.loc)});
}

}  // namespace nbcc
