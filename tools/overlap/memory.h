// SPDX-License-Identifier: BSD-3-Clause
// memory.h - which memory an expression of a function may mean.
//
// Memory is a set of objects: variables, what a malloc or new in this function returns, and what a
// parameter points at when the function is entered. A whole array, struct or std::vector is one
// object. Everything else is `unknown`: what is reached through a pointer that was loaded from
// memory or came out of a call.
//
// A pointer variable may point at whatever is assigned to it anywhere in the function, in no order.
// An object escapes where a pointer to it goes out of sight: into memory, into a call that may keep
// it, out by return. Only then can `unknown` be it. Where a function does what is not followed
// here, notUnderstood() says what.

#pragma once

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace nbcc::overlap {

struct Object {
  enum Kind { variable, allocation, pointee } kind;
  const void *what;  // VarDecl, Expr or ParmVarDecl

  const clang::VarDecl *decl() const {
    return kind == allocation ? nullptr : static_cast<const clang::VarDecl *>(what);
  }
  friend auto operator<=>(const Object &, const Object &) = default;
};

struct Objects {
  std::set<Object> known;
  bool unknown = false;

  bool empty() const { return known.empty() && !unknown; }
  void add(const Objects &other) {
    known.insert(other.known.begin(), other.known.end());
    unknown = unknown || other.unknown;
  }
  static Objects one(Object::Kind kind, const void *what) { return {{{kind, what}}, false}; }
  static Objects anything() { return {{}, true}; }
};

class Memory {
 public:
  /// Whether the function with this body may keep what its parameter points at; asked of those that
  /// a body calls.
  using Keeps = std::function<bool(const clang::FunctionDecl &, unsigned)>;

  Memory(const clang::FunctionDecl &, const Keeps &);

  Objects designated(const clang::Expr *glvalue) const;
  Objects pointedAt(const clang::Expr *pointer) const;
  bool escaped(const Object &) const;
  /// Whether a pointer to what it points at goes out of this function's sight.
  bool keepsParameter(const clang::ParmVarDecl *p) const {
    return escaped_.contains({Object::pointee, p});
  }
  bool mayOverlap(const Objects &, const Objects &) const;

  /// A construct that is not followed; empty: there is none.
  const std::string &notUnderstood() const { return notUnderstood_; }

 private:
  friend class Collect;

  Objects variablePointsAt(const clang::VarDecl *) const;
  void escapes(const clang::Expr *);
  void close();

  std::map<const clang::VarDecl *, std::vector<const clang::Expr *>> assigned_;
  std::set<Object> escaped_;
  mutable std::set<const clang::VarDecl *> asked_;  // cycles: p = q; q = p
  std::string notUnderstood_;
};

/// std::vector, array, string, valarray, which hold what they contain; methods whose results point
/// there.
bool isContainer(clang::QualType);
bool pointsIntoContainer(llvm::StringRef method);
bool readsShapeOfContainer(llvm::StringRef method);  // size() and such, which touch no element

}  // namespace nbcc::overlap
