// SPDX-License-Identifier: BSD-3-Clause
// disassemble.cpp - --emit=tasks and --emit=resources, from the bytes of the template alone.
//
//   stage  record  task
//       0       0  recv from 0: out[0]
//       0       1  recv from 0: out[3]
//       1       -  copy in -> out[1]
//       1       2  send to 2: out[1]
//       1       3  wait for 0, recv from 0
//       1       4  send to 2: out[0]
//
// In the order in which it is carried out; a stage's work of the host, which is no record, before
// its records. Pieces of memory: template_view.h.

#include <algorithm>
#include <iomanip>
#include <ostream>

#include "codegen/messages/messages.h"
#include "codegen/messages/view.h"

namespace nbcc::messages {
namespace {

struct Counts {
  uint64_t sends = 0, receives = 0, waits = 0;

  explicit Counts(std::span<const nbc_message_record> records) {
    for (const nbc_message_record &record : records)
      ++(record.op == NBC_MESSAGE_SEND ? sends : record.op == NBC_MESSAGE_RECV ? receives : waits);
  }
};

std::string count(uint64_t n, const char *one) {
  return cat(n, " ", one, n == 1 ? "" : "s");
}

/// "recv from 0", "recv from 4 on another node", "send to 3 on port 1"
std::string messageText(const View &view, const nbc_message_record &record) {
  return cat(record.op == NBC_MESSAGE_SEND ? "send to " : "recv from ", view.rank(record.peer),
             view.isRemote(record.peer) ? " on another node" : "",
             record.port ? cat(" on port ", record.port) : "");
}

void printVariant(const View &view, const nbc_variant &variant, std::ostream &out) {
  const std::span<const nbc_message_record> records = view.records(variant);
  const Counts n(records);
  out << "\nvariant " << view.variantName(variant) << ": " << count(variant.rounds, "round") << ", "
      << count(variant.stages.count, "stage") << ", " << count(n.sends, "send") << ", "
      << count(n.receives, "receive") << ", " << count(n.waits, "wait") << "\n"
      << "  stage  record  task\n";
  const auto line = [&](uint32_t stage) -> std::ostream & { return out << std::setw(7) << stage; };
  uint32_t next = 0;
  for (uint32_t k = 0; k < variant.stages.count; ++k) {
    const nbc_stage &stage = view.stages[variant.stages.begin + k];
    for (uint32_t h = 0; h < stage.hosts_count; ++h)
      line(k) << "       -  " << view.hostText(view.hosts[stage.hosts_begin + h]) << "\n";
    for (; next < stage.records; ++next) {
      const nbc_message_record &record = records[next];
      line(k) << std::setw(8) << next << "  ";
      if (record.op == NBC_MESSAGE_WAIT) {
        out << "wait for " << record.record << ", " << messageText(view, records[record.record])
            << "\n";
        continue;
      }
      out << messageText(view, record) << ": ";
      const std::span<const nbc_reloc> fills = view.fills(variant, record);
      out << (fills.empty() ? "no bytes" : view.piecesText(fills[0].what, fills[0].extra + 1))
          << "\n";
    }
  }
}

}  // namespace

void printTasks(const Template &t, std::ostream &out) {
  const View view(t);
  view.printTitle(out);
  for (const nbc_variant &variant : view.variants) printVariant(view, variant, out);
}

void printResources(const Template &t, std::ostream &out) {
  const View view(t);
  view.printTitle(out);
  uint64_t messages = 0, waits = 0, stages = 0, hosts = 0, staged = 0;
  for (const nbc_variant &v : view.variants) {
    const Counts n(view.records(v));
    messages = std::max(messages, n.sends + n.receives);
    waits = std::max(waits, n.waits);
    stages = std::max<uint64_t>(stages, v.stages.count);
    hosts = std::max(hosts, view.hostSteps(v));
    out << "variant " << view.variantName(v) << ": " << count(v.rounds, "round") << ", "
        << count(n.sends, "send") << ", " << count(n.receives, "receive") << ", "
        << count(n.waits, "wait") << ", " << count(view.hostSteps(v), "host step") << "\n";
  }
  for (const nbc_buffer &buffer : view.buffers)
    if (buffer.role == NBC_ROLE_STAGING) staged = std::max(staged, buffer.blocks);
  out << "peers: " << view.peers.size() << "\n"
      << "messages: " << messages << "\n"
      << "waits: " << waits << "\n"
      << "stages: " << stages << "\n"
      << "staged blocks: " << staged << "\n"
      << "host steps: " << hosts << "\n"
      << "template bytes: " << t.bytes << "\n"
      << "relocations: " << view.relocs.size() << "\n";
}

}  // namespace nbcc::messages
