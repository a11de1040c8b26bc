// SPDX-License-Identifier: BSD-3-Clause
// legalize.h - the ways of coredirect.h, one function each, and what they share.

#pragma once

#include <cstdint>
#include <vector>

#include "codegen/common/draft.h"
#include "codegen/target.h"
#include "compiler/ir/schedule.h"

namespace nbcc::crosschannel {

using namespace codegen;

struct EagerOptions {
  bool slotPerBlock = false;
  bool calc = false;  // reductions by the adapter
};

/// legalize_eager.cpp, legalize_rendezvous.cpp, legalize_calc.cpp. Empty: it cannot
/// be expressed, which was reported.
Schedule legalizeEager(const Schedule &, const Device &, const EagerOptions &, Diag &);
Schedule legalizeRendezvous(const Schedule &, const Device &, Diag &);
/// The same where messages are written from afar, into memory that is free when the call begins.
Schedule legalizeDirect(const Schedule &, const Device &, Diag &);

/// Whether everything that is sent and reduced is one whole vector, so that a
/// vector of one element is one slot of the adapter everywhere.
bool fitsCalc(const Schedule &, const Device &);

}  // namespace nbcc::crosschannel
