// SPDX-License-Identifier: BSD-3-Clause
// emit.cpp - legal schedules as a template: bytes of work queue entries, and what to fill in.
//
//   %1 = send slot0 to 2        =>   00 00 00 0a | 00 00 05 02 | 00 00 00 08 | 00 00 00 00
//                                    length, lkey, address of slot0
//                                    INDEX, QPN, SGE: relocations
//
// First everything is counted: programs of all variants (program.h), then pieces
// and operations of the host, which gives the size of each table. Then the memory
// is taken once and written from front to back.
//
// Chained by words, all queues hold posts: WAITs and words beside data.
//
// The eager variants share one SLOTS buffer: receive k has the same blocks in all of
// them. Other rooms: places.h.

#include <algorithm>
#include <cassert>

#include "codegen/common/places.h"
#include "codegen/common/template_writer.h"
#include "codegen/coredirect/coredirect.h"
#include "codegen/coredirect/program.h"
#include "codegen/messages/record.h"
#include "nbc/mlx5_wqe.h"

namespace nbcc {
namespace {

using namespace codegen;
using namespace crosschannel;

/// One variant on its way: its program, and where in the table of pieces its data are.
struct Variant {
  const Legal *legal = nullptr;  // null: CREDIT
  Program program;
  uint32_t flags = 0, protocol = NBC_EAGER;
  std::vector<Span> data;              // data segments, in the order in which they are written
  std::vector<nbc_host> hosts;         // stage by stage
  std::vector<messages::Data> within;  // of each record
};

/// Into a room that is posted ahead, in eager variants.
bool takesSlot(const Step &step) {
  return step.op == Op::recv && step.to.size > 0 && !staysWithin(step);
}

class Emitter {
 public:
  Emitter(std::span<const Legal> legals, const TargetOptions &options)
      : legals_(legals), options_(options), connections_(legals, options), writer_(legals) {}

  Template run() {
    placeSlots();
    for (const Legal &legal : legals_) plan(legal);
    planCredits();
    strides();
    count();
    return write();
  }

 private:
  // --- What there is to write -----------------------------------------------

  /// Receives of all eager variants, one by one: the same room in each.
  void placeSlots() {
    std::vector<uint64_t> blocks;
    for (const Legal &legal : legals_) {
      if (legal.protocol != NBC_EAGER) continue;
      if (!firstEager_) firstEager_ = &legal;
      const Schedule &s = legal.schedule;
      size_t k = 0;
      for (const Step &step : s.steps) {
        if (!takesSlot(step)) continue;
        if (k == blocks.size()) blocks.push_back(0);
        blocks[k] = std::max(blocks[k], blocksFor(s, s.to(step)[0].buffer));
        ++k;
      }
      assert(k == blocks.size() && "all eager variants receive the same messages");
    }
    slotRooms_.reserve(blocks.size() + 1);
    slotRooms_.push_back(0);
    for (const uint64_t b : blocks) slotRooms_.push_back(slotRooms_.back() + b);
    if (!blocks.empty()) slots_ = writer_.addBuffer("slots", NBC_ROLE_SLOTS, slotRooms_.back());
  }

  void plan(const Legal &legal) {
    s_ = &legal.schedule;
    Variant &variant = variants_.emplace_back();
    variant.legal = &legal;
    variant.protocol = legal.protocol;
    variant.flags = legal.flags;
    variant.program = programOf(legal, connections_);
    Places places(*s_, options_.lengths, writer_.callers(), writer_.bufferCount(), writer_.pieces);
    size_t slot = 0;
    if (legal.protocol == NBC_EAGER)
      for (const Step &step : s_->steps)
        if (takesSlot(step)) places.give(s_->to(step)[0].buffer, slots_, slotRooms_[slot++]);

    // In the order of write().
    for (size_t q = 0; q < connections_.queues.size(); ++q) {
      const QueueProgram &queue = variant.program.queues[q];
      for (const Post &post : queue.sends) {
        if (post.step < 0) continue;
        const Step &step = s_->steps[post.step];
        if (step.op == Op::copy) variant.data.push_back(places.place(s_->to(step)[0]));
        for (const Extent &e : s_->from(step)) variant.data.push_back(places.place(e));
        for (const Extent &e : s_->with(step)) variant.data.push_back(places.place(e));
      }
      if (legal.protocol == NBC_EAGER && connections_.queues[q].kind == NBC_QUEUE_EAGER) continue;
      for (const StepId i : queue.receives)
        for (const Extent &e : s_->to(s_->steps[i])) variant.data.push_back(places.place(e));
    }
    for (const messages::Record &record : variant.program.records)
      variant.within.push_back(messages::dataOf(*s_, record, places));
    for (const StageProgram &stage : variant.program.stages)
      for (const StepId i : stage.hosts) variant.hosts.push_back(host(s_->steps[i], places));
    if (places.stagingBlocks() > 0)
      writer_.addBuffer("staging", NBC_ROLE_STAGING, places.stagingBlocks());
  }

