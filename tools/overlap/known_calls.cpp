// SPDX-License-Identifier: BSD-3-Clause
// known_calls.cpp - the table of known_calls.def, and what clang itself knows.

#include "tools/overlap/known_calls.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/Builtins.h>
#include <clang/Basic/SourceManager.h>

#include <utility>

#include "tools/overlap/buffers.h"
#include "tools/overlap/collectives.h"
#include "tools/overlap/types.h"

namespace nbcc::overlap {
namespace {

constexpr KnownCall knownCalls[] = {
#define KNOWN(name, kind, arguments) {#name, CallKind::kind, arguments},
#include "tools/overlap/known_calls.def"
};

std::set<std::string> ownFunctions;

/// A body of the program's own. That of a header of the system stands for what the function is
/// known to do.
bool standsInSystem(const clang::Decl &d) {
  const clang::SourceManager &files = d.getASTContext().getSourceManager();
  return files.isInSystemHeader(files.getExpansionLoc(d.getLocation()));
}

bool hasOwnBody(const clang::FunctionDecl &f) {
  const clang::FunctionDecl *definition = nullptr;
  return f.hasBody(definition) && !standsInSystem(*definition);
}

llvm::StringRef nameOf(const clang::FunctionDecl &f) {
  return f.getIdentifier() ? f.getName() : llvm::StringRef();
}

bool takesNumbers(const clang::FunctionDecl &f) {
  return f.getReturnType()->isArithmeticType() && llvm::all_of(f.parameters(), [](const auto *p) {
           return p->getType()->isArithmeticType();
         });
}

/// Clang knows it as one that depends on its operands alone.
bool isConstBuiltin(const clang::FunctionDecl &f) {
  unsigned id = f.getBuiltinID();
  if (id == 0 && f.isInStdNamespace() && takesNumbers(f) && f.getIdentifier())
    id = f.getIdentifier()->getBuiltinID();  // std::abs() and such, for all kinds of numbers
  if (id == 0) return false;
  const clang::Builtin::Context &builtins = f.getASTContext().BuiltinInfo;
  // errno is no buffer of anyone's.
  return builtins.isConst(id) || builtins.isConstWithoutErrnoAndExceptions(id);
}

}  // namespace

bool formatMayHold(const clang::Expr *format, char conversion) {
  constexpr llvm::StringRef standard = "diouxXeEfFgGaAcCsSpnm%[";
  const auto *literal = llvm::dyn_cast<clang::StringLiteral>(format->IgnoreParenImpCasts());
  if (!literal || literal->getCharByteWidth() != 1) return true;
  const llvm::StringRef text = literal->getString();
  for (size_t at = text.find('%'); at != llvm::StringRef::npos; at = text.find('%', at + 1)) {
    at = text.find_first_not_of("0123456789 .*$+-#'hlqjztLI", at + 1);
    if (at == llvm::StringRef::npos) break;
    if (text[at] == conversion || !standard.contains(text[at])) return true;
  }
  return false;
}

static const clang::AsmLabelAttr *labelOf(const clang::FunctionDecl &f) {
  return f.getMostRecentDecl()->getAttr<clang::AsmLabelAttr>();
}

llvm::StringRef symbolOf(const clang::FunctionDecl &f) {
  const clang::AsmLabelAttr *label = labelOf(f);
  return label ? label->getLabel() : nameOf(f);
}

/// The program says which function a name stands for; the library's own headers do, too.
static bool isRelabelled(const clang::FunctionDecl &f) {
  const clang::AsmLabelAttr *label = labelOf(f);
  const clang::SourceManager &files = f.getASTContext().getSourceManager();
  return label && label->getLabel() != nameOf(f) &&
         !files.isInSystemHeader(files.getExpansionLoc(label->getLocation()));
}

bool isOwn(const clang::FunctionDecl &f) {
  return hasOwnBody(f) || isRelabelled(f) ||
         (f.isExternC() && ownFunctions.contains(nameOf(f).str()));
}

char argumentOf(const clang::CallExpr &call, const KnownCall &known, unsigned i) {
  const char how = known.argument(i);
  const size_t format = known.arguments.find('F');
  if (how == 'F') return 'r';
  const bool formatted = how == 'r' && format < i && format < call.getNumArgs();
  return formatted && formatMayHold(call, known, 'n') ? 'u' : how;
}

bool formatMayHold(const clang::CallExpr &call, const KnownCall &known, char conversion) {
  const size_t format = known.arguments.find('F');
  return format < call.getNumArgs() &&
         formatMayHold(call.getArg(static_cast<unsigned>(format)), conversion);
}

bool tellsAddress(const clang::CallExpr &call, const KnownCall &known, unsigned i) {
  const size_t format = known.arguments.find('F');
  return format < i && formatMayHold(call, known, 'p');
}

void setOwnFunctions(std::set<std::string> names) {
  ownFunctions = std::move(names);
}

const KnownCall *findKnownCall(const clang::FunctionDecl &f) {
  if (isOwn(f) || !f.isExternC()) return nullptr;
  for (const KnownCall &k : knownCalls)
    if (nameOf(f) == llvm::StringRef(k.name)) return &k;
  return nullptr;
}

std::optional<Handles> handled(const clang::FunctionDecl &f) {
  const llvm::StringRef name = nameOf(f);
  // Attributes of types are copied and deleted by calls that are local otherwise.
  if (isMpi(f))
    for (const char *sets : {"reate_errhandler", "rrhandler_create", "Type_create_keyval"})
      if (name.contains(sets)) return Handles::mpi;
  if ((!f.isExternC() && !f.isInStdNamespace()) || isOwn(f)) return std::nullopt;
  for (const char *sets : {"signal", "__sysv_signal", "sysv_signal", "bsd_signal", "ssignal",
                           "sigset", "sigaction", "sigvec"})
    if (name == sets) return Handles::abort;
  for (const char *sets : {"atexit", "on_exit", "at_quick_exit"})
    if (name == sets) return Handles::exit;
  if (name.starts_with("register_printf_") || name == "fopencookie") return Handles::prints;
  return std::nullopt;
}

std::optional<Handles> mayBeHandled(const KnownCall &k) {
  if (k.name == "MPI_Abort") return Handles::exit;  // as MPICH ends
  if (k.kind == CallKind::stops) return Handles::abort;
  if (k.name.starts_with("MPI_") && k.kind == CallKind::plain) return Handles::mpi;
  if (k.arguments.find('F') != k.arguments.npos && k.name != "sscanf") return Handles::prints;
  return std::nullopt;
}

bool isMathematics(const clang::FunctionDecl &f) {
  return (f.hasAttr<clang::ConstAttr>() && !f.hasBody()) || (!isOwn(f) && isConstBuiltin(f));
}

bool isOfNumbers(const clang::FunctionDecl &f) {
  return isConstBuiltin(f) && takesNumbers(f) && !isOwn(f);
}

bool isChoice(const clang::FunctionDecl &f) {
  const llvm::StringRef name = nameOf(f);
  const bool chooses = name == "clamp" ? f.getNumParams() == 3
                                       : (name == "min" || name == "max") && f.getNumParams() == 2;
  return chooses && f.isInStdNamespace() && !hasOwnBody(f) &&
         f.getReturnType().getNonReferenceType()->isArithmeticType() &&
         llvm::all_of(f.parameters(), [](const clang::ParmVarDecl *p) {
           return p->getType().getNonReferenceType()->isArithmeticType();
         });
}

static bool isComplexOrNumber(clang::QualType type) {
  return type.getNonReferenceType()->isArithmeticType() || isComplex(type);
}

bool isOfComplex(const clang::FunctionDecl &f) {
  const auto *method = llvm::dyn_cast<clang::CXXMethodDecl>(&f);
  const auto given = [](const clang::ParmVarDecl *p) {
    const clang::QualType type = p->getType();
    return isComplexOrNumber(type) &&
           (!type->isLValueReferenceType() || type->getPointeeType().isConstQualified());
  };
  if (!isOfSystem(f) || f.isVariadic() || !llvm::all_of(f.parameters(), given)) return false;
  if (method) return isComplex(f.getASTContext().getRecordType(method->getParent()));
  return f.isInStdNamespace() && isComplexOrNumber(f.getReturnType()) &&
         !f.getReturnType()->isReferenceType() &&
         (isComplex(f.getReturnType()) ||
          llvm::any_of(f.parameters(),
                       [](const clang::ParmVarDecl *p) { return isComplex(p->getType()); }));
}

bool changesComplex(const clang::CXXOperatorCallExpr &call) {
  const auto *by = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(call.getDirectCallee());
  return by && isOfComplex(*by) && !by->isConst();
}

bool isOfSystem(const clang::Decl &d) {
  if (standsInSystem(d)) return true;
  const auto *f = llvm::dyn_cast<clang::FunctionDecl>(&d);  // maybe declared once more
  return f && f->getPreviousDecl() && f->isExternC() && !isOwn(*f) &&
         isOfSystem(*f->getPreviousDecl());
}

/// Not one of the program's own that has such a name and stands in another source.
static bool isKnownToMpi(const clang::FunctionDecl &f) {
  const clang::SourceManager &files = f.getASTContext().getSourceManager();
  return llvm::any_of(f.redecls(), [&](const clang::FunctionDecl *one) {
    return comesWithMpi(files.getFileID(files.getExpansionLoc(one->getLocation())), files);
  });
}

bool isMpi(const clang::FunctionDecl &f) {
  const llvm::StringRef name = nameOf(f);
  return (name.starts_with("MPI_") || name.starts_with("PMPI_") || name.starts_with("MPIX_")) &&
         f.isExternC() && !hasOwnBody(f) && !isRelabelled(f) && (!isOwn(f) || isKnownToMpi(f));
}

/// mpi_bcast_(), MPI_BCAST(), pmpi_bcast_f08_(): what Fortran calls, by the names of compilers.
static bool isFortrans(llvm::StringRef symbol) {
  std::string lower = symbol.lower();
  llvm::StringRef name(lower);
  name.consume_front("p");
  if (!name.consume_front("mpi_") || name.empty()) return false;
  name = name.rtrim('_');
  for (const char *end : {"_f08ts", "_f08", "_fts", "_f"})
    if (name.consume_back(end)) break;
  return findOrdered("MPI_" + name.substr(0, 1).upper() + name.substr(1).str());
}

bool isCollectiveByOtherName(const clang::FunctionDecl &f) {
  const auto *method = llvm::dyn_cast<clang::CXXMethodDecl>(&f);
  const auto *names =
      method ? llvm::dyn_cast<clang::NamespaceDecl>(method->getParent()->getDeclContext())
             : nullptr;
  if (names && names->getName() == "MPI") return true;
  llvm::StringRef name = nameOf(f), symbol = symbolOf(f);
  if (isMpi(f)) return name.consume_front("P") && findOrdered(name.str());
  if (const auto *alias = f.getAttr<clang::AliasAttr>()) symbol = alias->getAliasee();
  symbol.consume_front("\1");
  if (isFortrans(name)) return true;
  return symbol != name && (symbol.starts_with("MPI_") || symbol.starts_with("PMPI_"));
}

bool isErrno(const clang::FunctionDecl &f) {
  const llvm::StringRef name = nameOf(f);
  return name == "__errno_location" || name == "__errno" || name == "__error";
}

bool asksForErrno(const clang::FunctionDecl &f) {
  for (const char *name :
       {"perror", "warn", "err", "vwarn", "verr", "error", "error_at_line", "syslog", "vsyslog"})
    if (nameOf(f) == name) return !isOwn(f);
  return isErrno(f);
}

bool isOfFiles(const clang::FunctionDecl &f) {
  static constexpr std::string_view all[] = {"fopen",  "fclose", "feof",  "ferror", "scanf",
                                             "fscanf", "fread",  "fgets", "fgetc",  "getc"};
  const llvm::StringRef name = nameOf(f);
  return f.isExternC() && !isOwn(f) && isOfSystem(f) &&
         std::ranges::find(all, std::string_view(name)) != std::end(all);
}

bool isExit(const clang::FunctionDecl &f) {
  const llvm::StringRef name = nameOf(f);
  return (f.isExternC() || f.isInStdNamespace()) && !isOwn(f) &&
         (name == "exit" || name == "_exit" || name == "_Exit" || name == "quick_exit");
}

bool takesObjectOtherwise(const clang::CXXMethodDecl &m) {
  return m.isExplicitObjectMemberFunction() || (m.isStatic() && m.isOverloadedOperator());
}

bool makesIntercommunicator(const clang::FunctionDecl &f) {
  if (!isMpi(f)) return false;
  for (const char *part : {"Intercomm_create", "Comm_spawn", "Comm_accept", "Comm_connect",
                           "Comm_join", "Comm_get_parent"})
    if (nameOf(f).contains(part)) return true;
  return false;
}

bool returnsCode(const clang::FunctionDecl &f) {
  if (!isMpi(f) || !f.getReturnType()->isSpecificBuiltinType(clang::BuiltinType::Int)) return false;
  for (const char *part :
       {"MPIX_", "_File_", "_T_", "_Info_", "_port", "ish_name", "Lookup_name", "Comm_connect",
        "Comm_accept", "Comm_join", "Comm_spawn", "Alloc_mem", "Win_", "Session_", "Buffer_attach",
        "_Error_", "c2f", "toint"})  // the last two give handles
    if (nameOf(f).contains(part)) return false;
  return true;
}

bool mpiKeeps(std::string_view function) {
  const llvm::StringRef name(function);
  for (const char *part : {"win_", "address", "attr", "keyval", "errhandler", "grequest",
                           "op_create", "buffer", "session", "alloc_mem", "datarep"})
    if (name.contains_insensitive(part)) return true;
  return false;
}

}  // namespace nbcc::overlap
