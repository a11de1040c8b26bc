// SPDX-License-Identifier: BSD-3-Clause
// unseen.cpp - whether the sources are the whole program, but for libraries that know nothing of
// its communicators.

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/Support/Path.h>

#include <algorithm>

#include "tools/overlap/known_calls.h"
#include "tools/overlap/program.h"

namespace nbcc::overlap {

using namespace clang;

namespace {

/// Headers of C and POSIX, and of OpenMP. Not <dlfcn.h>, through which anything may come.
constexpr std::string_view headers[] = {
    "complex.h", "ctype.h",   "dirent.h",    "errno.h",  "fcntl.h",  "fenv.h",   "fnmatch.h",
    "getopt.h",  "glob.h",    "inttypes.h",  "libgen.h", "locale.h", "malloc.h", "math.h",
    "omp.h",     "poll.h",    "pthread.h",   "pwd.h",    "regex.h",  "sched.h",  "semaphore.h",
    "setjmp.h",  "signal.h",  "stdatomic.h", "stdio.h",  "stdlib.h", "string.h", "strings.h",
    "tgmath.h",  "threads.h", "time.h",      "uchar.h",  "unistd.h", "wchar.h",  "wctype.h",
};

bool isOfSystem(const FunctionDecl &f) {
  const SourceManager &files = f.getASTContext().getSourceManager();
  const SourceLocation at = files.getExpansionLoc(f.getLocation());
  if (!files.isInSystemHeader(at)) return false;
  const llvm::StringRef path = files.getFilename(at);
  const llvm::StringRef folder = llvm::sys::path::filename(llvm::sys::path::parent_path(path));
  return folder == "bits" || folder == "sys" ||  // of which the others are made
         path.contains("/lib/clang/") ||         // posix_memalign() in <mm_malloc.h>
         std::ranges::find(headers, std::string_view(llvm::sys::path::filename(path))) !=
             std::end(headers);
}

bool isOfCxx(const FunctionDecl &f) {
  for (const DeclContext *at = f.getDeclContext(); at; at = at->getParent())
    if (const auto *names = dyn_cast<NamespaceDecl>(at))
      if (names->isStdNamespace() || names->getName() == "__gnu_cxx") return true;
  return f.isReplaceableGlobalAllocationFunction() || f.isReservedGlobalPlacementOperator();
}

}  // namespace

bool Program::isSeen(const FunctionDecl &f) const {
  if (isMpi(f)) return false;  // as it is used, it may be any collective
  if (f.isDefaulted() || f.isImplicit() || f.getBuiltinID() != 0 || isLocal(f)) return true;
  if (const FunctionDecl *body = definition(f)) return !body->isWeak();
  return definedOften(f) || findKnownCall(f) || isMathematics(f) || isOfSystem(f) || isOfCxx(f);
}

std::optional<std::string> Program::findUnseen() const {
  if (promises_.library) return "whatever calls this library";
  if (std::ranges::none_of(bodies_, [](const FunctionDecl *f) { return f->isMain(); }))
    return "a source that is not named (none has a main())";
  for (const FunctionDecl *f : used_)
    if (!f->isDependentContext() && !isSeen(*f)) return f->getQualifiedNameAsString() + "()";
  return std::nullopt;
}

}  // namespace nbcc::overlap
