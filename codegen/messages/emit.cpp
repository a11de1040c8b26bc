// SPDX-License-Identifier: BSD-3-Clause
// emit.cpp - legal schedules as a template: bytes of records, and what to fill in.
//
//   %1 = recv out[0] from 4     =>   RECV peer 0, SGE: piece out[0]     (record.cpp)
//   wait for %1                      WAIT record 0
//
// Programs of all variants come first (program.h), with their pieces; so it is known how large each
// table is. Then the memory is taken once and written from front to back.

#include <cassert>

#include "codegen/common/places.h"
#include "codegen/common/template_writer.h"
#include "codegen/messages/messages.h"
#include "codegen/messages/program.h"
#include "codegen/messages/record.h"

namespace nbcc::messages {
namespace {

using namespace codegen;

/// One variant on its way: its program, and where in the table of pieces its data are.
struct Variant {
  const Legal *legal;
  Program program;
  std::vector<Data> data;  // of each record
  std::vector<nbc_host> hosts;
  uint32_t relocs = 0;
};

class Emitter {
 public:
  Emitter(std::span<const Legal> legals, const TargetOptions &options, const Target &target,
          const Ranks &remote)
      : legals_(legals), options_(options), target_(target), remote_(remote), writer_(legals) {}

  Template run() {
    meetPeers();
    for (const Legal &legal : legals_) plan(legal);
    TemplateWriter::Sizes sizes;
    for (const Variant &variant : variants_) {
      ++sizes.variants;
      sizes.segments += !peers_.empty();
      sizes.hosts += static_cast<uint32_t>(variant.hosts.size());
      sizes.stages += static_cast<uint32_t>(variant.program.stages.size());
      sizes.relocs += variant.relocs;
      sizes.code += bytesOf(variant);
    }
    std::vector<nbc_queue> queues;  // none: then no device is needed
    if (!peers_.empty()) queues.push_back({NBC_QUEUE_MESSAGES, kNone, NBC_BOTH_WAYS});
    writer_.layOut(peers_, queues, sizes);
    for (size_t v = 0; v < variants_.size(); ++v) write(static_cast<uint32_t>(v));
    assert(reloc_ == sizes.relocs && used_ == sizes.code);
    return writer_.finish(target_, options_);
  }

 private:
  static uint32_t bytesOf(const Variant &variant) {
    return static_cast<uint32_t>(variant.program.records.size() * sizeof(nbc_message_record));
  }

  void meetPeers() {
    number_.assign(static_cast<size_t>(legals_[0].schedule.ranks), kNone);
    for (const Legal &legal : legals_)
      for (const Step &step : legal.schedule.steps) {
        if (step.peer < 0 || number_[static_cast<size_t>(step.peer)] != kNone) continue;
        number_[static_cast<size_t>(step.peer)] = static_cast<uint32_t>(peers_.size());
        const bool remote = remote_ && remote_(step.peer);
        peers_.push_back(static_cast<uint32_t>(step.peer) | (remote ? NBC_PEER_REMOTE : 0));
      }
  }

  void plan(const Legal &legal) {
    const Schedule &s = legal.schedule;
    Variant &variant = variants_.emplace_back(Variant{&legal, programOf(s), {}, {}});
    Places places(s, options_.lengths, writer_.callers(), writer_.bufferCount(), writer_.pieces);
    for (const Record &record : variant.program.records) {
      variant.data.push_back(dataOf(s, record, places));
      variant.relocs += variant.data.back().pieces.count > 0;
    }
    for (const StepId i : variant.program.hosts) {
      const Step &step = s.steps[i];
      nbc_host &host = variant.hosts.emplace_back();
      host.op = step.op == Op::copy ? NBC_HOST_COPY : NBC_HOST_REDUCE;
      host.from = places.section(s.from(step));
      host.with = places.section(s.with(step));
      host.to = places.section(s.to(step));
    }
    if (places.stagingBlocks() > 0)
      writer_.addBuffer("staging", NBC_ROLE_STAGING, places.stagingBlocks());
  }

  void write(uint32_t v) {
    const Variant &variant = variants_[v];
    nbc_variant &out = writer_.variants()[v];
    out.protocol = variant.legal->protocol;
    out.flags = variant.legal->flags;
    describe(variant.legal->schedule, out);

    std::vector<nbc_stage> stages;
    for (const Stage &stage : variant.program.stages)
      stages.push_back({0, stage.hosts, 0, stage.enabled});
    out.stages = writer_.addStages(stages, variant.hosts);

    if (peers_.empty()) return;
    out.segments = {v, 1};
    nbc_segment &segment = writer_.segments()[v];
    segment.queue = 0;
    segment.ring = NBC_RING_SEND;
    segment.offset = used_;
    segment.entries = static_cast<uint32_t>(variant.program.records.size());
    segment.bytes = bytesOf(variant);

    out.bind = {reloc_, 0};
    out.relocs = {reloc_, variant.relocs};
    for (size_t k = 0; k < variant.program.records.size(); ++k)
      write(variant, variant.program.records[k], variant.data[k]);
  }

  void write(const Variant &variant, const Record &record, const Data &data) {
    const Step &step = variant.legal->schedule.steps[record.step];
    reloc_ += messages::write(record, step, number_[static_cast<size_t>(step.peer)], data,
                              writer_.code(), used_, writer_.relocs()[reloc_]);
    used_ += static_cast<uint32_t>(sizeof(nbc_message_record));
  }

  std::span<const Legal> legals_;
  const TargetOptions &options_;
  const Target &target_;
  const Ranks &remote_;
  TemplateWriter writer_;
  std::vector<uint32_t> peers_, number_;  // ranks; rank -> its index there
  std::vector<Variant> variants_;
  uint32_t reloc_ = 0, used_ = 0;
};

}  // namespace

Template emit(std::span<const Legal> legals, const TargetOptions &options, const Target &target,
              const Ranks &remote) {
  assert(!legals.empty() && "legalize() gives at least one");
  return Emitter(legals, options, target, remote).run();
}

}  // namespace nbcc::messages