  nbc_host host(const Step &step, Places &places) {
    nbc_host host{};
    host.op = step.op == Op::copy ? NBC_HOST_COPY : NBC_HOST_REDUCE;
    host.from = places.section(s_->from(step));
    host.with = places.section(s_->with(step));
    host.to = places.section(s_->to(step));
    return host;
  }

  void planCredits() {
    if (!firstEager_) return;
    Program program = creditsOf(*firstEager_, connections_);
    if (program.management.empty()) return;
    Variant &variant = variants_.emplace_back();
    variant.program = std::move(program);
    variant.flags = NBC_VARIANT_CREDIT;
  }

  /// Bytes of a receive: enough data segments for the most pieces, a power of two.
  void strides() {
    strides_.assign(connections_.queues.size(), 0);
    for (const Variant &variant : variants_) {
      if (!variant.legal) continue;
      const Schedule &s = variant.legal->schedule;
      for (size_t q = 0; q < strides_.size(); ++q) {
        if (connections_.queues[q].kind == NBC_QUEUE_DIRECT) strides_[q] = MLX5_SEGMENT;
        for (const StepId i : variant.program.queues[q].receives)
          while (strides_[q] < MLX5_SEGMENT * s.steps[i].to.size)
            strides_[q] = strides_[q] ? 2 * strides_[q] : uint32_t{MLX5_SEGMENT};
      }
    }
  }

  // --- How much it is --------------------------------------------------------

  bool ahead(const Variant &variant, size_t q) const {
    return variant.protocol == NBC_EAGER && connections_.queues[q].kind == NBC_QUEUE_EAGER;
  }

  /// Those that stand in a segment with bytes; direct: with that of the token.
  uint32_t receivesOf(const QueueProgram &queue, size_t q) const {
    const bool direct = connections_.queues[q].kind == NBC_QUEUE_DIRECT;
    return static_cast<uint32_t>(queue.receives.size()) + (direct ? queue.clearToSends : 0);
  }

  void count() {
    TemplateWriter::Sizes all;
    all.variants = static_cast<uint32_t>(variants_.size());
    for (const Variant &variant : variants_) {
      TemplateWriter::Sizes n;
      uint32_t sends = 0, bind = 0;
      for (size_t q = 0; q < connections_.queues.size(); ++q) {
        const QueueProgram &queue = variant.program.queues[q];
        if (!queue.sends.empty()) ++n.segments;
        sends += static_cast<uint32_t>(queue.sends.size());
        n.code += queue.blocks * MLX5_WQEBB;
        const bool direct = connections_.queues[q].kind == NBC_QUEUE_DIRECT;
        if (queue.clearToSends > 0 && !direct) ++n.segments;
        const uint32_t receives = receivesOf(queue, q);
        if (receives == 0 || ahead(variant, q)) continue;
        ++n.segments;
        n.code += receives * strides_[q];
      }
      if (!variant.program.management.empty()) ++n.segments;
      if (!variant.program.records.empty()) ++n.segments;
      n.code += static_cast<uint32_t>(variant.within.size() * sizeof(nbc_message_record));
      n.code += static_cast<uint32_t>(variant.program.management.size()) * MLX5_WQEBB;
      bind = sends;
      n.relocs = sends + static_cast<uint32_t>(variant.data.size());
      for (const QueueProgram &queue : variant.program.queues)
        for (const Post &post : queue.sends)
          n.relocs += post.kind == Post::Kind::data ? 0 : post.kind == Post::Kind::wait ? 1 : 2;
      for (const messages::Data &data : variant.within) n.relocs += data.pieces.count > 0;
      if (variant.protocol == NBC_DIRECT)
        for (const Step &step : variant.legal->schedule.steps)
          n.relocs += writesToPeer(step, variant.protocol);
      for (const Management &entry : variant.program.management) {
        bind += entry.opcode == MLX5_NOP ? 1 : 2;
        n.relocs += entry.opcode == MLX5_NOP ? 1 : 2;
      }
      if (variant.flags & NBC_VARIANT_CALC)
        for (const QueueProgram &queue : variant.program.queues)
          for (const Post &post : queue.sends)
            n.relocs += post.step >= 0 && variant.legal->schedule.steps[post.step].op == Op::reduce;
      all.segments += n.segments;
      all.relocs += n.relocs + bind;
      all.code += n.code;
      all.stages += static_cast<uint32_t>(variant.program.stages.size());
      all.hosts += static_cast<uint32_t>(variant.hosts.size());
    }
    if (firstEager_)
      for (size_t q = 0; q < connections_.queues.size(); ++q) {
        const QueueProgram &queue = variants_[0].program.queues[q];
        if (connections_.queues[q].kind != NBC_QUEUE_EAGER || queue.receives.empty()) continue;
        ++all.segments;
        all.code += static_cast<uint32_t>(queue.receives.size()) * strides_[q];
        for (const StepId i : queue.receives) all.relocs += firstEager_->schedule.steps[i].to.size;
      }
    sizes_ = all;
  }

