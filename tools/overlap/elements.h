// SPDX-License-Identifier: BSD-3-Clause
// elements.h - arrays of pointers, each of which points at memory of its own.
//
//   char *packed[2];
//   for (int i = 0; i < 2; ++i) packed[i] = malloc(size);     packed[i] is never packed[i + 1]
//
// Such an array is named only to read one of its elements, or to store there what was just
// allocated. So a piece of memory has one element that ever held it, also where structures are
// copied, which moves no element to another place.

#pragma once

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace nbcc::overlap {

class Program;

class ElementUses {
 public:
  /// Called for every statement and expression of all sources, what holds others first.
  void visit(const clang::Stmt *);
  void declared(const clang::VarDecl &);

  bool areApart(const clang::ValueDecl &array, Program &);

  /// a of a[i], if it is an array of pointers; else null.
  static const clang::ValueDecl *arrayOf(const clang::ArraySubscriptExpr *);

 private:
  struct Uses {
    unsigned all = 0, plain = 0;
    std::vector<const clang::Expr *> stored;
    bool unclear = false;  // initialised by something else
  };

  void initialised(const clang::ValueDecl &, const clang::Expr *);
  void cast(const clang::CastExpr *);

  std::map<std::string, Uses> uses_;    // by USR
  std::set<std::string> asBytes_;       // structures of which a pointer becomes one of another kind
  std::set<const clang::Expr *> fine_;  // arguments of functions that move no element
};

}  // namespace nbcc::overlap
