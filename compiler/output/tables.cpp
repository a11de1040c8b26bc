// SPDX-License-Identifier: BSD-3-Clause
// tables.cpp - from what a library is to hold to its tables, as runtime/include/nbc/library.h has
// them.
//
//   header | code | algorithms, parameters, ... | text | templates, each on a multiple of 64
//
// Algorithms are put in the order of their names, templates in that in which they are looked up.

#include "compiler/output/tables.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>

#include "compiler/abi/abi.h"
#include "compiler/abi/version.h"
#include "compiler/lower/lower.h"
#include "dsl/collectives.h"
#include "nbc/library.h"

namespace nbcc {
namespace {

constexpr size_t kAlignment = 64;  // of templates

/// For people; what the numbers are, codegen/target.h says.
std::string facts(const Device &d) {
  if (!d.crossChannel) return d.summary;  // the numbers are of adapters
  std::string calc;
  for (int i = 0; i < 32; ++i)
    if (d.calc >> i & 1) calc += cat(calc.empty() ? "" : "+", i);
  return cat("gathers ", d.maxGather, ", scatters ", d.maxScatter, ", queues of 2^", d.logQueue,
             " entries, ", d.inlineBytes, " bytes inline", calc.empty() ? "" : ", reduces " + calc);
}

class Layout {
 public:
  Layout(LibraryContent &content, const Diag &diag) : content_(content), diag_(diag) {
    addText("");
  }

  LibraryTables layOut() {
    sortAlgorithms();
    // Compiled code names files by the Diag's numbers, so the library numbers them alike.
    for (uint16_t file = 0; file < diag_.files(); ++file)
      sources_.push_back(addText(diag_.fileName(file)));
    for (const LibraryContent::Algorithm &a : content_.algorithms) add(a);
    for (const LibraryContent::Platform &p : content_.platforms) add(p);
    for (const LibraryContent::Operator &o : content_.operators)
      operators_.push_back({addText(o.name), addText(o.type),
                            addCode(LibraryTables::kOperators, o.name), uint32_t(o.elementBytes)});
    if (result_.code.size() % 2) codePadding_ = 1;
    const size_t code = result_.code.size() + codePadding_;

    nbc_library header = {};
    header.magic = NBC_LIBRARY_MAGIC;
    header.version = NBC_LIBRARY_VERSION;
    header.build_version = kBuildVersion;
    copyName(header.name, content_.name);
    copyName(header.compiler, "nbcc " NBCC_VERSION);
    copyName(header.architecture, NBCC_ARCHITECTURE);
    header.cpu_level =
        std::string_view(NBCC_ARCHITECTURE) == "x86_64" ? uint32_t(content_.cpuLevel) : 0;
    header.code = {sizeof header, uint32_t(code)};
    first_ = sizeof header + 4 * code;
    header.algorithms = append(algorithms_);
    header.parameters = append(parameters_);
    header.requirements = append(requirements_);
    header.extents = append(extents_);
    header.targets = append(targets_);
    const size_t templatesAt = result_.rest.size();
    templates_.resize(content_.templates.size());
    header.templates = append(templates_);  // room; filled in below
    header.operators = append(operators_);
    header.sources = append(sources_);
    header.text = append(text_);
    result_.rest.resize(roundUp(first_ + result_.rest.size(), kAlignment) - first_);
    header.templates_begin = first_ + result_.rest.size();
    appendTemplates(templatesAt);
    header.bytes = first_ + result_.rest.size();
    header.checksum = checksum(header);
    result_.header = bytesOf(header);
    return std::move(result_);
  }

 private:
  static size_t roundUp(size_t n, size_t to) { return (n + to - 1) / to * to; }

  template <size_t size>
  static void copyName(char (&to)[size], std::string_view from) {
    std::memcpy(to, from.data(), std::min(size - 1, from.size()));
  }

  template <class T>
  static std::vector<std::byte> bytesOf(const T &value) {
    const auto *begin = reinterpret_cast<const std::byte *>(&value);
    return {begin, begin + sizeof value};
  }

  uint32_t addText(const std::string &s) {
    const auto [at, fresh] = known_.try_emplace(s, uint32_t(text_.size()));
    if (fresh) text_.insert(text_.end(), s.c_str(), s.c_str() + s.size() + 1);
    return at->second;
  }

  uint32_t addCode(size_t file, std::string name) {
    result_.code.push_back({file, std::move(name)});
    return uint32_t(result_.code.size() - 1);
  }

  void sortAlgorithms() {
    std::vector<size_t> order(content_.algorithms.size()), position(order.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {},
                      [&](size_t i) { return fullName(*content_.algorithms[i].algorithm); });
    std::vector<LibraryContent::Algorithm> sorted;
    for (size_t i = 0; i < order.size(); ++i) {
      position[order[i]] = i;
      sorted.push_back(std::move(content_.algorithms[order[i]]));
    }
    content_.algorithms = std::move(sorted);
    std::ranges::sort(content_.operators, {}, &LibraryContent::Operator::name);
    for (LibraryContent::Finished &t : content_.templates) t.algorithm = position[t.algorithm];
    std::ranges::sort(content_.templates, {}, [](const LibraryContent::Finished &t) {
      return std::tuple(t.algorithm, t.platform, t.ranks, t.root, t.rank);
    });
  }

