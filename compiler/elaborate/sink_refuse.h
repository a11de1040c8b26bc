// SPDX-License-Identifier: BSD-3-Clause
// sink_refuse.h - how a sink words a mistake. Only the first is kept: it stops the run.

#pragma once

#include "compiler/elaborate/sink.h"

namespace nbcc {

/// "1 block", "4 parts".
inline std::string plural(int64_t count, const char *what) {
  return cat(count, " ", what, count == 1 ? "" : "s");
}

/// "2 blocks", "3/8 of a block".
inline std::string toString(const Amount &a) {
  return a.parts == 1 ? plural(a.count, "block") : cat(a.count, "/", a.parts, " of a block");
}

template <class... Part>
int64_t Sink::refuse(Place at, const Part &...parts) {
  if (mistake_) return 1;
  mistake_ = Mistake{toLoc(at), cat(parts...), {}};
  for (size_t i = frames_.size(); --i > 0;) mistake_->runFrom.push_back(toLoc(frames_[i].at));
  return 1;
}

template <class... Part>
Checked Sink::refuseValue(Place at, const Part &...parts) {
  refuse(at, parts...);
  return {};
}

}  // namespace nbcc
