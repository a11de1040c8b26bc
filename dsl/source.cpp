// SPDX-License-Identifier: BSD-3-Clause
// source.cpp - one file, read with care: bounded, and UTF-8. Cost: linear in the bytes.

#include "dsl/source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "dsl/parse.h"

namespace nbcc {

namespace fs = std::filesystem;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::optional<std::string> readSource(const fs::path &path, Loc at, Diag &diag) {
  const std::string name = path.string();
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) {
    diag.error(at, "cannot read '", name, "': it is a directory");
    return {};
  }
  // A pipe may be given on the command line; an import that waits for one would hang.
  if (at.known() && fs::exists(status) && !fs::is_regular_file(status)) {
    diag.error(at, "cannot import '", name, "': it is not a regular file");
    return {};
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    diag.error(at, "cannot read '", name, "': ", std::strerror(errno ? errno : EIO));
    return {};
  }
  std::string text;
  char part[1 << 14];
  while (stream && text.size() <= kMaxSourceBytes) {
    const size_t most = std::min(sizeof part, kMaxSourceBytes + 1 - text.size());
    stream.read(part, static_cast<std::streamsize>(most));
    text.append(part, static_cast<size_t>(stream.gcount()));
  }
  if (stream.bad()) {
    diag.error(at, "cannot read '", name, "': ", std::strerror(errno ? errno : EIO));
    return {};
  }
  if (text.size() > kMaxSourceBytes) {
    diag.error(at, "'", name, "' is larger than ", kMaxSourceBytes, " bytes");
    return {};
  }
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

std::optional<std::string> readInput(const std::string &path, std::streamoff most,
                                     std::string_view is, std::string_view wanted, Diag &diag) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    diag.error(Loc(), "cannot read ", is, path, ": it is a directory");
    return {};
  }
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff bytes = file ? std::streamoff(file.tellg()) : -1;
  if (bytes > most) {
    diag.error(Loc(), path, " has ", bytes, " bytes; at most ", most, " are read");
    return {};
  }
  std::ostringstream text;
  if (bytes > 0) text << (file.seekg(0), file.rdbuf());
  if (bytes < 0 || !file) {
    diag.error(Loc(), "cannot read ", is, path, wanted);
    return {};
  }
  return text.str();
}

namespace {

/// How many bytes the character at `i` takes; 0: it is not UTF-8. Shortest forms
/// only, no surrogates, nothing above U+10FFFF.
size_t characterLength(const std::string &text, size_t i) {
  const auto byte = [&](size_t k) {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u;
  };
  const unsigned lead = byte(i);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : lead >= 0xE0 && lead <= 0xEF ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  for (size_t k = 1; k < length; ++k)
    if ((byte(i + k) & 0xC0) != 0x80) return 0;
  const unsigned second = byte(i + 1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F))
    return 0;
  return length;
}

std::string hex(unsigned char byte) {
  const char *digits = "0123456789abcdef";
  return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
}

}  // namespace

bool acceptable(uint16_t file, Diag &diag) {
  const std::string &text = diag.fileText(file);
  if (text.size() > kMaxSourceBytes) {
    diag.error({}, "'", diag.fileName(file), "' is larger than ", kMaxSourceBytes, " bytes");
    return false;
  }
  // ANTLR's stream would drop it unsaid. The one that may begin a file, readSource() took away.
  if (text.starts_with(kByteOrderMark)) {
    diag.error({1, 1, file}, "a byte order mark means nothing here");
    return false;
  }
  uint32_t line = 1, column = 1;
  for (size_t i = 0; i < text.size();) {
    const size_t length = characterLength(text, i);
    if (length == 0) {
      const Loc at{line, static_cast<uint16_t>(std::min(column, 0xFFFFu)), file};
      diag.error(at, "this is not UTF-8: byte ", hex(static_cast<unsigned char>(text[i])));
      return false;
    }
    column = text[i] == '\n' ? 1 : column + 1;
    line += text[i] == '\n';
    i += length;
  }
  return true;
}

}  // namespace nbcc
