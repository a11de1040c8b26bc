// SPDX-License-Identifier: BSD-3-Clause
// computation.h - what an application would do between start and wait: it needs a core and nothing
// else, and can be made to take any time.
//
// Overlap compares times of the same computation with and without a call, so it says something
// only where the computation takes the same time whenever it has a core, and where it gets one.
//
// Or (`yields`) it is somebody else's, an accelerator's, and takes its time whoever has the cores:
// a rank lets the clock go on, calls nothing, and yields. An adapter that the ranks' cores emulate
// then has what a real one needs not.

#pragma once

#include <cstdint>
#include <string>

namespace nbcc::bench {

class Computation {
 public:
  /// Collective: looks at ranks and cores.
  explicit Computation(bool yields);
  /// Collective, before the rest is used: some milliseconds, up to a second where others disturb
  /// it. Nothing where ranks outnumber cores.
  void calibrate();

  /// How many steps take so many microseconds.
  uint64_t stepsFor(double microseconds) const {
    return uint64_t(microseconds / microsecondsPerStep_) + 1;
  }
  void run(uint64_t steps) const;

  /// Microseconds of the same steps: on one rank while the others sleep, on all at once.
  double alone = 0, atOnce = 0;
  int ranksOfNode = 0, coresOfNode = 0;  // of the node that is worst off

  /// Why overlap would mean nothing here; empty: it means something. The same on all ranks.
  std::string whyNot() const;

 private:
  const bool yields_;
  double microsecondsPerStep_;
};

}  // namespace nbcc::bench
