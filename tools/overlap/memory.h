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
//
// Containers that are swapped or moved exchange their elements, which older pointers still point
// at. What does that lets them escape; so a pointer into a container that has escaped may be into
// any other such one.

#pragma once

#include <clang/AST/Decl.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Expr.h>
#include <clang/AST/StmtCXX.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/overlap/places.h"

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
  Places whole;            // the same memory, as the whole program tells it apart
  bool elsewhere = false;  // seen from another function, where only that is known of it

  bool empty() const { return known.empty() && !unknown; }
  void add(const Objects &other) {
    known.insert(other.known.begin(), other.known.end());
    unknown = unknown || other.unknown;
    elsewhere = elsewhere || other.elsewhere;
    whole.add(other.whole);
  }
  static Objects one(Object::Kind kind, const void *what) {
    return {{{kind, what}}, false, Places::anything(), false};
  }
  static Objects anything() { return {{}, true, Places::anything(), false}; }
};

class PointsTo;

class Memory {
 public:
  /// What is asked of functions that a body calls.
  struct Others {
    std::function<bool(const clang::FunctionDecl &, unsigned)> keeps;  // what a parameter points at
    std::function<bool(const clang::FunctionDecl &)> makes;            // what it returns is new
    std::function<PointsTo *()> pointsTo;                              // null: not yet
  };

  Memory(const clang::FunctionDecl &, Others);

  const clang::FunctionDecl *function() const { return &in_; }

  Objects designated(const clang::Expr *glvalue) const;
  Objects pointedAt(const clang::Expr *pointer) const;
  Objects variable(const clang::VarDecl &) const;
  bool escaped(const Object &) const;
  /// Whether a pointer to what it points at goes out of this function's sight.
  bool keepsParameter(const clang::ParmVarDecl *p) const {
    return escaped_.contains({Object::pointee, p});
  }
  bool mayOverlap(const Objects &, const Objects &) const;

  /// Whether all that is returned was allocated here, and went nowhere else.
  bool returnsOwn() const;

  /// A construct that is not followed; empty: there is none.
  const std::string &notUnderstood() const { return notUnderstood_; }
  clang::SourceLocation notUnderstoodAt() const { return notUnderstoodAt_; }

 private:
  friend class Collect;

  Objects named(const clang::Expr *glvalue) const;
  Objects reached(const clang::Expr *pointer) const;
  Objects loaded(const clang::Expr *glvalue) const;
  Objects either(const clang::Expr *) const;
  Objects unfollowed(const clang::Expr *) const;
  Objects variablePointsAt(const clang::VarDecl *) const;
  void escapes(const clang::Expr *, bool byReturn);
  void close(std::set<Object> &) const;

  const clang::FunctionDecl &in_;
  Others others_;
  std::vector<const clang::Expr *> returned_;
  std::set<Object> kept_;  // what escapes by other ways than return

  std::map<const clang::VarDecl *, std::vector<const clang::Expr *>> assigned_;
  std::set<Object> escaped_;
  mutable std::set<const clang::VarDecl *> asked_;  // cycles: p = q; q = p
  std::string notUnderstood_;
  clang::SourceLocation notUnderstoodAt_;
};

/// Whether what a cast gives is, or points at, the object that its operand is or points at.
bool staysInObject(clang::CastKind);

/// (char *)&b - (char *)&a, by which a datatype that begins at a reaches b.
bool isDistance(const clang::BinaryOperator &);

/// Whether an attribute says that a function or variable is another one, or what else it is called.
bool hasOtherName(const clang::NamedDecl &);

/// Whether elements of containers may come from others' memory: what is initialised so was moved,
/// or made by a call.
bool mayTakeOver(clang::QualType, const clang::Expr *init);
/// for (x : v) over an array or vector that has a name, where x is a number or a reference to one
/// of its elements.
bool isPlainRange(const clang::CXXForRangeStmt &);

}  // namespace nbcc::overlap