  // --- Writing ---------------------------------------------------------------

  Template write() {
    std::vector<uint32_t> peers = connections_.peers;
    for (size_t p = 0; p < connections_.near; ++p) peers[p] |= NBC_PEER_NEAR;
    writer_.layOut(peers, connections_.queues, sizes_);
    if (connections_.byWords) writer_.header().chaining = NBC_CHAINED_BY_WORDS;
    segments_ = writer_.segments();
    relocs_ = writer_.relocs();
    code_ = writer_.code();
    if (firstEager_) writeAhead(writer_.header());
    nbc_variant *out = writer_.variants();
    std::vector<nbc_stage> stages;
    for (const Variant &variant : variants_) {
      out->protocol = variant.protocol;
      out->flags = variant.flags;
      stages.clear();
      for (const StageProgram &stage : variant.program.stages)
        stages.push_back(
            {0, static_cast<uint32_t>(stage.hosts.size()), stage.enabled, stage.records});
      out->stages = writer_.addStages(stages, variant.hosts);
      writeVariant(variant, *out++);
    }
    assert(segment_ == sizes_.segments && reloc_ == sizes_.relocs && used_ == sizes_.code);
    return writer_.finish(coredirect, options_);
  }

  void relocate(uint32_t place, nbc_reloc_rule rule, uint32_t what, uint32_t addend = 0,
                uint32_t extra = 0, uint8_t side = 0) {
    nbc_reloc &r = relocs_[reloc_++];
    r.at = place;
    r.rule = static_cast<uint8_t>(rule);
    r.side = side;
    r.what = what;
    r.addend = addend;
    r.extra = extra;
  }

  /// Receives of the eager queues, for whichever variant will be called.
  void writeAhead(nbc_template &header) {
    const Variant &variant = variants_[0];
    assert(variant.legal == firstEager_);
    header.ahead_segments.begin = segment_;
    header.ahead_relocs.begin = reloc_;
    const Schedule &s = firstEager_->schedule;
    // Rooms are numbered by receive over all queues.
    std::vector<uint32_t> number(s.steps.size());
    uint32_t next = 0;
    for (size_t i = 0; i < s.steps.size(); ++i)
      if (takesSlot(s.steps[i])) number[i] = next++;
    for (uint32_t q = 0; q < connections_.queues.size(); ++q) {
      const QueueProgram &queue = variant.program.queues[q];
      if (connections_.queues[q].kind != NBC_QUEUE_EAGER || queue.receives.empty()) continue;
      openReceives(q, queue);
      for (const StepId i : queue.receives) {
        if (s.steps[i].to.size > 0)
          relocate(used_, NBC_RELOC_ROOM, slots_, static_cast<uint32_t>(slotRooms_[number[i]]),
                   static_cast<uint32_t>(slotRooms_[number[i] + 1] - slotRooms_[number[i]]));
        closeReceive(s.steps[i].to.size, strides_[q]);
      }
    }
    header.ahead_segments.count = segment_ - header.ahead_segments.begin;
    header.ahead_relocs.count = reloc_ - header.ahead_relocs.begin;
  }

  void openReceives(uint32_t q, const QueueProgram &queue) {
    nbc_segment &segment = segments_[segment_++];
    segment.queue = q;
    segment.ring = NBC_RING_RECV;
    segment.entries = receivesOf(queue, q);
    segment.bytes = segment.entries * strides_[q];
    segment.offset = used_;
  }

