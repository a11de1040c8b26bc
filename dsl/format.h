// SPDX-License-Identifier: BSD-3-Clause
// format.h - one layout for all sources: nbcc --format.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "dsl/diag.h"

namespace nbcc {

/// The source, laid out. What always holds:
///
///   - its words and comments are those of the source, in the same order; of
///     comments only white space at the ends of lines is gone
///   - it depends on the words, on where lines end, and on whether a comment
///     begins exactly below one behind a line; on no other white space
///   - laid out again it stays as it is
///
/// Imports are not followed. Reports what parse() would say of this one file;
/// empty where there was anything.
std::optional<std::string> format(const std::filesystem::path &path, Diag &);

/// The same for a text that has no file.
std::optional<std::string> formatText(const std::string &name, std::string text, Diag &);

}  // namespace nbcc
