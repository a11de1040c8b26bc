// SPDX-License-Identifier: BSD-3-Clause
// streams.h - what C++ programs print with std::cout and its like, and what makes printing another
// thing than it was.

#pragma once

#include <llvm/ADT/StringRef.h>

namespace clang {
class CallExpr;
class Expr;
class FunctionDecl;
class NamedDecl;
class Stmt;
}  // namespace clang

namespace nbcc::overlap {

/// What is printed by std::cout << x, cout.precision(3) and such, of cerr and clog, too: a number,
/// text, or what a manipulator of the library gives.
struct Printed {
  bool isPrint = false;
  const clang::Expr *text = nullptr;  // read where it lies; null: a number, or nothing
};
Printed printed(const clang::CallExpr &);

/// std::setw() and such, which only remember what they are given.
bool isManipulator(const clang::FunctionDecl &);

/// Whether by this a stream may come to run code of the program's, throw, or write elsewhere:
/// rdbuf(buffer), exceptions(), imbue().
bool mayChangeStreams(const clang::NamedDecl &);

/// stdout = f; &stdout
bool changesStandardStream(const clang::Stmt *);
/// close(1), close(fileno(stdout)), fclose(stdout): what is opened next has its descriptor.
bool closesStandardStream(const clang::Stmt *);

/// setvbuf(stdout, buffer, ...) and its like keep memory of the program's, or call functions of
/// it; a call may also ask for memory of the library's own.
bool keepsMemory(llvm::StringRef function);
bool lendsMemory(const clang::CallExpr &, const clang::FunctionDecl &called);

}  // namespace nbcc::overlap
