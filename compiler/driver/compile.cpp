// SPDX-License-Identifier: BSD-3-Clause
// compile.cpp - an algorithm of a source, or schedules that were read, and what is made of them.

#include "compiler/driver/compile.h"

#include "dsl/source.h"

namespace nbcc {
std::optional<uint16_t> readFile(const std::string &path, Diag &diag) {
  const std::optional<std::string> text = readInput(path, 1 << 30, "", "", diag);
  if (!text) return std::nullopt;
  return diag.addFile(path, *text);
}

Compilation::Compilation(const ast::File &file, const Options &options, Diag &diag)
    : options_(options), diag_(diag) {
  std::string known;
  for (const auto &a : file.algorithms) {
    known += (known.empty() ? "" : ", ") + a->name;
    if (options.algorithm.empty()
            ? file.algorithms.size() == 1
            : a->name == options.algorithm || fullName(*a) == options.algorithm)
      algorithm_ = a.get();
  }
  if (!algorithm_) {
    if (options.algorithm.empty())
      diag.error(Loc(), options.file, " holds several algorithms: name one with --algorithm (",
                 known, ")");
    else
      diag.error(Loc(), options.file, " holds no algorithm '", options.algorithm, "'; it holds ",
                 known);
    return;
  }

  std::map<std::string, int64_t> given = options.parameters;
  for (const ast::Parameter &p : algorithm_->parameters) {
    auto it = given.find(p.variable->name);
    if (it != given.end()) {
      parameters_.push_back(it->second);
      given.erase(it);
    } else if (p.initial) {
      parameters_.push_back(*p.initial);
    } else {
      diag.error(p.variable->loc, "parameter ", p.variable->name, " of ", algorithm_->name,
                 " has no default: give it with -p ", p.variable->name, "=...");
    }
  }
  for (const auto &[name, value] : given)
    diag.error(algorithm_->loc, algorithm_->name, " has no parameter '", name, "' (-p ", name, "=",
               value, ")");
  if (diag.ok()) elaborator_ = std::make_unique<Elaborator>(file, diag);
}

Compilation::Compilation(std::vector<Schedule> read, const Options &options, Diag &diag)
    : options_(options), diag_(diag), read_(std::move(read)) {
  for (const Schedule &s : read_) verify(s, diag);
  if (read_.empty()) diag.error(Loc(), options.file, " holds no schedule");
}

Compilation::Compilation(const Compilation &other, Diag &diag)
    : options_(other.options_),
      diag_(diag),
      algorithm_(other.algorithm_),
      parameters_(other.parameters_),
      elaborator_(std::make_unique<Elaborator>(*other.elaborator_, diag)) {}

ast::Kind Compilation::kind() const {
  return algorithm_ ? algorithm_->kind : read_.front().kind;
}

Collective Compilation::collective() const {
  if (algorithm_) return nbcc::collective(*algorithm_);
  Collective all = nbcc::collective(read_.front());
  for (const Schedule &s : read_) all.reduces |= nbcc::collective(s).reduces;
  return all;
}

std::string Compilation::name() const {
  return algorithm_ ? algorithm_->name : read_.front().algorithm;
}

void Compilation::place(const Topology *topology) {
  topology_ = topology;
  maker_.forget();
}

bool Compilation::needsTopology() const {
  return algorithm_ && algorithm_->topology && options_.topology.ranks() == 0;
}

void Compilation::connect(const Graph *graph) {
  graph_ = graph;
  maker_.forget();
}

bool Compilation::needsGraph() const {
  return algorithm_ && collective().hasGraph() && options_.graph.ranks() == 0;
}

/// A topology or graph of another number of ranks is none.
const Topology *Compilation::topology(int64_t ranks) const {
  const Topology *known = topology_ ? topology_ : &options_.topology;
  return known->ranks() == ranks ? known : nullptr;
}

Request Compilation::request(int64_t ranks, int64_t rank, int64_t root) const {
  const Graph *graph = graph_ ? graph_ : &options_.graph;
  return {
      ranks, rank, root, parameters_, topology(ranks), graph->ranks() == ranks ? graph : nullptr};
}

std::optional<bool> Compilation::applies(int64_t ranks, bool report) {
  if (!algorithm_) return true;
  Loc why;
  std::optional<bool> holds = elaborator_->applies(*algorithm_, request(ranks, 0, 0), &why);
  if (holds && !*holds && report)
    diag_.error(why, algorithm_->name, " requires this, which does not hold for ", ranks, " rank",
                ranks == 1 ? "" : "s");
  return holds;
}

std::optional<std::vector<ClaimValue>> Compilation::claims(int64_t ranks, int64_t root) {
  if (!algorithm_) return std::vector<ClaimValue>();
  return elaborator_->claims(*algorithm_, request(ranks, 0, root));
}

std::optional<Schedule> Compilation::written(int64_t ranks, int64_t rank, int64_t root) {
  if (algorithm_) return elaborator_->elaborate(*algorithm_, request(ranks, rank, root));
  for (const Schedule &s : read_)
    if (s.ranks == ranks && s.rank == rank && s.root == root) return s;
  diag_.error(Loc(), options_.file, " holds no schedule of rank ", rank, " of ", ranks,
              " with root ", root);
  return std::nullopt;
}

void Compilation::improve(Schedule &s, bool inPlace) {
  maker_.improve(s, inPlace);
}

std::optional<Schedule> Compilation::transformed(int64_t ranks, int64_t rank, int64_t root) {
  std::optional<Schedule> s = written(ranks, rank, root);
  if (!s) return s;
  for (const std::string &name : options_.passes) {
    if (name == "default") {
      improve(*s, options_.inPlace);
    } else {
      findPass(name)->run(*s, maker_.context(*s));
      verify(*s, diag_);
    }
    if (!diag_.ok()) return std::nullopt;
  }
  return s;
}

std::optional<Template> Compilation::compile(int64_t ranks, int64_t rank, int64_t root,
                                             bool inPlace, std::vector<Legal> *legal) {
  TargetOptions options = options_.targetOptions;
  options.topology = topology(ranks);
  return maker_.make({ranks, rank, root}, collective(), inPlace, *options_.target, options, legal);
}

}  // namespace nbcc
