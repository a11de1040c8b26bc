// SPDX-License-Identifier: BSD-3-Clause
// communicators.h - which communicators a call may be on.

#pragma once

#include <map>
#include <set>
#include <string>

#include "tools/overlap/collectives.h"
#include "tools/overlap/program.h"

namespace nbcc::overlap {

/// What the argument stands for, through parameters.
struct Communicators {
  std::set<std::string> constants;
  /// Variables and fields that calls of MPI fill, by their names in all sources: these are no
  /// constants.
  std::map<std::string, const clang::ValueDecl *> made;
  bool unknown = false;
  bool ofPart = false;  // some of them may have fewer ranks than MPI_COMM_WORLD

  bool areOfAllRanks() const { return !unknown && !ofPart && !(constants.empty() && made.empty()); }
  /// Whether both are one that MPI has made, once in the whole program.
  bool areOneWith(const Communicators &other, const Program &) const;
  /// Whether both are one and the same of MPI's own.
  bool areConstantOf(const Communicators &other) const {
    return !unknown && !other.unknown && made.empty() && other.made.empty() &&
           constants.size() == 1 && constants == other.constants;
  }
  bool mayBe(const Communicators &other) const;
  /// Where another rank may have got the same one at another place, by another name.
  bool mayBeElsewhere(const Communicators &other) const;
};

/// Whether all that may ever give a variable another one is seen.
bool isFollowed(const clang::VarDecl &, const Program &);

Communicators communicatorsOf(const clang::Expr &communicator, const clang::FunctionDecl &in,
                              Program &);
Communicators communicatorsOf(const clang::CallExpr &, const Collective &,
                              const clang::FunctionDecl *in, Program &);

}  // namespace nbcc::overlap
