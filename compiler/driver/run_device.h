// SPDX-License-Identifier: BSD-3-Clause
// run_device.h - what carries a target's templates out in this process, as a run sees it.
//
// A value: functions that one device's file fills in (run_hca.cpp, run_p2p.cpp,
// run_sci.cpp, run_shm.cpp). A run
// knows neither what is under way in a device nor what it is called.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/options.h"
#include "compiler/driver/timeline.h"
#include "nbc.h"

namespace nbcc {

struct RunDevice {
  /// Those of the next rank, counted from 0. They end with this value's last copy.
  std::function<std::vector<nbc_device *>()> add;
  size_t slotBytes = 0;  // messages go through slots so long, whatever their length; 0: they do not
  bool threads = false;  // ranks are threads whatever --time says: there is no simulated time
  /// Simulated time: so many events, or until nothing is left to happen; then true. `seen` is told
  /// of each rank whose host may have something to do, and returns whether to go on.
  std::function<bool(const std::function<bool(uint32_t rank)> &seen, uint64_t events)> run;
  /// Simulated time: until then (ns); with no `seen`, no host looks. Null: this device cannot.
  std::function<void(double until, const std::function<bool(uint32_t rank)> &seen)> runUntil;
  std::function<uint64_t()> events;  // so far
  std::function<double()> now;       // ns
  /// Simulated time: the host of a rank works for so many ns.
  std::function<void(uint32_t rank, double ns)> hostBusy;
  /// Simulated time: when it will have done so (ns). Null where runUntil is.
  std::function<double(uint32_t rank)> hostFree;
  bool rests = false;  // likewise: who finds nothing rests, too, as nbc_wait does
  /// Real time: until something may have changed for a rank.
  std::function<void(uint32_t rank, int64_t ns)> sleep;

  std::function<std::vector<std::string>()> waiting;  // what cannot go on, and for what
  std::function<std::vector<std::string>()> wrong;    // what the device has against the run
  /// What moved, where the schedules say that `messages` do: keys and values of the report.
  std::function<std::vector<std::pair<std::string, std::string>>(int64_t messages)> report;
  std::string cost;  // of simulated time: "L 1, o 0.2"; empty: `now` is real
  std::function<Timeline()> timeline;
};

RunDevice hcaDevice(const Options &, uint64_t seed);
RunDevice p2pDevice(const Options &, uint64_t seed);
RunDevice shmDevice(const Options &, uint64_t seed);
RunDevice sciDevice(const Options &, uint64_t seed);
RunDevice verbsDevice(const Options &, uint64_t seed);

/// Of time as the software devices count it.
inline double nanoseconds(int64_t picoseconds) {
  return static_cast<double>(picoseconds) / 1000;
}

/// The node of each rank, as --topology says; nothing where it does not.
std::vector<uint32_t> nodesOf(const Options &);
/// Devices of target shm, one for each rank, in real time; without nodes all are on one.
std::vector<nbc_device *> openMemory(const std::vector<uint32_t> &nodes, size_t ranks);

/// That of the options' target. A target that has none cannot be run here: `add` is empty.
RunDevice softwareDevice(const Options &, uint64_t seed);

/// An option that is given, and that other targets' devices have; null: there is none.
struct ForeignOption {
  const char *option, *target;
};
ForeignOption foreignOption(const Options &);

}  // namespace nbcc
