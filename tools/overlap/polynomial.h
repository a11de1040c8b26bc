// SPDX-License-Identifier: BSD-3-Clause
// polynomial.h - sums of products of values that are not known, such as 8*i*n + 8*n - 1, and what
// can be shown of them.
//
// A symbol is an integer of which nothing is known but that it is the same wherever it stands.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace nbcc::overlap {

using Symbol = int;

class Polynomial {
 public:
  using Product = std::vector<Symbol>;  // in order; empty: the constant

  Polynomial() = default;
  explicit Polynomial(std::int64_t constant) { add({}, constant); }
  static Polynomial of(Symbol s) {
    Polynomial p;
    p.add({s}, 1);
    return p;
  }

  Polynomial operator+(const Polynomial &) const;
  Polynomial operator-(const Polynomial &) const;
  Polynomial operator*(const Polynomial &) const;
  friend auto operator<=>(const Polynomial &, const Polynomial &) = default;

  const std::map<Product, std::int64_t> &terms() const { return terms_; }
  std::optional<std::int64_t> constant() const;
  std::set<Symbol> symbols() const;
  Polynomial with(Symbol, const Polynomial &instead) const;
  /// Numbers became too large: it says nothing any more.
  bool broken() const { return broken_; }

 private:
  void add(const Product &, std::int64_t);

  std::map<Product, std::int64_t> terms_;  // none is zero
  bool broken_ = false;
};

/// Polynomials that are known to be 0 or more.
using Facts = std::vector<Polynomial>;

/// Whether it is 0 or more by the facts. False: that is not shown.
bool isNeverNegative(const Polynomial &, const Facts &);

/// Whether one of two is 0 or more, whatever the symbols are; for those in `any` each integer
/// counts. The distance from one range's end to the other's begin, and back.
bool oneIsNeverNegative(const Polynomial &, const Polynomial &, const std::set<Symbol> &any,
                        const Facts &);

}  // namespace nbcc::overlap
