// SPDX-License-Identifier: BSD-3-Clause
// parse.h - from text to tree. parse.cpp is the only file that sees ANTLR.

#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>

#include "dsl/ast.h"
#include "dsl/diag.h"

namespace nbcc {

/// Refused before the parser sees them: larger files, deeper nesting.
inline constexpr size_t kMaxSourceBytes = 4 << 20;
inline constexpr int kMaxNesting = 200;

/// Reads `path` and, depth first, all it imports (relative to the importing
/// file). Every syntax error is reported; null where there was any.
std::unique_ptr<ast::File> parse(const std::filesystem::path &path, Diag &);

/// The same for a text that has no file; imports are relative to `path`'s folder.
std::unique_ptr<ast::File> parseText(const std::filesystem::path &path, std::string text, Diag &);

/// Names, kinds, types, constant ranges, what a round may hold, what claims and
/// requirements may speak of. Completes the tree; reports all it finds.
void check(ast::File &, Diag &);

/// --emit=ast: one node a line, indented.
void print(const ast::File &, std::ostream &);

}  // namespace nbcc
