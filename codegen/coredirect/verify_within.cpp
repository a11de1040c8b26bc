// SPDX-License-Identifier: BSD-3-Clause
// verify_within.cpp - records of a template of this target, from their bytes.
//
// Linear in records and steps.

#include "codegen/coredirect/verify_within.h"

#include "codegen/coredirect/coredirect.h"

namespace nbcc::crosschannel {

Within::Within(const messages::View &view, const nbc_variant &variant, const Schedule &s,
               const Wrong &wrong)
    : view_(view),
      variant_(variant),
      s_(s),
      wrong_(wrong),
      records_(view.records(variant)),
      steps_(records_.size(), -1),
      places_(s.steps.size()) {}

bool Within::read() {
  if (!match()) return false;
  walk();
  return true;
}

bool Within::match() {
  // By direction and rank.
  std::vector<std::vector<uint32_t>> rows(2 * static_cast<size_t>(s_.ranks));
  const auto row = [&](bool receiving, uint32_t rank) { return 2 * size_t{rank} + receiving; };
  for (uint32_t k = 0; k < records_.size(); ++k)
    if (records_[k].op != NBC_MESSAGE_WAIT)
      rows[row(records_[k].op == NBC_MESSAGE_RECV, view_.rank(records_[k].peer))].push_back(k);
  std::vector<uint32_t> next(rows.size());
  for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()); ++i) {
    const Step &step = s_.steps[i];
    if (!staysWithin(step)) continue;
    const size_t of = row(receives(step), static_cast<uint32_t>(step.peer));
    if (next[of] == rows[of].size()) {
      wrong_(cat("there is no record for step %", i, " (", name(step.op), " within the node)"));
      return false;
    }
    steps_[rows[of][next[of]++]] = i;
  }
  for (uint32_t k = 0; k < records_.size(); ++k)
    if (records_[k].op != NBC_MESSAGE_WAIT && steps_[k] < 0) {
      wrong_(cat("record ", k, " is a message that the schedule does not have"));
      return false;
    }
  return true;
}

/// When each is posted and waited for.
void Within::walk() {
  uint32_t k = 0;
  for (uint32_t stage = 0; stage < variant_.stages.count; ++stage)
    for (; k < view_.stages[variant_.stages.begin + stage].records; ++k) {
      if (records_[k].op != NBC_MESSAGE_WAIT) {
        places_[steps_[k]].record = k;
        places_[steps_[k]].stage = stage;
        continue;
      }
      Place &place = places_[steps_[records_[k].record]];
      if (place.wait != kNever) wrong_(cat("record ", k, " waits for what another one does"));
      place.wait = std::min<int64_t>(place.wait, k);
      place.waited = std::min<int64_t>(place.waited, stage);
      waits_.push_back({k, stage, steps_[records_[k].record]});
    }
}

void Within::data(codegen::PlaceVerifier &places) {
  for (uint32_t k = 0; k < records_.size(); ++k) {
    if (steps_[k] < 0) continue;
    const Step &step = s_.steps[steps_[k]];
    places.why = "it is filled in otherwise";
    places.want(receives(step) ? s_.to(step) : s_.from(step));
    bool right = true, slots = true;
    for (const nbc_reloc &r : view_.fills(variant_, records_[k])) {
      const bool slot = r.rule == NBC_RELOC_SLOT;
      slots = slots && slot && r.addend == 0 && r.extra + 1 == variant_.scalars;
      right = right && places.found(r.what, slot ? 1 : r.extra + 1, r.rule == NBC_RELOC_SGE);
    }
    if (!right || !places.complete())
      wrong_(cat("record ", k, " is of other data than step %", steps_[k], ": ", places.why));
    if ((variant_.flags & NBC_VARIANT_CALC) != 0 && !slots)
      wrong_(cat("record ", k, " is not of ", variant_.scalars, " slots, which are meant"));
  }
}

}  // namespace nbcc::crosschannel
