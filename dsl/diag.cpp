// SPDX-License-Identifier: BSD-3-Clause
// diag.cpp - printing a message with the line it speaks of.
//
//   bruck.nbc:6:3: error: 'tmp' is not declared
//     send tmp to 1;
//     ^
//
// Columns count characters, not bytes. Tabs are kept, and repeated before the
// caret; whatever a terminal might act upon is escaped; of a long line only the
// part around the caret is shown.

#include "dsl/diag.h"

#include <algorithm>
#include <cassert>
#include <ostream>
#include <string_view>

namespace nbcc {

namespace {

constexpr size_t kWidth = 120;  // characters of a line that are shown

/// The bytes of the character at `i`: one where it is not UTF-8.
size_t lengthAt(std::string_view text, size_t i) {
  const auto lead = static_cast<unsigned char>(text[i]);
  size_t length = lead < 0x80   ? 1
                  : lead < 0xC2 ? 0
                  : lead < 0xE0 ? 2
                  : lead < 0xF0 ? 3
                  : lead < 0xF5 ? 4
                                : 0;
  if (length == 0 || i + length > text.size()) return 1;
  for (size_t k = 1; k < length; ++k)
    if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return 1;
  return length;
}

uint32_t codePoint(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  switch (character.size()) {
    case 2:
      return (byte(0) & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
    case 3:
      return (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    case 4:
      return (byte(0) & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 |
             (byte(3) & 0x3Fu);
    default:
      return byte(0);
  }
}

/// Control characters, and those that turn the direction of writing.
bool mustEscape(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

std::string hex(uint32_t value, int least) {
  std::string digits;
  for (; value != 0 || least > 0; value >>= 4, --least) digits += "0123456789abcdef"[value & 15];
  return {digits.rbegin(), digits.rend()};
}

/// One character as it may be printed. `tab`: tabs may stay.
std::string shown(std::string_view character, bool tab) {
  const uint32_t c = codePoint(character);
  if (character.size() == 1 && (c >= 0x80 || (mustEscape(c) && !(tab && c == '\t'))))
    return "\\x" + hex(c, 2);
  if (character.size() > 1 && mustEscape(c)) return "\\u{" + hex(c, 4) + "}";
  return std::string(character);
}

std::string escaped(std::string_view text) {
  std::string result;
  for (size_t i = 0, length = 0; i < text.size(); i += length) {
    length = lengthAt(text, i);
    result += shown(text.substr(i, length), false);
  }
  return result;
}

/// The line, and below it the caret.
void printLine(std::ostream &out, std::string_view line, size_t column) {
  std::vector<std::string> characters;
  for (size_t i = 0, length = 0; i < line.size(); i += length) {
    length = lengthAt(line, i);
    characters.push_back(shown(line.substr(i, length), true));
    if (characters.size() > column + kWidth) break;  // never shown
  }
  const size_t caret = std::min(column - 1, characters.size());
  size_t begin = 0;
  if (characters.size() > kWidth && caret > kWidth / 2) begin = caret - kWidth / 2;
  const size_t end = std::min(characters.size(), begin + kWidth);

  std::string text, below;
  if (begin > 0) text = "...", below = "   ";
  for (size_t i = begin; i < end; ++i) {
    text += characters[i];
    if (i >= caret) continue;
    const std::string &c = characters[i];
    if (c == "\t")
      below += '\t';
    else  // what is not ASCII was left as it is: one place
      below.append(static_cast<unsigned char>(c[0]) < 0x80 ? c.size() : 1, ' ');
  }
  if (end < characters.size()) text += "...";
  out << text << '\n' << below << "^\n";
}

}  // namespace

uint16_t Diag::addFile(std::string name, std::string text) {
  assert(files_.size() < 0xFFFF);
  File file{std::move(name), std::move(text), {0}};
  for (size_t i = 0; i < file.text.size(); ++i)
    if (file.text[i] == '\n') file.lines.push_back(i + 1);
  files_.push_back(std::move(file));
  return static_cast<uint16_t>(files_.size() - 1);
}

void Diag::report(Severity severity, Loc at, const std::string &message) {
  if (const auto add = std::exchange(addLate_, nullptr)) add(*this);
  if (severity == Severity::note) {
    if (muted_) return;
  } else {
    muted_ = errors_ >= kMost;
    if (!muted_) {
      const std::string key =
          cat(severity == Severity::error, at.file, ':', at.line, ':', at.column, ':', message);
      muted_ = !said_.insert(key).second;
      if (muted_) return;
    }
    if (severity == Severity::error && errors_++ == kMost)
      *out_ << "nbcc: error: there are more than " << kMost << " errors; the rest is not shown\n";
    if (muted_) return;
  }

  const bool placed = at.known() && at.file < files_.size();
  if (placed)
    *out_ << escaped(files_[at.file].name) << ':' << at.line << ':' << at.column << ": ";
  else
    *out_ << "nbcc: ";
  *out_ << (severity == Severity::error     ? "error: "
            : severity == Severity::warning ? "warning: "
                                            : "note: ")
        << escaped(message) << '\n';
  if (!placed || at.column == 0) return;

  const File &file = files_[at.file];
  if (at.line > file.lines.size()) return;
  const std::string_view text = file.text;
  std::string_view line = text.substr(file.lines[at.line - 1]);
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  printLine(*out_, line, at.column);
}

}  // namespace nbcc
