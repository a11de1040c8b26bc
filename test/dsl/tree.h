// SPDX-License-Identifier: BSD-3-Clause
// tree.h - for the tests here: a text, and what the front end makes of it.

#pragma once

#include <memory>
#include <sstream>
#include <string>

#include "dsl/parse.h"

namespace nbcc {

struct Outcome {
  std::unique_ptr<ast::File> file;  // null: parse refused it
  bool ok = false;
  int errors = 0;
  std::string said;

  const ast::Algorithm &algorithm() const { return *file->algorithms.at(0); }
  const ast::Block &body() const { return algorithm().body; }
};

inline Outcome compile(std::string text) {
  std::ostringstream out;
  Diag diag(out);
  Outcome result;
  result.file = parseText("t.nbc", std::move(text), diag);
  if (result.file) check(*result.file, diag);
  result.ok = diag.ok();
  result.errors = diag.errors();
  result.said = out.str();
  return result;
}

/// A statement list inside an allgather.
inline Outcome compileBody(const std::string &body) {
  return compile("allgather a(k = 1) {\n" + body + "\n}\n");
}

inline std::string repeat(std::string_view text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) result += text;
  return result;
}

inline bool contains(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace nbcc
