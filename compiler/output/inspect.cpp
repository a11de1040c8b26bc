// SPDX-License-Identifier: BSD-3-Clause
// inspect.cpp - what is in a library, for people.
//
//   libcolls.so: library colls by nbcc 0.1.0, for x86_64, 301.5 kB
//     allgather.bruck(k = 1): proven for 1..64 ranks, any lengths
//       coredirect soft: 8 ranks: 8 templates, 103.4 kB
//     target coredirect, device soft: gathers 30, ...
//
// The file is read, not loaded. Whether it can be used is asked of the runtime: an inspector that
// is more lenient than what opens libraries would be of no use.

#include <cstring>
#include <fstream>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "compiler/output/object.h"
#include "compiler/output/output.h"
#include "nbc/library.h"

namespace nbcc {
namespace {

constexpr std::string_view kArchive = "!<arch>\n";

std::string size(uint64_t bytes) {
  std::ostringstream s;
  s << std::fixed << std::setprecision(1);
  if (bytes < 1000)
    s << bytes << " bytes";
  else if (bytes < 1'000'000)
    s << static_cast<double>(bytes) / 1e3 << " kB";
  else
    s << static_cast<double>(bytes) / 1e6 << " MB";
  return s.str();
}

template <class T>
std::span<const T> table(const nbc_library &lib, nbc_table t) {
  return {static_cast<const T *>(nbc_library_table(&lib, t)), t.count};
}

void printAlgorithm(const nbc_library &lib, uint32_t index, std::ostream &out) {
  const auto &a = table<nbc_library_algorithm>(lib, lib.algorithms)[index];
  out << "  " << nbc_library_text(&lib, a.name);
  const auto parameters = table<nbc_library_parameter>(lib, lib.parameters)
                              .subspan(a.parameters.begin, a.parameters.count);
  for (size_t i = 0; i < parameters.size(); ++i)
    out << (i ? ", " : "(") << nbc_library_text(&lib, parameters[i].name) << " = "
        << parameters[i].value << (i + 1 == parameters.size() ? ")" : "");
  if (a.proven_to)
    out << ": proven for " << a.proven_from << ".." << a.proven_to << " ranks";
  else
    out << ": not proven";
  if (a.flags & NBC_LIBRARY_ANY_LENGTHS) out << ", any lengths of blocks";
  if (a.flags & NBC_LIBRARY_RANK_ORDER) out << ", any operator";
  if (a.flags & NBC_LIBRARY_BITWISE_SAME) out << ", the same bits on all ranks";
  if (a.flags & NBC_LIBRARY_TOPOLOGY) out << ", asks where ranks are";
  if (a.flags & NBC_LIBRARY_NEIGHBORS) out << ", asks who are neighbours";
  out << "\n";
}

void printTemplates(const nbc_library &lib, uint32_t algorithm, std::ostream &out) {
  const auto templates = table<nbc_library_template>(lib, lib.templates);
  const auto targets = table<nbc_library_target>(lib, lib.targets);
  for (size_t i = 0; i < templates.size();) {
    const nbc_library_template &first = templates[i];
    size_t count = 0;
    uint64_t bytes = 0;
    uint32_t lastRoot = first.root;
    for (; i < templates.size() && templates[i].algorithm == first.algorithm &&
           templates[i].target == first.target && templates[i].ranks == first.ranks;
         ++i, ++count) {
      bytes += templates[i].bytes;
      lastRoot = templates[i].root;
    }
    if (first.algorithm != algorithm) continue;
    out << "    " << nbc_library_text(&lib, targets[first.target].name) << ", "
        << nbc_library_text(&lib, targets[first.target].device) << ": " << first.ranks << " rank"
        << (first.ranks == 1 ? "" : "s");
    if (lastRoot != first.root)
      out << ", roots " << first.root << ".." << lastRoot;
    else if (first.root != 0)
      out << ", root " << first.root;
    if (targets[first.target].lengths == NBC_LENGTHS_EACH)
      out << ", blocks with lengths of their own";
    out << ": " << count << " template" << (count == 1 ? "" : "s") << ", " << size(bytes) << "\n";
  }
}

void printTarget(const nbc_library &lib, const nbc_library_target &t, std::ostream &out) {
  constexpr const char *protocols[] = {"eager", "rendezvous", "eager and rendezvous", "direct"};
  out << "  target " << nbc_library_text(&lib, t.name) << ", device "
      << nbc_library_text(&lib, t.device) << ": " << nbc_library_text(&lib, t.facts) << "; "
      << protocols[t.protocol] << ", depth " << t.depth << ", "
      << (t.lengths == NBC_LENGTHS_EACH ? "blocks with lengths of their own"
                                        : "blocks equally long")
      << (t.slot_per_block ? ", a slot for each block" : "") << "\n";
}

void print(const nbc_library &lib, const std::string &path, std::ostream &out) {
  out << path << ": library " << lib.name << " by " << lib.compiler << ", for " << lib.architecture;
  if (lib.cpu_level > 1) out << "-v" << lib.cpu_level;
  out << ", " << size(lib.bytes) << "\n";
  for (uint32_t i = 0; i < lib.algorithms.count; ++i) {
    printAlgorithm(lib, i, out);
    printTemplates(lib, i, out);
  }
  for (const nbc_library_operator &o : table<nbc_library_operator>(lib, lib.operators))
    out << "  operator " << nbc_library_text(&lib, o.name) << " on "
        << nbc_library_text(&lib, o.type) << ", " << size(o.element_bytes) << "\n";
  for (const nbc_library_target &t : table<nbc_library_target>(lib, lib.targets))
    printTarget(lib, t, out);
}

/// Where the bytes of a file are. Words, since the tables are aligned.
struct AlignedImage {
  explicit AlignedImage(const std::string &bytes)
      : words((bytes.size() + 7) / 8), size(bytes.size()) {
    std::memcpy(words.data(), bytes.data(), bytes.size());
  }
  const char *data() const { return reinterpret_cast<const char *>(words.data()); }
  std::vector<uint64_t> words;
  size_t size;
};

void inspectOne(const std::string &bytes, const std::string &path, std::ostream &out, Diag &diag) {
  const AlignedImage file(bytes);
  size_t at = 0, length = 0;
  const char *why = "";
  const auto refuse = [&] { diag.error(Loc(), path, ": ", why); };
  if (nbc_library_locate(file.data(), file.size, &at, &length, &why)) return refuse();
  // Object files align sections as they like.
  const AlignedImage tables(bytes.substr(at, length));
  const auto &lib = *reinterpret_cast<const nbc_library *>(tables.data());
  if (nbc_library_check(&lib, length, &why)) return refuse();
  print(lib, path, out);
  for (uint32_t i = 0; i < lib.templates.count; ++i) {
    const auto &t = table<nbc_library_template>(lib, lib.templates)[i];
    if (nbc_template_check(tables.data() + t.offset, t.bytes, &why))
      diag.error(Loc(), path, ": the template of rank ", t.rank, " of ", t.ranks, ", root ", t.root,
                 ", of ",
                 nbc_library_text(
                     &lib, table<nbc_library_algorithm>(lib, lib.algorithms)[t.algorithm].name),
                 ": ", why);
  }
  if (nbc_library_use(&lib, &why)) return refuse();
  if (lib.seal && lib.seal != nbc_library_seal(file.data(), file.size, at)) {
    why = "damaged: what is loaded does not have the seal that was stored";
    refuse();
  }
}

}  // namespace

void inspectLibrary(const std::string &path, std::ostream &out, Diag &diag) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file) return diag.error(Loc(), "cannot read ", path);
  const std::string bytes = text.str();
  if (!bytes.starts_with(kArchive)) return inspectOne(bytes, path, out, diag);

  std::string why;
  const std::vector<std::string> members = membersOf(bytes, why);
  if (!why.empty()) return diag.error(Loc(), path, ": ", why);
  if (members.empty()) return diag.error(Loc(), path, ": an archive of nothing");
  for (const std::string &member : members) inspectOne(member, path, out, diag);
}

}  // namespace nbcc
