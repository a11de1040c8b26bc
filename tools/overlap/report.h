// SPDX-License-Identifier: BSD-3-Clause
// report.h - what is said of each place, and the same for clang-tidy's tools.

#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tools/overlap/loops.h"

namespace nbcc::overlap {

/// A place and what was found out about it.
struct Finding {
  Site site;
  std::optional<Window> window;  // none: it is no statement of a block
  std::optional<Fix> fix;
  std::optional<Carried> carried;    // by the fix, into the next turn of a loop
  std::optional<Remark> notCarried;  // why it is not
  std::vector<Remark> advice;        // what an author could do
  std::string notPersistent;         // why a fix is not one by a persistent call
  std::string unchanged;  // why there is no fix, if nothing speaks against the place itself
  double seconds = 0;     // of the profile, or bytes
};

struct Measure {
  bool bytes = false;  // of the profile: a share of bytes rather than time
};

void printFinding(const Finding &, const Measure *, std::ostream &);

/// The fixes as clang-tidy writes them, for clang-apply-replacements and editors.
std::string fixesAsYaml(const std::vector<Finding> &);

/// Of a file that a command names in its folder: from the root on, and one for all its names.
std::string plainName(const std::string &folder, const std::string &name);

/// Where it is: the same for all commands that compile it.
std::string fileOf(const Site &);

/// File and place there: likewise.
std::string placeOf(const Site &);

}  // namespace nbcc::overlap
