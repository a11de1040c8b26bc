// SPDX-License-Identifier: BSD-3-Clause
// report.h - figures as text, JSON and plots. Rank 0 alone calls this.

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tools/bench/algorithms.h"
#include "tools/bench/measure.h"

namespace nbcc::bench {

/// Where the figures come from.
struct Facts {
  std::string mpi;     // "Open MPI v4.1.4"
  std::string thread;  // level that the MPI gave: "single"
  std::string host;    // empty, unless it was asked for
  int ranks = 0, cores = 0, ranksOfNode = 0;
};

// table.cpp: in the manner of OSU's, a line for each size and contestant.
void printHead(const Facts &, const Options &, const std::vector<Skipped> &, std::ostream &);
void printCollective(const Collective &, const Options &, std::ostream &);
/// Of one size; compares with the first contestant, if that is the MPI's own.
void printResults(const std::vector<Result> &, std::ostream &);

// json.cpp
void writeJson(const Facts &, const Options &, const Computation &, const std::vector<Skipped> &,
               const std::vector<Result> &, std::ostream &);

// plot.cpp
/// Refused if there is no gnuplot.
std::string findGnuplot();
/// The scripts, with their data, that draw the plots of one collective to PREFIX-latency-NAME and
/// PREFIX-overlap-NAME, as PNG and as SVG.
std::string plotScript(const std::string &prefix, const Facts &, const std::vector<Result> &);
/// False: gnuplot has failed, and has said why.
bool plot(const std::string &gnuplot, const std::string &script);

}  // namespace nbcc::bench
