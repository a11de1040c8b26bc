// SPDX-License-Identifier: BSD-3-Clause
// main.cpp - nbc-bench: what is measured, in which order, and where it goes.
//
//   files -> templates -> plans -> for each size: measure() -> table, JSON, plots

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "nbc/devx.h"
#include "nbc/hca.h"
#include "nbc/sci.h"
#include "nbc/transfer.h"
#include "nbc/verbs.h"
#include "runtime/mpi/nbc_mpi.h"
#include "tools/bench/algorithms.h"
#include "tools/bench/progress.h"
#include "tools/bench/report.h"
#include "tools/bench/together.h"

namespace nbcc::bench {
namespace {

/// The first words: what comes behind is about how it was built, and where.
std::string mpiName() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(text, &length);
  std::string name, all(text, size_t(length));
  for (char c : all.substr(0, all.find_first_of(",\n")))
    if (!std::isspace(c) || (!name.empty() && name.back() != ' '))
      name += std::isspace(c) ? ' ' : c;
  return name;
}

Facts factsOf(const Options &o, const Computation &c, int level) {
  Facts f;
  f.mpi = mpiName();
  f.thread = level == MPI_THREAD_SINGLE       ? "single"
             : level == MPI_THREAD_FUNNELED   ? "funneled"
             : level == MPI_THREAD_SERIALIZED ? "serialized"
                                              : "multiple";
  f.ranks = rankCount();
  f.cores = c.coresOfNode;
  f.ranksOfNode = c.ranksOfNode;
  char host[256] = "";
  if (o.host && gethostname(host, sizeof host - 1) == 0) f.host = host;
  return f;
}

nbc_plan *planOf(nbc_comm *comm, const Algorithm &a, size_t largest, nbc_transfer transfer) {
  nbc_plan *plan = nullptr;
  nbc_plan_options options = {};
  options.max_bytes = largest + 64;
  options.transfer = transfer;
  must(nbc_plan_create(comm, a.data.get(), a.bytes, &options, &plan), a.name.c_str());
  must(nbc_plan_connect(plan), a.name.c_str());
  return plan;
}

/// What is measured of one collective: the MPI's own first, which the others are compared with.
std::vector<Contestant> contestants(const Options &o, const Collective &c, nbc_comm *comm,
                                    const std::vector<Algorithm> &algorithms) {
  std::vector<Contestant> all;
  if (o.mpi) all.push_back({.algorithm = nameInMpi(c, false)});
  if (o.mpi && o.blocking) all.push_back({.algorithm = nameInMpi(c, true), .blocks = true});
  for (const Algorithm &a : algorithms) {
    if (a.collective != &c) continue;
    std::vector<nbc_transfer> ways;
    for (const nbc_transfer way : o.transfers)
      if (a.target == nbc_transfer_target(way)) ways.push_back(way);
    if (ways.empty()) ways.push_back(NBC_TRANSFER_AUTO);
    for (const nbc_transfer way : ways)
      all.push_back({.algorithm = a.name,
                     .target = a.target,
                     .plan = planOf(comm, a, o.sizes.back(), way),
                     .transfer = way});
  }
  return all;
}

/// Bytes that are possible: whole elements; a barrier has none.
std::vector<size_t> sizesOf(const Options &o, const Collective &c, const Arguments &arguments) {
  if (c.kind == ast::Kind::barrier) return {0};
  std::vector<size_t> sizes;
  for (size_t size : o.sizes)
    if (size % arguments.elementSize() == 0) sizes.push_back(size);
  if (sizes.empty())
    throw Refused("no size of --sizes is a multiple of the " +
                  std::to_string(arguments.elementSize()) + " bytes of " + o.typeName);
  return sizes;
}

/// All collectives that there is an algorithm for, in turn.
std::vector<Result> measureAll(const Options &o, const Computation &computation, nbc_comm *comm,
                               const std::vector<Algorithm> &algorithms) {
  std::vector<Result> results;
  std::vector<const Collective *> wanted;
  for (const Collective &c : collectives())
    if (std::ranges::find(algorithms, &c, &Algorithm::collective) != algorithms.end())
      wanted.push_back(&c);
  ProgressLine progress(o.progress, rankHere() == 0, wanted.size() * o.sizes.size());
  for (const Collective *c : wanted) {
    Arguments arguments(*c, o.sizes.back(), o.type, o.root);
    const std::vector<size_t> sizes = sizesOf(o, *c, arguments);
    const std::vector<Contestant> who = contestants(o, *c, comm, algorithms);
    progress.clear();
    if (rankHere() == 0) printCollective(*c, o, std::cout);
    for (size_t size : sizes) {
      arguments.setSize(size);
      progress.next(std::string(c->name) + ", " + std::to_string(size) + " bytes, " +
                    std::to_string(who.size()) + " ways");
      const std::vector<Result> some = measure(o, computation, arguments, who);
      progress.clear();
      if (rankHere() == 0) printResults(some, std::cout);
      results.insert(results.end(), some.begin(), some.end());
    }
    MPI_Barrier(MPI_COMM_WORLD);  // no plan goes before all its calls are done everywhere
    for (const Contestant &contestant : who)
      if (contestant.plan) must(nbc_plan_free(contestant.plan), "plan");
  }
  return results;
}

void writeFiles(const Options &o, const Facts &f, const Computation &c, const Algorithms &a,
                const std::vector<Result> &results, const std::string &gnuplot) {
  if (!o.json.empty()) {
    std::ofstream file(o.json);
    writeJson(f, o, c, a.skipped, results, file);
    if (!file.flush()) throw Refused("cannot write " + o.json);
  }
  if (!o.plot.empty()) {
    const std::string script = o.plot + ".gnuplot";
    std::ofstream file(script);
    file << plotScript(o.plot, f, results);
    if (!file.flush()) throw Refused("cannot write " + script);
    file.close();
    if (!plot(gnuplot, script))
      throw Refused("gnuplot has failed: " + script + " is what it was given");
  }
}

void bench(const Options &o, int level) {
  if (o.root >= rankCount())
    throw Refused("--root " + std::to_string(o.root) + ": there are " +
                  std::to_string(rankCount()) + " ranks");
  for (const char *variable : {"NBC_SCI_TRANSFER", "NBC_VERBS_TRANSFER"})
    if (const char *said = std::getenv(variable); !o.transfers.empty() && said && *said)
      throw Refused(std::string("--transfer: ") + variable + "=" + said +
                    " has the first word in it");
  std::string gnuplot;
  onRankZero([&] {
    if (!o.plot.empty()) gnuplot = findGnuplot();
  });
  const Algorithms algorithms = loadAlgorithms(o);
  Computation computation(o.yields);
  if (!o.tests.empty()) {
    computation.calibrate();
    if (!computation.whyNot().empty()) throw Refused(computation.whyNot());
  }
  const Facts facts = factsOf(o, computation, level);
  if (rankHere() == 0) printHead(facts, o, algorithms.skipped, std::cout);

  nbc_comm *comm;
  nbc_device *adapters[3] = {};
  nbc_mpi_options how = {.devices = adapters};
  const auto open = [&](const char *target, auto opener) {
    if (std::find(o.targets.begin(), o.targets.end(), target) == o.targets.end()) return;
    together([&] {
      const char *why = "";
      if (opener(nullptr, &adapters[how.device_count], &why))
        throw Refused(std::string("--target ") + target + ": " + why);
    });
    ++how.device_count;
  };
  const char *adapter = std::getenv("NBC_DEVX_DEVICE");
  if (adapter && *adapter)
    open(NBC_HCA_TARGET, nbc_devx_open);
  else
    open(NBC_HCA_TARGET, nbc_hca_open);
  open(NBC_SCI_TARGET, nbc_sci_open);
  open(NBC_VERBS_TARGET, nbc_verbs_open);
  must(nbc_comm_create_mpi_with(MPI_COMM_WORLD, &how, &comm), "communicator");
  if (o.thread) {
    const int status = nbc_comm_progress(comm, NBC_PROGRESS_THREAD);
    if (status) nbc_comm_free(comm);
    together([&] {
      if (status) throw Refused(std::string("--thread: ") + nbc_status_text(status));
    });
  }
  const std::vector<Result> results = measureAll(o, computation, comm, algorithms.all);
  must(nbc_comm_free(comm), "communicator");
  onRankZero([&] { writeFiles(o, facts, computation, algorithms, results, gnuplot); });
}

}  // namespace
}  // namespace nbcc::bench

int main(int argc, char **argv) {
  using namespace nbcc::bench;
  Options options;
  const std::optional<Said> said = readOptions(argc, argv, options);
  int level, status = 0;
  MPI_Init_thread(&argc, &argv, options.thread ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  if (said) {
    if (rankHere() == 0) (said->status ? std::cerr : std::cout) << said->text;
    status = said->status;
  } else {
    try {
      bench(options, level);
    } catch (const Refused &refused) {
      if (rankHere() == 0) std::cerr << "nbc-bench: " << refused.what() << "\n";
      status = 1;
    }
  }
  MPI_Finalize();
  return status;
}
