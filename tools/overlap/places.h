// SPDX-License-Identifier: BSD-3-Clause
// places.h - objects of the whole program, and their fields.

#pragma once

#include <set>

namespace nbcc::overlap {

/// A variable, or what an expression allocates each time it is run; all of it, or one field.
struct Place {
  const void *object;
  const void *field;  // a FieldDecl, the same one in all sources; null: the whole

  friend auto operator<=>(const Place &, const Place &) = default;
};

struct Places {
  std::set<Place> known;
  bool unknown = false;  // and anything whose address went out of sight

  bool empty() const { return known.empty() && !unknown; }
  /// False: there was nothing new.
  bool add(const Places &other) {
    const auto before = known.size() + unknown;
    known.insert(other.known.begin(), other.known.end());
    unknown = unknown || other.unknown;
    return known.size() + unknown != before;
  }
  /// All of each object, where an access may go beyond its field.
  Places wholes() const {
    Places result{{}, unknown};
    for (const Place &p : known) result.known.insert({p.object, nullptr});
    return result;
  }
  static Places one(const void *object, const void *field = nullptr) {
    return {{{object, field}}, false};
  }
  static Places anything() { return {{}, true}; }
};

}  // namespace nbcc::overlap
