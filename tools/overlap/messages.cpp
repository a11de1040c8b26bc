// SPDX-License-Identifier: BSD-3-Clause
// messages.cpp - the table of messages.def, and what stands against messages by its name.

#include "tools/overlap/messages.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "tools/overlap/buffers.h"

namespace nbcc::overlap {

using namespace clang;

const Signature *findMessage(llvm::StringRef function) {
  static constexpr Signature all[] = {
#define MESSAGE(name, arguments) {#name, arguments},
#include "tools/overlap/messages.def"
  };
  if (!function.consume_front("MPI_")) return nullptr;
  if (!function.starts_with("Wait")) function.consume_back("_c");
  const auto *found = std::ranges::find(all, std::string_view(function), &Signature::name);
  return found == std::end(all) ? nullptr : found;
}

bool seesEarlier(llvm::StringRef function) {
  function.consume_front("P");
  if (function.starts_with("MPIX_")) return !function.contains("_init");
  static constexpr const char *all[] = {
      "Test",   "Waitany",  "Waitsome",  "Iprobe", "Improbe",  "Cancel",    "Request_get_status",
      "Rsend",  "Irsend",   "Bsend",     "Ibsend", "Buffer_",  "Psend_",    "Precv_",
      "Pready", "Parrived", "Grequest_", "File_",  "Session_", "Open_port", "T_"};
  return function.consume_front("MPI_") &&
         std::ranges::any_of(all, [&](const char *begin) { return function.starts_with(begin); });
}

bool namesAnyByNumber(const CallExpr &call, const FunctionDecl &called) {
  const llvm::StringRef name = called.getName();
  if (!name.contains("ecv") && !name.contains("robe")) return false;
  const ASTContext &context = called.getASTContext();
  return std::ranges::any_of(call.arguments(), [&](const Expr *e) {
    if (!e->getType()->isIntegerType() || e->isValueDependent()) return false;
    const std::optional<llvm::APSInt> number = e->getIntegerConstantExpr(context);
    return number && number->isNegative() && constantName(e, context).empty();
  });
}

bool asksForThreads(const CallExpr &call, const FunctionDecl &called) {
  if (!called.getName().ends_with("MPI_Init_thread") || call.getNumArgs() != 4) return false;
  const std::string level = constantName(call.getArg(2), called.getASTContext());
  return level != "MPI_THREAD_SINGLE" && level != "MPI_THREAD_FUNNELED";
}

}  // namespace nbcc::overlap
