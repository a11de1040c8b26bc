// SPDX-License-Identifier: BSD-3-Clause
// scope.h - within dsl: which names stand for what, here. A name means one thing only:
// what an outer scope declares is not declared again.

#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dsl/ast.h"
#include "dsl/diag.h"

namespace nbcc {

class Scope {
 public:
  explicit Scope(Diag &diag) : diag_(diag) {}

  /// Reports a name that is taken. The new one counts from then on, so that
  /// what follows is judged as it was meant.
  void declare(const ast::Variable &);
  const ast::Variable *find(std::string_view name) const;  // null: none
  std::vector<std::string_view> names() const;

  /// A variable whose value is wrong, which was said: what uses it is not judged.
  void setWrong(const ast::Variable &v) { wrong_.insert(&v); }
  bool isWrong(const ast::Variable &v) const { return wrong_.contains(&v); }

  /// What is declared from enter() to leave() is forgotten.
  void enter() { marks_.push_back(declared_.size()); }
  void leave();

 private:
  struct Declared {
    const ast::Variable *variable;
    const ast::Variable *hidden;  // null: none
  };
  Diag &diag_;
  std::unordered_map<std::string_view, const ast::Variable *> visible_;
  std::vector<Declared> declared_;
  std::unordered_set<const ast::Variable *> wrong_;
  std::vector<size_t> marks_;
};

}  // namespace nbcc
