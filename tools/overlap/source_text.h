// SPDX-License-Identifier: BSD-3-Clause
// source_text.h - the source as text: what stands between statements, and where one may be put.

#pragma once

#include <clang/AST/Stmt.h>

#include <optional>
#include <string>

namespace clang {
class ASTContext;
class CallExpr;
class Preprocessor;
}  // namespace clang

namespace nbcc::overlap {

/// Offsets in the main file: of its first character, and behind the `;` or `}` that ends it. None:
/// it is not all in the main file, or ends in a way that is not understood.
struct Extent {
  unsigned begin, end;
};
std::optional<Extent> extentOf(const clang::Stmt &, const clang::ASTContext &);

/// Whether one statement and the next share text: those of a macro of several statements, between
/// which nothing can be put.
bool shareText(const clang::Stmt &, const clang::Stmt &next, const clang::ASTContext &);

llvm::StringRef mainFile(const clang::ASTContext &);

/// Where a line of its own may follow what ends at `end`: behind comments that begin on that line.
unsigned behindComment(llvm::StringRef text, unsigned end);

/// Whether declarations stand at the beginning of their block, as in C90, or as
/// -Wdeclaration-after-statement wants them.
bool declaresFirst(const clang::ASTContext &);

/// What stands before the first word of the line that holds `at`.
llvm::StringRef indentation(llvm::StringRef text, unsigned at);

/// An extent with the end of the line before it, if nothing else stands on its own lines; else
/// itself.
Extent withLine(llvm::StringRef text, Extent);

/// Where a call names its function.
clang::SourceLocation nameOfCall(const clang::CallExpr &);

/// Whether the source says `name(`, and `)` where the call ends.
bool isSpelled(const clang::CallExpr &, llvm::StringRef name, const clang::ASTContext &);

/// #if and the like, which hide code of other configurations, and #define and the like, which make
/// other code of the same words; where the first is, or none.
std::optional<unsigned> directive(const clang::ASTContext &, unsigned begin, unsigned end);

/// The first word between two places of a file that was ever defined as a macro of nothing, or one
/// that drops what it is given: in another configuration it may be any code. Or a pragma by another
/// name. Invalid: there is none.
clang::SourceLocation emptyMacro(const clang::Preprocessor &, clang::SourceLocation begin,
                                 clang::SourceLocation end);

/// CHECK, where the source says CHECK(the call) and nothing more; else empty.
std::string checkingMacro(const clang::CallExpr &, const clang::ASTContext &);

/// Whether a statement of a block is a part of another one in some configuration, so that nothing
/// can be put in front of it: behind `if (x)`, a pragma or a macro that may be one; or what stands
/// first in its block stands elsewhere there.
bool isPart(const clang::CompoundStmt &block, const clang::Stmt &, const clang::ASTContext &);

/// Whether a goto of another configuration may lead from in front of a statement of a block to
/// behind it, which C++ forbids where something is initialised.
bool mayBeJumpedPast(const clang::CompoundStmt &block, const clang::Stmt &,
                     const clang::ASTContext &);

/// Whether a statement goes on if what stands behind it in another configuration is an `else`, or a
/// handler.
bool mayGoOn(const clang::Stmt &);

/// Where the line that includes a header ends; none: there is none on which something may follow,
/// or it is in some configurations only.
std::optional<unsigned> includes(llvm::StringRef header, const clang::ASTContext &);

/// Whether a name stands in code, or in what a macro stands for that does.
bool mentions(const clang::Preprocessor &, const std::string &code, llvm::StringRef name);

/// Whether a name that is not to be seen may stand there: one that ## makes, or that goes on in the
/// next line.
bool makesNames(const clang::Preprocessor &, const std::string &code);

/// Whether a word stands anywhere in a text.
bool hasWord(llvm::StringRef text, llvm::StringRef word);

}  // namespace nbcc::overlap