  void closeReceive(uint32_t pieces, uint32_t stride) {
    if (MLX5_SEGMENT * pieces < stride)
      mlx5_put32(code_ + used_ + MLX5_SEGMENT * pieces + MLX5_DATA_LKEY, MLX5_INVALID_LKEY);
    used_ += stride;
  }

  /// The control segment of the entry at `used_`, and what fills it.
  unsigned char *control(uint32_t queue, uint32_t index, uint8_t opcode, int segments,
                         bool signalled) {
    unsigned char *wqe = code_ + used_;
    mlx5_put16(wqe + MLX5_CTRL_INDEX, static_cast<uint16_t>(index));
    wqe[MLX5_CTRL_OPCODE] = opcode;
    mlx5_put32(wqe + MLX5_CTRL_QPN, queue << 8 | static_cast<uint32_t>(segments));
    wqe[MLX5_CTRL_FLAGS] = signalled ? MLX5_CE_ALWAYS : MLX5_CE_ON_ERROR;
    return wqe;
  }

  void writeVariant(const Variant &variant, nbc_variant &out) {
    out.segments.begin = segment_;
    // Relocations of two sorts, each a run: those of the call are put behind
    // those that are filled once, whose number is known.
    const uint32_t begin = reloc_;
    uint32_t bind = 0;
    for (const QueueProgram &queue : variant.program.queues)
      bind += static_cast<uint32_t>(queue.sends.size());
    for (const Management &entry : variant.program.management)
      bind += entry.opcode == MLX5_NOP ? 1 : 2;
    bind_ = begin;
    reloc_ = begin + bind;
    const Span *data = variant.data.data();
    for (uint32_t q = 0; q < connections_.queues.size(); ++q) {
      if (q == connections_.management && !connections_.byWords)
        writeManagement(variant.program);
      else if (q == connections_.messages)
        writeRecords(variant);
      else
        writeQueue(variant, q, data);
    }
    assert(bind_ == begin + bind && data == variant.data.data() + variant.data.size());
    out.bind = {begin, bind};
    out.relocs = {begin + bind, reloc_ - begin - bind};
    out.segments.count = segment_ - out.segments.begin;
    if (!variant.legal) return;
    const Device &device = deviceOf(coredirect, options_);
    if (variant.flags & NBC_VARIANT_CALC) out.calc = device.calc;
    out.scalars = variant.legal->scalars;
    describe(variant.legal->schedule, out);
  }

  /// Numbers of queues, filled once.
  void bind(uint32_t place, nbc_reloc_rule rule, uint32_t what, uint8_t side = 0) {
    std::swap(bind_, reloc_);
    relocate(place, rule, what, 0, 0, side);
    std::swap(bind_, reloc_);
  }

  void writeManagement(const Program &program) {
    if (program.management.empty()) return;
    const uint32_t mq = connections_.management;
    nbc_segment &segment = segments_[segment_++];
    segment.queue = mq;
    segment.ring = NBC_RING_SEND;
    segment.offset = used_;
    segment.entries = static_cast<uint32_t>(program.management.size());
    segment.bytes = segment.entries * MLX5_WQEBB;
    uint32_t index = 0;
    for (const Management &entry : program.management) {
      const bool bare = entry.opcode == MLX5_NOP;
      unsigned char *wqe = control(mq, index, entry.opcode, bare ? 1 : 2, entry.signalled);
      relocate(used_ + MLX5_CTRL_INDEX, NBC_RELOC_INDEX, mq, index);
      bind(used_ + MLX5_CTRL_QPN, NBC_RELOC_QPN, mq);
      segment.send_cqes += entry.signalled;
      if (!bare) {
        const uint32_t cd = used_ + MLX5_SEGMENT;
        mlx5_put32(wqe + MLX5_SEGMENT + MLX5_CD_INDEX, entry.index);
        mlx5_put32(wqe + MLX5_SEGMENT + MLX5_CD_NUMBER, entry.queue);
        const bool wait = entry.opcode == MLX5_WAIT;
        relocate(cd + MLX5_CD_INDEX,
                 !wait          ? NBC_RELOC_ENABLE
                 : entry.credit ? NBC_RELOC_CREDIT
                                : NBC_RELOC_WAIT,
                 entry.queue, entry.index, 0, entry.side);
        bind(cd + MLX5_CD_NUMBER, wait ? NBC_RELOC_CQN : NBC_RELOC_ENABLE_QPN, entry.queue,
             entry.side);
      }
      used_ += MLX5_WQEBB;
      ++index;
    }
  }

