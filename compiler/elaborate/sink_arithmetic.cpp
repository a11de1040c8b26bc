// SPDX-License-Identifier: BSD-3-Clause
// sink_arithmetic.cpp - the builtins that are loops, and the wording of what `build` finds wrong.

#include <cassert>
#include <string_view>

#include "compiler/elaborate/sink_refuse.h"

namespace nbcc {

namespace {

constexpr std::string_view faultTexts[] = {
#define FAULT(name, text) text,
#include "compiler/abi/faults.def"
};

/// $0 and $1 in a text stand for values.
std::string fill(std::string_view text, int64_t first, int64_t second) {
  std::string filled;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      filled += text[i];
      continue;
    }
    filled += std::to_string(text[++i] == '0' ? first : second);
  }
  return filled;
}

}  // namespace

std::string Sink::who() const {
  if (schedule_.rank < 0) return cat("P = ", schedule_.ranks);
  std::string world = cat("rank ", schedule_.rank, " of ", schedule_.ranks);
  if (frames_.size() == 1) return world;
  return cat(world, ", which is rank ", frame().rank, " of ", frame().ranks, " in ", frame().name);
}

std::string Sink::whoDoes() const {
  return cat(who(), frames_.size() > 1 ? "," : "");
}

std::string Sink::where() const {
  return cat(" (", who(), ofRoot(", ", ""), ")");
}

std::string Sink::ofRoot(const char *before, const char *after) const {
  bool said = schedule_.rank >= 0 && (frame().kind & kHasRoot);
  return said ? cat(before, "root ", frame().root, after) : "";
}

int64_t Sink::fault(int64_t fault, int64_t first, int64_t second, Place at) {
  if (fault == static_cast<int64_t>(Fault::callCount)) first = limits_.iterations;
  return refuse(at, fill(faultTexts[fault], first, second), where());
}

int64_t Sink::endless(const char *variable, int64_t value, Place at) {
  return refuse(at, "more than ", limits_.iterations, " iterations, here with ", variable, " = ",
                value, where());
}

Checked Sink::power(int64_t base, int64_t exponent, Place at) {
  if (exponent < 0)
    return refuseValue(at, "pow(", base, ", ", exponent, "): negative exponent", where());
  // Other bases leave 64 bits after 63 steps at the latest.
  if (base == 0 || base == 1) return {exponent == 0 ? 1 : base, 1};
  if (base == -1) return {exponent % 2 == 0 ? 1 : -1, 1};
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i)
    if (__builtin_mul_overflow(result, base, &result))
      return refuseValue(at, "pow(", base, ", ", exponent, ") does not fit in 64 bits", where());
  return {result, 1};
}

Checked Sink::digit(int64_t x, int64_t base, int64_t index, Place at) {
  if (x < 0 || base < 2 || index < 0)
    return refuseValue(at, "digit(", x, ", ", base, ", ", index,
                       "): needs a number >= 0, a base >= 2 and an index >= 0", where());
  for (; index > 0 && x > 0; --index) x /= base;
  return {x % base, 1};
}

Checked Sink::floorLog(int64_t base, int64_t x, Place at) {
  if (base < 2 || x < 1)
    return refuseValue(at, "floor_log(", base, ", ", x, "): needs a base >= 2 and a number >= 1",
                       where());
  int64_t exponent = 0;
  for (; x >= base; x /= base) ++exponent;
  return {exponent, 1};
}

Checked Sink::ceilLog(int64_t base, int64_t x, Place at) {
  if (base < 2 || x < 1)
    return refuseValue(at, "ceil_log(", base, ", ", x, "): needs a base >= 2 and a number >= 1",
                       where());
  // The digits of x - 1: b^e >= x where x - 1 has no digit beyond the first e.
  int64_t exponent = 0;
  for (int64_t rest = x - 1; rest > 0; rest /= base) ++exponent;
  return {exponent, 1};
}

}  // namespace nbcc
