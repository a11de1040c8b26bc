// SPDX-License-Identifier: BSD-3-Clause
// disassemble.cpp - --emit=tasks and --emit=resources, from the bytes of the template alone.
//
//   queue          index  ds  opcode   task
//   eager 2            0   1  RECV     recv from 2: slots[1] (out[2 +: 2])
//   eager 2            0   3  SEND     send to 2: staging[0] (in[0]), slots[0] (out[1])
//   mq                 2   2  SEND_EN  enable eager 2 up to 1
//   mq                 3   2  WAIT     wait (1 recv CQ) from 2 for #0, signalled
//
// Tasks stand in the order of the management queue: what it enables before the
// SEND_EN that does, receives before the sends that go with the WAIT for them (they
// were posted earlier: ahead of the call, or in nbc_start). `index` counts basic
// blocks of a send queue, or receives; ds is 16-byte segments; both for the first
// call on fresh queues. In brackets: whose lengths a piece of a room has; `room +
// x`: it lies behind x. Work of the host has the stage as its index.

#include <algorithm>

#include "codegen/coredirect/coredirect.h"
#include "codegen/coredirect/disassemble_words.h"
#include "codegen/coredirect/task_lines.h"
#include "codegen/coredirect/view.h"
#include "codegen/messages/view.h"
#include "nbc/mlx5_wqe.h"

namespace nbcc {
namespace {

using namespace crosschannel;

const char *opcodeName(uint8_t opcode) {
  switch (opcode) {
    case MLX5_NOP:
      return "NOP";
    case MLX5_WRITE:
      return "WRITE";
    case MLX5_SEND:
      return "SEND";
    case MLX5_WRITE_IMM:
      return "WRITEIMM";
    case MLX5_WAIT:
      return "WAIT";
    case MLX5_SEND_EN:
      return "SEND_EN";
  }
  return "?";
}

/// One variant, line by line.
class Lister : TaskLines {
 public:
  Lister(const View &view, const messages::View &records, const nbc_variant &variant,
         std::ostream &out)
      : TaskLines(view, variant, out), records_(records), queues_(view.queues.size()) {
    for (uint32_t q = 0; q < queues_.size(); ++q) {
      if (view.queues[q].kind == NBC_QUEUE_MESSAGES) continue;
      if (const nbc_segment *s = view.segment(variant.segments, q, NBC_RING_SEND))
        queues_[q].sends = view.entries(*s);
      const bool credit = variant.flags & NBC_VARIANT_CREDIT;
      const bool ahead =
          !credit && variant.protocol == NBC_EAGER && view.queues[q].kind == NBC_QUEUE_EAGER;
      queues_[q].receives =
          view.segment(ahead ? view.header.ahead_segments : variant.segments, q, NBC_RING_RECV);
      queues_[q].receiveRelocs = ahead ? view.header.ahead_relocs : variant.relocs;
    }
  }

  void print() {
    header();
    std::vector<Entry> mq;
    for (uint32_t q = 0; q < queues_.size(); ++q)
      if (view_.queues[q].kind == NBC_QUEUE_MANAGEMENT) {
        mq = queues_[q].sends;
        mq_ = q;
      }
    size_t next = 0;
    for (uint32_t k = 0; k < variant_.stages.count; ++k) {
      const nbc_stage &stage = view_.stages[variant_.stages.begin + k];
      hosts(k);
      for (; record_ < stage.records; ++record_) record(record_);
      size_t end = next;
      while (end < mq.size() && mq[end].index < stage.enabled) ++end;
      management(std::span(mq).subspan(next, end - next));
      next = end;
    }
    for (uint32_t q = 0; q < queues_.size(); ++q) {  // nothing, unless the template is damaged
      receivesUpTo(q, UINT32_MAX);
      sendsUpTo(q, UINT32_MAX);
    }
  }

 private:
  struct Queue {
    std::vector<Entry> sends;
    const nbc_segment *receives = nullptr;
    nbc_range receiveRelocs{};
    uint32_t listed = 0;  // receives
    size_t sent = 0;      // sends
    uint32_t waited[2] = {0, 0};
  };

