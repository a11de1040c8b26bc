// SPDX-License-Identifier: BSD-3-Clause
// options.cpp - the command line, and --help.

#include "tools/bench/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <sstream>

#include "dsl/collectives.h"
#include "nbc/transfer.h"

namespace nbcc::bench {
namespace {

/// "8", "64K", "1M".
size_t readSize(std::string_view text) {
  size_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit = text.substr(size_t(end - text.data()));
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (error != std::errc() || shift < 0 || value > SIZE_MAX >> (shift + 1))
    throw CLI::ValidationError("--sizes", "'" + std::string(text) + "' is no size: 8, 64K, 1M");
  return value << shift;
}

/// "8:1M", doubling; "8:1M:4", by that factor; "8,64K,1M".
std::vector<size_t> readSizes(const std::string &text) {
  const bool doubling = text.find(':') != std::string::npos;
  std::vector<std::string> words = CLI::detail::split(text, doubling ? ':' : ',');
  std::vector<size_t> sizes;
  if (!doubling) {
    for (const std::string &word : words) sizes.push_back(readSize(word));
    return sizes;
  }
  if (words.size() > 3) throw CLI::ValidationError("--sizes", "wanted FROM:TO or FROM:TO:FACTOR");
  const size_t from = readSize(words[0]), to = readSize(words[1]);
  const size_t factor = words.size() == 3 ? readSize(words[2]) : 2;
  if (from == 0 || from > to || factor < 2)
    throw CLI::ValidationError("--sizes", "wanted 0 < FROM <= TO and a FACTOR of at least 2");
  for (size_t size = from; size <= to; size *= factor) sizes.push_back(size);
  return sizes;
}

struct Type {
  const char *name;
  nbc_type type;
};
// Those of which sums of what ranks contribute here are exact.
constexpr Type types[] = {{"f64", NBC_F64}, {"f32", NBC_F32}, {"i64", NBC_I64}, {"i32", NBC_I32}};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Collective &c : collectives())
    if (!c.hasGraph()) all.emplace_back(c.name);
  return all;
}

const char *const footer =
    "\nLatency is start + wait of the slowest rank, the median over calls, with the quartiles; "
    "start "
    "is\nthat of the slowest rank, too; CPU is user + system time of the process (getrusage), of "
    "an "
    "average\nrank. Overlap is that of NBCBench, 1 - (T - C) / L: L the latency, C the time of "
    "computing\nalone, T that of a call with the same computation between its start and its wait; "
    "the "
    "tests are\nspread evenly over it. Algorithms and the MPI's own take turns, in short batches.\n"
    "\nOverlap is refused where ranks outnumber cores, and where all ranks at once compute slower "
    "than\none alone: it would be a figure of the machine. Not with --yield, which needs no core: "
    "there C\nand T are by the clock alone, so what others do with the cores meanwhile costs "
    "nothing.\n"
    "\nExit status: 0 if all was measured, 1 if something was refused or a result was wrong, 2 if "
    "the\ncommand line was.\n";

}  // namespace

std::optional<Said> readOptions(int argc, char **argv, Options &o) {
  CLI::App app(
      "nbc-bench - what compiled collectives cost beside those of the MPI below.\n\n"
      "  nbcc allgather/*.nbc --target=mpi --ranks=2 -o libcolls.so\n"
      "  mpirun -n 2 nbc-bench-openmpi libcolls.so --sizes 8:1M --overlap 0,10 --plot colls",
      "nbc-bench");
  app.set_version_flag("--version", "nbc-bench " NBCC_VERSION);
  app.footer(footer);
  app.get_formatter()->column_width(34);

  std::string sizes = "8:1M:8", progress = "auto", barrier = "call";
  std::vector<std::string> transfers;
  o.typeName = "f64";
  o.targets = {"mpi"};
  app.add_option("FILE", o.files,
                 "libraries (nbcc -o libNAME.so), or templates of all ranks (--emit=template "
                 "--rank=all)")
      ->required();
  app.add_option("--collective", o.collectives, "only these [all that the files have]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(names()));
  app.add_option("--algorithm", o.algorithms, "only these, as allgather.bruck [all]")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--target", o.targets, "only those for these targets [mpi]")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--transfer", transfers,
                 "of target sci: pio, dma; of verbs: eager, write, read, send, direct; each by "
                 "itself [by length]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"pio", "dma", "eager", "write", "read", "send", "direct"}));
  app.add_option("--sizes", sizes,
                 "bytes of a block, or of the vector: 8,64K or 8:1M (doubling) or 8:1M:8 [8:1M:8]");
  app.add_option("--type", o.typeName, "of reductions [f64]")
      ->check(CLI::IsMember({"f64", "f32", "i64", "i32"}));
  app.add_option("--root", o.root, "where the collective has one [0]")
      ->check(CLI::NonNegativeNumber);

  o.seconds = 0.2;
  CLI::Option *time = app.add_option("--time", o.seconds,
                                     "seconds for each figure of each algorithm and size [0.2]");
  time->check(CLI::Range(0.0, 3600.0));
  app.add_option("--iterations", o.calls, "or so many calls")
      ->check(CLI::Range(1, 100000000))
      ->excludes(time);
  app.add_option("--overlap", o.tests, "measure overlap, with so many tests: 0,10")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(0, 100000));
  app.add_option("--compute", o.compute, "for overlap: compute for so many latencies [1]")
      ->check(CLI::Range(0.01, 1000.0));
  app.add_flag("--yield", o.yields,
               "for overlap: let that time pass and yield, as who waits for an accelerator: where "
               "ranks' cores are an emulated adapter's, too");
  app.add_option("--barrier", barrier,
                 "call: one before each, as OSU has it; batch: before each batch")
      ->check(CLI::IsMember({"call", "batch"}));
  app.add_flag("--thread", o.thread,
               "a progress thread for the algorithms (MPI_THREAD_MULTIPLE, for all)");
  app.add_flag("!--no-mpi", o.mpi, "leave out the MPI's own collectives");
  app.add_flag("--blocking", o.blocking, "measure the MPI's blocking ones, too");

  app.add_option("--json", o.json, "write all figures there");
  app.add_flag("--samples", o.samples, "and the times of every single call");
  app.add_flag("--host", o.host, "and the name of the host");
  app.add_option("--plot", o.plot,
                 "write PREFIX-latency-COLLECTIVE.png, .svg and, with --overlap, "
                 "PREFIX-overlap-... (needs gnuplot)")
      ->type_name("PREFIX");
  app.add_option("--progress", progress, "on stderr; auto: if that is a terminal")
      ->check(CLI::IsMember({"auto", "always", "never"}));

  try {
    app.parse(argc, argv);
    o.sizes = readSizes(sizes);
  } catch (const CLI::Error &e) {
    std::ostringstream out, err;
    const bool wrong = app.exit(e, out, err) != 0;
    return Said{wrong ? 2 : 0, wrong ? err.str() : out.str()};
  }
  for (const Type &t : types)
    if (o.typeName == t.name) o.type = t.type;
  for (const std::string &name : transfers)
    for (int way = NBC_TRANSFER_AUTO + 1; way < NBC_TRANSFERS; ++way)
      if (name == nbc_transfer_name(nbc_transfer(way))) o.transfers.push_back(nbc_transfer(way));
  o.barrierEach = barrier == "call";
  o.progress = progress == "always"  ? Progress::always
               : progress == "never" ? Progress::never
                                     : Progress::automatic;
  return std::nullopt;
}

}  // namespace nbcc::bench
