// SPDX-License-Identifier: BSD-3-Clause
// view.h - a template of messages read back: records from their bytes.
//
// For those who look at what was emitted (disassemble.cpp, verify_template.cpp); emit.cpp shares
// nothing with it but the layout in template.h and message_record.h.

#pragma once

#include <cstdint>
#include <span>

#include "codegen/common/template_view.h"
#include "nbc/message_record.h"

namespace nbcc::messages {

struct View : codegen::TemplateView {
  using TemplateView::TemplateView;

  /// The rank of a record's peer; whether a target of one node does not reach it.
  uint32_t rank(uint32_t peer) const { return peers[peer] & ~(NBC_PEER_REMOTE | NBC_PEER_NEAR); }
  bool isRemote(uint32_t peer) const { return peers[peer] & NBC_PEER_REMOTE; }

  /// That of the queue MESSAGES; null: the variant has none.
  const nbc_segment *segmentOf(const nbc_variant &v) const {
    for (const nbc_segment &s : segmentsOf(v.segments))
      if (queues[s.queue].kind == NBC_QUEUE_MESSAGES) return &s;
    return nullptr;
  }
  std::span<const nbc_message_record> records(const nbc_variant &v) const {
    const nbc_segment *s = segmentOf(v);
    if (!s) return {};
    return {reinterpret_cast<const nbc_message_record *>(code + s->offset),
            s->bytes / sizeof(nbc_message_record)};
  }
  /// What fills one of these in; one at most, if the template is right.
  std::span<const nbc_reloc> fills(const nbc_variant &v, const nbc_message_record &record) const {
    const auto offset = reinterpret_cast<const uint8_t *>(&record) - code;
    return relocsAt(v.relocs, static_cast<uint32_t>(offset), sizeof record);
  }
};

}  // namespace nbcc::messages
