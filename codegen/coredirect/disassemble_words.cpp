// SPDX-License-Identifier: BSD-3-Clause
// disassemble_words.cpp - what the device would read, and the host do, where queues are chained by
// words; from the template's bytes alone.
//
//     queue          index  ds  opcode   task
//     chain 1            0   3  WRITE    tell 1: clear to send message 0
//     chain 1            1   3  WAIT     wait for clear to send message 0 of chain 1
//     chain 1            2   2  SEND     send to 1: in
//     chain 1            3   3  WRITE    tell 1: message 0
//
// Queue by queue, since none starts another; the management queue comes last, with the host's work
// where its stages begin.

#include "codegen/coredirect/disassemble_words.h"

#include "codegen/coredirect/task_lines.h"
#include "codegen/coredirect/words.h"
#include "nbc/mlx5_wqe.h"

namespace nbcc::crosschannel {
namespace {

class Lister : TaskLines {
 public:
  using TaskLines::TaskLines;

  void print() {
    header();
    for (uint32_t q = 0; q < view_.queues.size(); ++q) {
      if (view_.queues[q].kind == NBC_QUEUE_MANAGEMENT) continue;
      receives(q);
      for (const Entry &e : entries(q)) send(q, e);
    }
    management();
  }

 private:
  std::vector<Entry> entries(uint32_t q) const {
    const nbc_segment *s = view_.segment(variant_.segments, q, NBC_RING_SEND);
    return s ? view_.entries(*s) : std::vector<Entry>();
  }

  void header() {
    size_t all = 0;
    for (uint32_t q = 0; q < view_.queues.size(); ++q) all += entries(q).size();
    title(count(all, "entry", "entries"));
  }

  std::string peer(uint32_t q) const {
    const uint32_t p = view_.queues[q].peer;
    return p < view_.peers.size() ? cat(view_.peers[p]) : std::string("itself");
  }

  std::string wordText(uint32_t q, uint32_t word) const {
    const uint32_t kind = view_.queues[q].kind;
    if (kind == NBC_QUEUE_MANAGEMENT) return cat("the beginning of stage ", word + 1);
    if (kind != NBC_QUEUE_CHAIN) return cat("copy ", word);
    switch (sortOf(word)) {
      case Word::message:
        return cat("message ", numberOf(word));
      case Word::clear:
        return cat("clear to send message ", numberOf(word));
      case Word::answer:
        break;
    }
    return cat("answer ", numberOf(word));
  }

  void send(uint32_t q, const Entry &e) {
    const WordEntry w = view_.word(e);
    const auto put = [&](const char *opcode, const std::string &task) {
      line(view_.queueName(q), e.index, e.segments, opcode, task + signalled(e));
    };
    switch (w.kind) {
      case WordEntry::Kind::wait:
        return put("WAIT", w.queue < view_.queues.size()
                               ? cat("wait for ", wordText(w.queue, w.word), " of ",
                                     view_.queueName(w.queue))
                               : std::string("wait for a word of no queue"));
      case WordEntry::Kind::tell:
        return put("WRITE", cat("tell ", peer(q), ": ", wordText(q, w.word)));
      case WordEntry::Kind::ask:
        return put("READ", cat("ask ", peer(q), " for ", wordText(q, w.word), ", into ",
                               wordText(q, w.into)));
      case WordEntry::Kind::none:
        break;
    }
    std::string what, to;
    for (const nbc_reloc &r : view_.relocsAt(variant_.relocs, e.offset, e.blocks * MLX5_WQEBB)) {
      if (r.rule == NBC_RELOC_RADDR) to = view_.piecesText(r.what, 1);
      if (r.rule != NBC_RELOC_SGE) continue;
      what += (what.empty() ? "" : ", ") + view_.piecesText(r.what, r.extra + 1);
    }
    if (e.opcode == MLX5_WRITE)
      put("WRITE", cat("write ", what, " -> ", to));
    else
      put(e.opcode == MLX5_SEND ? "SEND" : "?", cat("send to ", peer(q), ": ", what));
  }

  void receives(uint32_t q) {
    const nbc_segment *s = view_.segment(variant_.segments, q, NBC_RING_RECV);
    for (uint32_t k = 0; s && k < s->entries; ++k) {
      const uint32_t stride = s->bytes / s->entries;
      std::string what;
      int segments = 0;
      for (const nbc_reloc &r : view_.relocsAt(variant_.relocs, s->offset + k * stride, stride)) {
        what += (what.empty() ? "" : ", ") + view_.piecesText(r.what, r.extra + 1);
        ++segments;
      }
      line(view_.queueName(q), k, segments, "RECV", cat("recv from ", peer(q), ": ", what));
    }
  }

  void management() {
    std::vector<Entry> mq;
    uint32_t number = 0;
    for (uint32_t q = 0; q < view_.queues.size(); ++q)
      if (view_.queues[q].kind == NBC_QUEUE_MANAGEMENT) {
        mq = entries(q);
        number = q;
      }
    size_t next = 0;
    for (uint32_t k = 0; k < variant_.stages.count; ++k) {
      const nbc_stage &stage = view_.stages[variant_.stages.begin + k];
      hosts(k);
      for (; next < mq.size() && mq[next].index < stage.enabled; ++next) send(number, mq[next]);
    }
  }
};

}  // namespace

void printWordTasks(const View &view, const nbc_variant &variant, std::ostream &out) {
  Lister(view, variant, out).print();
}

}  // namespace nbcc::crosschannel