  void header() {
    size_t sends = 0, entries = 0;
    for (uint32_t q = 0; q < queues_.size(); ++q)
      (view_.queues[q].kind == NBC_QUEUE_MANAGEMENT ? entries : sends) += queues_[q].sends.size();
    title(cat(count(sends, "send", "sends"), ", ",
              count(entries, "management entry", "management entries")));
  }

  /// What stays within the node: its index is that of the record.
  void record(uint32_t k) {
    const std::span<const nbc_message_record> all = records_.records(variant_);
    const bool wait = all[k].op == NBC_MESSAGE_WAIT;
    const nbc_message_record &r = wait ? all[all[k].record] : all[k];
    const bool sent = r.op == NBC_MESSAGE_SEND;
    std::string task =
        cat(wait ? "wait for " : "", sent ? "send to " : "recv from ", records_.rank(r.peer));
    if (wait) {
      task += cat(", record ", all[k].record);
    } else {
      const std::span<const nbc_reloc> fills = records_.fills(variant_, r);
      task +=
          fills.empty() ? ": no bytes" : ": " + view_.piecesText(fills[0].what, fills[0].extra + 1);
    }
    line("node", k, -1, wait ? "WAIT" : sent ? "SEND" : "RECV", task);
  }

  void management(std::span<const Entry> entries) {
    for (size_t i = 0; i < entries.size(); ++i) {
      const Entry &e = entries[i];
      if (e.opcode == MLX5_SEND_EN) {
        const bool first = i == 0 || entries[i - 1].opcode != MLX5_SEND_EN;
        if (first) announce(entries.subspan(i));
        sendsUpTo(e.number, e.limit);
        line("mq", e.index, e.segments, "SEND_EN",
             cat("enable ", view_.queueName(e.number), " up to ", e.limit, signalled(e)));
      } else if (e.opcode == MLX5_WAIT) {
        wait(e);
      } else {
        line("mq", e.index, e.segments, opcodeName(e.opcode), cat("nothing", signalled(e)));
      }
    }
  }

  uint8_t side(const Entry &wait) const {
    for (const nbc_reloc &r : view_.relocsAt(variant_.relocs, wait.offset, MLX5_WQEBB))
      if (r.rule == NBC_RELOC_WAIT || r.rule == NBC_RELOC_CREDIT) return r.side;
    return NBC_SIDE_RECV;
  }

  bool isCredit(const Entry &wait) const {
    for (const nbc_reloc &r : view_.relocsAt(variant_.relocs, wait.offset, MLX5_WQEBB))
      if (r.rule == NBC_RELOC_CREDIT) return true;
    return false;
  }

  /// Receives that the next WAITs are for, before the sends that are enabled now.
  void announce(std::span<const Entry> entries) {
    size_t i = 0;
    while (i < entries.size() && entries[i].opcode == MLX5_SEND_EN) ++i;
    for (; i < entries.size() && entries[i].opcode == MLX5_WAIT; ++i) {
      const Entry &e = entries[i];
      if (e.number < queues_.size() && view_.queues[e.number].kind != NBC_QUEUE_CTS &&
          side(e) == NBC_SIDE_RECV)
        receivesUpTo(e.number, e.limit + 1);
    }
  }

  void wait(const Entry &e) {
    if (e.number >= queues_.size()) return;
    const uint8_t at = side(e);
    Queue &queue = queues_[e.number];
    const nbc_queue &facts = view_.queues[e.number];
    if (isCredit(e)) {
      receivesUpTo(e.number, 1);
      return line("mq", e.index, e.segments, "WAIT",
                  cat("wait for the credit of the window before from ", peer(facts)));
    }
    if (at == NBC_SIDE_RECV) receivesUpTo(e.number, e.limit + 1);
    const int64_t more = int64_t{e.limit} + 1 - queue.waited[at];
    queue.waited[at] = std::max(queue.waited[at], e.limit + 1);
    const bool token = facts.kind == NBC_QUEUE_DIRECT && at == NBC_SIDE_RECV && getsToken(e.number);
    const char *which = token && e.limit == 0         ? "token"
                        : facts.kind == NBC_QUEUE_CTS ? "CTS"
                        : at == NBC_SIDE_RECV         ? "recv"
                                                      : "send";
    std::string whom = facts.kind == NBC_QUEUE_LOOPBACK ? " loopback"
                       : at == NBC_SIDE_RECV            ? cat(" from ", peer(facts))
                                                        : cat(" to ", peer(facts));
    line("mq", e.index, e.segments, "WAIT",
         cat("wait (", more, " ", which, " CQ)", whom, " for #", e.limit, signalled(e)));
  }

