// SPDX-License-Identifier: BSD-3-Clause
// view.h - a template read back: tables as spans, work queue entries decoded from their bytes.
//
// For those who look at what was emitted (disassemble.cpp, verify_template.cpp);
// emit.cpp shares nothing with it but the layout in template.h and mlx5_wqe.h.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/target.h"
#include "nbc/template.h"

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

struct View {
  explicit View(const Template &);

  const nbc_template &header;
  std::span<const nbc_buffer> buffers;
  std::span<const uint32_t> peers;
  std::span<const nbc_queue> queues;
  std::span<const nbc_variant> variants;
  std::span<const nbc_piece> pieces;
  std::span<const nbc_host> hosts;
  std::span<const nbc_stage> stages;
  std::span<const nbc_segment> segments;
  std::span<const nbc_reloc> relocs;
  const unsigned char *code;

  std::span<const nbc_segment> segmentsOf(const nbc_range &r) const {
    return segments.subspan(r.begin, r.count);
  }
  /// The relocations of a run that lie in [offset, offset + bytes) of code, which ascend.
  std::span<const nbc_reloc> relocsAt(const nbc_range &, uint32_t offset, uint32_t bytes) const;
  std::vector<Entry> entries(const nbc_segment &) const;
  /// The queue's number in the table: null if the variant has no such segment.
  const nbc_segment *segment(const nbc_range &, uint32_t queue, uint32_t ring) const;

  /// "eager 3", "data from 3", "mq": the queue, its direction if it has one, and the peer.
  std::string queueName(uint32_t queue) const;
  /// "eager in-place".
  std::string variantName(const nbc_variant &) const;
};

}  // namespace nbcc::crosschannel
