// SPDX-License-Identifier: BSD-3-Clause
// explain.cpp - the table is asked as the drop-in asks it; estimates come from the library's
// `build`.
//
// What an algorithm can do is what the flags of libnbc-colls.so say, so the answer is the
// drop-in's. Cost: the schedules of all ranks of all algorithms of a kind, which is why estimates
// end at kMostRanks.

#include "compiler/driver/explain.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "compiler/driver/estimate.h"
#include "compiler/elaborate/elaborate.h"
#include "compiler/selection/able.h"
#include "compiler/selection/rule.h"
#include "compiler/shipped/algorithm_of.h"
#include "compiler/templates/template_maker.h"
#include "nbc/transfer.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostRanks = 256;

/// What was said, else a variable, else beside an installed program, else where it was built.
std::string placeOf(const std::string &said, const char *variable, const char *installed,
                    const char *built) {
  if (!said.empty()) return said;
  if (const char *value = std::getenv(variable); value && *value) return value;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = program.parent_path().parent_path() / installed;
  return !error && fs::exists(beside, error) ? beside.string() : built;
}

std::string named(const std::string &algorithm,
                  const std::vector<std::pair<std::string, int64_t>> &parameters) {
  std::string text = algorithm.substr(algorithm.find('.') + 1);
  char before = ':';
  for (const auto &[name, value] : parameters) {
    text += cat(before, name, "=", value);
    before = ',';
  }
  return text;
}

class Explaining {
 public:
  Explaining(const Options &o, std::ostream &out, Diag &diag) : o_(o), out_(out), diag_(diag) {}
  ~Explaining() { nbc_library_close(library_); }
  Explaining(const Explaining &) = delete;

  void explain() {
    if (!situate() || !open()) return;
    const std::optional<Choice> choice = table_.choose(situation_);
    heading();
    rows(choice);
    estimates(choice);
  }

 private:
  bool situate() {
    std::optional<bool> each;
    std::string_view name = o_.explain;
    const bool blocking = !name.starts_with('i');  // no collective's name does
    name.remove_prefix(blocking ? 0 : 1);
    collective_ = collectiveOfCall(name, each);
    if (!collective_) {
      diag_.error(Loc(), "there is no collective '", o_.explain, "'");
      return false;
    }
    if (o_.topology.ranks()) {
      for (int64_t rank = 0; rank < o_.ranks; ++rank) nodeOf_.push_back(o_.topology.nodeOf(rank));
    } else {
      for (int64_t rank = 0; rank < o_.ranks; ++rank)
        nodeOf_.push_back(static_cast<int32_t>(rank * o_.nodes / o_.ranks));
    }
    topology_ = Topology(nodeOf_);
    const bool variant = each.value_or(false) || o_.targetOptions.lengths == Blocks::each;
    if (variant && !collective_->hasOwnLengths()) {
      diag_.error(Loc(), collective_->name, " has no v- or w-variant");
      return false;
    }
    situation_ = {.kind = static_cast<nbc_kind>(collective_->kind),
                  .each = variant,
                  .ranks = static_cast<uint32_t>(o_.ranks),
                  .nodes = static_cast<uint32_t>(topology_.nodes()),
                  .bytes = variant ? 0 : o_.bytes,
                  .commutes = o_.op != "noncommutative" && o_.op != "affine",
                  .targets = {},
                  .nodeOf = nodeOf_.data(),
                  .blocking = blocking};
    for (const Target *t : o_.targets) situation_.targets.push_back(t->name);
    if (o_.targets.empty()) situation_.targets = {"shm", "mpi"};
    return true;
  }

  bool open() {
    tableFile_ = placeOf(o_.table, "NBC_TABLE", "share/nbc/table.json", NBCC_TABLE);
    std::ifstream file(tableFile_, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file) {
      diag_.error(Loc(), "cannot read the table ", tableFile_);
      return false;
    }
    std::string why;
    std::optional<Table> table = Table::read(text, tableFile_, why);
    if (!table || !overrideByEnvironment(*table, why)) {
      std::istringstream lines(why);
      for (std::string line; std::getline(lines, line);) diag_.error(Loc(), line);
      return false;
    }
    const std::string path =
        placeOf(o_.shipped, "NBC_LIBRARY", NBCC_LIBDIR "/libnbc-colls.so", NBCC_COLLS);
    const char *said = "";
    if (nbc_library_open(path.c_str(), &library_, &said)) {
      diag_.error(Loc(), path, ": ", said);
      return false;
    }
    table_ = std::move(*table);
    table_.ask([this](const Choice &c, const Situation &s) { return unable(*library_, c, s); });
    return true;
  }

  void heading() {
    out_ << (situation_.blocking ? "" : "nonblocking ") << collective_->name << " on " << o_.ranks
         << (o_.ranks == 1 ? " rank, " : " ranks, ") << situation_.nodes
         << (situation_.nodes == 1 ? " node, " : " nodes, ");
    if (situation_.each)
      out_ << "blocks of lengths of their own";
    else
      out_ << situation_.bytes << " bytes";
    if (!situation_.commutes) out_ << ", the operator does not commute";
    out_ << "; targets";
    const char *before = " ";
    for (const std::string_view t : situation_.targets) {
      out_ << before << t;
      before = ", ";
    }
    out_ << "\n\n" << tableFile_ << "\n";
  }