  void writeRecords(const Variant &variant) {
    if (variant.program.records.empty()) return;
    nbc_segment &segment = segments_[segment_++];
    segment.queue = connections_.messages;
    segment.ring = NBC_RING_SEND;
    segment.offset = used_;
    segment.entries = static_cast<uint32_t>(variant.program.records.size());
    segment.bytes = segment.entries * static_cast<uint32_t>(sizeof(nbc_message_record));
    const bool slot = variant.flags & NBC_VARIANT_CALC;
    for (size_t k = 0; k < variant.within.size(); ++k) {
      const messages::Record &record = variant.program.records[k];
      const Step &step = variant.legal->schedule.steps[record.step];
      const bool filled = messages::write(record, step, connections_.number(step.peer),
                                          variant.within[k], code_, used_, relocs_[reloc_]);
      if (filled && slot) {
        relocs_[reloc_].rule = NBC_RELOC_SLOT;
        relocs_[reloc_].extra = variant.legal->scalars - 1;
      }
      reloc_ += filled;
      used_ += static_cast<uint32_t>(sizeof(nbc_message_record));
    }
  }

  void dataSegment(uint32_t place, const Span &span) {
    relocate(place, NBC_RELOC_SGE, span.first, 0, span.count - 1);
  }

  /// Slots of a vector: `count` from `first` on.
  void slots(uint32_t place, const Span &vector, uint32_t first, uint32_t count) {
    relocate(place, NBC_RELOC_SLOT, vector.first, first, count - 1);
  }

  /// What queues that are chained by words hold beside data. Before relocations fill them in, the
  /// key is a queue and the address is that of the word in its row; the value is the first call's.
  void writeWord(const Post &post, uint32_t q, uint32_t index) {
    const bool waits = post.kind == Post::Kind::wait, asks = post.kind == Post::Kind::ask;
    const bool own = connections_.queues[q].kind != NBC_QUEUE_CHAIN;
    unsigned char *wqe = control(q, index,
                                 waits  ? MLX5_WAIT
                                 : asks ? MLX5_READ
                                        : MLX5_WRITE,
                                 post.segments, post.signalled);
    relocate(used_ + MLX5_CTRL_INDEX, NBC_RELOC_INDEX, q, index);
    bind(used_ + MLX5_CTRL_QPN, NBC_RELOC_QPN, q);
    const uint32_t second = used_ + MLX5_SEGMENT;
    unsigned char *at = wqe + MLX5_SEGMENT;
    if (waits) {
      wqe[MLX5_CTRL_OPMOD] = MLX5_WAIT_DATA;
      mlx5_put32(at + MLX5_WORD_CONDITION, MLX5_CONDITION_EQUAL);
      mlx5_put32(at + MLX5_WORD_LKEY, post.queue);
      mlx5_put64(at + MLX5_WORD_ADDR, 8 * uint64_t{post.word});
      mlx5_put64(at + MLX5_WORD_VALUE, 1);
      mlx5_put64(at + MLX5_WORD_MASK, UINT64_MAX);
      return relocate(second, NBC_RELOC_WORD_WAIT, post.queue, post.word);
    }
    mlx5_put64(at + MLX5_RADDR_ADDR, 8 * uint64_t{post.word});
    mlx5_put32(at + MLX5_RADDR_RKEY, q);
    relocate(second, own ? NBC_RELOC_WORD_OWN : NBC_RELOC_WORD_TOLD, q, post.word);
    at += MLX5_SEGMENT;
    if (asks) {
      mlx5_put32(at + MLX5_DATA_COUNT, 8);
      mlx5_put32(at + MLX5_DATA_LKEY, q);
      mlx5_put64(at + MLX5_DATA_ADDR, 8 * uint64_t{post.into});
      relocate(second + MLX5_SEGMENT, NBC_RELOC_WORD_INTO, q, post.into);
    } else {
      mlx5_put32(at, MLX5_INLINE | 8);
      mlx5_put64(at + 4, 1);
      relocate(second + MLX5_SEGMENT + 4, NBC_RELOC_WORD_VALUE, q);
    }
  }

