// SPDX-License-Identifier: BSD-3-Clause
// scope.cpp - a map of what is visible and a stack of what to take back.

#include "dsl/scope.h"

#include "dsl/collectives.h"

namespace nbcc {

void Scope::declare(const ast::Variable &variable) {
  const ast::Variable *&entry = visible_[variable.name];
  if (const BuiltinFunction *builtin = findBuiltin(variable.name);
      builtin && builtin->arguments.empty()) {
    diag_.error(variable.loc, "'", variable.name, "' is built in and cannot be declared");
  } else if (entry && entry->loc.known()) {
    diag_.error(variable.loc, "'", variable.name, "' is declared already");
    diag_.note(entry->loc, "here");
  } else if (entry) {  // predefined
    diag_.error(variable.loc, "'", variable.name, "' has a meaning already and cannot be declared");
  }
  declared_.push_back({&variable, entry});
  entry = &variable;
}

const ast::Variable *Scope::find(std::string_view name) const {
  const auto found = visible_.find(name);
  return found == visible_.end() ? nullptr : found->second;
}

std::vector<std::string_view> Scope::names() const {
  std::vector<std::string_view> result;
  for (const Declared &d : declared_) result.push_back(d.variable->name);
  return result;
}

void Scope::leave() {
  while (declared_.size() > marks_.back()) {
    const Declared last = declared_.back();
    declared_.pop_back();
    if (last.hidden)
      visible_[last.hidden->name] = last.hidden;
    else
      visible_.erase(last.variable->name);
  }
  marks_.pop_back();
}

}  // namespace nbcc
