// SPDX-License-Identifier: BSD-3-Clause
// plot.cpp - latency and overlap over the size, drawn by gnuplot: a line for each algorithm.
//
// The script holds its data, so it can be kept and drawn again otherwise.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "tools/bench/report.h"
#include "tools/bench/together.h"

extern char **environ;

namespace nbcc::bench {
namespace {

struct Line {
  std::string title;
  std::vector<const Result *> points;
};

std::vector<Line> linesOf(const std::vector<const Result *> &results) {
  std::vector<Line> lines;
  for (const Result *r : results) {
    const std::string title = nameOf(*r);
    auto found = std::ranges::find(lines, title, &Line::title);
    if (found == lines.end()) found = lines.insert(lines.end(), {title, {}});
    found->points.push_back(r);
  }
  return lines;
}

/// Between single quotes a quote is two; other signs mean nothing there without `enhanced`.
std::string quoted(const std::string &text) {
  std::string q = "'";
  for (char c : text) q += c == '\'' ? "''" : std::string(1, c);
  return q + "'";
}

std::string drawn(const std::string &file, const std::string &commands) {
  return "set terminal pngcairo noenhanced size 900,600\nset output " + quoted(file + ".png") +
         "\n" + commands + "\nset terminal svg noenhanced size 900,600\nset output " +
         quoted(file + ".svg") + "\nreplot\nunset output\n";
}

/// One size has no logarithmic axis.
std::string axis(const std::vector<const Result *> &results) {
  size_t least = SIZE_MAX, most = 0;
  for (const Result *r : results)
    least = std::min(least, r->bytes), most = std::max(most, r->bytes);
  if (least == 0 || least == most) return "unset logscale x\n";
  return "set logscale x 2\nset format x '%.0b %B'\n";
}

std::string latencyPlot(const std::string &file, const std::vector<const Result *> &results,
                        const std::string &title) {
  std::ostringstream data, commands;
  commands << "set title " << quoted(title + ": latency") << "\nset ylabel 'microseconds'\n"
           << axis(results) << "set logscale y 10\nunset yrange\nset key left top\nplot ";
  int number = 0;
  for (const Line &line : linesOf(results)) {
    data << "$latency" << number << " << EOD\n";
    for (const Result *r : line.points)
      data << r->bytes << " " << r->latency.median << " " << r->latency.low << " "
           << r->latency.high << "\n";
    data << "EOD\n";
    commands << (number ? ", " : "") << "$latency" << number
             << " using 1:2:3:4 with yerrorlines title " << quoted(line.title);
    ++number;
  }
  return data.str() + drawn(file, commands.str());
}

std::string overlapPlot(const std::string &file, const std::vector<const Result *> &results,
                        const std::string &title) {
  std::ostringstream data, commands;
  commands << "set title " << quoted(title + ": overlap") << "\nset ylabel 'overlap'\n"
           << axis(results)
           << "unset logscale y\nset yrange [-0.1:1.1]\nset key left bottom\nplot ";
  int number = 0;
  for (const Line &line : linesOf(results))
    for (size_t k = 0; k < line.points.front()->overlaps.size(); ++k) {
      data << "$overlap" << number << " << EOD\n";
      for (const Result *r : line.points)
        data << r->bytes << " " << std::clamp(r->overlaps[k].overlap, -0.1, 1.1) << "\n";
      data << "EOD\n";
      const int tests = line.points.front()->overlaps[k].tests;
      commands << (number ? ", " : "") << "$overlap" << number << " with linespoints title "
               << quoted(line.title + ", " + std::to_string(tests) +
                         (tests == 1 ? " test" : " tests"));
      ++number;
    }
  return number ? data.str() + drawn(file, commands.str()) : "";
}

}  // namespace

std::string findGnuplot() {
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string program = folder + "/gnuplot";
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  throw Refused("--plot needs gnuplot, which is not in PATH (Debian: gnuplot-nox)");
}

std::string plotScript(const std::string &prefix, const Facts &f,
                       const std::vector<Result> &results) {
  std::map<ast::Kind, std::vector<const Result *>> byKind;
  for (const Result &r : results)
    if (r.bytes) byKind[r.collective->kind].push_back(&r);
  std::string script =
      "# Drawn by nbc-bench: gnuplot FILE\nset grid\nset xlabel 'bytes of a block or vector'\n";
  for (const auto &[kind, some] : byKind) {
    const std::string name(some.front()->collective->name);
    const std::string title = name + ", " + std::to_string(f.ranks) + " ranks, " + f.mpi;
    script += latencyPlot(prefix + "-latency-" + name, some, title) +
              overlapPlot(prefix + "-overlap-" + name, some, title);
  }
  return script;
}

bool plot(const std::string &gnuplot, const std::string &script) {
  std::string program = gnuplot, file = script;
  char *arguments[] = {program.data(), file.data(), nullptr};
  pid_t child;
  int status = 0;
  if (posix_spawn(&child, gnuplot.c_str(), nullptr, nullptr, arguments, environ)) return false;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace nbcc::bench
