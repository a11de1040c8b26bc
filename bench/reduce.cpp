// SPDX-License-Identifier: BSD-3-Clause
// reduce.cpp - how fast the kernels of each level of the processor are, beside those for any.
//
// Of operands that stay in the second level of the cache. A turn of each level follows a turn of
// the others, so that all see the same machine; printed is the median of their ratios. In place:
// the result is the left operand, as where a rank adds up what comes.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "runtime/src/kernels.h"

namespace {

constexpr size_t kBytes = size_t{64} << 10;
constexpr int kTurns = 31, kCalls = 200;

double seconds(nbc_reduce_function *f, std::vector<char> &to, const std::vector<char> &left,
               const std::vector<char> &right, size_t n) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) f(to.data(), left.data(), right.data(), n, nullptr);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kCalls;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void measure(nbc_type type, nbc_op op) {
  const size_t n = kBytes / nbc_type_size(type);
  std::vector<char> to(kBytes), left(kBytes, 1), right(kBytes, 2);
  std::vector<double> any, v3, inPlace;
  for (int turn = 0; turn < kTurns; ++turn) {
    const double base = seconds(kernels_any[type][op], to, left, right, n);
    any.push_back(kBytes / base / 1e9);
#ifdef __x86_64__
    if (__builtin_cpu_supports("x86-64-v3")) {
      v3.push_back(base / seconds(kernels_v3[type][op], to, left, right, n));
      inPlace.push_back(base / seconds(kernels_v3[type][op], to, to, right, n));
    }
#endif
  }
  std::printf("%-8s %-7s %8.1f", nbc_type_name(type), nbc_op_name(op), median(any));
  for (const std::vector<double> &ratios : {v3, inPlace})
    ratios.empty() ? std::printf("%9s", "-") : std::printf("%9.2f", median(ratios));
  std::printf("\n");
}

}  // namespace

int main() {
  std::printf("type     op      any GB/s     v3 x in place\n");
  for (const nbc_type type : {NBC_I8, NBC_I32, NBC_I64, NBC_F32, NBC_F64})
    for (const nbc_op op : {NBC_SUM, NBC_PROD, NBC_MAX}) measure(type, op);
  measure(NBC_CF64, NBC_PROD);
  measure(NBC_F64_I32, NBC_MINLOC);
}
