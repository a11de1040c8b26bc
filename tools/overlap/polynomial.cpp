// SPDX-License-Identifier: BSD-3-Clause
// polynomial.cpp - arithmetic, and two proofs.

#include "tools/overlap/polynomial.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace nbcc::overlap {

void Polynomial::add(const Product &product, std::int64_t factor) {
  constexpr std::int64_t most = std::int64_t{1} << 60;
  constexpr size_t longest = 12;
  std::int64_t &sum = terms_[product];
  if (__builtin_add_overflow(sum, factor, &sum) || std::abs(sum) > most || product.size() > longest)
    broken_ = true;
  if (sum == 0) terms_.erase(product);
}

Polynomial Polynomial::operator+(const Polynomial &other) const {
  Polynomial sum = *this;
  for (const auto &[product, factor] : other.terms_) sum.add(product, factor);
  sum.broken_ = sum.broken_ || other.broken_;
  return sum;
}

Polynomial Polynomial::operator-(const Polynomial &other) const {
  return *this + other * Polynomial(-1);
}

Polynomial Polynomial::operator*(const Polynomial &other) const {
  Polynomial result;
  result.broken_ = broken_ || other.broken_;
  for (const auto &[a, x] : terms_)
    for (const auto &[b, y] : other.terms_) {
      Product both;
      std::ranges::merge(a, b, std::back_inserter(both));
      std::int64_t factor = 0;
      if (__builtin_mul_overflow(x, y, &factor)) result.broken_ = true;
      result.add(both, factor);
    }
  return result;
}

std::optional<std::int64_t> Polynomial::constant() const {
  if (broken_ || terms_.size() > 1) return std::nullopt;
  if (terms_.empty()) return 0;
  const auto &[product, factor] = *terms_.begin();
  return product.empty() ? std::optional(factor) : std::nullopt;
}

std::set<Symbol> Polynomial::symbols() const {
  std::set<Symbol> all;
  for (const auto &[product, factor] : terms_) all.insert(product.begin(), product.end());
  return all;
}

Polynomial Polynomial::with(Symbol s, const Polynomial &instead) const {
  Polynomial result;
  result.broken_ = broken_;
  for (const auto &[product, factor] : terms_) {
    Polynomial term(factor);
    for (const Symbol each : product) term = term * (each == s ? instead : of(each));
    result = result + term;
  }
  return result;
}

namespace {

/// s >= bound, by a fact about s alone.
std::map<Symbol, std::int64_t> leasts(const Facts &facts) {
  std::map<Symbol, std::int64_t> result;
  for (const Polynomial &fact : facts) {
    std::int64_t constant = 0, factor = 0;
    Symbol s = -1;
    bool simple = !fact.broken();
    for (const auto &[product, value] : fact.terms()) {
      if (product.empty()) {
        constant = value;
      } else {
        simple = simple && product.size() == 1 && s < 0;
        s = product[0];
        factor = value;
      }
    }
    if (!simple || s < 0 || factor <= 0) continue;
    // factor s + constant >= 0, rounded up
    const std::int64_t down = -constant / factor;
    const std::int64_t least = down * factor < -constant ? down + 1 : down;
    const auto [at, fresh] = result.emplace(s, least);
    if (!fresh) at->second = std::max(at->second, least);
  }
  return result;
}

/// Each symbol counted from its least value: then no factor may be negative.
bool isSum(Polynomial p, const std::map<Symbol, std::int64_t> &least) {
  for (const Symbol s : p.symbols()) {
    const auto found = least.find(s);
    if (found == least.end()) return false;
    p = p.with(s, Polynomial::of(s) + Polynomial(found->second));
  }
  return !p.broken() &&
         std::ranges::all_of(p.terms(), [](const auto &term) { return term.second >= 0; });
}

}  // namespace

bool isNeverNegative(const Polynomial &p, const Facts &facts) {
  if (p.broken()) return false;
  const std::map<Symbol, std::int64_t> least = leasts(facts);
  if (isSum(p, least)) return true;
  return std::ranges::any_of(facts, [&](const Polynomial &f) { return isSum(p - f, least); });
}

// a = c z + r and b = -c z + s, with z any integer: a is not negative from some z on, b is not
// below.
bool oneIsNeverNegative(const Polynomial &a, const Polynomial &b, const std::set<Symbol> &any,
                        const Facts &facts) {
  if (a.broken() || b.broken()) return false;
  if (isNeverNegative(a, facts) || isNeverNegative(b, facts)) return true;
  const auto isAny = [&](Symbol s) { return any.contains(s); };
  Polynomial r = a, s = b, common;
  std::int64_t factor = 0;
  std::optional<Polynomial::Product> times;
  for (const auto &[product, value] : a.terms()) {
    if (std::ranges::none_of(product, isAny)) continue;
    Polynomial::Product rest;
    std::ranges::remove_copy_if(product, std::back_inserter(rest), isAny);
    if (times && *times != rest) return false;
    times = rest;
    factor = std::gcd(factor, value);
    Polynomial term(value);
    for (const Symbol each : product) term = term * Polynomial::of(each);
    r = r - term;
    s = s + term;
  }
  if (!times) return false;
  for (const Symbol each : s.symbols())
    if (isAny(each)) return false;  // the lengths depend on it, too
  Polynomial c(factor);
  for (const Symbol each : *times) c = c * Polynomial::of(each);
  if (!isNeverNegative(c, facts)) return false;
  constexpr int around = 3;
  for (int k = -around; k <= around; ++k)
    if (isNeverNegative(r + c * Polynomial(k), facts) &&
        isNeverNegative(s + c * Polynomial(1 - k), facts))
      return true;
  return false;
}

}  // namespace nbcc::overlap
