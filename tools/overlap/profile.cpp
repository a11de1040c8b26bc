// SPDX-License-Identifier: BSD-3-Clause
// profile.cpp - reads a profile, and ranks by it.

#include "tools/overlap/profile.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <ostream>
#include <sstream>

namespace nbcc::overlap {
namespace {

/// "nbc: 10 53477392 allreduce.recursive_doubling mpi"; what else the drop-in says is passed over.
bool readVerbose(const std::string &line, std::map<std::string, double> &bytes) {
  std::istringstream in(line.substr(line.find(':') + 1));
  double calls = 0, sum = 0;
  std::string algorithm;
  if (!(in >> calls >> sum >> algorithm)) return false;
  bytes[algorithm.substr(0, algorithm.find('.'))] += sum;
  return true;
}

/// allreduce, for all forms of it: the drop-in runs the v-variants by the same algorithms.
std::string family(const Collective &c) {
  std::string name = c.request();
  name.resize(name.size() - std::string("_request").size());
  if ((name.ends_with("v") || name.ends_with("w")) && name != "alltoallw") name.pop_back();
  return name == "alltoallw" ? "alltoall" : name;
}

}  // namespace

bool Profile::line(const std::string &text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos || text[begin] == '#') return true;
  if (text.starts_with("nbc:")) {
    if (readVerbose(text, places_)) bytes_ = true;
    return true;
  }
  std::istringstream in(text);
  std::string place, more;
  double seconds = 0;
  if (!(in >> place >> seconds) || in >> more || seconds < 0) return false;
  const size_t colon = place.rfind(':');
  const bool isPlace = colon != std::string::npos &&
                       place.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  if (!isPlace && !findCollective(place)) return false;
  places_[place] += seconds;
  return true;
}

bool Profile::read(const std::string &file, std::ostream &errors) {
  std::ifstream in(file);
  if (!in) {
    errors << "nbc-overlap: cannot read " << file << '\n';
    return false;
  }
  int number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    if (line(text)) continue;
    errors << file << ":" << number << ": error: '" << text
           << "' is neither FILE:LINE SECONDS, MPI_Name SECONDS nor "
           << "a line of NBC_VERBOSE\n";
    return false;
  }
  if (!places_.empty()) return true;
  errors << file << ": error: there is no collective in it\n";
  return false;
}

Measure Profile::rank(std::vector<Finding> &findings) const {
  for (Finding &f : findings) {
    const std::string name = bytes_ ? family(*f.site.collective) : f.site.collective->blocking();
    const std::string file = fileOf(f.site);
    const std::string line =
        ":" + std::to_string(lineOf(f.site.call->getBeginLoc(), f.site.context()));
    if (const auto all = places_.find(name); all != places_.end()) f.seconds = all->second;
    for (const auto &[place, seconds] : places_)  // a path, or the end of one
      if (place.ends_with(line)) {
        const std::string wanted = place.substr(0, place.size() - line.size());
        if (file == wanted || file.ends_with("/" + wanted)) f.seconds = seconds;
      }
  }
  std::multimap<double, Finding, std::greater<>> ranked;  // which keeps the order of equal ones
  for (Finding &f : findings) {
    const bool any = f.window && (f.window->movesUp(f.site) || f.window->reachesDown(f.site));
    ranked.emplace(any ? f.seconds : 0, std::move(f));
  }
  findings.clear();
  for (auto &[seconds, f] : ranked) findings.push_back(std::move(f));
  return {bytes_};
}

}  // namespace nbcc::overlap
