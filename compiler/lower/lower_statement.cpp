// SPDX-License-Identifier: BSD-3-Clause
// lower_statement.cpp - statements: sections and operations are calls to the sink, loops are loops.
//
//   send tmp[0 +: n] to peer;   =>   nbcc.range(sink, tmp, 0, n, 7:10)
//                                    nbcc.send(sink, peer, 7:5, 7:25)
//
// Operands are told in the order from, with, to; then the operation. A call that
// answers "stop" leaves `build`.

#include <cassert>

#include "compiler/lower/lowering.h"

namespace nbcc {

using What = ast::Statement::What;

void FunctionLowering::block(const ast::Block &body) {
  for (const auto &s : body) statement(*s);
}

void FunctionLowering::statement(const ast::Statement &s) {
  switch (s.what) {
    case What::round:
      tell(Call::roundBegin, {});
      block(s.body);
      tell(Call::roundEnd, {});
      return;
    case What::send:
      return communicate(Call::send, s);
    case What::recv:
      return communicate(Call::recv, s);
    case What::exchange:
      return communicate(Call::exchange, s);
    case What::signal:
      return communicate(Call::signal, s);
    case What::await:
      return communicate(Call::await, s);
    case What::copy:
      section(*s.from);
      section(*s.to);
      return tell(Call::copy, {place(s.loc)});
    case What::reduce:
      section(*s.from);
      section(*s.with);
      section(*s.to);
      return tell(Call::reduce, {place(s.loc)});
    case What::scratch:
      return scratch(s);
    case What::split: {
      section(*s.from);
      llvm::Value *parts = expression(*s.value);
      return tell(Call::split, {constant(s.variable->index), text(s.variable->name), parts,
                                place(s.value->loc)});
    }
    case What::let:
      return set(*s.variable, expression(*s.value));
    case What::for_range:
      return rangeLoop(*s.range, *s.variable, [&] { block(s.body); });
    case What::for_step:
      return stepLoop(s);
    case What::if_:
      return choice(s);
    case What::group:
      return group(s);
    case What::run:
      return run(s);
    case What::promise:
      return promise(s);
  }
}

void FunctionLowering::communicate(Call call, const ast::Statement &s) {
  if (s.from) section(*s.from);
  if (s.to) section(*s.to);
  llvm::Value *peer = expression(*s.peer);
  if (s.port) tell(Call::port, {expression(*s.port), place(s.port->loc)});
  tell(call, {peer, place(s.loc), place(s.peer->loc)});
}

void FunctionLowering::section(const ast::Section &s) {
  llvm::Value *view = constant(s.buffer->index);
  switch (s.what) {
    case ast::Section::What::whole:
      return tell(Call::whole, {view, place(s.loc)});
    case ast::Section::What::element:
      return tell(Call::element, {view, expression(*s.first), place(s.loc)});
    case ast::Section::What::range: {
      llvm::Value *first = expression(*s.first);
      return tell(Call::range, {view, first, expression(*s.count), place(s.loc)});
    }
    case ast::Section::What::set:
      tell(Call::setBegin, {view, place(s.loc)});
      return rangeLoop(*s.range, *s.variable, [&] {
        tell(Call::setAdd, {locals[static_cast<size_t>(s.variable->index)]});
      });
    case ast::Section::What::group:
      return tell(Call::elementsOf, {view, expression(*s.first), place(s.loc)});
  }
}

void FunctionLowering::scratch(const ast::Statement &s) {
  llvm::Value *view = constant(s.variable->index), *name = text(s.variable->name);
  if (s.extent) {
    llvm::Value *extent = expression(*s.extent);
    section(*s.from);
    return tell(Call::scratchArray, {view, name, extent, place(s.extent->loc)});
  }
  if (!s.range) {
    section(*s.from);
    return tell(Call::scratch, {view, name, place(s.loc)});
  }
  llvm::Value *low = expression(*s.range->low);
  tell(Call::scratchBegin, {view, name, low, place(s.range->loc)});
  rangeLoop(*s.range, *s.element, [&] {
    section(*s.from);
    tell(Call::scratchElement, {view, place(s.from->loc)});
  });
  tell(Call::scratchEnd, {view, place(s.loc)});
}

void FunctionLowering::group(const ast::Statement &s) {
  if (!s.range) return set(*s.variable, expression(*s.value));
  tell(Call::groupBegin, {place(s.loc)});
  rangeLoop(*s.range, *s.element, [&] {
    llvm::Value *member =
        s.value ? expression(*s.value) : locals[static_cast<size_t>(s.element->index)];
    tell(Call::groupAdd, {member});
  });
  set(*s.variable, ask(all.callee(Call::groupEnd), {}, ast::Type::group));
}

void FunctionLowering::promise(const ast::Statement &s) {
  section(*s.to);
  tell(Call::promiseBegin, {place(s.loc)});
  if (s.range) {
    rangeLoop(*s.range, *s.element, [&] {
      section(*s.from);
      tell(Call::promiseOf, {locals[static_cast<size_t>(s.element->index)], place(s.range->loc)});
    });
  } else {
    section(*s.from);
    const bool group = s.value->type == ast::Type::group;
    tell(group ? Call::promiseOfGroup : Call::promiseOf,
         {expression(*s.value), place(s.value->loc)});
  }
  tell(Call::promiseEnd, {});
}

void FunctionLowering::choice(const ast::Statement &s) {
  llvm::BasicBlock *yes = newBlock("then"), *no = newBlock("else"), *done = newBlock("done");
  code.CreateCondBr(expression(*s.condition), yes, no);
  code.SetInsertPoint(yes);
  block(s.body);
  code.CreateBr(done);
  code.SetInsertPoint(no);
  block(s.otherwise);
  code.CreateBr(done);
  code.SetInsertPoint(done);
}

void FunctionLowering::rangeLoop(const ast::Range &range, const ast::Variable &v,
                                 llvm::function_ref<void()> body, Carried *carried) {
  llvm::Value *low = expression(*range.low), *high = expression(*range.high);
  llvm::Value *any =
      range.inclusive ? code.CreateICmpSLE(low, high) : code.CreateICmpSLT(low, high);
  llvm::Value *last = range.inclusive ? high : code.CreateSub(high, constant(1));
  turns(any, low, last, v, range.loc, range.condition.get(), body, carried);
}

void FunctionLowering::countedLoop(llvm::Value *count, const ast::Variable &v, Loc at,
                                   llvm::function_ref<void()> body) {
  turns(code.CreateICmpSGT(count, constant(0)), constant(0), code.CreateSub(count, constant(1)), v,
        at, nullptr, body);
}

/// The value of whichever block came before this one.
llvm::Value *FunctionLowering::either(Way one, Way other) {
  llvm::PHINode *result = code.CreatePHI(one.value->getType(), 2);
  result->addIncoming(one.value, one.from);
  result->addIncoming(other.value, other.from);
  return result;
}

/// Where there are any: v = low, ..., last. Tests at the end, against the last value: it may be
/// the largest integer.
void FunctionLowering::turns(llvm::Value *any, llvm::Value *low, llvm::Value *last,
                             const ast::Variable &v, Loc at, const ast::Expr *condition,
                             llvm::function_ref<void()> body, Carried *carried) {
  llvm::BasicBlock *before = code.GetInsertBlock(), *passedBy = nullptr;
  llvm::BasicBlock *turn = newBlock("turn"), *next = newBlock("next"), *done = newBlock("done");
  code.CreateCondBr(any, turn, done);
  code.SetInsertPoint(turn);
  llvm::PHINode *i = code.CreatePHI(all.number, 2, v.name);
  i->addIncoming(low, before);
  set(v, i);
  llvm::PHINode *state = nullptr;
  if (carried) {
    state = code.CreatePHI(carried->value->getType(), 2, carried->state.name);
    state->addIncoming(carried->value, before);
    set(carried->state, state);
  }
  stopIf(noIterationLeft(),
         [&] { code.CreateCall(all.callee(Call::endless), {sink, text(v.name), i, place(at)}); });
  if (condition) {
    llvm::BasicBlock *chosen = newBlock("chosen");
    code.CreateCondBr(expression(*condition), chosen, next);
    passedBy = code.GetInsertBlock();
    code.SetInsertPoint(chosen);
  }
  body();
  llvm::BasicBlock *afterBody = code.GetInsertBlock();
  code.CreateBr(next);

  code.SetInsertPoint(next);
  if (carried) {
    if (passedBy) carried->value = either({state, passedBy}, {carried->value, afterBody});
    state->addIncoming(carried->value, next);
  }
  i->addIncoming(code.CreateAdd(i, constant(1)), next);
  code.CreateCondBr(code.CreateICmpEQ(i, last), done, turn);
  code.SetInsertPoint(done);
  if (carried)
    carried->value = either({state->getIncomingValue(0), before}, {carried->value, next});
}

void FunctionLowering::stepLoop(const ast::Statement &s) {
  llvm::Value *start = expression(*s.value);
  llvm::BasicBlock *before = code.GetInsertBlock();
  llvm::BasicBlock *test = newBlock("test"), *turn = newBlock("turn"), *done = newBlock("done");
  code.CreateBr(test);
  code.SetInsertPoint(test);
  llvm::PHINode *i = code.CreatePHI(all.number, 2, s.variable->name);
  i->addIncoming(start, before);
  set(*s.variable, i);
  code.CreateCondBr(expression(*s.condition), turn, done);

  code.SetInsertPoint(turn);
  stopIf(noIterationLeft(), [&] {
    code.CreateCall(all.callee(Call::endless), {sink, text(s.variable->name), i, place(s.loc)});
  });
  block(s.body);
  llvm::Value *step = expression(*s.step);
  llvm::Value *following = arithmetic(s.op, i, step, s.step->loc);
  i->addIncoming(following, code.GetInsertBlock());
  code.CreateBr(test);
  code.SetInsertPoint(done);
}

}  // namespace nbcc