  void writeQueue(const Variant &variant, uint32_t q, const Span *&data) {
    const QueueProgram &queue = variant.program.queues[q];
    const bool slot = variant.flags & NBC_VARIANT_CALC;
    if (!queue.sends.empty()) {
      nbc_segment &segment = segments_[segment_++];
      segment.queue = q;
      segment.ring = NBC_RING_SEND;
      segment.offset = used_;
      segment.entries = queue.blocks;
      segment.bytes = queue.blocks * MLX5_WQEBB;
      segment.send_cqes = queue.signalled;
      uint32_t index = 0, message = 0;
      for (const Post &post : queue.sends) {
        if (post.kind != Post::Kind::data) {
          writeWord(post, q, index++);
          used_ += MLX5_WQEBB;
          continue;
        }
        const Op op = post.step < 0 ? Op::signal : variant.legal->schedule.steps[post.step].op;
        const bool told = post.step >= 0 &&
                          writesToPeer(variant.legal->schedule.steps[post.step], variant.protocol);
        const uint8_t opcode = op == Op::copy ? MLX5_WRITE : told ? MLX5_WRITE_IMM : MLX5_SEND;
        unsigned char *wqe = control(q, index, opcode, post.segments, post.signalled);
        relocate(used_ + MLX5_CTRL_INDEX, NBC_RELOC_INDEX, q, index);
        bind(used_ + MLX5_CTRL_QPN, NBC_RELOC_QPN, q);
        if (op == Op::reduce) {
          wqe[MLX5_CTRL_OPMOD] = MLX5_CALC_ADD_U64;
          relocate(used_ + MLX5_CTRL_OPMOD, NBC_RELOC_OPMOD, 0);
        }
        int segments = 1;
        if (op == Op::copy) {
          relocate(used_ + MLX5_SEGMENT, NBC_RELOC_RADDR, data->first);
          ++data;
          ++segments;
        } else if (told) {
          relocate(used_ + MLX5_SEGMENT, NBC_RELOC_TOLD, q, message);
          ++segments;
        }
        message += post.step >= 0;
        for (; segments < post.segments; ++segments) {
          const uint32_t at = used_ + static_cast<uint32_t>(segments) * MLX5_SEGMENT;
          if (op == Op::reduce)
            slots(at, *data++, post.part, 1);
          else if (slot)
            slots(at, *data++, 0, variant.legal->scalars);
          else
            dataSegment(at, *data++);
        }
        used_ += blocksOf(post.segments) * MLX5_WQEBB;
        index += blocksOf(post.segments);
      }
    }
    const bool direct = connections_.queues[q].kind == NBC_QUEUE_DIRECT;
    if (queue.clearToSends > 0 && !direct) {
      nbc_segment &segment = segments_[segment_++];
      segment.queue = q;
      segment.ring = NBC_RING_RECV;
      segment.offset = used_;
      segment.entries = queue.clearToSends;
    }
    if (receivesOf(queue, q) == 0 || ahead(variant, q)) return;
    openReceives(q, queue);
    if (direct && queue.clearToSends > 0) closeReceive(0, strides_[q]);
    StepId last = -1;
    uint32_t part = 0;  // of a reduction's result
    for (const StepId i : queue.receives) {
      const uint32_t pieces = variant.legal->schedule.steps[i].to.size;
      part = i == last ? part + 1 : 0;
      last = i;
      for (uint32_t k = 0; k < pieces; ++k) {
        const uint32_t at = used_ + k * MLX5_SEGMENT;
        if (slot)
          slots(at, *data++, part, 1);
        else
          dataSegment(at, *data++);
      }
      closeReceive(pieces, strides_[q]);
    }
  }

  std::span<const Legal> legals_;
  const TargetOptions &options_;
  const Connections connections_;
  TemplateWriter writer_;
  const Legal *firstEager_ = nullptr;
  uint32_t slots_ = kNone;
  std::vector<uint64_t> slotRooms_;  // receive -> first block; one more than there are
  std::vector<Variant> variants_;
  std::vector<uint32_t> strides_;  // queue -> bytes of a receive

  const Schedule *s_ = nullptr;  // while a variant is planned

  // While it is written.
  TemplateWriter::Sizes sizes_;
  uint32_t segment_ = 0, reloc_ = 0, bind_ = 0, used_ = 0;
  unsigned char *code_ = nullptr;
  nbc_segment *segments_ = nullptr;
  nbc_reloc *relocs_ = nullptr;
};

}  // namespace

Template coredirect_emit(std::span<const Legal> legals, const TargetOptions &options) {
  assert(!legals.empty() && "legalize() gives at least one");
  return Emitter(legals, options).run();
}

}  // namespace nbcc
