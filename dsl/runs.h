// SPDX-License-Identifier: BSD-3-Clause
// runs.h - within dsl: the `run` statements of a body, however deep they stand.

#pragma once

#include "dsl/ast.h"

namespace nbcc {

template <class Visit>
void forEachRun(const ast::Block &block, Visit &&visit) {
  for (const ast::StatementPtr &s : block) {
    if (s->what == ast::Statement::What::run) visit(*s);
    forEachRun(s->body, visit);
    forEachRun(s->otherwise, visit);
  }
}

}  // namespace nbcc
