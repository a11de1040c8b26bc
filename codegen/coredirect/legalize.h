// SPDX-License-Identifier: BSD-3-Clause
// legalize.h - the ways of coredirect.h, one function each, and what they share.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "codegen/common/draft.h"
#include "codegen/target.h"
#include "compiler/ir/schedule.h"

namespace nbcc::crosschannel {

using namespace codegen;

/// Peers that are reached through the node's memory; empty: none is.
using Near = std::function<bool(int64_t peer)>;

struct EagerOptions {
  bool slotPerBlock = false;
  bool calc = false;  // reductions by the adapter
  Near near = {};
};

/// legalize_eager.cpp, legalize_rendezvous.cpp, legalize_calc.cpp. Empty: it cannot
/// be expressed, which was reported.
Schedule legalizeEager(const Schedule &, const Device &, const EagerOptions &, Diag &);
Schedule legalizeRendezvous(const Schedule &, const Device &, const Near &, Diag &);
/// The same where messages are written from afar, into memory that is free when the call begins.
Schedule legalizeDirect(const Schedule &, const Device &, const Near &, Diag &);

inline std::vector<Extent> withoutEmpty(Section section) {
  std::vector<Extent> result(section.begin(), section.end());
  std::erase_if(result, [](const Extent &e) { return e.count == 0; });
  return result;
}

/// Whether some messages stay within the node.
bool isHierarchical(const Schedule &, const Near &);
/// Of a legal schedule: the adapter does it, or has to bring what it is about.
inline bool isAdapters(const Step &step) {
  return step.unit == Unit::nic || (step.peer >= 0 && step.unit != Unit::host);
}

/// Whether everything that is sent and reduced is one whole vector, so that a
/// vector of few elements is a slot of the adapter for each everywhere.
bool fitsCalc(const Schedule &, const Device &);

}  // namespace nbcc::crosschannel
