// SPDX-License-Identifier: BSD-3-Clause
// known_faults.cpp - faults that were seen, by the versions that the headers say.
//
// Open MPI 4.1.4: on a periodic grid of one or two ranks in a dimension both neighbors there are
// one rank. Its blocking exchange takes what was sent to the left from the right, as MPI_Cart_shift
// has it; the nonblocking one takes blocks in the order of the neighbors.
//
// Open MPI 4.1.4: on a communicator of one rank its blocking MPI_Alltoallw takes displacements for
// so many elements, where they are bytes; the nonblocking one does not.
//
// MPICH 4.0.2: what persistent gather and scatter receive is garbage, and allgather's is wrong from
// the second start on.

#include "tools/overlap/known_faults.h"

#include <clang/AST/ASTContext.h>
#include <clang/Lex/Preprocessor.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tools/overlap/site.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa_and_nonnull;

namespace {

/// What a macro stands for, if that is a number.
std::optional<long> numberOf(const char *name, const ASTContext &context, const Program &program) {
  const Preprocessor &macros = program.macros(context);
  const MacroInfo *macro = macros.getMacroInfo(&context.Idents.get(name));
  long value;
  if (!macro || macro->getNumTokens() != 1 ||
      llvm::StringRef(macros.getSpelling(macro->getReplacementToken(0))).getAsInteger(10, value))
    return std::nullopt;
  return value;
}

bool isZeros(const Expr *init, const ASTContext &context) {
  const auto *list = dyn_cast_or_null<InitListExpr>(init);
  return list && std::ranges::all_of(list->inits(), [&](const Expr *e) {
           Expr::EvalResult value;
           return isa<ImplicitValueInitExpr>(e) ||
                  (e->EvaluateAsInt(value, context) && value.Val.getInt() == 0);
         });
}

/// Whether nothing but what makes grids is given an array.
bool isOnlyGiven(const VarDecl &v, Program &program) {
  return std::ranges::all_of(program.uses(v), [](const Use &use) {
    if (!use.in) return false;
    ASTContext &context = use.in->getASTContext();
    const Stmt *by = parentOf(use.ref, context);
    const auto *array = dyn_cast_or_null<ImplicitCastExpr>(by);
    if (!array || array->getCastKind() != CK_ArrayToPointerDecay) return false;
    while (isa_and_nonnull<ImplicitCastExpr>(by)) by = parentOf(by, context);
    const auto *call = dyn_cast_or_null<CallExpr>(by);
    const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
    return f && isMpi(*f) && f->getName().contains("Cart_create");
  });
}

/// Whether what says which dimensions are periodic says of none that it is.
bool isNever(const Expr *periods, const ASTContext &context, Program &program) {
  periods = periods->IgnoreParenImpCasts();
  if (const auto *literal = dyn_cast<CompoundLiteralExpr>(periods))
    return isZeros(literal->getInitializer(), context);
  const auto *ref = dyn_cast<DeclRefExpr>(periods);
  const auto *v = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  return v && v->getType()->isConstantArrayType() && isZeros(v->getInit(), context) &&
         !(v->hasGlobalStorage() && program.knownElsewhere(*v)) && isOnlyGiven(*v, program);
}

/// Whether all that makes communicators with neighbors is seen, and none is of a periodic grid.
bool areNeverPeriodic(const ASTContext &context, Program &program) {
  bool made = false;
  for (const char *name : {"MPI_Cart_create", "PMPI_Cart_create", "MPI_Graph_create",
                           "MPI_Dist_graph_create", "MPI_Dist_graph_create_adjacent"})
    for (const NamedDecl *d : declared(name, context)) {
      const auto *f = dyn_cast<FunctionDecl>(d);
      if (!f) continue;
      if (program.addressTaken(*f)) return false;
      const bool grid = llvm::StringRef(name).contains("Cart");
      for (const CallSite &at : program.callers(*f)) {
        made = true;
        if (grid && (!at.in || at.call->getNumArgs() != 6 ||
                     !isNever(at.call->getArg(3), at.in->getASTContext(), program)))
          return false;
      }
    }
  return made;
}

}  // namespace

std::string nonblockingFault(const Collective &collective, const ASTContext &context,
                             Program &program) {
  const llvm::StringRef name = collective.name;
  if (numberOf("OMPI_MAJOR_VERSION", context, program) != 4) return "";
  if (name == "Alltoallw")
    return "Open MPI 4's MPI_Alltoallw() puts blocks elsewhere than MPI_Ialltoallw() where a "
           "communicator has one rank";
  if (!name.starts_with("Neighbor_alltoall") || areNeverPeriodic(context, program)) return "";
  return "Open MPI 4's " + collective.nonblocking() +
         "() takes blocks in another order where a dimension of a periodic grid has one rank or "
         "two, and the communicator may be of one";
}

std::string persistentFault(const Collective &collective, const ASTContext &context,
                            const Program &program) {
  constexpr std::array faulty = {"Allgather", "Gather", "Scatter"};
  constexpr long k4_0 = 40000000, k4_1 = 40100000;  // 4.0.0, 4.1.0
  const std::optional<long> version = numberOf("MPICH_NUMVERSION", context, program);
  if (!version || *version < k4_0 || *version >= k4_1 ||
      std::ranges::find(faulty, collective.name) == faulty.end())
    return "";
  return collective.persistent() + "() of MPICH 4.0 gives wrong results";
}

}  // namespace nbcc::overlap
