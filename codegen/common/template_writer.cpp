// SPDX-License-Identifier: BSD-3-Clause
// template_writer.cpp - tables at their places in one block of memory, and the header before them.

#include "codegen/common/template_writer.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "codegen/common/places.h"

namespace nbcc::codegen {

static_assert(int(NBC_ALLGATHER) == int(ast::Kind::allgather) &&
                  int(NBC_BARRIER) == int(ast::Kind::barrier) &&
                  int(NBC_NEIGHBOR_ALLTOALL) == int(ast::Kind::neighbor_alltoall) &&
                  int(NBC_OWN) == int(ast::Kind::own),
              "nbc_kind is in the order of collectives.def");

TemplateWriter::TemplateWriter(std::span<const Legal> legals) : legals_(legals) {
  for (const Legal &legal : legals)
    for (const Buffer &buffer : legal.schedule.buffers) {
      if (!buffer.ofCaller()) continue;
      const auto blocks = static_cast<uint64_t>(buffer.blocks);
      uint32_t &known = callers_[roleOf(buffer)];
      if (known == kNone)
        known = addBuffer(buffer.name, roleOf(buffer), blocks, buffer.significant);
      // `out` of reduce_scatter is longer in place: the template has the longest.
      buffers_[known].blocks = std::max(buffers_[known].blocks, blocks);
    }
}

uint32_t TemplateWriter::addBuffer(const std::string &name, uint32_t role, uint64_t blocks,
                                   bool significant) {
  nbc_buffer buffer{};
  buffer.role = role;
  buffer.significant = significant;
  buffer.blocks = blocks;
  std::strncpy(buffer.name, name.c_str(), sizeof buffer.name - 1);
  buffers_.push_back(buffer);
  return bufferCount() - 1;
}

/// Takes the next bytes for a table.
template <class T>
void TemplateWriter::reserve(nbc_table &entry, size_t count) {
  entry = {offset_, static_cast<uint32_t>(count)};
  offset_ += static_cast<uint32_t>((count * sizeof(T) + 7) / 8 * 8);
}

void TemplateWriter::layOut(const std::vector<uint32_t> &peers,
                            const std::vector<nbc_queue> &queues, const Sizes &sizes) {
  constexpr uint32_t kCodeAlignment = 64;  // of work queue entries
  offset_ = sizeof header_;
  reserve<nbc_buffer>(header_.buffers, buffers_.size());
  reserve<uint32_t>(header_.peers, peers.size());
  reserve<nbc_queue>(header_.queues, queues.size());
  reserve<nbc_variant>(header_.variants, sizes.variants);
  reserve<nbc_piece>(header_.pieces, pieces.size());
  reserve<nbc_host>(header_.hosts, sizes.hosts);
  reserve<nbc_stage>(header_.stages, sizes.stages);
  reserve<nbc_segment>(header_.segments, sizes.segments);
  reserve<nbc_reloc>(header_.relocs, sizes.relocs);
  offset_ = (offset_ + kCodeAlignment - 1) / kCodeAlignment * kCodeAlignment;
  reserve<unsigned char>(header_.code, sizes.code);

  result_.bytes = offset_;
  result_.words.resize(offset_ / 8);
  base_ = reinterpret_cast<unsigned char *>(result_.words.data());
  const auto copy = [&](const nbc_table &entry, const auto &from) {
    if (!from.empty())
      std::memcpy(base_ + entry.offset, from.data(), from.size() * sizeof(from[0]));
  };
  copy(header_.buffers, buffers_);
  copy(header_.peers, peers);
  copy(header_.queues, queues);
  copy(header_.pieces, pieces);
}

nbc_range TemplateWriter::addStages(std::span<const nbc_stage> stages,
                                    std::span<const nbc_host> hosts) {
  const nbc_range range{stages_, static_cast<uint32_t>(stages.size())};
  uint32_t begin = hosts_;
  for (nbc_stage stage : stages) {
    stage.hosts_begin = begin;
    begin += stage.hosts_count;
    this->stages()[stages_++] = stage;
  }
  assert(begin == hosts_ + hosts.size());
  std::copy(hosts.begin(), hosts.end(), this->hosts() + hosts_);
  hosts_ = begin;
  return range;
}

Template TemplateWriter::finish(const Target &target, const TargetOptions &options) {
  assert(stages_ == header_.stages.count && hosts_ == header_.hosts.count);
  header_.magic = NBC_TEMPLATE_MAGIC;
  header_.version = NBC_TEMPLATE_VERSION;
  header_.bytes = result_.bytes;
  const Schedule &s = legals_[0].schedule;
  const Device &device = deviceOf(target, options);
  std::strncpy(header_.target, target.name, sizeof header_.target - 1);
  std::strncpy(header_.algorithm, s.algorithm.c_str(), sizeof header_.algorithm - 1);
  std::strncpy(header_.device, device.name, sizeof header_.device - 1);
  header_.kind = static_cast<uint32_t>(s.kind);
  header_.ranks = static_cast<uint32_t>(s.ranks);
  header_.rank = static_cast<uint32_t>(s.rank);
  header_.root = static_cast<uint32_t>(s.root);
  header_.lengths = options.lengths == Blocks::each ? NBC_LENGTHS_EACH : NBC_LENGTHS_EQUAL;
  std::memcpy(base_, &header_, sizeof header_);
  header_.checksum = nbc_template_checksum(base_, result_.bytes);
  std::memcpy(base_, &header_, sizeof header_);
  return std::move(result_);
}

void describe(const Schedule &s, nbc_variant &variant) {
  variant.rounds = static_cast<uint32_t>(s.rounds);
  variant.sends = 0;
  for (const Step &step : s.steps) variant.sends += sends(step);
}

}  // namespace nbcc::codegen
