// SPDX-License-Identifier: BSD-3-Clause
// origin.h - what a library in the cache was made from.
//
//   nbc cache 1
//   library 9f86d0...                      the file 9f86d0... .so
//   3e25960a... ../gather/linear.nbc       was read, and had this digest
//   - gather/linear.nbc                    was looked for before, and was not there
//   end 5feceb66...                        digest of all before
//
// A text for people. The source itself is not in it: its digest is part of the name of this file.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

struct Origin {
  std::string library;  // digest
  struct Input {
    std::string path;
    std::string digest;  // empty: there was none
  };
  std::vector<Input> inputs;

  std::string text() const;
  /// Empty: damaged.
  static std::optional<Origin> read(std::string_view text);
  /// Whether all that was read is still the same, and what was not there is not there.
  bool holds() const;
};

/// A file as the compiler takes it in: without a byte order mark. Empty: it cannot be read.
std::optional<std::string> sourceText(const std::string &path);

}  // namespace nbcc
