// SPDX-License-Identifier: BSD-3-Clause
// symbols.h - values that are not known, each with what it stands for, so that the same one is
// found again.

#pragma once

#include <clang/AST/Decl.h>

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/overlap/polynomial.h"

namespace nbcc::overlap {

struct Meaning {
  enum Kind {
    value,     // of a variable; `number` is 1 for the next turn's, where that is another one
    address,   // of a variable
    self,      // this
    loaded,    // from `number` + `at`, as a type
    element,   // of an array of pointers, each of which has memory of its own; index `at`
    quotient,  // of `at` by `number`; by less than 0: rounded down instead of towards 0; by 0: its
               // last bit
    counter,   // of a loop, anywhere within its range
  } kind;
  const void *what = nullptr;
  std::int64_t number = 0;
  Polynomial at = {};

  friend auto operator<=>(const Meaning &, const Meaning &) = default;
};

class Symbols {
 public:
  Symbol of(const Meaning &m) {
    const auto [at, fresh] = numbers_.try_emplace(m, static_cast<Symbol>(meanings_.size()));
    if (fresh) meanings_.push_back(m);
    return at->second;
  }
  const Meaning &meaning(Symbol s) const { return meanings_.at(static_cast<size_t>(s)); }
  Symbol count() const { return static_cast<Symbol>(meanings_.size()); }

 private:
  std::map<Meaning, Symbol> numbers_;
  std::vector<Meaning> meanings_;
};

}  // namespace nbcc::overlap
