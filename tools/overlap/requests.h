// SPDX-License-Identifier: BSD-3-Clause
// requests.h - whether a message that is under way may lose its request.
//
//   MPI_Isend(a, ..., &request);
//   MPI_Request_free(&request);
//   MPI_Allreduce(...);          the receiver has come to it, behind its receive
//   a[0] = 2;                    so the message is there, and a its owner's again
//
// Nobody waits for such a message, and only a collective may tell when it is over.

#pragma once

#include <clang/AST/Expr.h>

#include <set>
#include <string>

namespace nbcc::overlap {

/// What is done with requests in all sources. To be told of each call of MPI, of each of its
/// functions that is named without a call, of all that is given to a variable, and of each name of
/// a variable or field.
class Requests {
 public:
  void called(const clang::CallExpr &, const clang::FunctionDecl &of);
  void named(const clang::FunctionDecl &);
  void given(const clang::Expr &value, const clang::ASTContext &);
  void used(const clang::Expr &name, const clang::FunctionDecl *in);
  bool mayBeFreed() const;

 private:
  std::set<std::string> freed_, lent_;  // variables and fields; of messages
  bool unknown_ = false;                // one that is freed is behind a pointer
  bool passedOn_ = false;               // one is copied, or its place, or begun where that is given
};

}  // namespace nbcc::overlap
