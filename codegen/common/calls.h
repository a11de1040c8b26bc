// SPDX-License-Identifier: BSD-3-Clause
// calls.h - the schedules that a target is to make legal: of an ordinary call, and of one in place.

#pragma once

#include <cstdint>
#include <vector>

#include "codegen/target.h"
#include "compiler/ir/schedule.h"

namespace nbcc::codegen {

/// What legalize() was given, made fit for the lengths that were asked for. In place is left out
/// where no call of this rank can be: elsewhere than at the root gather still reads `in`.
class Calls {
 public:
  struct Call {
    const Schedule *schedule;
    uint32_t flags;  // enum nbc_variant_flags
  };

  /// What cannot be is reported, as by `target`; then there are no calls.
  Calls(const Schedule &given, const Schedule *inPlace, const TargetOptions &, const char *target,
        Diag &);
  Calls(const Calls &) = delete;
  Calls &operator=(const Calls &) = delete;

  const std::vector<Call> &all() const { return all_; }

 private:
  std::vector<Schedule> fit_;  // for lengths of their own
  std::vector<Call> all_;
};

}  // namespace nbcc::codegen
