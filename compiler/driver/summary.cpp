// SPDX-License-Identifier: BSD-3-Clause
// summary.cpp - the table that `nbcc FILE --target=T` ends with.

#include "compiler/driver/summary.h"

#include <iomanip>
#include <ostream>
#include <sstream>

namespace nbcc {

void summarize(Compilation &c, const Options &o, std::ostream &out) {
  std::vector<int64_t> sizes{2, 3, 4, 8, 16, 32, 64, 128};
  if (o.ranksGiven) sizes = {o.ranks};
  if (c.needsTopology()) {
    out << "\non " << o.target->name << " it depends on where the ranks are: --topology=4x8\n";
    return;
  }
  if (c.needsGraph()) {
    out << "\non " << o.target->name << " it depends on who are neighbours: --cart=4x3p\n";
    return;
  }
  bool heading = false;
  for (int64_t ranks : sizes) {
    std::optional<bool> applies = c.applies(ranks, o.ranksGiven);
    if (!applies) return;
    if (!*applies) continue;
    int64_t rank = o.ranksGiven ? o.rank : 0;
    std::optional<Template> t = c.compile(ranks, rank, o.ranksGiven ? o.root : 0, o.inPlace);
    if (!t) return;
    std::stringstream resources;
    o.target->printResources(*t, resources);

    std::vector<std::pair<std::string, std::string>> columns;
    for (std::string line; std::getline(resources, line);)
      if (size_t colon = line.find(": ");
          colon != std::string::npos &&
          line.find_first_not_of("0123456789", colon + 2) == std::string::npos)  // not prose
        columns.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    if (!heading) {
      out << "\non " << o.target->name << " (" << o.targetOptions.device->name << "), rank " << rank
          << ":\n  ranks";
      for (const auto &[key, value] : columns) out << "  " << key;
      out << "\n";
      heading = true;
    }
    out << std::setw(7) << ranks;
    for (const auto &[key, value] : columns)
      out << "  " << std::setw(static_cast<int>(key.size())) << value;
    out << "\n";
  }
}

}  // namespace nbcc
