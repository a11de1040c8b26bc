// SPDX-License-Identifier: BSD-3-Clause
// profile.h - how much there is to hide at each place, as a run measured it.
//
// A file holds either
//
//   - lines FILE:LINE SECONDS, for places, or MPI_<Name> SECONDS, for all calls of that name; #
//   begins a comment
//   - what the drop-in printed under NBC_VERBOSE=1, which knows bytes of a collective rather than
//   times

#pragma once

#include <iosfwd>
#include <map>
#include <string>

#include "tools/overlap/report.h"

namespace nbcc::overlap {

class Profile {
 public:
  /// False: the file cannot be read, or a line is neither; said to `errors`.
  bool read(const std::string &file, std::ostream &errors);

  /// Puts first where most can be hidden, and what has no window last.
  Measure rank(std::vector<Finding> &) const;

 private:
  bool line(const std::string &);

  std::map<std::string, double>
      places_;  // "solver.c:12", "MPI_Allreduce", or "allreduce" for bytes
  bool bytes_ = false;
};

}  // namespace nbcc::overlap
