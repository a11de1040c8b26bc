// SPDX-License-Identifier: BSD-3-Clause
// complete.cpp - whether the sources are all of a program: what is called, and what is declared,
// has a body in one of them, or is a library's.

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/Support/Path.h>

#include <algorithm>

#include "tools/overlap/known_calls.h"
#include "tools/overlap/program.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;

/// Headers of C and POSIX, as a program includes them, and those in which the C library has their
/// parts. What opens further code while the program runs, dlfcn.h, is none.
static bool isNameOfStandard(llvm::StringRef path) {
  static constexpr std::string_view names[] = {
      "alloca.h",  "argp.h",    "assert.h",   "complex.h",   "ctype.h",     "dirent.h", "err.h",
      "errno.h",   "error.h",   "execinfo.h", "fcntl.h",     "fenv.h",      "float.h",  "fnmatch.h",
      "getopt.h",  "glob.h",    "inttypes.h", "libgen.h",    "libio.h",     "limits.h", "locale.h",
      "malloc.h",  "math.h",    "memory.h",   "mm_malloc.h", "omp.h",       "poll.h",   "pthread.h",
      "pwd.h",     "regex.h",   "sched.h",    "search.h",    "semaphore.h", "setjmp.h", "signal.h",
      "stdarg.h",  "stdbool.h", "stddef.h",   "stdint.h",    "stdio.h",     "stdlib.h", "string.h",
      "strings.h", "tgmath.h",  "threads.h",  "time.h",      "unistd.h",    "utime.h",  "values.h",
      "wchar.h",   "wctype.h"};
  const llvm::StringRef folder = llvm::sys::path::filename(llvm::sys::path::parent_path(path));
  return folder == "sys" || path.contains("/bits/") ||
         std::ranges::find(names, std::string_view(llvm::sys::path::filename(path))) !=
             std::end(names);
}

/// By where its header is, since others have such names as well: only the system's own folders are
/// taken for written in C, and a folder that a command line names is not.
bool isOfStandard(const Decl &d) {
  const auto *f = dyn_cast<FunctionDecl>(&d);
  if (f && f->getBuiltinID() != 0) return true;
  const SourceManager &files = d.getASTContext().getSourceManager();
  const SourceLocation at = files.getExpansionLoc(d.getLocation());
  const OptionalFileEntryRef file = files.getFileEntryRefForID(files.getFileID(at));
  if (!file) return false;
  const llvm::StringRef path = file->getName();
  if (path.starts_with(NBCC_CLANG_RESOURCES)) return true;  // instructions of the machine
  const DeclContext *in = d.getDeclContext()->getEnclosingNamespaceContext();
  while (!in->isTranslationUnit() && !in->getParent()->isTranslationUnit()) in = in->getParent();
  if (const auto *names = dyn_cast<NamespaceDecl>(in))
    return path.contains("/c++/") &&
           (names->getName() == "std" || names->getName().starts_with("__"));
  return files.getFileCharacteristic(at) == SrcMgr::C_ExternCSystem && isNameOfStandard(path);
}

/// Variables of C's library that a program's own of the same name would be.
static bool isNameOfLibrarys(llvm::StringRef name) {
  static constexpr std::string_view names[] = {"daylight",
                                               "environ",
                                               "error_message_count",
                                               "error_one_per_line",
                                               "error_print_progname",
                                               "getdate_err",
                                               "h_errno",
                                               "loc1",
                                               "loc2",
                                               "locs",
                                               "mallwatch",
                                               "obstack_alloc_failed_handler",
                                               "obstack_exit_failure",
                                               "optarg",
                                               "opterr",
                                               "optind",
                                               "optopt",
                                               "program_invocation_name",
                                               "program_invocation_short_name",
                                               "re_syntax_options",
                                               "rpc_createerr",
                                               "signgam",
                                               "stderr",
                                               "stdin",
                                               "stdout",
                                               "svc_fdset",
                                               "timezone",
                                               "tzname"};
  return name.starts_with("_") ||
         std::ranges::find(names, std::string_view(name)) != std::end(names);
}

bool Program::knownElsewhere(const VarDecl &v) const {
  if (!v.isExternallyVisible()) return false;
  const bool plain = v.getIdentifier() && v.isExternC();
  return !missing_.empty() || isOfSystem(v) || (plain && isNameOfLibrarys(v.getName()));
}

void Program::findMissing() {
  const auto undefined = [&](const FunctionDecl &f) {
    return !isOfSystem(f) && !isMpi(f) && f.getBuiltinID() == 0 && !isLocal(f) && !f.hasBody() &&
           !definitions_.contains(nameInAll(f));
  };
  const auto find = [&](const auto &functions) {
    for (const FunctionDecl *f : functions)
      if (missing_.empty() && undefined(*f)) missing_ = f->getQualifiedNameAsString() + "()";
  };
  if (promises_.library) missing_ = "who calls a library";
  if (missing_.empty() &&
      std::ranges::none_of(bodies_, [](const FunctionDecl *f) { return f->isMain(); }))
    missing_ = "main()";
  find(outside_);
  find(declared_);
  std::set<const Decl *> defined;
  for (const VarDecl *v : globals_)
    if (v->isThisDeclarationADefinition() != VarDecl::DeclarationOnly) defined.insert(inAll(*v));
  for (const VarDecl *v : globals_)
    if (missing_.empty() && v->isReferenced() && v->isExternallyVisible() && !isOfSystem(*v) &&
        !defined.contains(inAll(*v)))
      missing_ = v->getQualifiedNameAsString();
}

}  // namespace nbcc::overlap
