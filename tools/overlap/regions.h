// SPDX-License-Identifier: BSD-3-Clause
// regions.h - parts of one object told apart: elements of an array by what their indices are
// computed from.
//
//   MPI_Allgather(&norm, 1, MPI_DOUBLE, all + i * n, 1, ...);     all + 8 i n   and up
//   for (int k = 0; k < i; ++k) sum += all[k * n];                up to  all + 8 (i - 1) n + 8
//
// A place is a base, a variable's address or a pointer's value, and an offset in bytes: a
// polynomial of values that do not change between the call and the access. Counters of loops in
// between take all their values. Two parts of one base are apart where one ends before the other
// begins, whatever these values are.
//
// The same goes for an access in the next turn of the call's loop, where the loop's counter is one
// step further, and a variable that each turn flips is flipped.

#pragma once

#include <optional>
#include <vector>

#include "tools/overlap/changes.h"
#include "tools/overlap/site.h"
#include "tools/overlap/symbols.h"

namespace nbcc::overlap {

/// What lies between the call and an access, both included: statements of the call's block, or,
/// where the access is in the next turn, the whole loop.
struct Stretch {
  unsigned access;                        // the statement of the block that has the access
  const clang::Stmt *nextTurn = nullptr;  // the loop whose next turn that is; null: the same turn
};

class Regions {
 public:
  Regions(const Site &, Program &, Stretch);

  /// Whether an access of the stretch touches no byte of a buffer of the call's.
  bool apart(const Access &, const Site::Buffer &);

 private:
  /// An integer, or a place.
  struct Value {
    std::optional<Symbol> base;  // none: an integer
    Polynomial offset;           // in bytes
  };
  struct Frame {
    const clang::FunctionDecl *f;
    const clang::CallExpr *call;  // that entered it
    const Frame *outer;           // null: the function of the site
  };
  struct Region {
    Symbol base;
    Polynomial begin;
    std::optional<Polynomial> end;
    bool hasBegin = true;
  };
  struct Range {
    Symbol counter;
    Polynomial least, most;
  };
  using Maybe = std::optional<Value>;

  std::optional<Region> region(const Access &, bool ofCall);
  bool apart(const Region &, const Region &) const;
  std::optional<Polynomial> bound(Polynomial, bool least) const;

  // evaluate.cpp
  Maybe value(const clang::Expr *, const Frame &);
  Maybe location(const clang::Expr *, const Frame &);
  Maybe integerCast(const clang::CastExpr *, const Frame &);
  Maybe arithmetic(const clang::BinaryOperator *, const Frame &);
  Maybe remainder(const Value &, std::int64_t by, const clang::BinaryOperator *);
  Polynomial withLastBitFlipped(const Polynomial &);
  Maybe returned(const clang::CallExpr *, const Frame &);
  Maybe self(const Frame &);
  Maybe load(const clang::Expr *, const Frame &);

  // evaluate_variables.cpp
  Maybe variable(const clang::VarDecl &, const clang::DeclRefExpr *, const Frame &);
  Maybe ofSite(const clang::VarDecl &, const Frame &);
  Maybe flipped(const clang::VarDecl &, const Frame &);
  Maybe counter(const CountedLoop &, const Frame &);
  std::optional<CountedLoop> counts(const clang::VarDecl &, const clang::DeclRefExpr *,
                                    const Frame &);
  bool unchanged(const clang::VarDecl &) const;
  bool unchanged(const Places &);
  Maybe symbol(const Meaning &m, bool place) {
    const Symbol s = symbols_.of(m);
    return place ? Value{s, {}} : Value{std::nullopt, Polynomial::of(s)};
  }

  const Site &site_;
  Program &program_;
  const Stretch stretch_;
  Symbols symbols_;
  std::vector<Range> ranges_;
  Facts facts_;
  bool ofCall_ = false;  // what is evaluated is the call's own
  // A variable may stand for what it was initialised with, if that is still the same: from this
  // statement on.
  std::optional<unsigned> since_;             // none: nothing may have changed at all
  bool expanding_ = false;                    // what was evaluated earlier than at the access
  const clang::VarDecl *flipping_ = nullptr;  // whose new value is being looked at
  int depth_ = 0;
  std::map<unsigned, Effects> effects_;  // of statements; of the loop
};

}  // namespace nbcc::overlap
