// SPDX-License-Identifier: BSD-3-Clause
// own_head.h - within dsl: the head of a declared collective, as parse() comes across its parts.
//
//   root;  in block;  out blocks[2] at root;      =>      buffers, and where they matter

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dsl/ast.h"
#include "dsl/diag.h"

namespace nbcc {

/// The grammar takes any names; which of them mean something is said here.
class OwnHead {
 public:
  OwnHead(ast::OwnCollective &own, Diag &diag) : own_(own), diag_(diag) {}

  /// A word that stands alone.
  void root(const std::string &word, Loc);
  /// A buffer without its shape, which is `shape`.
  void buffer(ast::OwnCollective::Buffer, const std::string &shape, Loc shapeLoc, bool atRoot);
  /// When all is said.
  void end();

 private:
  ast::OwnCollective &own_;
  Diag &diag_;
  bool hasRoot_ = false;
  std::vector<std::pair<std::string, Loc>> atRoot_;
};

}  // namespace nbcc
