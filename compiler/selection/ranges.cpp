// SPDX-License-Identifier: BSD-3-Clause
// ranges.cpp - from "2..4,8,16.." to spans.

#include "compiler/selection/ranges.h"

#include <algorithm>
#include <charconv>

#include "dsl/diag.h"

namespace nbcc {

bool readSize(std::string_view text, std::uint64_t &number) {
  constexpr std::string_view units = "KMG";
  const size_t unit = text.empty() ? units.npos : units.find(text.back());
  const int shift = unit == units.npos ? 0 : 10 * static_cast<int>(unit + 1);
  if (shift) text.remove_suffix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > UINT64_MAX >> shift)
    return false;
  number <<= shift;
  return true;
}

namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool readSpan(std::string_view text, Span &span, std::string &why) {
  const size_t dots = text.find("..");
  const std::string_view from = text.substr(0, dots),
                         to = dots == text.npos ? from : text.substr(dots + 2);
  const bool nothing = from.empty() && to.empty();
  if (nothing || (!from.empty() && !readSize(from, span.from)) ||
      (!to.empty() && !readSize(to, span.to))) {
    why = cat("'", text, "' is no range; wanted is one as 8, 2..8, 64K.. or ..1M");
    return false;
  }
  if (span.from > span.to) why = cat("the range ", text, " is empty");
  return why.empty();
}

}  // namespace

bool Ranges::read(std::string_view text, Ranges &result, std::string &why) {
  std::vector<Span> spans;
  why.clear();
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    if (!readSpan(trimmed(text.substr(0, comma)), spans.emplace_back(), why)) return false;
    more = comma != text.npos;
    if (more) text.remove_prefix(comma + 1);
  }
  std::ranges::sort(spans, {}, &Span::from);
  result.spans_.clear();
  for (const Span &s : spans) {
    const bool apart =
        result.spans_.empty() || (result.most() != UINT64_MAX && s.from > result.most() + 1);
    if (apart)
      result.spans_.push_back(s);
    else
      result.spans_.back().to = std::max(result.most(), s.to);
  }
  return true;
}

bool Ranges::all() const {
  return spans_.front().from == 0 && spans_.front().to == UINT64_MAX;
}

bool Ranges::contains(std::uint64_t number) const {
  return std::ranges::any_of(spans_,
                             [&](const Span &s) { return s.from <= number && number <= s.to; });
}

void Ranges::narrow(std::uint64_t number, Span &within) const {
  for (const Span &s : spans_) {
    if (s.to < number) {
      within.from = std::max(within.from, s.to + 1);
    } else if (s.from > number) {
      within.to = std::min(within.to, s.from - 1);
    } else {
      within.from = std::max(within.from, s.from);
      within.to = std::min(within.to, s.to);
    }
  }
}

}  // namespace nbcc
