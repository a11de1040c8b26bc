// SPDX-License-Identifier: BSD-3-Clause
// view.h - a template of this target read back: work queue entries decoded from their bytes.
//
// For those who look at what was emitted (disassemble.cpp, verify_template.cpp);
// emit.cpp shares nothing with it but the layout in template.h and mlx5_wqe.h.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/common/template_view.h"

namespace nbcc::crosschannel {

/// A work queue entry as its bytes say it.
struct Entry {
  uint32_t offset = 0;  // in code
  uint32_t index = 0;   // where it stands in its queue, in basic blocks
  uint32_t blocks = 1;
  uint16_t wqeIndex = 0;
  uint8_t opcode = 0, opmod = 0, segments = 0;
  bool signalled = false;
  uint32_t queuePair = 0;
  uint32_t limit = 0, number = 0;  // of WAIT and SEND_EN: their cross-channel segment
};

/// What an entry of a queue that is chained by words does for one, as its bytes say it.
struct WordEntry {
  enum class Kind : uint8_t { none, wait, tell, ask } kind = Kind::none;
  uint32_t queue = 0, word = 0;  // of the row named; tell, ask: of a CHAIN queue the peer's
  uint32_t into = 0;             // ask: the word of its own row
  bool proper = true;            // nothing else in its bytes
};

struct View : codegen::TemplateView {
  using TemplateView::TemplateView;

  std::vector<Entry> entries(const nbc_segment &) const;
  WordEntry word(const Entry &) const;
  bool byWords() const { return header.chaining == NBC_CHAINED_BY_WORDS; }
  /// "eager 3", "data from 3", "mq": the queue, its direction if it has one, and the peer.
  std::string queueName(uint32_t queue) const;
};

}  // namespace nbcc::crosschannel
