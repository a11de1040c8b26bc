// SPDX-License-Identifier: BSD-3-Clause
// messages.h - templates of a target of messages, to be changed.
//
// Which target, who includes this has said before: nbcc::tested (stages.h).

#pragma once

#include <cstring>

#include "codegen/messages/messages.h"
#include "codegen/messages/view.h"
#include "test/codegen/stages.h"

namespace nbcc {

inline void seal(Template &t) {
  auto *header = reinterpret_cast<nbc_template *>(t.words.data());
  header->checksum = nbc_template_checksum(t.words.data(), t.bytes);
}

/// A table's entry or a record, to be changed.
template <class T>
T &changed(const T &entry) {
  return const_cast<T &>(entry);
}

/// Records of one variant, with what fills them in: both are one behind the other.
struct Editor {
  messages::View view;
  const nbc_variant &variant;
  std::span<const nbc_message_record> records;
  std::span<const nbc_stage> stages;

  explicit Editor(const Template &t, size_t v = 0)
      : view(t),
        variant(view.variants[v]),
        records(view.records(variant)),
        stages(view.stages.subspan(variant.stages.begin, variant.stages.count)) {}

  nbc_reloc *fill(uint32_t k) {
    const auto fills = view.fills(variant, records[k]);
    return fills.empty() ? nullptr : &changed(fills[0]);
  }

  /// Two neighbours change places, and whoever waits for one of them knows it.
  void swap(uint32_t k) {
    nbc_reloc *first = fill(k), *second = fill(k + 1);
    constexpr auto size = static_cast<uint32_t>(sizeof(nbc_message_record));
    if (first) first->at += size;
    if (second) second->at -= size;
    if (first && second) std::swap(*first, *second);
    std::swap(changed(records[k]), changed(records[k + 1]));
    for (const nbc_message_record &r : records)
      if (r.op == NBC_MESSAGE_WAIT && (r.record == k || r.record == k + 1))
        changed(r).record = 2 * k + 1 - r.record;
  }

  /// Takes out a record, which is a WAIT.
  void drop(uint32_t k) {
    constexpr auto size = static_cast<uint32_t>(sizeof(nbc_message_record));
    nbc_segment &segment = changed(view.segments[variant.segments.begin]);
    for (const nbc_reloc &r : view.relocs.subspan(variant.relocs.begin, variant.relocs.count))
      if (r.at > segment.offset + k * size) changed(r).at -= size;
    auto *all = const_cast<nbc_message_record *>(records.data());
    std::memmove(all + k, all + k + 1, (records.size() - k - 1) * size);
    segment.bytes -= size;
    --segment.entries;
    for (size_t i = 0; i + 1 < records.size(); ++i)
      if (all[i].op == NBC_MESSAGE_WAIT && all[i].record > k) --all[i].record;
    for (const nbc_stage &stage : stages)
      if (stage.records > k) --changed(stage).records;
  }
};

}  // namespace nbcc