  void rows(const std::optional<Choice> &choice) {
    for (const auto &[row, why] : table_.explain(situation_)) {
      const std::string line = row.line ? cat("line ", row.line) : "NBC_";
      const size_t width = row.line ? std::max<size_t>(line.size() + 1, 10) : line.size();
      out_ << "  " << line << std::string(width - line.size(), ' ') << row.text << "\n            ";
      if (!why.empty()) {
        out_ << why << "\n";
        continue;
      }
      out_ << "taken: " << named(choice->algorithm, choice->parameters) << " on " << choice->target;
      if (choice->transfer) out_ << " by " << nbc_transfer_name(choice->transfer);
      const bool fromZero = choice->from == 0, forEver = choice->to == UINT64_MAX;
      if (!situation_.each && fromZero != forEver)
        out_ << ", likewise "
             << (forEver ? cat("from ", choice->from, " bytes on")
                         : cat("up to ", choice->to, " bytes"));
      if (!situation_.each && !fromZero && !forEver)
        out_ << ", likewise from " << choice->from << " to " << choice->to << " bytes";
      out_ << "\n";
    }
    if (!choice) out_ << "  no row fits: the MPI's own is called\n";
  }

  struct Line {
    std::string name, why;
    Estimate estimate;
    bool taken = false;
  };

  void estimates(const std::optional<Choice> &choice) {
    std::vector<Line> lines;
    bool there = false;
    for (const nbc_library_algorithm &a :
         entries<nbc_library_algorithm>(*library_, library_->algorithms)) {
      if (a.kind != static_cast<uint32_t>(situation_.kind)) continue;
      Choice c;
      c.algorithm = nbc_library_text(library_, a.name);
      c.target = choice ? choice->target : std::string(situation_.targets.front());
      for (const auto &p : entries<nbc_library_parameter>(*library_, library_->parameters)
                               .subspan(a.parameters.begin, a.parameters.count))
        c.parameters.emplace_back(nbc_library_text(library_, p.name), p.value);
      if (choice && choice->algorithm == c.algorithm) {
        Choice taken = c;
        for (const auto &[name, value] : choice->parameters)
          for (auto &[known, old] : taken.parameters)
            if (known == name) old = value;
        if (taken.parameters != c.parameters) lines.push_back(estimated(a, c));
        lines.push_back(estimated(a, taken));
        lines.back().taken = there = true;
      } else {
        lines.push_back(estimated(a, c));
      }
    }
    std::ranges::sort(lines, {}, [](const Line &l) {
      return std::tuple(!l.why.empty(), l.estimate.time, std::string_view(l.name));
    });
    out_ << "\nLogGP, all messages alike: L " << o_.latency << ", o " << o_.overhead << ", g "
         << o_.gap << ", G " << o_.gapPerByte << " us";
    if (situation_.each) out_ << "; blocks of " << o_.bytes << " bytes";
    out_ << "\n          us  messages       bytes sent\n";
    for (const Line &l : lines) {
      if (l.why.empty())
        out_ << std::setw(12) << std::fixed << std::setprecision(2) << l.estimate.time
             << std::defaultfloat << std::setw(10) << l.estimate.messages << std::setw(17)
             << l.estimate.bytesSent;
      else
        out_ << std::setw(12) << "-" << std::setw(10) << "-" << std::setw(17) << "-";
      out_ << "  " << l.name << (l.taken ? " (taken)" : "") << (l.why.empty() ? "" : ": ") << l.why
           << "\n";
    }
    if (choice && !there) out_ << "  " << choice->algorithm << " is not in the library\n";
  }

  Line estimated(const nbc_library_algorithm &a, const Choice &c) {
    Line line{.name = named(c.algorithm, c.parameters),
              .why = unable(*library_, c, situation_),
              .estimate = {}};
    if (!line.why.empty()) return line;
    if (o_.ranks > kMostRanks) {
      line.why = cat("no estimate for more than ", kMostRanks, " ranks");
      return line;
    }
    if (collective_->hasGraph() && !o_.graph.ranks()) {
      line.why = "it depends on who are neighbours: --cart=4x3p";
      return line;
    }
    CompiledAlgorithm compiled;
    fill(compiled, *library_, a);
    Request request{.ranks = o_.ranks,
                    .rank = 0,
                    .root = o_.root,
                    .parameters = {},
                    .topology = &topology_,
                    .graph = o_.graph.ranks() ? &o_.graph : nullptr};
    for (const auto &[name, value] : c.parameters) request.parameters.push_back(value);
    std::ostringstream said;
    Diag diag(said);
    nameSources(diag, *library_);
    const auto written = [&](int64_t ranks, int64_t rank, int64_t root) {
      request.ranks = ranks, request.rank = rank, request.root = root;
      return elaborate(compiled, request, Limits(), diag);
    };
    TemplateMaker maker(written, false, diag);
    std::vector<Schedule> all;
    for (int64_t rank = 0; rank < o_.ranks && diag.ok(); ++rank) {
      std::optional<Schedule> s = written(o_.ranks, rank, o_.root);
      if (s) maker.improve(*s, false);
      if (s) all.push_back(std::move(*s));
    }
    if (diag.ok())
      line.estimate = estimate(all, o_.bytes, {o_.latency, o_.overhead, o_.gap, o_.gapPerByte});
    else
      line.why = said.str().substr(0, said.str().find('\n'));
    return line;
  }

  const Options &o_;
  std::ostream &out_;
  Diag &diag_;
  const Collective *collective_ = nullptr;
  std::vector<int32_t> nodeOf_;
  Topology topology_;
  Situation situation_;
  std::string tableFile_;
  Table table_;
  const nbc_library *library_ = nullptr;
};

}  // namespace

void explainSelection(const Options &o, std::ostream &out, Diag &diag) {
  Explaining(o, out, diag).explain();
}

}  // namespace nbcc
