// SPDX-License-Identifier: BSD-3-Clause
// rewrite.h - the changes to a source, as text that is put in or taken out.
//
//   MPI_Allreduce(a, b, n, t, op, c);       MPI_Request allreduce_request;
//   compute();                        =>    MPI_Iallreduce(a, b, n, t, op, c, &allreduce_request);
//                                           compute();
//                                           MPI_Wait(&allreduce_request, MPI_STATUS_IGNORE);
//
// All else stays as it is written, comments and all. What comes out holds no blocking call where
// one was, so there is nothing to change when it is read again.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/overlap/windows.h"

namespace nbcc::overlap {

struct Edit {
  unsigned offset, length;
  std::string text;

  /// Of those at one place the lower comes first: declarations, statements, what is there instead
  /// of the old text.
  int order() const;

  friend bool operator==(const Edit &, const Edit &) = default;
};

struct Fix {
  std::vector<Edit> edits;
  std::string what;  // "MPI_Iallreduce here, MPI_Wait behind line 12"
};

/// Names for what is declared, each new to the file and to all headers: a macro of theirs may mean
/// one of its own.
class Names {
 public:
  explicit Names(const clang::ASTContext &source) : source_(source) {}
  std::string fresh(const std::string &wanted);

 private:
  const clang::ASTContext &source_;
  std::set<std::string> taken_;
};

/// The call as a nonblocking one, with its wait at the end of the window. `early`: it starts at the
/// window's beginning.
Fix overlapInBlock(const Site &, const Window &, bool early, Names &);

/// A declaration and the end of its line, to be put where it is needed; or nothing, since the
/// language wants it first in the block, where the fix has it then.
std::string declared(const std::string &declaration, const clang::CompoundStmt &block,
                     const std::string &indent, const clang::ASTContext &, Fix &);

/// The call's text, and where in the file.
struct Spelled {
  llvm::StringRef text;
  unsigned name, nameEnd, close;  // of `MPI_Allreduce` and of `)`
};
Spelled spell(const Site &);

/// `MPI_Wait(...);`, with what is done with its code. `indent`: of further lines; `mayBeNull`: the
/// request, where no call of MPI may be made.
std::string waitFor(const Site &, const std::string &request, const std::string &indent,
                    bool mayBeNull);

/// Gives what is written the ends of lines that the file has there.
void endLinesAlike(Fix &, llvm::StringRef file);

/// The file's text with all edits made, which must not touch each other; at one place, in their
/// order.
std::string edited(llvm::StringRef text, const std::vector<Edit> &);

/// The line of the main file, from 1.
unsigned lineOf(clang::SourceLocation, const clang::ASTContext &);

}  // namespace nbcc::overlap
