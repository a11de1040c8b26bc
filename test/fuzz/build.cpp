// SPDX-License-Identifier: BSD-3-Clause
// build.cpp - what is checked is lowered, compiled, run for a few ranks, verified, proven, improved
// by the passes and proven again; and what is proven is written as GOAL, read back and checked.
//
// The strongest promises of the compiler are asked for here: what the elaborator makes passes
// verify(), what the passes make too, what held as written holds as improved and as GOAL. Limits
// are tight, so that a loop without end ends. Some 10 ms for an input that is a program: LLVM.

#include "compiler/exchange/goal.h"
#include "compiler/jit/elaborator.h"
#include "compiler/passes/passes.h"
#include "compiler/prove/prove.h"
#include "dsl/collectives.h"
#include "test/fuzz/fuzz.h"

namespace nbcc {
namespace {

constexpr Limits kLimits{.iterations = 2'000, .steps = 400, .extents = 4'000, .buffers = 200};
constexpr int64_t kRanks[] = {1, 2, 3, 5};
constexpr size_t kMostAlgorithms = 3;
constexpr int64_t kParameter = 2;  // where none is given

/// All ranks, improved; empty where a pass broke one.
std::vector<Schedule> improved(const std::vector<Schedule> &written, bool inPlace, Attempt &run) {
  const PassContext context{
      .peer = [&](int64_t rank) { return &written[static_cast<size_t>(rank)]; }};
  std::vector<Schedule> result = written;
  for (Schedule &s : result) runPasses(s, {.inPlace = inPlace}, context, run.diag);
  wanted(run.diag.ok(), run.said.str());
  return result;
}

void asGoal(const std::vector<Schedule> &proven, Attempt &run) {
  std::ostringstream text;
  writeGoal(proven, {.elements = 7, .elementBytes = 4}, text, run.diag);
  std::optional<Goal> goal = readGoal(run.diag.addFile("written.goal", text.str()), run.diag);
  if (goal) checkGoal(*goal, run.diag);
  wanted(run.diag.ok(), "proven, but as GOAL: ", run.said.str(), text.str());
}

void buildOne(Elaborator &elaborator, const ast::Algorithm &algorithm, const Request &request,
              Attempt &run) {
  std::optional<std::vector<ClaimValue>> claims = elaborator.claims(algorithm, request);
  std::vector<Schedule> written;
  for (Request of = request; claims && of.rank < of.ranks; ++of.rank) {
    std::optional<Schedule> s = elaborator.elaborate(algorithm, of);
    if (!s) break;
    const int before = run.diag.errors();
    verify(*s, run.diag);
    wanted(run.diag.errors() == before, "elaborated, but: ", run.said.str());
    written.push_back(std::move(*s));
  }
  run.spoken();
  if (static_cast<int64_t>(written.size()) != request.ranks || !run.diag.ok()) return;

  const Proof proof = prove(written, *claims, run.diag);
  wanted(proof.holds == run.diag.ok(), "a proof that ", proof.holds ? "holds" : "fails",
         ", and this said: ", run.said.str());
  if (!proof.holds) return;
  asGoal(written, run);

  for (const bool inPlace : {false, true}) {
    if (inPlace && !collective(algorithm).hasInPlace()) continue;
    const std::vector<Schedule> better = improved(written, inPlace, run);
    const Proof after = prove(better, *claims, run.diag);
    // In place a right algorithm may be wrong; the user is told so.
    wanted(inPlace || after.holds, "right as written, but not as improved: ", run.said.str());
    if (!after.holds) return;
    asGoal(better, run);
  }
}

void build(const ast::File &file, Attempt &run) {
  Elaborator elaborator(file, run.diag, kLimits);
  if (!run.diag.ok()) return;
  for (size_t i = 0; i < file.algorithms.size() && i < kMostAlgorithms; ++i) {
    const ast::Algorithm &algorithm = *file.algorithms[i];
    Request request;
    Topology topology;  // in blocks of three
    Graph graph;        // with all that is hard: see sampleGraphs()
    for (const ast::Parameter &p : algorithm.parameters)
      request.parameters.push_back(p.initial.value_or(kParameter));
    for (const int64_t ranks : kRanks) {
      std::vector<int32_t> nodes;
      for (int64_t rank = 0; rank < ranks; ++rank) nodes.push_back(static_cast<int32_t>(rank / 3));
      topology = Topology(nodes);
      request.topology = &topology;
      const std::vector<SampleGraph> samples = sampleGraphs(ranks);
      graph = samples[static_cast<size_t>(ranks) % samples.size()].graph;
      request.graph = &graph;
      request.ranks = ranks;
      const std::optional<bool> applies = elaborator.applies(algorithm, request);
      if (!applies) return;
      if (!*applies) continue;
      request.root = collective(algorithm).hasRoot() ? ranks - 1 : 0;
      buildOne(elaborator, algorithm, request, run);
      if (!run.diag.ok()) return;
    }
  }
}

}  // namespace
}  // namespace nbcc

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  nbcc::Attempt run;
  run.parse(bytes, size);
  if (!run.file) return -1;
  nbcc::check(*run.file, run.diag);
  if (!run.diag.ok()) return -1;
  nbcc::build(*run.file, run);
  return 0;
}
