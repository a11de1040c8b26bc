// SPDX-License-Identifier: BSD-3-Clause
// streams.h - what C++ programs print with std::cout and its like.

#pragma once

namespace clang {
class CallExpr;
class Expr;
class FunctionDecl;
class NamedDecl;
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

}  // namespace nbcc::overlap
