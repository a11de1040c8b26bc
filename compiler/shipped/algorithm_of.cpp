// SPDX-License-Identifier: BSD-3-Clause
// algorithm_of.cpp - from the tables of a library back to what the JIT would have known.
//
// Claims are not there: nbcc has checked them.

#include "compiler/shipped/algorithm_of.h"

#include <span>

namespace nbcc {
namespace {

/// A function is where the code table says, from the beginning of the tables.
template <class Function>
Function *function(const nbc_library &lib, uint32_t index) {
  if (index == NBC_LIBRARY_NONE) return nullptr;
  const auto at = reinterpret_cast<uintptr_t>(&lib) +
                  static_cast<uintptr_t>(intptr_t{entries<int32_t>(lib, lib.code)[index]});
  return reinterpret_cast<Function *>(at);
}

Collective collectiveOf(const nbc_library_algorithm &a, std::string_view kindName) {
  const auto kind = static_cast<ast::Kind>(a.kind);  // template.h: in the same order
  if (kind != ast::Kind::own) return collective(kind);
  const auto shape = [&](size_t i) { return static_cast<Shape>(a.shapes[i]); };
  return {kind,
          kindName,
          shape(0),
          shape(1),
          shape(2),
          static_cast<Where>(a.where),
          (a.flags & NBC_LIBRARY_REDUCES) != 0};
}

}  // namespace

void fill(CompiledAlgorithm &c, const nbc_library &lib, const nbc_library_algorithm &a) {
  const std::string_view full = nbc_library_text(&lib, a.name);
  const size_t dot = full.find('.');
  c.kindName = full.substr(0, dot);
  c.name = full.substr(dot == std::string_view::npos ? 0 : dot + 1);
  c.collective = collectiveOf(a, full.substr(0, dot));
  c.loc = toLoc(a.place);
  c.parameters = a.parameters.count;
  c.views = a.views;
  c.build = function<Build>(lib, a.build);
  for (const nbc_library_function &f : entries<nbc_library_function>(lib, lib.requirements)
                                           .subspan(a.requirements.begin, a.requirements.count))
    c.requirements.push_back({function<Bound>(lib, f.code), toLoc(f.place)});
  c.ensures = function<Build>(lib, a.ensures);
  for (const nbc_library_function &f :
       entries<nbc_library_function>(lib, lib.extents).subspan(a.extents.begin, a.extents.count))
    c.extents.push_back(
        {nbc_library_text(&lib, f.name), function<Bound>(lib, f.code), toLoc(f.place)});
}

void nameSources(Diag &diag, const nbc_library &lib) {
  diag.addFilesLate([&lib](Diag &d) {
    for (const uint32_t name : entries<uint32_t>(lib, lib.sources))
      d.addFile(nbc_library_text(&lib, name), "");
  });
}

}  // namespace nbcc
