// SPDX-License-Identifier: BSD-3-Clause
// progress.h - on a terminal: what is being measured, and how much of all is done.

#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

#include "tools/bench/options.h"

namespace nbcc::bench {

class ProgressLine {
 public:
  /// Of rank 0; others show nothing.
  ProgressLine(Progress wanted, bool here, size_t steps)
      : shown_(here && wanted != Progress::never &&
               (wanted == Progress::always || isatty(STDERR_FILENO))),
        steps_(steps) {}

  void next(const std::string &what) {
    if (shown_) std::fprintf(stderr, "\r\033[K%zu of %zu: %s", step_, steps_, what.c_str());
    ++step_;
  }
  /// Before anything else is printed.
  void clear() const {
    if (shown_) std::fprintf(stderr, "\r\033[K");
  }

 private:
  bool shown_;
  size_t step_ = 0, steps_;
};

}  // namespace nbcc::bench
