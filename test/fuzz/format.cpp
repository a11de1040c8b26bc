// SPDX-License-Identifier: BSD-3-Clause
// format.cpp - what parses, laid out: the same words and comments, and nothing left to do.

#include "dsl/format.h"

#include <optional>
#include <string_view>

#include "dsl/source.h"
#include "test/fuzz/fuzz.h"

namespace {

std::optional<std::string> formatted(const std::string &text) {
  std::ostringstream said;
  nbcc::Diag diag(said);
  std::optional<std::string> result = nbcc::formatText("input.nbc", text, diag);
  nbcc::wanted(result.has_value() == diag.ok(), "a text, or errors, but not both: ", said.str());
  return result;
}

size_t countWords(const std::string &text) {
  std::ostringstream said;
  nbcc::Diag diag(said);
  return nbcc::words(diag.addFile("input.nbc", text), diag).size();
}

std::string withoutWhiteSpace(std::string text) {
  std::erase_if(text, [](char c) {
    return std::string_view(" \t\r\n\v\f").find(c) != std::string_view::npos;
  });
  return text;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  const std::string before(reinterpret_cast<const char *>(bytes), size);
  const std::optional<std::string> after = formatted(before);
  if (!after) return 0;
  nbcc::wanted(withoutWhiteSpace(*after) == withoutWhiteSpace(before), "other letters:\n", *after);
  nbcc::wanted(countWords(*after) == countWords(before), "other words:\n", *after);
  const std::optional<std::string> again = formatted(*after);
  nbcc::wanted(again == after, "laid out again it is:\n", again.value_or("refused"));
  return 0;
}
