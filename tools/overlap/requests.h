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

#include <optional>
#include <set>

namespace nbcc::overlap {

class Program;

/// What is done with requests in all sources. To be told of each call of MPI, and of each of its
/// functions that is named without a call.
class Requests {
 public:
  void called(const clang::CallExpr &, const clang::FunctionDecl &of);
  void named(const clang::FunctionDecl &);
  /// Once all sources have been gone through.
  bool mayBeFreed(const Program &) const;

 private:
  struct Held {
    std::set<const clang::VarDecl *> in;
    bool unknown = false;  // one is in no variable of its own
  };
  Held freed_, begun_;  // of messages
  mutable std::optional<bool> answer_;
};

}  // namespace nbcc::overlap
