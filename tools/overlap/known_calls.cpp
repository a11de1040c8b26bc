// SPDX-License-Identifier: BSD-3-Clause
// known_calls.cpp - the table of known_calls.def, and what clang itself knows.

#include "tools/overlap/known_calls.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>
#include <clang/Basic/Builtins.h>
#include <clang/Basic/SourceManager.h>

namespace nbcc::overlap {
namespace {

constexpr KnownCall known[] = {
#define KNOWN(name, kind, arguments) {#name, CallKind::kind, arguments},
#include "tools/overlap/known_calls.def"
};

/// A body of the program's own. That of a header of the system stands for what the function is
/// known to do.
bool hasOwnBody(const clang::FunctionDecl &f) {
  const clang::FunctionDecl *definition = nullptr;
  return f.hasBody(definition) &&
         !f.getASTContext().getSourceManager().isInSystemHeader(definition->getLocation());
}

llvm::StringRef nameOf(const clang::FunctionDecl &f) {
  return f.getIdentifier() ? f.getName() : llvm::StringRef();
}

bool isOfNumbers(const clang::FunctionDecl &f) {
  return f.getReturnType()->isArithmeticType() && llvm::all_of(f.parameters(), [](const auto *p) {
           return p->getType()->isArithmeticType();
         });
}

}  // namespace

const KnownCall *findKnownCall(const clang::FunctionDecl &f) {
  if (hasOwnBody(f) || !f.isExternC()) return nullptr;
  for (const KnownCall &k : known)
    if (nameOf(f) == llvm::StringRef(k.name)) return &k;
  return nullptr;
}

bool isMathematics(const clang::FunctionDecl &f) {
  if (f.hasAttr<clang::ConstAttr>()) return true;
  unsigned id = f.getBuiltinID();
  if (id == 0 && f.isInStdNamespace() && isOfNumbers(f) && f.getIdentifier())
    id = f.getIdentifier()->getBuiltinID();  // std::abs() and such, for all kinds of numbers
  if (id == 0) return false;
  const clang::Builtin::Context &builtins = f.getASTContext().BuiltinInfo;
  // errno is no buffer of anyone's.
  return builtins.isConst(id) || builtins.isConstWithoutErrnoAndExceptions(id);
}

bool isChoice(const clang::FunctionDecl &f) {
  return f.isInStdNamespace() && !hasOwnBody(f) && (nameOf(f) == "min" || nameOf(f) == "max") &&
         f.getNumParams() == 2 && f.getReturnType().getNonReferenceType()->isArithmeticType() &&
         f.getParamDecl(1)->getType().getNonReferenceType()->isArithmeticType();
}

bool isMpi(const clang::FunctionDecl &f) {
  const llvm::StringRef name = nameOf(f);
  return !hasOwnBody(f) &&
         (name.starts_with("MPI_") || name.starts_with("PMPI_") || name.starts_with("MPIX_"));
}

bool makesIntercommunicator(const clang::FunctionDecl &f) {
  if (!isMpi(f)) return false;
  for (const char *part : {"Intercomm_create", "Comm_spawn", "Comm_accept", "Comm_connect",
                           "Comm_join", "Comm_get_parent"})
    if (nameOf(f).contains(part)) return true;
  return false;
}

bool returnsCode(const clang::FunctionDecl &f) {
  const bool mayFail = nameOf(f).contains("MPI_File_") || nameOf(f).contains("MPI_T_");
  return isMpi(f) && f.getReturnType()->isSpecificBuiltinType(clang::BuiltinType::Int) &&
         !mayFail && !nameOf(f).contains("c2f");  // a handle
}

bool mpiKeeps(std::string_view function) {
  const llvm::StringRef name(function);
  for (const char *part : {"Win_", "ddress", "attr", "keyval", "errhandler", "Grequest",
                           "Op_create", "Buffer_attach", "Session", "Alloc_mem"})
    if (name.contains(part)) return true;
  return false;
}

}  // namespace nbcc::overlap
