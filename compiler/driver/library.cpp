// SPDX-License-Identifier: BSD-3-Clause
// library.cpp - from FILEs to what a library holds.
//
//   bruck.nbc, ring.nbc, --ranks=8   =>   both proven; 8 templates of each; build, requires of each
//
// What is shipped is proven first: each algorithm for --prove (1..64), and for each of --ranks
// beyond it. A template's order is proven from its bytes as always. Cost: that of the proofs, and
// of a template for each rank, and for each root where the collective has one: P * P of them.

#include "compiler/driver/library.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <sstream>

#include "compiler/driver/compile.h"
#include "compiler/driver/operators.h"
#include "compiler/driver/prove_number.h"
#include "compiler/driver/prove_range.h"
#include "compiler/driver/record_proof.h"
#include "dsl/parse.h"

namespace nbcc {
namespace {

class Collecting {
 public:
  Collecting(const Options &o, std::ostream &out, Diag &diag) : o_(o), out_(out), diag_(diag) {
    content_.name = libraryName(o.output.empty() ? o.file : o.output);
    content_.cpuLevel = o.cpuLevel;
    for (const Target *target : o.targets) {
      TargetOptions options = o.targetOptions;
      if (o.targets.size() > 1) options.device = &target->devices.front();
      for (const Blocks lengths : o.lengths) {
        options.lengths = lengths;
        content_.platforms.push_back({target, options});
      }
    }
  }

  /// Checked trees, and which algorithms of them are meant.
  void read() {
    for (const std::string &path : o_.files) {
      std::unique_ptr<ast::File> file = parse(path, diag_);
      if (!file) continue;
      check(*file, diag_);
      content_.files.push_back(file.get());
      for (const auto &a : file->algorithms)
        if (o_.algorithm.empty() || a->name == o_.algorithm) add(*a);
      files_.push_back(std::move(file));
    }
    if (!diag_.ok()) return;
    if (content_.algorithms.empty())
      diag_.error(Loc(), o_.algorithm.empty()
                             ? std::string("no FILE holds an algorithm")
                             : cat("no FILE holds an algorithm '", o_.algorithm, "'"));
    for (const auto &[name, value] : o_.parameters)
      if (!used_.contains(name))
        diag_.error(Loc(), "no algorithm has a parameter '", name, "' (-p ", name, "=", value, ")");
  }

  void proveAndFinish() {
    for (size_t i = 0; i < content_.algorithms.size() && diag_.ok(); ++i) {
      LibraryContent::Algorithm &a = content_.algorithms[i];
      Options mine = o_;
      mine.file = o_.files[a.file];
      mine.algorithm = a.algorithm->name;
      std::erase_if(mine.parameters, [&](const auto &p) { return !has(*a.algorithm, p.first); });
      Compilation c(*files_[a.file], mine, diag_);
      if (!diag_.ok()) return;
      a.parameters = c.parameters();
      std::ostringstream line;
      line << fullName(*a.algorithm) << ":";
      if (!o_.noProve && !prove(a, c, mine, line)) return;
      if (!finish(i, c, mine, line)) return;
      if (!o_.quiet) out_ << line.str() << "\n" << std::flush;
    }
  }

  LibraryContent &content() { return content_; }

 private:
  static bool has(const ast::Algorithm &a, const std::string &parameter) {
    return std::ranges::any_of(
        a.parameters, [&](const ast::Parameter &p) { return p.variable->name == parameter; });
  }

  void add(const ast::Algorithm &a) {
    const auto [known, fresh] = names_.try_emplace(fullName(a), a.loc);
    if (!fresh) {
      diag_.error(a.loc, "a library can hold only one algorithm ", fullName(a));
      diag_.note(known->second, "here is another");
    }
    for (const ast::Parameter &p : a.parameters) used_.insert(p.variable->name);
    content_.algorithms.push_back({.file = content_.files.size() - 1, .algorithm = &a});
  }

  bool prove(LibraryContent::Algorithm &a, Compilation &c, const Options &mine,
             std::ostream &line) {
    RangeProof proof = proveRange(c, mine, diag_);
    if (!proof.holds || !diag_.ok()) return false;
    std::string beyond;
    for (const int64_t ranks : o_.finished) {
      if (ranks >= proof.from && ranks <= proof.to) continue;
      const NumberProof number = proveNumber(c, ranks, diag_);
      if (!diag_.ok()) {
        noteFailure(number, c, ranks, diag_);
        return false;
      }
      if (number.result != NumberProof::Result::proven) continue;
      proof.meet(number);
      beyond += cat(", ", ranks);
    }
    if (o_.lengths == std::vector{Blocks::each}) {  // with both, what may not has equal ones alone
      checkLengths(proof, diag_);
      if (!diag_.ok()) return false;
    }
    recordProof(proof, proof.from, proof.to, c.collective(), a);
    line << " proven for " << proof.from << ".." << proof.to << beyond << " ranks;";
    return true;
  }

  /// The templates of one algorithm. Where it does not apply there are none.
  bool finish(size_t index, Compilation &c, Options &mine, std::ostream &line) {
    if (c.needsTopology() || c.needsGraph()) {
      line << " built where it is used: it asks "
           << (c.needsGraph() ? "who are neighbours" : "where ranks are");
      return true;
    }
    size_t templates = 0, bytes = 0;
    std::string without;
    for (const int64_t ranks : o_.finished) {
      const std::optional<bool> applies = c.applies(ranks, false);
      if (!applies) return false;
      if (!*applies) {
        without += cat(without.empty() ? "" : ", ", ranks);
        continue;
      }
      const int64_t roots = c.collective().hasRoot() && !o_.rootGiven ? ranks : 1;
      for (size_t p = 0; p < content_.platforms.size(); ++p) {
        mine.target = content_.platforms[p].target;
        mine.targetOptions = content_.platforms[p].options;
        if (o_.lengths.size() > 1 && mine.targetOptions.lengths == Blocks::each &&
            !content_.algorithms[index].anyLengths)
          continue;
        for (int64_t root = 0; root < roots; ++root)
          for (int64_t rank = 0; rank < ranks; ++rank) {
            const int64_t at = c.collective().hasRoot() && o_.rootGiven ? o_.root : root;
            std::optional<Template> t = c.compile(ranks, rank, at, true);
            if (!t) return false;
            ++templates;
            bytes += t->bytes;
            content_.templates.push_back({index, p, ranks, at, rank, std::move(*t)});
          }
      }
    }
    line << " build";
    if (templates) line << ", " << templates << " templates of " << bytes << " bytes";
    if (!without.empty()) line << ", none for " << without << " ranks: `requires`";
    return true;
  }

  const Options &o_;
  std::ostream &out_;
  Diag &diag_;
  LibraryContent content_;
  std::vector<std::unique_ptr<ast::File>> files_;
  std::map<std::string, Loc> names_;
  std::set<std::string> used_;  // parameters that some algorithm has
};

}  // namespace

void compileLibrary(const Options &o, std::ostream &out, Diag &diag) {
  Collecting collecting(o, out, diag);
  collecting.read();
  if (!diag.ok()) return;
  collecting.content().operators = compileOperators(o, diag);
  if (!diag.ok()) return;
  collecting.proveAndFinish();
  if (!diag.ok()) return;
  writeLibrary(std::move(collecting.content()), *o.library, o.output, diag);
}

void declareLibrary(const Options &o, std::ostream &out, Diag &diag) {
  Collecting collecting(o, out, diag);
  collecting.read();
  if (diag.ok()) writeHeader(collecting.content(), out);
}

}  // namespace nbcc
