// SPDX-License-Identifier: BSD-3-Clause
// template_view.cpp - tables of a template, and their entries in words.

#include "codegen/common/template_view.h"

#include <algorithm>
#include <ostream>

#include "dsl/ast.h"

namespace nbcc::codegen {
namespace {

template <class T>
std::span<const T> table(const Template &t, const nbc_table &entry) {
  const auto *base = static_cast<const unsigned char *>(t.data());
  return {reinterpret_cast<const T *>(base + entry.offset), entry.count};
}

const char *kindName(uint32_t kind) {
  static const char *const names[] = {
#define COLLECTIVE(name, ...) #name,
#include "dsl/collectives.def"
  };
  return kind < std::size(names) ? names[kind] : kind == NBC_OWN ? "own" : "?";
}

}  // namespace

TemplateView::TemplateView(const Template &t)
    : header(*static_cast<const nbc_template *>(t.data())),
      buffers(table<nbc_buffer>(t, header.buffers)),
      peers(table<uint32_t>(t, header.peers)),
      queues(table<nbc_queue>(t, header.queues)),
      variants(table<nbc_variant>(t, header.variants)),
      pieces(table<nbc_piece>(t, header.pieces)),
      hosts(table<nbc_host>(t, header.hosts)),
      stages(table<nbc_stage>(t, header.stages)),
      segments(table<nbc_segment>(t, header.segments)),
      relocs(table<nbc_reloc>(t, header.relocs)),
      code(table<unsigned char>(t, header.code).data()) {}

std::span<const nbc_reloc> TemplateView::relocsAt(const nbc_range &run, uint32_t offset,
                                                  uint32_t bytes) const {
  const auto all = relocs.subspan(run.begin, run.count);
  const auto before = [](const nbc_reloc &r, uint32_t at) { return r.at < at; };
  const auto begin = std::lower_bound(all.begin(), all.end(), offset, before);
  const auto end = std::lower_bound(begin, all.end(), offset + bytes, before);
  return {begin, end};
}

const nbc_segment *TemplateView::segment(const nbc_range &run, uint32_t queue,
                                         uint32_t ring) const {
  for (const nbc_segment &s : segmentsOf(run))
    if (s.queue == queue && s.ring == ring) return &s;
  return nullptr;
}

std::string TemplateView::variantName(const nbc_variant &v) const {
  if (v.flags & NBC_VARIANT_CREDIT) return "credit";
  static const char *const protocols[NBC_PROTOCOLS] = {"eager", "rendezvous", "direct"};
  std::string name = protocols[v.protocol % NBC_PROTOCOLS];
  if (v.flags & NBC_VARIANT_CALC) name = v.scalars == 1 ? "calc" : cat("calc of ", v.scalars);
  if (v.flags & NBC_VARIANT_IN_PLACE) name += " in-place";
  return name;
}

/// x, x[i], x[i +: n], x[i +: n of p]: as in the text form of schedules.
std::string TemplateView::lengthsText(const nbc_piece &p) const {
  const nbc_buffer &shape = buffers[p.shape];
  if (p.parts == 1 && p.first == 0 && p.count == 1 && shape.blocks == 1) return shape.name;
  return cat(shape.name, "[", p.first, p.count == 1 ? std::string() : cat(" +: ", p.count),
             p.parts == 1 ? std::string() : cat(" of ", p.parts), "]");
}

std::string TemplateView::piecesText(uint32_t begin, uint32_t count) const {
  std::string text;
  for (uint32_t k = begin; k < begin + count; ++k) {
    const nbc_piece &p = pieces[k];
    if (k > begin) text += ", ";
    if (p.buffer == p.shape) {
      text += lengthsText(p);
      continue;
    }
    text += cat(buffers[p.buffer].name, "[", p.room, "]");
    for (uint32_t b = 0; b < p.before.count; ++b)
      text += " + " + lengthsText(pieces[p.before.begin + b]);
    text += " (" + lengthsText(p) + ")";
  }
  return text;
}

std::string TemplateView::hostText(const nbc_host &h) const {
  std::string text = h.op == NBC_HOST_COPY ? "copy " : "reduce ";
  text += piecesText(h.from.begin, h.from.count);
  if (h.op == NBC_HOST_REDUCE) text += " with " + piecesText(h.with.begin, h.with.count);
  return text + " -> " + piecesText(h.to.begin, h.to.count);
}

void TemplateView::printTitle(std::ostream &out) const {
  out << header.algorithm << " (" << kindName(header.kind) << "): rank " << header.rank << " of "
      << header.ranks << ", root " << header.root << ", " << header.target << " for "
      << header.device
      << (header.lengths == NBC_LENGTHS_EACH ? ", each block of its own length" : "") << "\n";
}

uint64_t TemplateView::hostSteps(const nbc_variant &v) const {
  uint64_t steps = 0;
  for (uint32_t k = 1; k < v.stages.count; ++k) {
    const nbc_stage &stage = stages[v.stages.begin + k];
    const bool last = k + 1 == v.stages.count;
    for (uint32_t h = 0; h < stage.hosts_count; ++h)
      steps += !last || hosts[stage.hosts_begin + h].op == NBC_HOST_REDUCE;
  }
  return steps;
}

}  // namespace nbcc::codegen
