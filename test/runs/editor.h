// SPDX-License-Identifier: BSD-3-Clause
// editor.h - mistakes in a template's entries, in the bytes and in what will be filled in there at
// the call, as a compiler that made this mistake would have written both.

#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "codegen/coredirect/view.h"
#include "nbc/mlx5_wqe.h"

namespace nbcc {

/// A template that can be written to.
class Editor {
 public:
  explicit Editor(Template &t) : t_(t), view(t) {}
  ~Editor() {
    auto *header = reinterpret_cast<nbc_template *>(t_.words.data());
    header->checksum = nbc_template_checksum(t_.data(), t_.bytes);
  }

  template <class T>
  T &edit(const T &entry) {
    return const_cast<T &>(entry);  // of t_, which is not const
  }
  unsigned char *code(uint32_t at) { return const_cast<unsigned char *>(view.code) + at; }

  /// The relocations of an entry that follow a rule, from a run of them.
  std::vector<nbc_reloc *> relocs(const nbc_range &run, const crosschannel::Entry &e,
                                  std::initializer_list<int> rules) {
    std::vector<nbc_reloc *> found;
    for (const nbc_reloc &r : view.relocsAt(run, e.offset, e.blocks * MLX5_WQEBB))
      if (std::count(rules.begin(), rules.end(), int{r.rule})) found.push_back(&edit(r));
    return found;
  }

 private:
  Template &t_;

 public:
  const crosschannel::View view;
};

/// Where a mistake can be made: an entry of a queue, of a variant.
struct Site {
  uint32_t variant, queue;
  crosschannel::Entry entry;
  std::string where;
};

inline std::vector<Site> sitesOf(const Template &t) {
  const crosschannel::View view(t);
  std::vector<Site> sites;
  for (uint32_t v = 0; v < view.variants.size(); ++v)
    for (uint32_t q = 0; q < view.queues.size(); ++q) {
      const nbc_segment *s = view.segment(view.variants[v].segments, q, NBC_RING_SEND);
      if (!s) continue;
      for (const crosschannel::Entry &e : view.entries(*s))
        sites.push_back({v, q, e,
                         cat(view.variantName(view.variants[v]), ", entry ", e.index, " of ",
                             view.queueName(q))});
    }
  return sites;
}

/// Changes the index of a WAIT or the limit of a SEND_EN by `by`.
inline bool shift(Editor &t, const Site &s, uint8_t opcode, int by) {
  const nbc_variant &v = t.view.variants[s.variant];
  if (s.entry.opcode != opcode || static_cast<int64_t>(s.entry.limit) + by < 0) return false;
  auto limits = t.relocs(v.relocs, s.entry, {NBC_RELOC_WAIT, NBC_RELOC_ENABLE});
  if (limits.size() != 1) return false;  // the WAIT of a credit, whose index is not in the bytes
  limits[0]->addend += static_cast<uint32_t>(by);
  mlx5_put32(t.code(s.entry.offset + MLX5_SEGMENT + MLX5_CD_INDEX),
             s.entry.limit + static_cast<uint32_t>(by));
  return true;
}

inline bool drop(Editor &t, const Site &s, uint8_t opcode) {
  if (s.entry.opcode != opcode) return false;
  unsigned char *wqe = t.code(s.entry.offset);
  wqe[MLX5_CTRL_OPCODE] = MLX5_NOP;
  wqe[MLX5_CTRL_DS] = 1;
  return true;
}

/// WAIT, SEND_EN: of this queue; a WAIT of this side of it, where one is given.
inline bool rename(Editor &t, const Site &s, uint32_t queue, int side = -1) {
  const nbc_variant &v = t.view.variants[s.variant];
  mlx5_put32(t.code(s.entry.offset + MLX5_SEGMENT + MLX5_CD_NUMBER), queue);
  auto named = t.relocs(v.bind, s.entry, {NBC_RELOC_CQN, NBC_RELOC_ENABLE_QPN});
  for (nbc_reloc *r :
       t.relocs(v.relocs, s.entry, {NBC_RELOC_WAIT, NBC_RELOC_ENABLE, NBC_RELOC_CREDIT}))
    named.push_back(r);
  for (nbc_reloc *r : named) {
    r->what = queue;
    if (side >= 0) r->side = static_cast<uint8_t>(side);
  }
  return true;
}

/// An entry that waits for a word, tells or asks for one: of this word in the row of this queue.
inline void renameWord(Editor &t, const crosschannel::Entry &e, uint32_t queue, uint32_t word) {
  const uint32_t at = e.offset + MLX5_SEGMENT;
  const bool waits = e.opcode == MLX5_WAIT;
  mlx5_put64(t.code(at + (waits ? MLX5_WORD_ADDR : MLX5_RADDR_ADDR)), 8 * uint64_t{word});
  mlx5_put32(t.code(at + (waits ? MLX5_WORD_LKEY : MLX5_RADDR_RKEY)), queue);
  for (const nbc_reloc &r : t.view.relocs) {
    if (r.at != at) continue;
    t.edit(r).what = queue;
    t.edit(r).addend = word;
  }
}

}  // namespace nbcc
