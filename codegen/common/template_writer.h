// SPDX-License-Identifier: BSD-3-Clause
// template_writer.h - the memory of a template, and the tables that mean the same for all targets.
//
// A target counts first and then writes:
//
//   TemplateWriter writer(legals);          callers' buffers are there
//   writer.pieces, writer.addBuffer(...)    pieces, rooms, as places.h finds them
//   writer.layOut(peers, queues, sizes)     the memory is taken, once
//   writer.variants()[v] = ...              from front to back
//   return writer.finish(target, ...)       all that was promised is there: header, checksum

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/target.h"
#include "nbc/template.h"

namespace nbcc::codegen {

inline constexpr uint32_t kNone = UINT32_MAX;

class TemplateWriter {
 public:
  /// How many entries the tables have that are written in place.
  struct Sizes {
    uint32_t variants = 0, hosts = 0, stages = 0, segments = 0, relocs = 0, code = 0;
  };

  explicit TemplateWriter(std::span<const Legal>);

  uint32_t addBuffer(const std::string &name, uint32_t role, uint64_t blocks,
                     bool significant = true);
  uint32_t bufferCount() const { return static_cast<uint32_t>(buffers_.size()); }
  /// The buffer of each of the caller's roles; kNone: there is none.
  std::span<const uint32_t, 3> callers() const { return callers_; }

  std::vector<nbc_piece> pieces;

  /// Takes the memory. Code begins on a multiple of 64 bytes. Nothing is added from here on.
  void layOut(const std::vector<uint32_t> &peers, const std::vector<nbc_queue> &queues,
              const Sizes &);

  nbc_variant *variants() { return at<nbc_variant>(header_.variants); }
  nbc_host *hosts() { return at<nbc_host>(header_.hosts); }
  nbc_stage *stages() { return at<nbc_stage>(header_.stages); }
  nbc_segment *segments() { return at<nbc_segment>(header_.segments); }
  nbc_reloc *relocs() { return at<nbc_reloc>(header_.relocs); }
  unsigned char *code() { return at<unsigned char>(header_.code); }
  nbc_template &header() { return header_; }

  /// Stages of hosts and of what they enable, one behind the other in both tables.
  nbc_range addStages(std::span<const nbc_stage> stages, std::span<const nbc_host> hosts);

  /// `device`: null: the first that the target knows.
  Template finish(const Target &, const TargetOptions &);

 private:
  template <class T>
  void reserve(nbc_table &, size_t count);
  template <class T>
  T *at(const nbc_table &entry) {
    return reinterpret_cast<T *>(base_ + entry.offset);
  }

  std::span<const Legal> legals_;
  std::vector<nbc_buffer> buffers_;
  uint32_t callers_[3] = {kNone, kNone, kNone};
  nbc_template header_{};
  Template result_;
  uint32_t offset_ = 0, stages_ = 0, hosts_ = 0;
  unsigned char *base_ = nullptr;
};

/// What a report says of a variant: its rounds, and its sends.
void describe(const Schedule &, nbc_variant &);

}  // namespace nbcc::codegen