  /// A direct queue's first receive is for a token where its peer receives: if data go there.
  bool getsToken(uint32_t q) const {
    return !queues_[q].sends.empty() && queues_[q].sends.back().opcode == MLX5_WRITE_IMM;
  }

  /// What a message of no bytes on a CTS queue says.
  const char *clear() const { return variant_.flags & NBC_VARIANT_CREDIT ? "credit" : "CTS"; }

  std::string peer(const nbc_queue &q) const {
    return q.peer < view_.peers.size() ? cat(view_.peers[q.peer]) : std::string("itself");
  }

  void receivesUpTo(uint32_t q, uint32_t count) {
    if (q >= queues_.size()) return;
    Queue &queue = queues_[q];
    if (!queue.receives) return;
    const nbc_segment &s = *queue.receives;
    for (; queue.listed < std::min(count, s.entries); ++queue.listed) {
      const uint32_t stride = s.bytes / s.entries;
      const uint32_t offset = s.offset + queue.listed * stride;
      std::string what;
      int segments = 0;
      for (const nbc_reloc &r : view_.relocsAt(queue.receiveRelocs, offset, stride)) {
        what += what.empty() ? "" : ", ";
        what += place(r);
        ++segments;
      }
      const nbc_queue &facts = view_.queues[q];
      const bool token = facts.kind == NBC_QUEUE_DIRECT && queue.listed == 0 && getsToken(q);
      std::string task = facts.kind == NBC_QUEUE_CTS ? cat("recv ", clear(), " from ", peer(facts))
                         : token                     ? cat("recv token from ", peer(facts))
                         : facts.kind == NBC_QUEUE_LOOPBACK ? std::string("recv result")
                                                            : cat("recv from ", peer(facts));
      if (facts.kind != NBC_QUEUE_CTS && !token) task += ": " + (what.empty() ? "no bytes" : what);
      line(view_.queueName(q), queue.listed, segments, "RECV", task);
    }
  }

  void sendsUpTo(uint32_t q, uint32_t blocks) {
    if (q >= queues_.size() || q == mq_) return;
    Queue &queue = queues_[q];
    for (; queue.sent < queue.sends.size(); ++queue.sent) {
      const Entry &e = queue.sends[queue.sent];
      if (e.index >= blocks) return;
      const nbc_queue &facts = view_.queues[q];
      std::string what, to;
      for (const nbc_reloc &r : view_.relocsAt(variant_.relocs, e.offset, e.blocks * MLX5_WQEBB)) {
        if (r.rule == NBC_RELOC_RADDR) to = view_.piecesText(r.what, 1);
        if (r.rule != NBC_RELOC_SGE && r.rule != NBC_RELOC_SLOT) continue;
        what += what.empty() ? "" : ", ";
        what += place(r);
      }
      std::string task;
      if (facts.kind == NBC_QUEUE_CTS)
        task = cat("send ", clear(), " to ", peer(facts));
      else if (facts.kind == NBC_QUEUE_DIRECT && e.opcode == MLX5_SEND)
        task = cat("send token to ", peer(facts));
      else if (e.opcode == MLX5_WRITE_IMM)
        task = cat("write to ", peer(facts), ": ", what.empty() ? "no bytes" : what);
      else if (e.opcode == MLX5_WRITE)
        task = cat("write ", what, " -> ", to);
      else if (facts.kind == NBC_QUEUE_LOOPBACK)
        task = cat("calc ", what);
      else
        task = cat("send to ", peer(facts), ": ", what.empty() ? "no bytes" : what);
      line(view_.queueName(q), e.index, e.segments, opcodeName(e.opcode), task + signalled(e));
    }
  }

