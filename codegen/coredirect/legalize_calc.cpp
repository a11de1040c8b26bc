// SPDX-License-Identifier: BSD-3-Clause
// legalize_calc.cpp - whether the adapter can do the reductions.
//
// It reduces scalars of 64 bits, each in a slot of 16 bytes. So a call of few
// elements can be served if no operation ever names anything but one whole vector:
// then a vector is a slot for each element, a message as many, and a reduction as many SENDs of two
// slots to oneself. How the schedule changes is eager's business (EagerOptions::calc).
//
// This looks at one rank, and says yes also where this rank reduces nothing: its
// messages must be slots if the others' are. Whether all ranks said yes only the
// runtime can see (NBC_VARIANT_CALC in template.h).

#include "codegen/coredirect/legalize.h"

namespace nbcc::crosschannel {
namespace {

bool isVector(const Schedule &s, Section section) {
  return section.size() == 1 && amount(s, section) == Amount{1, 1};
}

}  // namespace

bool fitsCalc(const Schedule &s, const Device &device) {
  const bool reduces = s.kind == ast::Kind::allreduce || s.kind == ast::Kind::reduce;
  if (!reduces || s.ranks == 1 || device.calc == 0 || device.maxGather < 2) return false;
  for (const Step &step : s.steps) {
    if (step.op == Op::reduce && !isVector(s, s.with(step))) return false;
    if ((step.op == Op::send || step.op == Op::copy || step.op == Op::reduce) &&
        !isVector(s, s.from(step)))
      return false;
    if ((step.op == Op::recv || step.op == Op::copy || step.op == Op::reduce) &&
        !isVector(s, s.to(step)))
      return false;
  }
  return true;
}

}  // namespace nbcc::crosschannel
