// SPDX-License-Identifier: BSD-3-Clause
// statistics.h - the middle of many, and how far they are spread. Others use the machine, too, so
// no means: one interruption would be in them.

#pragma once

#include <algorithm>
#include <vector>

namespace nbcc::bench {

struct Spread {
  double median = 0, low = 0, high = 0;  // low, high: the quartiles
  double least = 0;
};

inline Spread spreadOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return {(values[(n - 1) / 2] + values[n / 2]) / 2, values[n / 4], values[n - 1 - n / 4],
          values[0]};
}

inline double medianOf(std::vector<double> values) {
  return spreadOf(std::move(values)).median;
}

}  // namespace nbcc::bench
