// SPDX-License-Identifier: BSD-3-Clause
// effects.h - what a statement does, as far as it matters to a collective that is under way.
//
// A statement is taken as a whole, in the order of the source: whatever it may do, on any path, is
// an effect. Calls of functions whose bodies are seen have the effects of these bodies, in terms of
// what they were given.

#pragma once

#include <clang/AST/Stmt.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tools/overlap/program.h"

namespace nbcc::overlap {

/// Which expression touches memory, and by which calls it is come to; regions.h tells more of it.
struct Access {
  enum Extent {
    exactly,   // `where` is an lvalue
    counted,   // a pointer: `count` times `each` bytes from there on
    upwards,   // no end is known
    anywhere,  // around it
  } extent = anywhere;
  const clang::Expr *where = nullptr;  // null: it cannot be said
  const clang::FunctionDecl *in = nullptr;
  const clang::Expr *count = nullptr;
  unsigned each = 1;
  std::vector<const clang::CallExpr *> through;  // outermost first
};

struct Effect {
  enum Kind {
    reads,
    writes,
    opaque,      // anything: a call that is not seen into, a construct that is not followed
    orders,      // volatile, atomic: there for others to see
    leaves,      // return, break, continue, goto, throw out of the statement; or it may throw
    enters,      // a label, to which something may jump
    exits,       // ends this rank
    stops,       // ends all ranks
    vanishes,    // a macro that stands for nothing here; elsewhere it may be any other code
    times,       // asks for the time
    prints,      // output to stdout or stderr, which is in no order among the ranks
    files,       // output that another rank may read, or write behind
    collective,  // a blocking one, in `access`; its buffers are effects of their own
    mpi,         // any other communication, or a change to what communication needs
  } kind;
  Objects objects;
  clang::SourceLocation at;
  std::string what;  // the variable or the function, as the source has it
  Access access = {};
  bool promisable = false;  // opaque, being a function in no source: --local may name it
  bool message = false;     // mpi: between two ranks, or a wait for some
};

struct Effects {
  std::vector<Effect> all;
  long work = 0;       // operations, where a loop counts as many; more than kMuch is as good as it
  bool again = false;  // the function calls itself, each time with the same memory

  static constexpr long kMuch = 1L << 40;
  void addWork(long operations) { work = std::min(work + operations, kMuch); }
};

/// `inside`: the function that the statement is in. `but`: a call in it that is left out, with its
/// arguments.
Effects effectsOf(const clang::Stmt *, const clang::FunctionDecl &inside, Program &,
                  const clang::CallExpr *but = nullptr);

/// Whether a jump may lead to it, or to what it holds.
bool holdsLabel(const clang::Stmt *);

/// Whether a jump may lead into a statement, past what stands in front of it.
bool isEntered(const clang::Stmt *, const clang::FunctionDecl &inside, Program &);
/// The same of a block; but nothing leads into a function but by its beginning.
bool isEnteredBlock(const clang::Stmt *block, const clang::FunctionDecl &inside, Program &);

/// A constant condition's value; none: it is not constant, or there is no condition.
std::optional<bool> known(const clang::Expr *condition, const clang::ASTContext &);

/// The text of an expression as written, on one line, not longer than a name should be.
std::string written(const clang::Stmt *, const clang::ASTContext &);
/// FILE:LINE
std::string placeOf(const clang::Stmt &, const clang::FunctionDecl &in);

}  // namespace nbcc::overlap
