// SPDX-License-Identifier: BSD-3-Clause
// template_view.h - a template read back: its tables as spans, and what is in them as words.
//
// For those who look at what was emitted (disassemblers, verifyTemplate); those who write share
// nothing with it but the layout in template.h. What the bytes of segments mean is the target's.

#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>

#include "codegen/target.h"
#include "nbc/template.h"

namespace nbcc::codegen {

struct TemplateView {
  explicit TemplateView(const Template &);

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
  /// The queue's number in the table: null if the variant has no such segment.
  const nbc_segment *segment(const nbc_range &, uint32_t queue, uint32_t ring) const;

  /// "eager in-place".
  std::string variantName(const nbc_variant &) const;
  /// "out[1], staging[0] + out[3] (out[0 +: 2])": in brackets whose lengths a piece of a room has;
  /// `room + x`: it lies behind x.
  std::string piecesText(uint32_t begin, uint32_t count) const;
  /// "copy in -> out[2]".
  std::string hostText(const nbc_host &) const;

  /// "ring (allgather): rank 1 of 4, root 0, coredirect for soft".
  void printTitle(std::ostream &) const;
  /// What the host does while the call is under way: all between the stages, and
  /// reductions at their ends; copies out of rooms are not counted.
  uint64_t hostSteps(const nbc_variant &) const;

 private:
  std::string lengthsText(const nbc_piece &) const;
};

}  // namespace nbcc::codegen
