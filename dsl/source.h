// SPDX-License-Identifier: BSD-3-Clause
// source.h - from a path to text that the parser may see; and, within dsl, one text to its tree or
// to its words.

#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/ast.h"
#include "dsl/diag.h"

namespace nbcc {

/// A file's text, without the byte order mark it may begin with. Reads at most kMaxSourceBytes and
/// one more. Reports what is wrong at `at`: the import, or no place.
std::optional<std::string> readSource(const std::filesystem::path &path, Loc at, Diag &);

/// All bytes of an input that is no source, with what it `is` ("the graph ") and what was `wanted`
/// in its place for the report that it cannot be read. At most `most` bytes.
std::optional<std::string> readInput(const std::string &path, std::streamoff most,
                                     std::string_view is, std::string_view wanted, Diag &);

/// Whether the text is small enough, UTF-8 and without a byte order mark. Reports the
/// first thing that is wrong.
bool acceptable(uint16_t file, Diag &);

/// The tree of one file; its imports are named, not followed. Null after errors.
std::unique_ptr<ast::File> parseOne(uint16_t file, Diag &);

/// One word of a text that parseOne() took, as it is written there.
struct Word {
  enum class What { name, keyword, number, quoted, symbol, comment };
  What what{};
  std::string text;
  Loc loc;
  uint32_t lastLine = 0;  // a comment may span lines
};

/// All words of a text in their order, comments among them.
std::vector<Word> words(uint16_t file, const Diag &);

}  // namespace nbcc
