// SPDX-License-Identifier: BSD-3-Clause
/// ranges.h - the numbers that a row of a table is for: "8", "2..4,8,16..", "..64K".

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

/// "64K": K, M and G are powers of 1024. False: it is no number, or too large.
bool readSize(std::string_view text, std::uint64_t &);

/// From one number to another, both included.
struct Span {
  std::uint64_t from = 0, to = UINT64_MAX;
};

/// A set of numbers: ascending spans, with a gap between each and the next. Of nothing said: all.
class Ranges {
 public:
  /// Numbers as of readSize(). False: `why` says what is wrong, with the value found.
  static bool read(std::string_view text, Ranges &, std::string &why);

  bool all() const;
  bool contains(std::uint64_t) const;
  std::uint64_t most() const { return spans_.back().to; }
  /// Cuts `within`, which contains `number`, down to where the answer is the same as for `number`.
  void narrow(std::uint64_t number, Span &within) const;

 private:
  std::vector<Span> spans_{Span()};
};

}  // namespace nbcc
