// SPDX-License-Identifier: BSD-3-Clause
// lower_expression.cpp - integers of 64 bits, of which no operation goes unchecked.
//
//   a + b      =>   llvm.sadd.with.overflow, and a cold branch to the sink with a, b and the place
//   a / b      =>   rounds down; b == 0 and INT64_MIN / -1 are errors
//   a mod b    =>   in 0 ..< b; b <= 0 is an error
//   a and b    =>   b is evaluated only where a holds; likewise or, if then else
//   fold       =>   a loop, whose state is a value that each turn hands to the next

#include <llvm/IR/Intrinsics.h>

#include <cassert>

#include "compiler/lower/lowering.h"

namespace nbcc {

using ast::Operator;

llvm::Value *FunctionLowering::expression(const ast::Expr &e) {
  switch (e.what) {
    case ast::Expr::What::integer:
      return constant(e.value);
    case ast::Expr::What::boolean:
      return code.getInt1(e.value != 0);
    case ast::Expr::What::name:
      return variable(*e.variable);
    case ast::Expr::What::unary:
      return unary(e);
    case ast::Expr::What::binary:
      return binary(e);
    case ast::Expr::What::conditional:
      return conditional(e);
    case ast::Expr::What::builtin:
      return builtin(e);
    case ast::Expr::What::call:
      return functionCall(e);
    case ast::Expr::What::fold:
      return fold(e);
    case ast::Expr::What::member: {
      llvm::Value *group = expression(*e.args[0]);
      return ask(all.callee(Call::member), {group, expression(*e.args[1]), place(e.loc)}, e.type);
    }
  }
  llvm_unreachable("no such expression");
}

llvm::Value *FunctionLowering::variable(const ast::Variable &v) {
  switch (v.what) {
    case ast::Variable::What::rank:
      return rank;
    case ast::Variable::What::ranks:
      return ranks;
    case ast::Variable::What::root:
      return root;
    case ast::Variable::What::parameter:
      return parameters[static_cast<size_t>(v.index)];
    case ast::Variable::What::local:
      return locals[static_cast<size_t>(v.index)];
    case ast::Variable::What::buffer:
      break;  // check() refuses it in an expression
  }
  llvm_unreachable("no value");
}

llvm::Value *FunctionLowering::unary(const ast::Expr &e) {
  llvm::Value *x = expression(*e.args[0]);
  if (e.op == Operator::logical_not) return code.CreateNot(x);
  assert(e.op == Operator::negate);
  if (auto *known = llvm::dyn_cast<llvm::ConstantInt>(x); known && !known->isMinValue(true))
    return code.CreateNeg(x);
  refuse(code.CreateICmpEQ(x, constant(INT64_MIN)), Fault::negate, x, constant(0), e.loc);
  return code.CreateNeg(x);
}

llvm::Value *FunctionLowering::binary(const ast::Expr &e) {
  if (e.op == Operator::logical_and || e.op == Operator::logical_or) return shortCircuit(e);
  llvm::Value *left = expression(*e.args[0]);
  llvm::Value *right = expression(*e.args[1]);
  return arithmetic(e.op, left, right, e.loc);
}

llvm::Value *FunctionLowering::arithmetic(Operator op, llvm::Value *left, llvm::Value *right,
                                          Loc at) {
  auto checked = [&](llvm::Intrinsic::ID intrinsic, Fault fault) {
    llvm::Value *both = code.CreateBinaryIntrinsic(intrinsic, left, right);
    refuse(code.CreateExtractValue(both, 1), fault, left, right, at);
    return code.CreateExtractValue(both, 0);
  };
  switch (op) {
    case Operator::add:
      return checked(llvm::Intrinsic::sadd_with_overflow, Fault::add);
    case Operator::sub:
      return checked(llvm::Intrinsic::ssub_with_overflow, Fault::subtract);
    case Operator::mul:
      return checked(llvm::Intrinsic::smul_with_overflow, Fault::multiply);
    case Operator::div: {
      refuse(code.CreateICmpEQ(right, constant(0)), Fault::divideByZero, left, right, at);
      refuse(code.CreateAnd(code.CreateICmpEQ(right, constant(-1)),
                            code.CreateICmpEQ(left, constant(INT64_MIN))),
             Fault::divide, left, right, at);
      // sdiv rounds to zero: one less where there is a rest of the other sign.
      llvm::Value *quotient = code.CreateSDiv(left, right);
      llvm::Value *rest = code.CreateSRem(left, right);
      llvm::Value *down = code.CreateAnd(
          code.CreateIsNotNull(rest), code.CreateICmpSLT(code.CreateXor(rest, right), constant(0)));
      return code.CreateSub(quotient, code.CreateZExt(down, all.number));
    }
    case Operator::mod: {
      refuse(code.CreateICmpSLE(right, constant(0)), Fault::modulus, left, right, at);
      llvm::Value *rest = code.CreateSRem(left, right);
      return code.CreateSelect(code.CreateICmpSLT(rest, constant(0)), code.CreateAdd(rest, right),
                               rest);
    }
    case Operator::bit_xor:
      return code.CreateXor(left, right);
    case Operator::lt:
      return code.CreateICmpSLT(left, right);
    case Operator::le:
      return code.CreateICmpSLE(left, right);
    case Operator::gt:
      return code.CreateICmpSGT(left, right);
    case Operator::ge:
      return code.CreateICmpSGE(left, right);
    case Operator::eq:
      return code.CreateICmpEQ(left, right);
    case Operator::ne:
      return code.CreateICmpNE(left, right);
    case Operator::logical_and:
    case Operator::logical_or:
    case Operator::negate:
    case Operator::logical_not:
      break;
  }
  llvm_unreachable("not an operator of two values");
}

llvm::Value *FunctionLowering::shortCircuit(const ast::Expr &e) {
  bool isAnd = e.op == Operator::logical_and;
  llvm::Value *left = expression(*e.args[0]);
  llvm::BasicBlock *known = code.GetInsertBlock();
  llvm::BasicBlock *more = newBlock("more"), *done = newBlock("done");
  code.CreateCondBr(left, isAnd ? more : done, isAnd ? done : more);
  code.SetInsertPoint(more);
  llvm::Value *right = expression(*e.args[1]);
  llvm::BasicBlock *afterRight = code.GetInsertBlock();
  code.CreateBr(done);
  code.SetInsertPoint(done);
  llvm::PHINode *result = code.CreatePHI(code.getInt1Ty(), 2);
  result->addIncoming(code.getInt1(!isAnd), known);
  result->addIncoming(right, afterRight);
  return result;
}

llvm::Value *FunctionLowering::conditional(const ast::Expr &e) {
  llvm::BasicBlock *yes = newBlock("then"), *no = newBlock("else"), *done = newBlock("done");
  code.CreateCondBr(expression(*e.args[0]), yes, no);
  llvm::Value *values[2];
  llvm::BasicBlock *from[2];
  for (size_t i = 0; i < 2; ++i) {
    code.SetInsertPoint(i == 0 ? yes : no);
    values[i] = expression(*e.args[i + 1]);
    from[i] = code.GetInsertBlock();
    code.CreateBr(done);
  }
  code.SetInsertPoint(done);
  llvm::PHINode *result = code.CreatePHI(values[0]->getType(), 2);
  for (size_t i = 0; i < 2; ++i) result->addIncoming(values[i], from[i]);
  return result;
}

llvm::Value *FunctionLowering::builtin(const ast::Expr &e) {
  llvm::SmallVector<llvm::Value *, 4> x;
  for (const auto &arg : e.args) x.push_back(expression(*arg));
  auto runtime = [&](Call call) {
    x.push_back(place(e.loc));
    return ask(all.callee(call), x, e.type);
  };
  switch (e.builtin) {
    case ast::Builtin::bit:
      refuse(code.CreateICmpUGT(x[1], constant(63)), Fault::bitIndex, x[0], x[1], e.loc);
      return code.CreateTrunc(code.CreateAShr(x[0], x[1]), code.getInt1Ty());
    case ast::Builtin::odd:
      return code.CreateTrunc(x[0], code.getInt1Ty());
    case ast::Builtin::even:
      return code.CreateNot(code.CreateTrunc(x[0], code.getInt1Ty()));
    case ast::Builtin::min:
      return code.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x[0], x[1]);
    case ast::Builtin::max:
      return code.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x[0], x[1]);
    case ast::Builtin::pow:
      return runtime(Call::power);
    case ast::Builtin::digit:
      return runtime(Call::digit);
    case ast::Builtin::floor_log:
      return runtime(Call::floorLog);
    case ast::Builtin::ceil_log:
      return runtime(Call::ceilLog);
    case ast::Builtin::size:
      return runtime(Call::size);
    case ast::Builtin::rank_in:
      return runtime(Call::rank_in);
    case ast::Builtin::nodes:
      return runtime(Call::nodes);
    case ast::Builtin::node_of:
      return runtime(Call::node_of);
    case ast::Builtin::ranks_on:
      return runtime(Call::ranks_on);
    case ast::Builtin::first_on_node:
      return runtime(Call::first_on_node);
    case ast::Builtin::local_rank:
      return runtime(Call::local_rank);
    case ast::Builtin::indegree:
      return runtime(Call::indegree);
    case ast::Builtin::outdegree:
      return runtime(Call::outdegree);
    case ast::Builtin::source:
      return runtime(Call::source);
    case ast::Builtin::destination:
      return runtime(Call::destination);
    case ast::Builtin::source_slot:
      return runtime(Call::source_slot);
    case ast::Builtin::arrival:
      return runtime(Call::arrival);
  }
  llvm_unreachable("no such builtin");
}

llvm::Value *FunctionLowering::functionCall(const ast::Expr &e) {
  llvm::SmallVector<llvm::Value *> arguments;
  for (const auto &arg : e.args) arguments.push_back(expression(*arg));
  return ask(all.functions.lookup(e.function), arguments, e.function->type);
}

llvm::Value *FunctionLowering::fold(const ast::Expr &e) {
  Carried state{*e.fold->state, expression(*e.args[0])};
  rangeLoop(e.fold->range, *e.fold->element, [&] { state.value = expression(*e.args[1]); }, &state);
  return state.value;
}

}  // namespace nbcc
