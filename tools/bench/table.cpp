// SPDX-License-Identifier: BSD-3-Clause
// table.cpp - figures as text: widths that fit what is usual, and a line that says what they are.

#include <cstdio>
#include <ostream>

#include "tools/bench/report.h"

namespace nbcc::bench {
namespace {

/// printf, for columns.
template <class... Value>
void put(std::ostream &out, const char *format, Value... values) {
  char text[300];
  std::snprintf(text, sizeof text, format, values...);
  out << text;
}

}  // namespace

void printHead(const Facts &f, const Options &o, const std::vector<Skipped> &skipped,
               std::ostream &out) {
  put(out, "# nbc-bench %s: %s, %d rank%s", NBCC_VERSION, f.mpi.c_str(), f.ranks,
      f.ranks == 1 ? "" : "s");
  put(out, ", %d core%s for the %d of a node\n", f.cores, f.cores == 1 ? "" : "s", f.ranksOfNode);
  if (!f.host.empty()) out << "# on " << f.host << "\n";
  out << "# microseconds: medians of the slowest rank, quartiles in brackets; CPU of an average "
         "rank\n";
  if (o.thread) out << "# a progress thread moves the algorithms' calls on\n";
  if (!o.barrierEach) out << "# calls follow each other without a barrier\n";
  for (const Skipped &s : skipped)
    out << "# left out: " << s.name << ": " << s.why.substr(0, s.why.find('\n')) << "\n";
}

void printCollective(const Collective &c, const Options &o, std::ostream &out) {
  out << "\n# " << c.name;
  if (c.kind != ast::Kind::barrier)
    out << ", bytes of " << (c.hasBlocks() ? "a block" : "the vector");
  if (c.reduces) out << ", sum of " << o.typeName;
  out << "\n";
  put(out, "%-9s %-32s %9s %10s %21s %9s", "# Bytes", "Algorithm", "Start", "Latency", "", "CPU");
  if (o.mpi) put(out, " %7s", "to MPI");
  for (int tests : o.tests)
    put(out, "  %19s", ("Overlap, " + std::to_string(tests) + " tests").c_str());
  out << "\n";
}

void printResults(const std::vector<Result> &results, std::ostream &out) {
  for (const Result &r : results) {
    const std::string name = nameOf(r);
    char quartiles[40];
    std::snprintf(quartiles, sizeof quartiles, "[%.2f, %.2f]", r.latency.low, r.latency.high);
    put(out, "%-9zu %-32s %9.2f %10.2f %21s %9.2f", r.bytes, name.c_str(), r.start.median,
        r.latency.median, quartiles, r.cpu);
    if (results.front().target.empty())
      put(out, " %7.2f", r.latency.median / results.front().latency.median);
    for (const Overlap &o : r.overlaps) put(out, "  %5.2f [%5.2f,%5.2f]", o.overlap, o.low, o.high);
    out << "\n";
  }
  out.flush();
}

}  // namespace nbcc::bench
