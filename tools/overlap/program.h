// SPDX-License-Identifier: BSD-3-Clause
// program.h - all sources together: who calls whom, and what is known of each function.

#pragma once

#include <clang/Frontend/ASTUnit.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tools/overlap/memory.h"

namespace nbcc::overlap {

struct CallSite {
  const clang::CallExpr *call;
  const clang::FunctionDecl *in;
};

/// Every use of a variable or a function in one source.
struct Use {
  const clang::DeclRefExpr *ref;
  const clang::FunctionDecl *in;  // null: in no function
};

/// What the user says of code that is not seen.
struct Promises {
  std::set<std::string>
      local;  // functions that touch what their arguments point at, keep nothing, use no MPI
  bool library = false;       // whoever calls a function from elsewhere does so on all ranks alike
  bool acrossClocks = false;  // what the program measures of itself may become something else
};

class Program {
 public:
  explicit Program(std::vector<std::unique_ptr<clang::ASTUnit>> sources, Promises = {});
  ~Program();

  const std::vector<std::unique_ptr<clang::ASTUnit>> &sources() const { return sources_; }

  /// Functions with a body in the main file of a source, in order.
  const std::vector<const clang::FunctionDecl *> &functions() const { return functions_; }

  /// Calls of a function, from all sources; addressTaken(): there may be others.
  const std::vector<CallSite> &callers(const clang::FunctionDecl &) const;
  bool addressTaken(const clang::FunctionDecl &) const;

  const std::vector<Use> &uses(const clang::ValueDecl &) const;
  const std::vector<CallSite> &callsIn(const clang::FunctionDecl &) const;

  /// The body that a call in the same source runs, if it is that one for sure; null: it is not
  /// seen.
  const clang::FunctionDecl *body(const clang::FunctionDecl &) const;
  const Memory &memory(const clang::FunctionDecl &withBody);

  /// Whether a call of it may end the rank, in whatever it calls in turn; not whether it aborts
  /// them all.
  bool mayEndRank(const clang::FunctionDecl &);

  /// Ranks may share memory, by MPI's windows or the system's: then a collective may be what orders
  /// accesses.
  bool sharesMemory() const { return sharesMemory_; }

  const Promises &promises() const { return promises_; }
  bool isLocal(const clang::FunctionDecl &f) const {
    return promises_.local.contains(f.getNameAsString());
  }

 private:
  friend class Collector;

  bool keeps(const clang::FunctionDecl &, unsigned argument);

  std::vector<std::unique_ptr<clang::ASTUnit>> sources_;
  Promises promises_;
  std::vector<const clang::FunctionDecl *> functions_;
  std::map<std::string, std::vector<CallSite>> callers_;  // by USR
  std::set<std::string> addressTaken_;
  std::map<const clang::Decl *, std::vector<Use>> uses_;
  std::map<const clang::FunctionDecl *, std::vector<CallSite>> calls_;
  std::map<const clang::FunctionDecl *, std::unique_ptr<Memory>> memories_;
  std::map<std::string, const clang::FunctionDecl *> definitions_;  // by USR
  std::map<std::string, bool> mayEndRank_;
  bool sharesMemory_ = false;
};

/// One name for a function in all sources.
std::string nameInAll(const clang::FunctionDecl &);

}  // namespace nbcc::overlap
