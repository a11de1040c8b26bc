// SPDX-License-Identifier: BSD-3-Clause
// parse.h - from text to tree. parse.cpp is the only file that sees ANTLR.

#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <vector>

#include "dsl/ast.h"
#include "dsl/diag.h"

namespace nbcc {

/// What is larger or deeper is refused. So whoever walks the tree by recursion
/// goes no deeper than kMaxNesting statements and kMaxExpressionDepth operators.
inline constexpr size_t kMaxSourceBytes = 1 << 20;
inline constexpr int kMaxNesting = 200;          // brackets, blocks, else-if chains
inline constexpr int kMaxExpressionDepth = 500;  // operators below each other: a + a + a + ...
inline constexpr size_t kMaxName = 100;          // characters
inline constexpr int kMaxImportDepth = 32;
inline constexpr size_t kMaxFiles = 256;

/// Where `run gather.linear` is looked for as gather/linear.nbc, where neither the file itself nor
/// what it imports has it: the folder above its own first, then these.
std::vector<std::filesystem::path> standardLibrary();

/// Reads `path` and, depth first, all it imports (relative to the importing
/// file), and all that is reached by `run`. Every syntax error is reported; null where there was
/// any.
std::unique_ptr<ast::File> parse(
    const std::filesystem::path &path, Diag &,
    const std::vector<std::filesystem::path> &library = standardLibrary());

/// The same for a text that has no file; imports are relative to `path`'s folder.
std::unique_ptr<ast::File> parseText(
    const std::filesystem::path &path, std::string text, Diag &,
    const std::vector<std::filesystem::path> &library = standardLibrary());

/// Names, kinds, types, constant ranges, what a round may hold, what claims and
/// requirements may speak of. Completes the tree; reports all it finds.
void check(ast::File &, Diag &);

/// --emit=ast: one statement a line, indented; expressions with all their brackets.
void print(const ast::File &, std::ostream &);

}  // namespace nbcc
