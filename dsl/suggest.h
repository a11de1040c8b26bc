// SPDX-License-Identifier: BSD-3-Clause
// suggest.h - within dsl: the name that was probably meant.

#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

/// Insertions, deletions, replacements and swaps of neighbours between the two.
inline size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

/// "; did you mean 'x'?" for the closest of `known`, or nothing where none is close.
template <class Names>
std::string didYouMean(std::string_view name, const Names &known) {
  std::string_view best;
  size_t least = name.size() < 4 ? 2 : 3;  // not as far as that
  for (std::string_view candidate : known) {
    const size_t distance = editDistance(name, candidate);
    if (distance < least && distance < candidate.size()) least = distance, best = candidate;
  }
  return best.empty() ? "" : "; did you mean '" + std::string(best) + "'?";
}

}  // namespace nbcc