  std::string place(const nbc_reloc &r) const {
    if (r.rule == NBC_RELOC_ROOM)
      return cat(view_.buffers[r.what].name, "[", r.addend,
                 r.extra == 1 ? std::string() : cat(" +: ", r.extra), "]");
    if (r.rule == NBC_RELOC_SGE) return view_.piecesText(r.what, r.extra + 1);
    const std::string vector = view_.piecesText(r.what, 1);
    return r.extra + 1 == variant_.scalars ? vector : cat(vector, " slot ", r.addend);
  }

  const messages::View &records_;
  std::vector<Queue> queues_;
  uint32_t record_ = 0;
  uint32_t mq_ = UINT32_MAX;
};

/// How often a call does not go on without the host: stages with records, and those behind the
/// first with entries for the adapter. 0: all is overlapped.
uint32_t turnsOf(const View &view, const nbc_variant &v) {
  uint32_t turns = 0;
  for (uint32_t k = 0; k < v.stages.count; ++k) {
    const nbc_stage &stage = view.stages[v.stages.begin + k];
    const nbc_stage before = k ? (&stage)[-1] : nbc_stage{};
    turns += stage.records > before.records || (k > 0 && stage.enabled > before.enabled);
  }
  return turns;
}

/// Entries of all queues for one call, and its receives.
uint64_t queueEntries(const View &view, const nbc_variant &v) {
  uint64_t entries = 0;
  for (const nbc_segment &s : view.segmentsOf(v.segments))
    if (view.queues[s.queue].kind != NBC_QUEUE_MESSAGES)
      entries += s.ring == NBC_RING_SEND ? view.entries(s).size() : s.entries;
  if (v.protocol == NBC_EAGER && !(v.flags & NBC_VARIANT_CREDIT))
    for (const nbc_segment &s : view.segmentsOf(view.header.ahead_segments)) entries += s.entries;
  return entries;
}

/// Words of all rows, of a call: as many as somebody names.
uint64_t wordsOf(const View &view) {
  std::vector<uint64_t> rows(view.queues.size());
  for (const nbc_reloc &r : view.relocs)
    if (r.rule == NBC_RELOC_WORD_WAIT || r.rule == NBC_RELOC_WORD_OWN ||
        r.rule == NBC_RELOC_WORD_INTO)
      rows[r.what] = std::max(rows[r.what], uint64_t{r.addend} + 1);
  uint64_t all = 0;
  for (const uint64_t row : rows) all += row;
  return all;
}

/// How many queue pairs there would be with three for each connection, as the papers count:
/// connections serve both ways if all do.
uint64_t indirectPairs(const View &view) {
  std::vector<char> ways(view.queues.size());
  for (const nbc_variant &v : view.variants)
    for (const nbc_segment &s : view.segmentsOf(v.segments)) {
      if (view.queues[s.queue].kind != NBC_QUEUE_DIRECT || s.ring != NBC_RING_SEND) continue;
      for (const Entry &e : view.entries(s)) ways[s.queue] |= e.opcode == MLX5_SEND ? 1 : 2;
    }
  uint64_t one = 0, both = 0;
  for (const char way : ways) {
    one += way == 1 || way == 2;
    both += way == 3;
  }
  return 3 * (one ? one + 2 * both : both);
}

/// How many calls may be under way at once on such an adapter, as the runtime counts; it takes no
/// more than 1,024, and of a direct plan one.
uint32_t mostCalls(const Template &t, const View &view, const Device &device) {
  const nbc_hca_facts facts = coredirect_facts(device);
  uint32_t fit = 0;
  for (const nbc_variant &v : view.variants)
    if (v.protocol == NBC_DIRECT) return nbc_hca_fits(t.data(), t.bytes, 1, &facts, nullptr) == 0;
  for (uint32_t step = 1024; step > 0; step /= 2)
    if (fit + step <= 1024 && nbc_hca_fits(t.data(), t.bytes, fit + step, &facts, nullptr) == 0)
      fit += step;
  return fit;
}

}  // namespace

void coredirect_printTasks(const Template &t, std::ostream &out) {
  const View view(t);
  const messages::View records(t);
  view.printTitle(out);
  for (const nbc_variant &variant : view.variants)
    if (view.byWords())
      printWordTasks(view, variant, out);
    else
      Lister(view, records, variant, out).print();
}

namespace {

/// What calls the adapter reduces, and what else is left to hosts.
void printReductions(const View &view, std::ostream &out) {
  static constexpr struct {
    mlx5_calc calc;
    const char *what;
  } kinds[] = {{MLX5_CALC_ADD_U64, "i64 and u64 sum"}, {MLX5_CALC_MAX_U64, "min, max"},
               {MLX5_CALC_AND, "band, land"},          {MLX5_CALC_OR, "bor, lor"},
               {MLX5_CALC_XOR, "bxor, lxor"},          {MLX5_CALC_ADD_F64, "f64 sum"}};
  uint32_t operations = 0, scalars = 0;
  for (const nbc_variant &v : view.variants) {
    operations |= v.calc;
    scalars = std::max(scalars, v.scalars);
  }
  if (operations == 0) return;
  out << "reduced by the adapter: up to " << scalars << (scalars == 1 ? " element" : " elements");
  for (const auto &kind : kinds)
    if (operations >> kind.calc & 1) out << ", " << kind.what;
  out << "; else by the host\n";
}

}  // namespace

void coredirect_printResources(const Template &t, std::ostream &out) {
  const View view(t);
  const messages::View within(t);
  uint32_t turns = 0;
  view.printTitle(out);
  uint32_t ports = 1, near = 0, records = 0;
  uint64_t pairs = 0, direct = 0, management = 0, completion = 0, slots = 0, entries = 0, hosts = 0;
  for (const nbc_queue &q : view.queues) {
    if (q.kind == NBC_QUEUE_MESSAGES) continue;
    ports = std::max(ports, q.port + 1);
    management += q.kind == NBC_QUEUE_MANAGEMENT;
    pairs += q.peer < view.peers.size();
    direct += q.kind == NBC_QUEUE_DIRECT;
    // A CQ for receives and one for sends; the first is of no use to the management
    // queue, the second to clear-to-sends.
    // Chained by words only what the host polls, and what receives have to have.
    completion += view.byWords() ? q.kind != NBC_QUEUE_LOOPBACK
                  : q.kind == NBC_QUEUE_MANAGEMENT || q.kind == NBC_QUEUE_CTS ? 1
                                                                              : 2;
  }
  for (const nbc_segment &s : view.segmentsOf(view.header.ahead_segments)) slots += s.entries;
  for (const nbc_variant &v : view.variants) {
    entries = std::max(entries, queueEntries(view, v));
    hosts = std::max(hosts, view.hostSteps(v));
    turns = std::max(turns, turnsOf(view, v));
    if (v.flags & NBC_VARIANT_CREDIT) continue;
    out << "variant " << view.variantName(v) << ": " << v.rounds << " rounds, " << v.sends
        << " sends, " << queueEntries(view, v) << " work queue entries, " << view.hostSteps(v)
        << " host steps\n";
  }
  printReductions(view, out);
  for (const uint32_t peer : view.peers) near += (peer & NBC_PEER_NEAR) != 0;
  for (const nbc_variant &v : view.variants)
    records = std::max(records, static_cast<uint32_t>(within.records(v).size()));
  if (near)
    out << "peers on the node: " << near << "\n"
        << "records: " << records << "\n"
        << "turns of the host: " << turns << "\n";
  out << "peer queue pairs: " << pairs << "\n";
  if (ports > 1) out << "ports: " << ports << "\n";
  if (direct) out << "peer queue pairs of eager and rendezvous: " << indirectPairs(view) << "\n";
  out << "management queues: " << management << "\n"
      << "completion queues: " << completion << "\n"
      << "receive slots: " << slots << "\n";
  if (view.byWords()) out << "words: " << wordsOf(view) << "\n";
  out << "work queue entries: " << entries << "\n"
      << "template bytes: " << t.bytes << "\n"
      << "relocations: " << view.relocs.size() << "\n"
      << "host steps: " << hosts << "\n";
  for (const Device &device : coredirect.devices)
    if (std::string_view(view.header.device) == device.name)
      out << "calls under way: at most " << mostCalls(t, view, device) << "\n";
}

}  // namespace nbcc