  void add(const LibraryContent::Algorithm &one) {
    const ast::Algorithm &a = *one.algorithm;
    const Collective kind = collective(a);
    nbc_library_algorithm entry = {};
    entry.place = toPlace(a.loc);
    entry.name = addText(fullName(a));
    entry.kind = uint32_t(a.kind);
    const auto flag = [](bool holds, nbc_library_flags f) { return holds ? uint32_t{f} : 0; };
    entry.flags =
        flag(a.topology, NBC_LIBRARY_TOPOLOGY) | flag(kind.hasGraph(), NBC_LIBRARY_NEIGHBORS) |
        flag(kind.reduces, NBC_LIBRARY_REDUCES) | flag(one.rankOrder, NBC_LIBRARY_RANK_ORDER) |
        flag(one.bitwiseSame, NBC_LIBRARY_BITWISE_SAME) |
        flag(one.anyLengths, NBC_LIBRARY_ANY_LENGTHS);
    entry.shapes[0] = uint8_t(kind.in);
    entry.shapes[1] = uint8_t(kind.out);
    entry.shapes[2] = uint8_t(kind.data);
    entry.where = uint8_t(kind.where);
    entry.views = uint32_t(a.buffers);
    entry.proven_from = uint32_t(one.provenFrom);
    entry.proven_to = uint32_t(one.provenTo);
    entry.build = addCode(one.file, buildName(a));
    entry.ensures = a.own ? addCode(one.file, buildName(a.own->ensures)) : NBC_LIBRARY_NONE;

    entry.parameters = {uint32_t(parameters_.size()), uint32_t(a.parameters.size())};
    for (size_t i = 0; i < a.parameters.size(); ++i)
      parameters_.push_back({one.parameters[i], addText(a.parameters[i].variable->name), 0});
    entry.requirements = {uint32_t(requirements_.size()), uint32_t(a.requirements.size())};
    for (size_t i = 0; i < a.requirements.size(); ++i)
      requirements_.push_back(
          {toPlace(a.requirements[i]->loc), addCode(one.file, requirementName(a, i)), addText("")});
    entry.extents.begin = uint32_t(extents_.size());
    for (size_t i = 0; a.own && i < a.own->buffers.size(); ++i) {
      const ast::OwnCollective::Buffer &b = a.own->buffers[i];
      if (b.extent)
        extents_.push_back(
            {toPlace(b.extent->loc), addCode(one.file, extentName(*a.own, i)), addText(b.name)});
      else
        extents_.push_back({toPlace(b.loc), NBC_LIBRARY_NONE, addText(b.name)});
    }
    entry.extents.count = uint32_t(extents_.size()) - entry.extents.begin;
    algorithms_.push_back(entry);
  }

  void add(const LibraryContent::Platform &p) {
    const Device &d = *p.options.device;
    nbc_library_target entry = {};
    entry.name = addText(p.target->name);
    entry.device = addText(d.name);
    entry.facts = addText(facts(d));
    entry.protocol = uint32_t(p.options.protocol);
    entry.depth = uint32_t(p.options.depth);
    entry.lengths = p.options.lengths == Blocks::each ? NBC_LENGTHS_EACH : NBC_LENGTHS_EQUAL;
    entry.slot_per_block = p.options.slotPerBlock;
    targets_.push_back(entry);
  }

  template <class T>
  nbc_table append(const std::vector<T> &entries) {
    const nbc_table table = {uint32_t(first_ + result_.rest.size()), uint32_t(entries.size())};
    const auto *begin = reinterpret_cast<const std::byte *>(entries.data());
    result_.rest.insert(result_.rest.end(), begin, begin + sizeof(T) * entries.size());
    result_.rest.resize(roundUp(result_.rest.size(), 8));
    return table;
  }

  void appendTemplates(size_t tableAt) {
    for (size_t i = 0; i < templates_.size(); ++i) {
      LibraryContent::Finished &t = content_.templates[i];
      nbc_library_template entry = {};
      entry.algorithm = uint32_t(t.algorithm);
      entry.target = uint32_t(t.platform);
      entry.ranks = uint32_t(t.ranks);
      entry.root = uint32_t(t.root);
      entry.rank = uint32_t(t.rank);
      entry.offset = first_ + result_.rest.size();
      entry.bytes = t.bytes.bytes;
      const auto *begin = static_cast<const std::byte *>(t.bytes.data());
      result_.rest.insert(result_.rest.end(), begin, begin + t.bytes.bytes);
      result_.rest.resize(roundUp(first_ + result_.rest.size(), kAlignment) - first_);
      std::memcpy(result_.rest.data() + tableAt + i * sizeof entry, &entry, sizeof entry);
      t.bytes = {};
    }
  }

  /// As the runtime computes it: of the tables as they will be, whatever the linker puts into the
  /// code table.
  uint64_t checksum(const nbc_library &header) const {
    std::vector<uint64_t> words(header.templates_begin / 8);
    std::memcpy(words.data(), &header, sizeof header);
    std::memcpy(reinterpret_cast<std::byte *>(words.data()) + first_, result_.rest.data(),
                header.templates_begin - first_);
    return nbc_library_checksum(reinterpret_cast<const nbc_library *>(words.data()));
  }

  LibraryContent &content_;
  const Diag &diag_;
  LibraryTables result_;
  size_t first_ = 0, codePadding_ = 0;  // where `rest` begins; entries without a function
  std::map<std::string, uint32_t> known_;
  std::vector<nbc_library_algorithm> algorithms_;
  std::vector<nbc_library_parameter> parameters_;
  std::vector<nbc_library_function> requirements_, extents_;
  std::vector<nbc_library_target> targets_;
  std::vector<nbc_library_template> templates_;
  std::vector<nbc_library_operator> operators_;
  std::vector<uint32_t> sources_;
  std::vector<char> text_;
};

}  // namespace

LibraryTables layOut(LibraryContent &content, const Diag &diag) {
  return Layout(content, diag).layOut();
}

}  // namespace nbcc
