// SPDX-License-Identifier: BSD-3-Clause
// verify_template.cpp - does the order that the bytes enforce contain every dependency of the
// schedule?
//
// It believes nothing of what emit knew. All that happens on a rank is one row: stage by stage the
// work of the host, then the records up to `records`. What is behind a WAIT comes after the end of
// its message, what is behind a step of the host after that step. So for each step there is a place
// in the row where it starts and one from which on its end is known; for a dependency the second
// must come before the first.
//
// Which record is which step is plain: the k-th to a peer, or from it, is the schedule's k-th, or
// else both ends would not mean the same message; and the host works in the order of its steps.
// That they name the memory that the steps name is compared as well: verify_places.h.
//
// And what does not follow from dependencies: a WAIT names one message that was posted before it
// and that no other WAIT names; what is behind it the program, as written, reaches later than that
// message (else ranks can wait for each other for ever); nothing but addresses and lengths is
// filled in.
//
// Linear in records, steps and waits.

#include <algorithm>

#include "codegen/common/verify_places.h"
#include "codegen/messages/messages.h"
#include "codegen/messages/view.h"

namespace nbcc::messages {
namespace {

using namespace codegen;

constexpr int64_t kNever = INT64_MAX;

class Verifier {
 public:
  Verifier(const View &view, const nbc_variant &variant, const Schedule &s, const char *target,
           std::vector<uint32_t> &owners, Diag &diag)
      : view_(view),
        variant_(variant),
        s_(s),
        target_(target),
        diag_(diag),
        data_(view, s, static_cast<uint32_t>(&variant - view.variants.data()), owners),
        records_(view.records(variant)),
        steps_(records_.size(), -1),
        starts_(s.steps.size(), kNever),
        known_(s.steps.size(), kNever) {}

  void run() {
    if (!shape() || !identify()) return;
    walk();
    if (!data_.separate()) wrong(data_.why);
    tooEarly();
    for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()); ++i) dependencies(i);
  }

 private:
  template <class... Part>
  void wrong(const Part &...parts) {
    diag_.error(Loc{}, target_, ": variant ", view_.variantName(variant_), ": ", parts...);
  }

  template <class... Part>
  void wrongStep(StepId i, const Part &...parts) {
    diag_.error(s_.steps[i].loc, target_, ": variant ", view_.variantName(variant_), ": ", say(i),
                " ", parts...);
  }

  std::string say(StepId i) const {
    const Step &step = s_.steps[i];
    std::string text = cat("step %", i, " (", name(step.op));
    if (step.peer >= 0) text += cat(receives(step) ? " from " : " to ", step.peer);
    return text + ")";
  }

  /// Common checks know whether this target carries such messages at all.
  bool mayBePieces(const nbc_message_record &record, const nbc_reloc &r) const {
    return r.rule == NBC_RELOC_PIECES && record.op != NBC_MESSAGE_WAIT &&
           !view_.isRemote(record.peer);
  }

  /// One segment, and nothing filled in but records of messages.
  bool shape() {
    const auto segments = view_.segmentsOf(variant_.segments);
    if (view_.peers.empty() && segments.empty()) return true;
    if (segments.size() != 1 || segments[0].ring != NBC_RING_SEND ||
        view_.queues[segments[0].queue].kind != NBC_QUEUE_MESSAGES)
      return wrong("it is not one segment of records"), false;
    if (variant_.bind.count > 0)
      wrong(variant_.bind.count, " relocations are to be filled in before any call");
    uint32_t filled = 0;
    for (uint32_t k = 0; k < records_.size(); ++k) {
      const nbc_message_record &record = records_[k];
      const auto fills = view_.fills(variant_, record);
      filled += static_cast<uint32_t>(fills.size());
      const bool wait = record.op == NBC_MESSAGE_WAIT;
      if (record.op > NBC_MESSAGE_WAIT || (!wait && record.peer >= view_.peers.size()))
        return wrong("record ", k, ": op ", record.op, ", peer ", record.peer), false;
      if (record.address || record.bytes || (wait ? record.peer | record.port : record.record))
        wrong("record ", k, " holds what is not known before a call, or means nothing");
      if (fills.size() > !wait) wrong("record ", k, " has ", fills.size(), " relocations");
      for (const nbc_reloc &r : fills)
        if ((r.rule != NBC_RELOC_SGE && !mayBePieces(record, r)) ||
            r.at != segments[0].offset + k * sizeof record + NBC_MESSAGE_RECORD_SGE)
          wrong("record ", k, ": a relocation of rule ", int(r.rule), " is at ", r.at);
    }
    if (filled != variant_.relocs.count)
      wrong(variant_.relocs.count - filled, " relocations are of no record");
    return true;
  }

