// SPDX-License-Identifier: BSD-3-Clause
// known_calls.h - what is known of functions without a body: known_calls.def.

#pragma once

#include <llvm/ADT/StringRef.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace clang {
class ASTContext;
class CallExpr;
class CXXMethodDecl;
class CXXOperatorCallExpr;
class Decl;
class Expr;
class FunctionDecl;
}  // namespace clang

namespace nbcc::overlap {

enum class CallKind { plain, returns, makes, prints, times, stops };

struct KnownCall {
  std::string_view name;
  CallKind kind;
  std::string_view arguments;

  /// What happens to memory that argument i points at.
  char argument(unsigned i) const { return i < arguments.size() ? arguments[i] : arguments.back(); }
};

/// When a library calls a function that it was given long before.
enum class Handles { abort, exit, mpi, prints };

/// What a library function has another function called at: signal(), atexit() ...
std::optional<Handles> handled(const clang::FunctionDecl &);

/// Where one of these may run, so that the call does what nobody knows.
std::optional<Handles> mayBeHandled(const KnownCall &);

/// The same for a call, by its format if it has one.
char argumentOf(const clang::CallExpr &, const KnownCall &, unsigned i);

/// Whether a format may hold a conversion, m of %m for one; a library may have more of its own.
bool formatMayHold(const clang::Expr *format, char conversion);
/// The same of a call's.
bool formatMayHold(const clang::CallExpr &, const KnownCall &, char conversion);

/// Whether %p may put into letters where argument i points.
bool tellsAddress(const clang::CallExpr &, const KnownCall &, unsigned i);

/// Functions that some source defines, said before anything is asked: they are what their bodies
/// do.
void setOwnFunctions(std::set<std::string> names);

/// Null: nothing is known. A function of the program's own is not one of these, whatever its name.
const KnownCall *findKnownCall(const clang::FunctionDecl &);

/// Depends on its operands alone, and changes nothing: mathematics, and __attribute__((const)).
bool isMathematics(const clang::FunctionDecl &);

/// Of these what the library has, and takes and gives numbers alone: the same on all ranks for the
/// same numbers. What else is const may still be a thread's own address, or what a rank is.
bool isOfNumbers(const clang::FunctionDecl &);

/// std::min() and std::max() of two numbers, std::clamp() of three: what they return refers to one
/// of their arguments.
bool isChoice(const clang::FunctionDecl &);

/// What std has for its complex numbers: of these and other numbers it gives such, and only an
/// operator that assigns changes one, which it returns.
bool isOfComplex(const clang::FunctionDecl &);
bool changesComplex(const clang::CXXOperatorCallExpr &);

/// Whether a header of the system declares it.
bool isOfSystem(const clang::Decl &);

/// What the linker knows it by.
llvm::StringRef symbolOf(const clang::FunctionDecl &);

/// Of the program's own, here or in another source.
bool isOwn(const clang::FunctionDecl &);

/// A function of MPI.
bool isMpi(const clang::FunctionDecl &);
/// PMPI_Bcast(), mpi_bcast_(), a method of MPI's C++ bindings, which may be one; PMPI_Comm_dup()
/// and such, which make communicators; or any of MPI's that the sources give another name.
bool isCollectiveByOtherName(const clang::FunctionDecl &);

/// What errno stands for.
bool isErrno(const clang::FunctionDecl &);

/// Whether a call of it depends on errno: perror() and its like, and what errno stands for.
bool asksForErrno(const clang::FunctionDecl &);

/// Of the C library: opens or closes a file, or reads from one into what it is given.
bool isOfFiles(const clang::FunctionDecl &);

/// exit() and its like, of the C library.
bool isExit(const clang::FunctionDecl &);

/// Whether a method has its object among its parameters, or an operator has none: arguments of a
/// call stand elsewhere than parameters then.
bool takesObjectOtherwise(const clang::CXXMethodDecl &);

/// A function of MPI that may give a communicator with two sides.
bool makesIntercommunicator(const clang::FunctionDecl &);

/// A function of MPI whose result says whether it failed. A rank that sees a failure has nothing
/// left to rely on, so codes are taken to be the same on all. But there are calls that fail where
/// nothing is broken: those of files, infos, ports and names, of memory, and of MPI's own
/// variables.
bool returnsCode(const clang::FunctionDecl &);

/// Whether MPI keeps a pointer that this function of it is given, beyond a request's completion.
bool mpiKeeps(std::string_view function);

}  // namespace nbcc::overlap
