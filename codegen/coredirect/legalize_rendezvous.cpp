// SPDX-License-Identifier: BSD-3-Clause
// legalize_rendezvous.cpp - rendezvous and direct: data go to their final place, so little changes.
//
//   %0 = copy in -> out[3]         =>   %0 = copy in -> out[3] by nic
//   %1 = reduce a, b -> c               %1 = reduce a, b -> c by host
//
// A WRITE gathers from several places but fills one: a copy becomes one for each
// extent it writes. A send that gathers from more places than the adapter can is
// packed by such copies first, and a recv that scatters to more is unpacked by
// them: both ends keep the message whole, so neither needs to know.
//
// What stays within the node the host sends and receives, as it lies. Then copies are the host's,
// too, unless they wait for the adapter: it is at work anyway.
//
// Waits stay; who waited for a step waits for all that became of it.
//
// Direct: the same, but a message is written by its sender, into one place, at any time from the
// beginning of the call on. So what goes to several places, or where something else has to be over
// first, goes into a room of its own and is copied from there: the room waits for nothing.
//
//   %4 = recv -> out[1] after %2   =>   %4 = recv -> room4    %5 = copy room4 -> out[1] after %4,
//   %2

#include <algorithm>

#include "codegen/common/ticks.h"
#include "codegen/coredirect/legalize.h"

namespace nbcc::crosschannel {
namespace {

class Rendezvous {
 public:
  Rendezvous(const Schedule &s, const Device &device, bool direct, const Near &near, Diag &diag)
      : s_(s),
        device_(device),
        direct_(direct),
        near_(near),
        hierarchical_(isHierarchical(s, near)),
        diag_(diag) {}

  Schedule run() {
    if (isLegal()) {
      Schedule same = s_;
      for (Step &step : same.steps) step.unit = unitOf(step, same.after(step), same.steps);
      return same;
    }
    Draft draft(s_);
    draft_ = &draft;
    Ticks ticks(s_);
    ticks_ = &ticks;
    if (!ticks.fits()) {
      diag_.error({}, "coredirect: ", direct_ ? "direct" : "rendezvous", ": the schedule of rank ",
                  s_.rank, " of ", s_.ranks, " cuts its buffers into more than ", Ticks::kMost,
                  " parts, which is the most");
      return {};
    }
    for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()); ++i) step(i);
    return draft.finish();
  }

 private:
  bool isNear(const Step &step) const {
    return hierarchical_ && step.peer >= 0 && near_(step.peer);
  }

  /// `after`: of `steps`, whose units are known.
  template <class Waits, class Steps>
  Unit unitOf(const Step &step, const Waits &after, const Steps &steps) const {
    if (step.op == Op::reduce || isNear(step)) return Unit::host;
    if (step.op != Op::copy) return Unit::any;
    const bool brought = std::any_of(after.begin(), after.end(), [&](StepId d) {
      return isAdapters(steps[static_cast<size_t>(d)]);
    });
    return hierarchical_ && !brought ? Unit::host : Unit::nic;
  }

  size_t gather() const { return static_cast<size_t>(device_.maxGather); }
  size_t scatter() const { return direct_ ? 1 : static_cast<size_t>(device_.maxScatter); }
  bool isHeld(const Step &step) const {
    return direct_ && receives(step) && step.after.size > 0 && !isNear(step);
  }

  bool isLegal() const {
    for (const Step &step : s_.steps) {
      const bool near = isNear(step);
      if (step.op == Op::send && step.from.size > gather() && !near) return false;
      if (step.op == Op::recv && step.to.size > scatter() && !near) return false;
      if (isHeld(step)) return false;
      if (step.op == Op::copy && (step.to.size != 1 || step.from.size > gather())) return false;
      for (Section section : {s_.from(step), s_.to(step)})
        for (const Extent &e : section)
          if (e.count == 0) return false;
    }
    return true;
  }

  void step(StepId i) {
    const Step &step = s_.steps[i];
    std::vector<StepId> waits;
    for (const StepId d : s_.after(step))
      waits.insert(waits.end(), ends(d), ends(d) + ends_[d].size);
    const std::vector<Extent> from = withoutEmpty(s_.from(step)), to = withoutEmpty(s_.to(step));
    std::vector<StepId> last;
    if (isNear(step) || (step.op == Op::copy && isHosts(waits))) {
      last = step.op == Op::copy && to.empty() ? waits : std::vector<StepId>{byHost(step, waits)};
    } else if (step.op == Op::copy) {
      last = to.empty() ? waits : copies(step, from, to, waits);
    } else if (step.op == Op::send && from.size() > gather()) {
      const BufferId room = draft_->addRoom(cat("packed", i), Role::scratch, from);
      const Extent packed = draft_->whole(room);
      const StepId id = transfer(step, {&packed, 1}, {}, {});
      draft_->after(id, pack(step, from, room, waits));
      last = {id};
    } else if (isHeld(step) &&
               to.empty()) {  // no bytes, so nobody has to wait for it to be written
      const StepId id = transfer(step, {}, {}, {});
      waits.push_back(id);
      last = std::move(waits);
    } else if (step.op == Op::recv && (to.size() > scatter() || isHeld(step))) {
      const BufferId room = draft_->addRoom(cat("packed", i), Role::scratch, to);
      const Extent packed = draft_->whole(room);
      const StepId id = transfer(step, {}, {}, {&packed, 1});
      std::vector<StepId> first = {id};
      if (direct_)
        first.insert(first.end(), waits.begin(), waits.end());
      else
        draft_->after(id, std::move(waits));
      // The message is over only in the next round.
      Step later = step;
      later.round = step.round + 1;
      int64_t block = 0;
      for (const Extent &e : to) {
        const Extent part{room, 1, block, e.count};
        last.push_back(write(later, {&part, 1}, e, first));
        block += e.count;
      }
    } else {
      const StepId id = transfer(step, from, withoutEmpty(s_.with(step)), to);
      draft_->after(id, std::move(waits));
      last = {id};
    }
    ends_.push_back({static_cast<uint32_t>(pool_.size()), static_cast<uint32_t>(last.size())});
    pool_.insert(pool_.end(), last.begin(), last.end());
  }

