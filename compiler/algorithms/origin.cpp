// SPDX-License-Identifier: BSD-3-Clause
// origin.cpp - writing it, reading it, and looking whether it still holds.
//
// Cost: that of reading the imports.

#include "compiler/algorithms/origin.h"

#include <filesystem>
#include <sstream>

#include "compiler/algorithms/digest.h"
#include "dsl/diag.h"
#include "dsl/source.h"

namespace nbcc {
namespace {

constexpr std::string_view kFirst = "nbc cache 1";

/// Cuts the first line off.
std::optional<std::string_view> nextLine(std::string_view &text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

}  // namespace

std::string Origin::text() const {
  std::string text = cat(kFirst, "\nlibrary ", library, "\n");
  for (const Input &i : inputs) text += cat(i.digest.empty() ? "-" : i.digest, " ", i.path, "\n");
  return text + cat("end ", nbcc::digest(text), "\n");
}

std::optional<Origin> Origin::read(std::string_view text) {
  const size_t end = text.rfind("end ");
  if (end == std::string_view::npos ||
      text.substr(end) != cat("end ", nbcc::digest(text.substr(0, end)), "\n"))
    return std::nullopt;
  std::string_view rest = text.substr(0, end);
  Origin origin;
  if (nextLine(rest) != kFirst) return std::nullopt;
  const auto library = nextLine(rest);
  constexpr std::string_view word = "library ";
  if (!library || !library->starts_with(word) || !isDigest(library->substr(word.size())))
    return std::nullopt;
  origin.library = library->substr(word.size());
  while (const auto line = nextLine(rest)) {
    const size_t space = line->find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const std::string_view digest = line->substr(0, space);
    origin.inputs.push_back(
        {std::string(line->substr(space + 1)), digest == "-" ? "" : std::string(digest)});
  }
  return origin;
}

bool Origin::holds() const {
  for (const Input &i : inputs) {
    std::error_code ignored;
    if (i.digest.empty()) {
      if (std::filesystem::exists(i.path, ignored)) return false;
      continue;
    }
    const std::optional<std::string> now = sourceText(i.path);
    if (!now || nbcc::digest(*now) != i.digest) return false;
  }
  return true;
}

std::optional<std::string> sourceText(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  std::ostringstream unused;
  Diag diag(unused);
  return readSource(path, {}, diag);
}

}  // namespace nbcc
