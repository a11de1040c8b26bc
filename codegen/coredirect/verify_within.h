// SPDX-License-Identifier: BSD-3-Clause
// verify_within.h - what stays within the node, read back: which record each step is, and when.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "codegen/common/verify_places.h"
#include "codegen/coredirect/phases.h"
#include "codegen/messages/view.h"

namespace nbcc::crosschannel {

/// Of one variant. A step's record is the k-th to its peer, or from it, as the schedule's k-th is.
class Within {
 public:
  struct Place {
    int64_t record = -1, stage = -1;         // posted; -1: it is no such message
    int64_t wait = kNever, waited = kNever;  // the record that is its WAIT, and the stage of that
  };

  /// What is wrong with it is said by `wrong`.
  using Wrong = std::function<void(std::string)>;
  Within(const messages::View &, const nbc_variant &, const Schedule &, const Wrong &);

  /// False: it makes no sense to go on.
  bool read();
  /// Whether records move what steps do.
  void data(codegen::PlaceVerifier &);

  const Place &of(StepId i) const { return places_[i]; }

  struct Wait {
    int64_t record, stage;
    StepId step;
  };
  const std::vector<Wait> &waits() const { return waits_; }
  /// Records of messages, by place: their steps, -1 for a WAIT.
  const std::vector<StepId> &steps() const { return steps_; }

 private:
  bool match();
  void walk();

  const messages::View &view_;
  const nbc_variant &variant_;
  const Schedule &s_;
  const Wrong wrong_;
  const std::span<const nbc_message_record> records_;
  std::vector<StepId> steps_;
  std::vector<Place> places_;
  std::vector<Wait> waits_;
};

}  // namespace nbcc::crosschannel
