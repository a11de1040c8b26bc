// SPDX-License-Identifier: BSD-3-Clause
// elaborator.h - the algorithms of a file, compiled once, and what elaborate() makes of them.
//
// No LLVM header is needed to use it.

#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/elaborate/elaborate.h"
#include "dsl/ast.h"
#include "dsl/diag.h"

namespace nbcc {

class Elaborator {
 public:
  /// Lowers and JIT-compiles the algorithms of a checked file, which must
  /// outlive the elaborator. Cannot fail but for the system (reported).
  Elaborator(const ast::File &, Diag &, Limits = {});
  /// The same compiled code, reporting elsewhere: for another thread. Neither needs
  /// the other to live.
  Elaborator(const Elaborator &, Diag &);
  ~Elaborator();

  /// As in elaborate.h. Thread safe but for the Diag: threads that run at the same time have an
  /// Elaborator and a Diag of their own each.
  std::optional<bool> applies(const ast::Algorithm &, const Request &, Loc *why = nullptr);
  std::optional<std::vector<ClaimValue>> claims(const ast::Algorithm &, const Request &);
  std::optional<Schedule> elaborate(const ast::Algorithm &, const Request &);

  /// --emit=llvm: the module after optimisation.
  void print(std::ostream &) const;

 private:
  struct Code;  // what all elaborators of a file share
  std::shared_ptr<Code> code_;
  Diag &diag_;
};

}  // namespace nbcc