  const StepId *ends(StepId d) const { return pool_.data() + ends_[d].begin; }

  /// A copy that waits for these.
  bool isHosts(const std::vector<StepId> &waits) const {
    return hierarchical_ &&
           std::ranges::none_of(waits, [&](StepId d) { return isAdapters(draft_->step(d)); });
  }

  StepId byHost(const Step &step, const std::vector<StepId> &waits) {
    const StepId id = draft_->add(step, step.op, Unit::host);
    draft_->step(id).from = draft_->result.keep(withoutEmpty(s_.from(step)));
    draft_->step(id).to = draft_->result.keep(withoutEmpty(s_.to(step)));
    draft_->after(id, waits);
    return id;
  }

  StepId transfer(const Step &step, Section from, Section with, Section to) {
    const Unit unit = step.op == Op::reduce ? Unit::host : Unit::any;
    const StepId id = draft_->add(step, step.op, unit);
    Step &added = draft_->step(id);
    added.from = draft_->result.keep(from);
    added.with = draft_->result.keep(with);
    added.to = draft_->result.keep(to);
    return id;
  }

  StepId write(const Step &step, Section from, const Extent &to, std::vector<StepId> waits) {
    const StepId id = draft_->add(step, Op::copy, Unit::nic);
    draft_->step(id).from = draft_->result.keep(from);
    draft_->step(id).to = draft_->result.keep({&to, 1});
    draft_->after(id, std::move(waits));
    return id;
  }

  /// WRITEs that do a copy: one for each extent of `to`, more where it is gathered
  /// from too many places.
  std::vector<StepId> copies(const Step &step, Section from, const std::vector<Extent> &to,
                             const std::vector<StepId> &waits) {
    if (to.size() == 1 && from.size() <= gather()) return {write(step, from, to[0], waits)};
    std::vector<StepId> result;
    int64_t at = 0;
    for (const Extent &e : ticks_->cut(to, 0, ticks_->length(to))) {  // each now evenly fine
      const int64_t length = ticks_->length({&e, 1});
      const std::vector<Extent> pieces = ticks_->cut(from, at, at + length);
      int64_t done = 0;
      for (size_t k = 0; k < pieces.size(); k += gather()) {
        const Section some = Section(pieces).subspan(k, std::min(gather(), pieces.size() - k));
        const int64_t stop = done + ticks_->length(some);
        result.push_back(write(step, some, ticks_->cut({&e, 1}, done, stop)[0], waits));
        done = stop;
      }
      at += length;
    }
    return result;
  }

  /// WRITEs that pack a section into a room whose blocks are its units.
  std::vector<StepId> pack(const Step &step, Section from, BufferId room,
                           const std::vector<StepId> &waits) {
    std::vector<StepId> result;
    int64_t block = 0;
    for (size_t k = 0; k < from.size(); k += gather()) {
      const Section some = from.subspan(k, std::min(gather(), from.size() - k));
      int64_t blocks = 0;
      for (const Extent &e : some) blocks += e.count;
      result.push_back(write(step, some, {room, 1, block, blocks}, waits));
      block += blocks;
    }
    return result;
  }

  const Schedule &s_;
  const Device &device_;
  const bool direct_;
  const Near &near_;
  const bool hierarchical_;
  Diag &diag_;
  Draft *draft_ = nullptr;
  const Ticks *ticks_ = nullptr;
  std::vector<Run> ends_;  // step -> what became of it and ends last, in pool_
  std::vector<StepId> pool_;
};

}  // namespace

Schedule legalizeRendezvous(const Schedule &s, const Device &device, const Near &near, Diag &diag) {
  return Rendezvous(s, device, false, near, diag).run();
}

Schedule legalizeDirect(const Schedule &s, const Device &device, const Near &near, Diag &diag) {
  return Rendezvous(s, device, true, near, diag).run();
}

}  // namespace nbcc::crosschannel
