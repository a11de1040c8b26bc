// SPDX-License-Identifier: BSD-3-Clause
// compile.cpp - elaborate, passes, legalize, emit, for one rank at a time.

#include "compiler/driver/compile.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace nbcc {
std::optional<uint16_t> readFile(const std::string &path, Diag &diag) {
  constexpr std::streamoff kMostBytes = 1 << 30;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::streamoff bytes = file ? std::streamoff(file.tellg()) : -1;
  std::ostringstream text;
  if (bytes > kMostBytes) {
    diag.error(Loc(), path, " has ", bytes, " bytes; at most ", kMostBytes, " are read");
    return std::nullopt;
  }
  if (bytes > 0) text << (file.seekg(0), file.rdbuf());
  if (bytes < 0 || !file) {
    diag.error(Loc(), "cannot read ", path);
    return std::nullopt;
  }
  return diag.addFile(path, text.str());
}

Compilation::Compilation(const ast::File &file, const Options &options, Diag &diag)
    : options_(options), diag_(diag) {
  std::string known;
  for (const auto &a : file.algorithms) {
    known += (known.empty() ? "" : ", ") + a->name;
    if (options.algorithm.empty() ? file.algorithms.size() == 1 : a->name == options.algorithm)
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
  peersRanks_ = 0;  // what is remembered of peers is of another one
}

bool Compilation::needsTopology() const {
  return algorithm_ && algorithm_->topology && options_.topology.ranks() == 0;
}

void Compilation::connect(const Graph *graph) {
  graph_ = graph;
  peersRanks_ = 0;  // likewise
}

bool Compilation::needsGraph() const {
  return algorithm_ && collective().hasGraph() && options_.graph.ranks() == 0;
}

/// A topology or graph of another number of ranks is none.
Request Compilation::request(int64_t ranks, int64_t rank, int64_t root) const {
  const Topology *topology = topology_ ? topology_ : &options_.topology;
  const Graph *graph = graph_ ? graph_ : &options_.graph;
  return {ranks,
          rank,
          root,
          parameters_,
          topology->ranks() == ranks ? topology : nullptr,
          graph->ranks() == ranks ? graph : nullptr};
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

/// What is remembered of peers is of one number of ranks and one root.
void Compilation::aboutPeersOf(int64_t ranks, int64_t root) {
  if (ranks == peersRanks_ && root == peersRoot_) return;
  peers_.clear();
  symmetric_.assign(static_cast<size_t>(ranks), -1);
  peersRanks_ = ranks;
  peersRoot_ = root;
}

const Schedule *Compilation::peer(int64_t ranks, int64_t rank, int64_t root) {
  aboutPeersOf(ranks, root);
  auto it = peers_.find(rank);
  if (it == peers_.end()) {
    std::optional<Schedule> s = written(ranks, rank, root);
    if (!s) return nullptr;
    it = peers_.emplace(rank, std::move(*s)).first;
  }
  return &it->second;
}

bool Compilation::symmetric(int64_t ranks, int64_t rank, int64_t root) {
  aboutPeersOf(ranks, root);
  signed char &known = symmetric_[static_cast<size_t>(rank)];
  if (known < 0) {
    std::vector<int32_t> to, from;
    if (std::optional<Schedule> s = written(ranks, rank, root))
      for (const Step &step : s->steps) {
        if (step.op == Op::send || step.op == Op::signal) to.push_back(step.peer);
        if (step.op == Op::recv || step.op == Op::await) from.push_back(step.peer);
      }
    for (std::vector<int32_t> *peers : {&to, &from}) {
      std::sort(peers->begin(), peers->end());
      peers->erase(std::unique(peers->begin(), peers->end()), peers->end());
    }
    known = to == from;
  }
  return known;
}

PassContext Compilation::context(const Schedule &s) {
  int64_t ranks = s.ranks, root = s.root;
  return {.peer = [=, this](int64_t rank) { return peer(ranks, rank, root); }};
}

void Compilation::improve(Schedule &s, bool inPlace) {
  if (s.order == Order::waits) return;  // was read so
  runPasses(s, {.strictRounds = options_.strictRounds, .inPlace = inPlace}, context(s), diag_);
}

std::optional<Schedule> Compilation::transformed(int64_t ranks, int64_t rank, int64_t root) {
  std::optional<Schedule> s = written(ranks, rank, root);
  if (!s) return s;
  for (const std::string &name : options_.passes) {
    if (name == "default") {
      improve(*s, options_.inPlace);
    } else {
      findPass(name)->run(*s, context(*s));
      verify(*s, diag_);
    }
    if (!diag_.ok()) return std::nullopt;
  }
  return s;
}

std::optional<Template> Compilation::compile(int64_t ranks, int64_t rank, int64_t root,
                                             bool inPlace, std::vector<Legal> *legal) {
  std::optional<Schedule> schedule = written(ranks, rank, root);
  if (!schedule) return std::nullopt;
  std::optional<Schedule> placed;
  // A rooted collective's other ranks never say MPI_IN_PLACE.
  if (inPlace && hasInPlace(collective()) && (!collective().hasRoot() || rank == root)) {
    placed = schedule;
    improve(*placed, true);
  }
  improve(*schedule, false);
  if (!diag_.ok()) return std::nullopt;

  const Target &target = *options_.target;
  TargetOptions options = options_.targetOptions;
  options.symmetric = [=, this](int64_t peer) { return symmetric(ranks, peer, root); };
  std::vector<Legal> ways = target.legalize(*schedule, placed ? &*placed : nullptr, options, diag_);
  if (!diag_.ok()) return std::nullopt;
  Template bytes = target.emit(ways, options);
  target.verifyTemplate(bytes, ways, diag_);
  if (!diag_.ok()) return std::nullopt;
  if (legal) *legal = std::move(ways);
  return bytes;
}

}  // namespace nbcc
