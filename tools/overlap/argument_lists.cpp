// SPDX-License-Identifier: BSD-3-Clause
// argument_lists.cpp - which functions only print what they are given behind a format.

#include "tools/overlap/argument_lists.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/Expr.h>

#include <algorithm>

#include "tools/overlap/changes.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;
using llvm::StringRef;

const KnownCall *findPrinterOfLists(const FunctionDecl &f) {
  static constexpr KnownCall printers[] = {
      {"vprintf", CallKind::prints, "r-"},
      {"vfprintf", CallKind::prints, "-r-"},
      {"vsprintf", CallKind::plain, "wr-"},
      {"vsnprintf", CallKind::plain, "w-r-"},
  };
  if (isOwn(f) || !f.isExternC() || !f.getIdentifier()) return nullptr;
  for (const KnownCall &k : printers)
    if (f.getName() == StringRef(k.name)) return &k;
  return nullptr;
}

bool isOfArgumentLists(const FunctionDecl &f) {
  const StringRef name = f.getIdentifier() ? f.getName() : "";
  return findPrinterOfLists(f) ||
         (!isOwn(f) && (name == "__builtin_va_start" || name == "__builtin_va_end" ||
                        name == "__builtin_va_copy"));
}

bool isArgumentList(QualType type, const ASTContext &context) {
  for (QualType inner = type; !inner.isNull(); inner = inner->getPointeeType())
    type = QualType(inner->getBaseElementTypeUnsafe(), 0);
  const QualType list = context.getBuiltinVaListType();
  return type->getAsRecordDecl() ? type->getAsRecordDecl() == context.getVaListTagDecl()
                                 : context.hasSameType(type, list);
}

/// Not one that the function was given.
static bool isOwnList(const VarDecl &v) {
  return v.hasLocalStorage() && !isa<ParmVarDecl>(v);
}

static bool printsArguments(const FunctionDecl &f, const Stmt *s) {
  if (!s) return true;
  const ASTContext &context = f.getASTContext();
  const auto *call = dyn_cast<CallExpr>(s);
  const FunctionDecl *by = call ? call->getDirectCallee() : nullptr;
  if (by && isOfArgumentLists(*by)) {
    const bool prints = findPrinterOfLists(*by);
    for (unsigned i = 0; i < call->getNumArgs(); ++i) {
      const Expr *e = call->getArg(i)->IgnoreParenImpCasts();
      const VarDecl *named = namedVariable(e);
      if (isArgumentList(e->getType(), context) ? !named || !isOwnList(*named)
                                                : !named && !printsArguments(f, e))
        return false;
      if (prints && i + 2 == call->getNumArgs() && named != f.getParamDecl(f.getNumParams() - 1))
        return false;
    }
    return true;
  }
  if (isa<VAArgExpr>(s) || (by && by->getIdentifier() && by->getName().starts_with("__builtin_va")))
    return false;
  const auto *cast = dyn_cast<CastExpr>(s);
  if (cast && cast->getCastKind() == CK_LValueToRValue && namedVariable(cast->getSubExpr()) &&
      !isArgumentList(cast->getType(), context))
    return true;  // it is read
  const auto *e = dyn_cast<Expr>(s);
  const auto *ref = dyn_cast<DeclRefExpr>(s);
  return !(e && isArgumentList(e->getType(), context)) &&
         !(ref && ref->getDecl() == f.getParamDecl(f.getNumParams() - 1)) &&
         std::ranges::all_of(s->children(),
                             [&](const Stmt *child) { return printsArguments(f, child); });
}

bool onlyPrintsArguments(const FunctionDecl &f) {
  return f.isVariadic() && !isa<CXXMethodDecl>(f) && f.getNumParams() > 0 &&
         printsArguments(f, f.getBody());
}

}  // namespace nbcc::overlap