  /// Which record each step is.
  bool identify() {
    std::vector<std::vector<uint32_t>> rows(2 * static_cast<size_t>(s_.ranks));
    const auto row = [&](bool receiving, uint32_t rank) -> std::vector<uint32_t> & {
      return rows[2 * size_t{rank} + receiving];
    };
    for (uint32_t k = 0; k < records_.size(); ++k)
      if (records_[k].op != NBC_MESSAGE_WAIT)
        row(records_[k].op == NBC_MESSAGE_RECV, view_.rank(records_[k].peer)).push_back(k);
    std::vector<uint32_t> next(rows.size());
    for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()); ++i) {
      const Step &step = s_.steps[i];
      if (step.peer < 0) {
        hosts_.push_back(i);
        continue;
      }
      const auto of = &row(receives(step), static_cast<uint32_t>(step.peer)) - rows.data();
      if (next[of] == rows[of].size()) return wrong("there is no record for ", say(i)), false;
      const uint32_t k = rows[of][next[of]++];
      if (records_[k].port != static_cast<uint32_t>(step.port))
        wrongStep(i, "goes by port ", records_[k].port, ", not ", step.port);
      steps_[k] = i;
    }
    for (uint32_t k = 0; k < records_.size(); ++k)
      if (records_[k].op != NBC_MESSAGE_WAIT && steps_[k] < 0)
        return wrong("record ", k, " is a message that the schedule does not have"), false;
    return true;
  }

  /// The row of all that happens.
  void walk() {
    size_t host = 0;
    uint32_t next = 0;
    for (const nbc_stage &stage :
         view_.stages.subspan(variant_.stages.begin, variant_.stages.count)) {
      for (uint32_t h = 0; h < stage.hosts_count; ++h, ++place_) {
        if (host == hosts_.size())
          return wrong("the host does more than the ", host, " steps of the schedule");
        const StepId i = hosts_[host++];
        hostData(i, view_.hosts[stage.hosts_begin + h]);
        starts_[i] = known_[i] = place_;
      }
      for (; next < stage.records; ++next, ++place_) carryOut(next);
    }
    if (host < hosts_.size())
      wrong("the host does only ", host, " of the ", hosts_.size(), " steps of the schedule");
  }

  void carryOut(uint32_t k) {
    const nbc_message_record &record = records_[k];
    if (record.op != NBC_MESSAGE_WAIT) {
      starts_[steps_[k]] = place_;
      return messageData(k);
    }
    if (record.record >= k || records_[record.record].op == NBC_MESSAGE_WAIT)
      return wrong("record ", k, " waits for record ", record.record,
                   ", which is no message before it");
    const StepId d = steps_[record.record];
    if (known_[d] != kNever) wrong("record ", k, " waits for ", say(d), ", as another one did");
    known_[d] = std::min(known_[d], place_);
    waits_.push_back({place_, d});
  }

  void messageData(uint32_t k) {
    const StepId i = steps_[k];
    const Step &step = s_.steps[i];
    data_.why = "it is filled in otherwise";
    data_.want(receives(step) ? s_.to(step) : s_.from(step));
    bool right = true;
    for (const nbc_reloc &r : view_.fills(variant_, records_[k]))
      right = right && data_.found(r.what, r.extra + 1, r.rule == NBC_RELOC_SGE);
    if (!right || !data_.complete()) wrongStep(i, "is of other data: ", data_.why);
  }

  bool same(Section section, const nbc_range &pieces) {
    data_.want(section);
    return data_.found(pieces.begin, pieces.count, false) && data_.complete();
  }

  void hostData(StepId i, const nbc_host &host) {
    const Step &step = s_.steps[i];
    data_.why = "another operation";
    if ((host.op == NBC_HOST_REDUCE) != (step.op == Op::reduce) ||
        !same(s_.from(step), host.from) || !same(s_.with(step), host.with) ||
        !same(s_.to(step), host.to))
      wrongStep(i, "is something else where the host does it: ", data_.why);
  }

  /// What follows a WAIT comes after its message in the program as well.
  void tooEarly() {
    struct Start {
      int64_t place;
      StepId step;
    };
    std::vector<Start> starts;
    for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()); ++i)
      if (s_.steps[i].peer >= 0) starts.push_back({starts_[i], i});
    std::sort(starts.begin(), starts.end(),
              [](const Start &a, const Start &b) { return a.place > b.place; });
    size_t next = 0;
    StepId first = -1;  // of those behind, the first that the program reaches
    for (size_t w = waits_.size(); w-- > 0;) {
      for (; next < starts.size() && starts[next].place > waits_[w].place; ++next)
        if (first < 0 || starts[next].step < first) first = starts[next].step;
      const StepId d = waits_[w].step;
      if (first < 0 || s_.steps[first].round > s_.steps[d].round) continue;
      wrongStep(first, "of round ", s_.steps[first].round, " is held up by a WAIT for ", say(d),
                " of round ", s_.steps[d].round, ": ranks can wait for each other for ever");
    }
  }

  void dependencies(StepId i) {
    const Step &step = s_.steps[i];
    for (const StepId d : s_.after(step)) {
      if (known_[d] < starts_[i]) continue;
      wrongStep(i, "may start before ", say(d), " is done: ",
                known_[d] == kNever    ? "no WAIT is for that"
                : s_.steps[d].peer < 0 ? "the host does that later"
                                       : "the WAIT for that comes later");
      diag_.note(s_.steps[d].loc, "this is ", say(d));
    }
  }

  const View &view_;
  const nbc_variant &variant_;
  const Schedule &s_;
  const char *const target_;
  Diag &diag_;
  PlaceVerifier data_;
  const std::span<const nbc_message_record> records_;
  std::vector<StepId> steps_;            // record -> its step; of a WAIT: -1
  std::vector<StepId> hosts_;            // steps of the host
  std::vector<int64_t> starts_, known_;  // step -> its place in the row; from which on it is done
  struct Wait {
    int64_t place;
    StepId step;
  };
  std::vector<Wait> waits_;
  int64_t place_ = 0;
};

}  // namespace

void verifyTemplate(const Template &t, std::span<const Legal> legals, const char *target,
                    Diag &diag) {
  const char *why = nullptr;
  if (nbc_template_check(t.data(), t.bytes, &why) != 0) {
    diag.error({}, target, ": the template is damaged: ", why);
    return;
  }
  const View view(t);
  if (view.variants.size() != legals.size())
    diag.error({}, target, ": ", view.variants.size(), " variants of ", legals.size());
  if (view.header.ahead_segments.count > 0)
    diag.error({}, target, ": receives are posted ahead of any call");
  std::vector<uint32_t> owners(view.buffers.size(), UINT32_MAX);
  for (size_t v = 0; v < std::min(view.variants.size(), legals.size()); ++v) {
    const nbc_variant &variant = view.variants[v];
    if (variant.protocol != legals[v].protocol || variant.flags != legals[v].flags)
      diag.error({}, target, ": variant ", v, " is not what it was emitted from");
    else
      Verifier(view, variant, legals[v].schedule, target, owners, diag).run();
  }
}

}  // namespace nbcc::messages
