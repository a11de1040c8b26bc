// SPDX-License-Identifier: BSD-3-Clause
// main.cpp - nbcc. The driver is the pipeline: one call per stage.

#include <fstream>
#include <iostream>
#include <sstream>

#include "compiler/driver/batch.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/elements.h"
#include "compiler/driver/explain.h"
#include "compiler/driver/library.h"
#include "compiler/driver/operators.h"
#include "compiler/driver/options.h"
#include "compiler/driver/prove_number.h"
#include "compiler/driver/prove_range.h"
#include "compiler/driver/run.h"
#include "compiler/driver/summary.h"
#include "compiler/exchange/goal.h"
#include "compiler/exchange/msccl.h"
#include "compiler/jit/jit.h"
#include "compiler/prove/links.h"
#include "dsl/format.h"
#include "dsl/parse.h"

namespace nbcc {
namespace {

/// --emit=schedule: as written; with --run=<pass>, after these; with --target, as
/// the target will carry it out.
void emitSchedules(Compilation &c, const Options &o, std::ostream &out, Diag &diag) {
  int64_t first = o.allRanks ? 0 : o.rank, last = o.allRanks ? o.ranks - 1 : o.rank;
  for (int64_t rank = first; rank <= last && diag.ok(); ++rank) {
    if (o.target) {
      std::vector<Legal> ways;
      if (c.compile(o.ranks, rank, o.root, o.inPlace, &ways))
        for (const Legal &way : ways) print(way.schedule, out);
    } else if (std::optional<Schedule> s = c.transformed(o.ranks, rank, o.root)) {
      print(*s, out);
    }
  }
}

/// --emit=links: all ranks, as written.
void emitLinks(Compilation &c, const Options &o, std::ostream &out, Diag &diag) {
  std::vector<Schedule> ranks;
  for (int64_t rank = 0; rank < o.ranks; ++rank) {
    std::optional<Schedule> s = c.written(o.ranks, rank, o.root);
    if (!s) return;
    ranks.push_back(std::move(*s));
  }
  const Topology *topology = c.topology(o.ranks);
  printLinks(ranks, topology ? *topology : oneOnEach(o.ranks), out, diag);
}

/// --emit=goal: all ranks, as written or after the passes of --run=.
void emitGoal(Compilation &c, const Options &o, std::ostream &out, Diag &diag) {
  const std::optional<nbc_type> type = typeNamed(o.type);
  if (!type) return diag.error(Loc(), "there is no type '", o.type, "'");
  std::vector<Schedule> ranks;
  for (int64_t rank = 0; rank < o.ranks; ++rank) {
    std::optional<Schedule> s = c.transformed(o.ranks, rank, o.root);
    if (!s) return;
    ranks.push_back(std::move(*s));
  }
  writeGoal(ranks, {o.count, nbc_type_size(*type)}, out, diag);
}

void emitTemplates(Compilation &c, const Options &o, std::ostream &out, Diag &diag) {
  int64_t first = o.allRanks ? 0 : o.rank, last = o.allRanks ? o.ranks - 1 : o.rank;
  for (int64_t rank = first; rank <= last && diag.ok(); ++rank) {
    std::optional<Template> t = c.compile(o.ranks, rank, o.root, o.inPlace);
    if (!t) return;
    if (o.emit == Emit::tasks) o.target->printTasks(*t, out);
    if (o.emit == Emit::resources) o.target->printResources(*t, out);
    if (o.emit == Emit::templateBytes) out.write(static_cast<const char *>(t->data()), t->bytes);
  }
}

/// Writes what a stage printed: nothing is written where anything was wrong.
void write(const std::string &text, const Options &o, Diag &diag) {
  if (!diag.ok()) return;
  if (o.output.empty()) {
    std::cout << text << std::flush;
    return;
  }
  std::ofstream file(o.output, std::ios::binary);
  file << text << std::flush;
  if (!file) diag.error(Loc(), "cannot write ", o.output);
}

void compileAll(Compilation &c, const Options &o, Diag &diag) {
  bool summary = o.emit == Emit::nothing && !o.run && !o.prove;
  if (o.prove || summary || (!o.output.empty() && !o.noProve)) {
    RangeProof proof = proveRange(c, o, diag);
    if (!proof.holds || !diag.ok()) return;
    if (o.target && o.targetOptions.lengths == Blocks::each) checkLengths(proof, diag);
    if (!diag.ok()) return;
    if (o.output.empty() && o.emit == Emit::nothing) print(proof, c, std::cout);
  }
  if (summary && o.target) summarize(c, o, std::cout);
  if (o.emit == Emit::nothing && !o.run) return;
  if (!c.applies(o.ranks, true).value_or(false)) return;

  std::ostringstream text;
  if (o.emit == Emit::schedule) emitSchedules(c, o, text, diag);
  if (o.emit == Emit::links) emitLinks(c, o, text, diag);
  if (o.emit == Emit::goal) emitGoal(c, o, text, diag);
  if (o.emit == Emit::tasks || o.emit == Emit::resources || o.emit == Emit::templateBytes)
    emitTemplates(c, o, text, diag);
  if (o.emit != Emit::nothing) write(text.str(), o, diag);
  if (o.run && diag.ok()) run(c, o, std::cout, diag);
}

void compileAhead(const Options &o, Diag &diag) {
  if (o.library) return compileLibrary(o, std::cout, diag);
  std::ostringstream text;
  declareLibrary(o, text, diag);
  write(text.str(), o, diag);
}

void compileSource(const Options &o, Diag &diag) {
  if (o.format) {
    if (std::optional<std::string> text = format(o.file, diag)) write(*text, o, diag);
    return;
  }
  std::unique_ptr<ast::File> file = parse(o.file, diag);
  if (!diag.ok()) return;
  check(*file, diag);  // every name has a declaration, every expression a type
  if (!diag.ok()) return;
  std::ostringstream text;
  if (o.emit == Emit::ast) {
    print(*file, text);
    return write(text.str(), o, diag);
  }
  Compilation c(*file, o, diag);  // lowered and JIT-built: `build` runs
  if (!diag.ok()) return;
  if (o.emit == Emit::llvm) {
    c.elaborator().print(text);
    return write(text.str(), o, diag);
  }
  compileAll(c, o, diag);
}

void compileSchedules(Options &o, Diag &diag) {
  std::optional<uint16_t> file = readFile(o.file, diag);
  if (!file) return;
  std::vector<Schedule> schedules = readSchedules(*file, diag);
  if (!diag.ok()) return;
  if (!schedules.empty() && !o.ranksGiven) {  // the text knows
    o.ranks = schedules.front().ranks;
    o.root = schedules.front().root;
    if (schedules.size() == 1) o.rank = schedules.front().rank;
  }
  if (o.emit == Emit::nothing && !o.run && !o.prove) o.emit = Emit::schedule;
  if (o.emit == Emit::schedule && schedules.size() > 1 && !o.ranksGiven) o.allRanks = true;
  if (o.prove) o.proveFrom = o.proveTo = o.ranks;
  Compilation c(std::move(schedules), o, diag);
  if (diag.ok()) compileAll(c, o, diag);
}

/// Proves each way in which the file says that it may be called; prints only the one
/// that --in-place asks for, or the only one.
void compileMsccl(Options &o, Diag &diag) {
  std::optional<uint16_t> file = readFile(o.file, diag);
  if (!file) return;
  std::optional<Msccl> msccl = readMsccl(*file, diag);
  if (!msccl) return;
  o.ranks = o.proveFrom = o.proveTo = static_cast<int64_t>(msccl->gpus.size());
  o.root = msccl->root;
  if (o.emit == Emit::nothing) o.prove = true;
  if (o.emit == Emit::schedule) o.allRanks = true;
  if (o.inPlace && !msccl->inPlace)
    return diag.error(Loc(), o.file, " says inplace=\"0\": it cannot be called in place");
  const bool both = o.emit == Emit::nothing;
  for (const bool inPlace : {false, true}) {
    if (inPlace ? !msccl->inPlace : !msccl->outOfPlace) continue;
    if (!both && inPlace != (o.inPlace || !msccl->outOfPlace)) continue;
    std::vector<Schedule> schedules = scheduleMsccl(*msccl, inPlace, diag);
    if (!diag.ok()) return;
    Compilation c(std::move(schedules), o, diag);
    if (diag.ok()) compileAll(c, o, diag);
    if (!diag.ok()) return;
  }
}

void checkGoalFile(const Options &o, Diag &diag) {
  std::optional<uint16_t> file = readFile(o.file, diag);
  if (!file) return;
  std::optional<Goal> goal = readGoal(*file, diag);
  if (!goal) return;
  checkGoal(*goal, diag);  // every message meets its like, and everything ends
  if (!diag.ok() || o.quiet) return;
  std::cout
      << o.file << ": " << goal->ranks() << " ranks, " << goal->operations.size()
      << " operations: messages match and nothing waits for ever, though nothing is buffered\n"
      << "  GOAL says nothing of data: matching, sizes and order were checked, not the "
         "result\n";
}

/// What a command line asks for; the status to exit with.
int carryOut(Options &options) {
  Diag diag(std::cerr);
  if (options.inspect) {
    inspectLibrary(options.file, std::cout, diag);
    return diag.ok() ? 0 : 1;
  }
  if (!options.explain.empty()) {
    explainSelection(options, std::cout, diag);
    return diag.ok() ? 0 : 1;
  }
  if (options.ahead()) {
    compileAhead(options, diag);
    return diag.ok() ? 0 : 1;
  }
  std::unique_ptr<Jit> userOperator;  // its code stays until all is done
  if (options.run && !options.operatorFiles.empty()) {
    userOperator = loadOperator(options, diag);
    if (!diag.ok()) return 1;
  }
  switch (options.input) {
    case Input::source:
      compileSource(options, diag);
      break;
    case Input::schedule:
      compileSchedules(options, diag);
      break;
    case Input::goal:
      checkGoalFile(options, diag);
      break;
    case Input::msccl:
      compileMsccl(options, diag);
      break;
  }
  return diag.ok() ? 0 : 1;
}

}  // namespace
}  // namespace nbcc

int main(int argc, char **argv) {
  using namespace nbcc;
  Options options;
  if (std::optional<int> status = readOptions(argc, argv, options)) return *status;
  if (!options.batch) return carryOut(options);
  return runBatch(std::cin, std::cout, [](int count, char **words) {
    Options line;
    if (std::optional<int> status = readOptions(count, words, line)) return *status;
    if (!line.batch) return carryOut(line);
    std::cerr << "nbcc: error: --batch within a batch\n";
    return 2;
  });
}
