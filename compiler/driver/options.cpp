// SPDX-License-Identifier: BSD-3-Clause
// options.cpp - the command line, and --help.

#include "compiler/driver/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstring>
#include <iostream>
#include <sstream>

#include "compiler/driver/run_device.h"
#include "compiler/passes/passes.h"
#include "compiler/selection/ranges.h"
#include "nbc/transfer.h"

namespace nbcc {
namespace {

bool readNumber(std::string_view text, int64_t &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// "7" or "1..64".
bool readRange(std::string_view text, int64_t &from, int64_t &to) {
  size_t dots = text.find("..");
  if (dots == std::string_view::npos) return readNumber(text, from) && readNumber(text, to);
  return readNumber(text.substr(0, dots), from) && readNumber(text.substr(dots + 2), to) &&
         from <= to;
}

/// `--run` alone runs the algorithm, `--run=<pass>` runs a pass: one word for both
/// in the design. Only the second form takes a value, and only after a `=`, so that
/// `--run FILE` is no pass. `--prove FILE` has no range either.
std::vector<std::string> spellOut(int argc, char **argv) {
  std::vector<std::string> args;
  for (int i = argc - 1; i > 0; --i) {  // CLI11 wants them last first
    std::string a = argv[i];
    if (a.starts_with("--run=")) a = "--run-pass=" + a.substr(6);
    const std::string_view next = i + 1 < argc ? argv[i + 1] : "";
    const bool range = next.find_first_not_of("0123456789.") == next.npos && !next.empty();
    if (a == "--prove" && !range) a += "=1..64";
    args.push_back(a);
  }
  return args;
}

/// Microseconds, as many as simulated time has room for.
CLI::Validator isTime() {
  const auto check = [](const std::string &text) -> std::string {
    double microseconds = -1;
    const char *end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, microseconds);
    if (error == std::errc() && last == end && microseconds >= 0 && microseconds <= 1e9) return "";
    return cat("'", text, "' is no time: 0 to 1e9 microseconds");
  };
  return {check, "in [0 - 1e9]"};
}

std::optional<LibraryForm> libraryForm(const std::string &path) {
  if (path.ends_with(".so")) return LibraryForm::shared;
  if (path.ends_with(".a")) return LibraryForm::archive;
  if (path.ends_with(".o")) return LibraryForm::object;
  return std::nullopt;
}

std::string helpFooter() {
  std::ostringstream s;
  s << "\nPasses, in the order they run (--run=<pass>; * not by default), and what holds after "
       "each:\n";
  for (const Pass &p : passes())
    s << "  " << (p.byDefault ? ' ' : '*') << p.name << std::string(24 - std::strlen(p.name), ' ')
      << p.holds << "\n";
  s << "\nTargets (--target) and their devices (--device), the first is the default:\n";
  for (const Target *t : targets()) {
    s << "   " << t->name << "  " << t->summary << "\n";
    for (const Device &d : t->devices)
      s << "      " << d.name << std::string(12 - std::min<size_t>(11, std::strlen(d.name)), ' ')
        << d.summary << "\n";
  }
  s << "\nExit status: 0 if all went well, 1 if something was wrong with the program, the "
       "schedule\n"
       "or the run, 2 if something was wrong with the command line.\n";
  return s.str();
}

}  // namespace

std::optional<int> readOptions(int argc, char **argv, Options &o) {
  CLI::App app(
      "nbcc - compiles collective communication algorithms.\n\n"
      "  nbcc bruck.nbc                                   prove it for 1..64 ranks\n"
      "  nbcc bruck.nbc --target=coredirect               and say what it takes on a target\n"
      "  nbcc bruck.nbc --target=coredirect --emit=tasks  what the device of rank 0 of 8 reads\n"
      "  nbcc bruck.nbc --target=coredirect --run         run it here, on the software device\n"
      "  nbcc *.nbc --target=coredirect --ranks=8,16 -o libcolls.so\n"
      "                                                   a library of them: `build` for any "
      "number\n"
      "                                                   of ranks, templates for 8 and 16",
      "nbcc");
  app.set_version_flag("--version", "nbcc " NBCC_VERSION);
  app.footer(helpFooter());
  app.get_formatter()->column_width(34);

  std::string input = "nbc", emit, rounds = "overlap", device, protocol = "auto", cpu = "generic",
              prove, rank = "0", clock = "simulated", bytes = "1K", seeds, topology, within, grid,
              graph, rendezvous, transfer;
  std::vector<std::string> parameters, wantedTargets, operators, lengths{"equal"};
  std::vector<int64_t> wantedRanks;

  app.add_option("FILE", o.files, "source, or what -x says; of a library: several");
  app.add_option("-x", input,
                 "what FILE holds; goal: of LogGOPSim, checked for all but data; msccl: XML")
      ->check(CLI::IsMember({"nbc", "schedule", "goal", "msccl"}));
  app.add_option("--algorithm", o.algorithm, "which one, where FILE holds several");
  app.add_option("-p", parameters, "a parameter of the algorithm: -p k=3")->type_name("NAME=VALUE");
  app.add_option("-o", o.output,
                 "write to this file what --emit names, after a proof, or --format; or a library, "
                 "which is named .so, .a or .o");
  app.add_flag("--inspect", o.inspect, "say what is in a library (.so, .a, .o), and do no more");
  app.add_flag("--format", o.format, "print the source as it is to be laid out, and do no more");

  app.add_flag(
      "--batch", o.batch,
      "read command lines from standard input, and run one after the other; for each print "
      "its exit status, how many bytes it printed on standard output and on standard error, and "
      "these");

  app.add_option("--emit", emit,
                 "print a stage's result; links: those that messages take between nodes; goal: all "
                 "ranks, for "
                 "LogGOPSim; header: of a library, in C")
      ->check(CLI::IsMember({"ast", "llvm", "schedule", "links", "goal", "tasks", "resources",
                             "template", "header"}));
  app.add_option("--run-pass", o.passes, "run this pass alone (--run=<pass>; several: in order)")
      ->group("");
  app.add_option("--rounds", rounds, "overlap: a step waits for bytes; strict: for whole rounds")
      ->check(CLI::IsMember({"overlap", "strict"}));
  app.add_flag("--in-place", o.inPlace, "as called with MPI_IN_PLACE");

  CLI::Option *proveOption =
      app.add_option("--prove", prove, "prove for these numbers of ranks [1..64]")
          ->type_name("A..B");
  app.add_option("-j,--jobs", o.jobs, "numbers of ranks that are proven at once [as many as cores]")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--no-prove", o.noProve, "with -o: do not prove first");

  app.add_option("--target", wantedTargets, "what to compile for; of a library: several")
      ->type_name("TARGET,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--device", device, "which adapter");
  app.add_option("--protocol", protocol,
                 "auto prepares eager and rendezvous; direct: for one call, persistent")
      ->check(CLI::IsMember({"auto", "eager", "rendezvous", "direct"}));
  app.add_option("--lengths", lengths,
                 "equal: of all blocks; each: as in MPI's v- and w-variants; equal,each: a library "
                 "for both")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"equal", "each"}));
  app.add_flag("--slot-per-block", o.targetOptions.slotPerBlock,
               "eager: one message for each block");
  app.add_option("--depth", o.targetOptions.depth, "calls under way at once; direct: 1")
      ->check(CLI::Range(1, 64));

  app.add_option("--cpu", cpu,
                 "what a library's code may need [generic]: x86-64-v2, -v3, -v4; native: as here")
      ->check(CLI::IsMember({"generic", "native", "x86-64-v2", "x86-64-v3", "x86-64-v4"}));

  app.add_option(
      "--topology", topology,
      "where the ranks are: 4x8, nodes x ranks on each; torus:4x4, a node for each rank; or a file "
      "with the node of each");
  app.add_option("--within", within,
                 "coredirect, where --topology has several ranks on a node: what carries their "
                 "messages to each other: memory, adapter [memory, if the device has cross-channel "
                 "queues]")
      ->check(CLI::IsMember({"memory", "adapter"}));
  app.add_option("--cart", grid,
                 "who are neighbours: 4x3p, the ranks of each dimension, p: periodic");
  app.add_option("--graph", graph, "or a file with a line for each rank, as 0: from 1 3 to 1");
  CLI::Option *ranks =
      app.add_option("--ranks", wantedRanks, "how many ranks [8]; of a library: several, or none")
          ->type_name("N,...")
          ->delimiter(',')
          ->allow_extra_args(false);
  app.add_option("--rank", rank, "whose schedule or tasks, or `all`")->capture_default_str();
  CLI::Option *root =
      app.add_option("--root", o.root, "of a rooted collective [0; of a library: all]");

  const char *run = "Running (--run)";
  app.add_flag("--run", o.run, "run on the software device and check every byte")->group(run);
  app.add_option("--count", o.count, "elements of a block or vector")
      ->group(run)
      ->capture_default_str();
  app.add_option(
         "--counts", o.counts,
         "of each block, with --lengths=each: 3,0,7; over again where there are more blocks; "
         "else drawn from 0 to --count")
      ->group(run)
      ->type_name("N,N,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  CLI::Option *typeOption =
      app.add_option(
             "--type", o.type,
             "their type: byte, i8..i64, u8..u64, f32, f64, bool, complex cf32, cf64, pairs "
             "i32_i32, f32_i32, f32_f32, f64_f64")
          ->group(run)
          ->capture_default_str();
  app.add_option(
         "--op", operators,
         "sum prod min max band bor bxor land lor lxor minloc maxloc; affine: does not "
         "commute (u64); FILE:NAME: T NAME(T, T) of a C or C++ file; of a library: several [sum]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(run);
  app.add_option("--calls", o.calls, "started one behind the other before the first wait")
      ->group(run)
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--time", clock, "simulated: one thread; real: a thread per rank")
      ->group(run)
      ->check(CLI::IsMember({"simulated", "real"}))
      ->capture_default_str();
  CLI::Option *seedOption =
      app.add_option("--seed", seeds,
                     "adversarial device: delays and reorders all it may; 1..1000: one run each")
          ->group(run);
  app.add_option("--timeline", o.timeline, "draw ranks against time (SVG file)")->group(run);
  app.add_option("--eager-bytes", o.eagerBytes, "blocks up to this long go eager")->group(run);
  app.add_option("--rendezvous", rendezvous,
                 "verbs, long messages: the sender writes, the receiver reads, or they are sent to "
                 "receives in place; direct: written where the receiver has said in time that they "
                 "may be, else sent [write]")
      ->group(run)
      ->check(CLI::IsMember({"write", "read", "send", "direct"}));
  app.add_option("--transfer", transfer,
                 "sci: the host stores (pio), or the adapter copies (dma); verbs: all messages are "
                 "copied (eager), written, read, sent or direct; auto: by length [auto]")
      ->group(run)
      ->check(CLI::IsMember({"auto", "pio", "dma", "eager", "write", "read", "send", "direct"}));
  app.add_option("--compute", o.compute,
                 "microseconds that each host computes between start and wait, looking at nothing; "
                 "of targets coredirect and verbs, in simulated time")
      ->group(run)
      ->check(isTime());
  app.add_option("--look", o.look,
                 "microseconds that hosts look after their calls before they --compute, as a "
                 "program does that tests a few times")
      ->group(run)
      ->check(isTime());
  app.add_flag("--quiet", o.quiet, "print only what is wrong")->group(run);
  // For tests; not in --help.
  app.add_flag("--vary", o.vary, "lengths, depth, calls, indices and in place from the seed")
      ->group("");
  app.add_option("--first-index", o.firstIndex, "where the indices of all queues begin")
      ->group("")
      ->check(CLI::Range(0, (1 << 24) - 1));
  const char *selection = "What the drop-in takes for a call (--explain-selection)";
  app.add_option("--explain-selection", o.explain,
                 "which row of its table, and why, on --ranks; allgatherv: where blocks differ")
      ->group(selection)
      ->type_name("COLLECTIVE");
  CLI::Option *nodesOption = app.add_option("--nodes", o.nodes, "how many nodes they are on")
                                 ->group(selection)
                                 ->capture_default_str();
  app.add_option("--bytes", bytes, "of a block or vector: 64K")
      ->group(selection)
      ->capture_default_str();
  app.add_option("--table", o.table, "another table [that of NBC_TABLE; the installed one]")
      ->group(selection)
      ->type_name("FILE");
  app.add_option("--library", o.shipped, "another library [that of NBC_LIBRARY; libnbc-colls.so]")
      ->group(selection)
      ->type_name("FILE");
  const char *loggp = "LogGP, in microseconds; of simulated time, and of estimates";
  const auto cost = [&](const char *name, double &value, const char *of) {
    app.add_option(name, value, of)->group(loggp)->check(isTime())->capture_default_str();
  };
  cost("--latency", o.latency, "L");
  cost("--overhead", o.overhead, "o, of the host");
  cost("--gap", o.gap, "g, between messages");
  cost("--gap-per-byte", o.gapPerByte, "G");
  cost("--nic-overhead", o.nic, "of the adapter, for each entry");
  cost("--loopback-latency", o.loopback, "instead of L, of an adapter to itself");
  app.add_option("--ports", o.ports,
                 "of each adapter: coredirect deals those that a program names over them")
      ->group(loggp)
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  cost("--memory-latency", o.memoryLatency, "instead of L, within a node by its memory");
  cost("--memory-overhead", o.memoryOverhead, "instead of o, of such a message");

  auto wrong = [](auto const &...parts) {
    ((std::cerr << "nbcc: error: ") << ... << parts) << "\n";
    return 2;
  };
  try {
    app.parse(spellOut(argc, argv));
  } catch (const CLI::Success &e) {
    return app.exit(e);
  } catch (const CLI::ParseError &e) {
    return wrong(e.what(), " (nbcc --help lists all options)");
  }

  const std::map<std::string, Input> inputs{{"nbc", Input::source},
                                            {"schedule", Input::schedule},
                                            {"goal", Input::goal},
                                            {"msccl", Input::msccl}};
  o.input = inputs.at(input);
  o.strictRounds = rounds == "strict";
  o.ranksGiven = ranks->count() > 0;
  o.rootGiven = root->count() > 0;
  if (o.batch)
    return argc == 2 ? std::optional<int>()
                     : wrong("--batch stands alone: options are those of the lines that it reads");
  if (o.files.empty() && o.explain.empty())
    return wrong("FILE is required (nbcc --help lists all options)");
  if (!o.files.empty() && !o.explain.empty())
    return wrong("--explain-selection takes no FILE: algorithms are those of the library");
  if (!o.files.empty()) o.file = o.files.front();
  if (!wantedRanks.empty()) o.ranks = wantedRanks.front();
  o.clock = clock == "real" ? Clock::real : Clock::simulated;
  if (!rendezvous.empty())
    o.rendezvous = rendezvous == "read"     ? Rendezvous::read
                   : rendezvous == "send"   ? Rendezvous::send
                   : rendezvous == "direct" ? Rendezvous::direct
                                            : Rendezvous::write;
  for (int way = NBC_TRANSFER_AUTO; way < NBC_TRANSFERS; ++way)
    if (transfer == nbc_transfer_name(nbc_transfer(way))) o.transfer = nbc_transfer(way);
  const std::map<std::string, Emit> emits{{"", Emit::nothing},
                                          {"ast", Emit::ast},
                                          {"llvm", Emit::llvm},
                                          {"schedule", Emit::schedule},
                                          {"links", Emit::links},
                                          {"goal", Emit::goal},
                                          {"tasks", Emit::tasks},
                                          {"resources", Emit::resources},
                                          {"template", Emit::templateBytes},
                                          {"header", Emit::header}};
  o.emit = emits.at(emit);

  if (o.inspect && (o.format || o.run || o.prove || o.emit != Emit::nothing || !o.output.empty()))
    return wrong(
        "--inspect does no more than that: not with -o, --emit, --format, --run or --prove");
  if (o.emit == Emit::nothing && !o.format) o.library = libraryForm(o.output);
  const bool severalTargets = wantedTargets.size() > 1 && o.explain.empty();
  if (!o.ahead() && (o.files.size() > 1 || wantedRanks.size() > 1 || severalTargets))
    return wrong("several ",
                 o.files.size() > 1       ? "FILEs"
                 : wantedRanks.size() > 1 ? "numbers of --ranks"
                                          : "targets",
                 " make a library: -o libNAME.so, libNAME.a or NAME.o");

  o.typeGiven = typeOption->count() > 0;
  for (const std::string &op : operators) {
    if (op.find(':') != std::string::npos)
      o.operatorFiles.push_back(op);
    else if (o.ahead())
      return wrong("a library holds operators of FILE:NAME; ", op, " is one of the runtime's");
    o.op = op;
  }
  if (!o.ahead() && operators.size() > 1) return wrong("several operators make a library");

  for (const std::string &p : parameters) {
    size_t equals = p.find('=');
    int64_t value = 0;
    if (equals == std::string::npos || equals == 0 ||
        !readNumber(std::string_view(p).substr(equals + 1), value))
      return wrong("-p wants NAME=NUMBER, not '", p, "'");
    if (!o.parameters.emplace(p.substr(0, equals), value).second)
      return wrong("parameter ", p.substr(0, equals), " is given twice");
  }

  if (!grid.empty() && !graph.empty())
    return wrong("--cart and --graph both say who are neighbours");
  const char *fixed = "";  // the option that fixes the number of ranks
  if (!topology.empty() || !grid.empty() || !graph.empty()) {
    Diag diag(std::cerr);
    if (!topology.empty()) o.topology = readTopology(topology, diag);
    if (!grid.empty()) o.graph = readCartesian(grid, diag);
    if (!graph.empty()) o.graph = readGraph(graph, diag);
    if (!diag.ok()) return 2;
    for (const auto &[option, places] :
         {std::pair("--topology places ", o.topology.ranks()),
          std::pair(grid.empty() ? "--graph connects " : "--cart connects ", o.graph.ranks())}) {
      if (places == 0) continue;
      if (o.ranksGiven && o.ranks != places)
        return wrong(*fixed ? fixed : "--ranks is ", o.ranks, ", but ", option, places);
      fixed = option;
      o.ranks = places;
      o.ranksGiven = true;
    }
  }

  if (proveOption->count() > 0) {
    o.prove = true;
    if (!readRange(prove, o.proveFrom, o.proveTo) || o.proveFrom < 1)
      return wrong("--prove wants numbers of ranks, as 1..64, not '", prove, "'");
    if (o.noProve) return wrong("--prove and --no-prove contradict each other");
  }
  if (*fixed) {
    if (proveOption->count() > 0 && prove != "1..64" &&
        (o.ranks < o.proveFrom || o.ranks > o.proveTo)) {
      const std::string_view words = fixed;  // "--topology places "
      return wrong("--prove=", prove, " is without the ", o.ranks, " ranks that ",
                   words.substr(0, words.size() - 1));
    }
    o.proveFrom = o.proveTo = o.ranks;
  }

  if (seedOption->count() > 0) {
    int64_t from = 0, to = 0;
    if (!readRange(seeds, from, to) || from < 0)
      return wrong("--seed wants a number or a range, as 1..1000, not '", seeds, "'");
    o.adversarial = true;
    o.seed = static_cast<uint64_t>(from);
    o.lastSeed = static_cast<uint64_t>(to);
  }

  if (o.compute > 0 && (!o.run || o.clock == Clock::real || o.vary))
    return wrong("--compute needs --run, in simulated time");
  if (o.look > 0 && o.compute <= 0) return wrong("--look needs --compute");
  if (o.vary && (!o.adversarial || o.clock == Clock::real))
    return wrong("--vary needs --seed, and simulated time");

  if (rank == "all")
    o.allRanks = true;
  else if (!readNumber(rank, o.rank))
    return wrong("--rank wants a number or 'all', not '", rank, "'");
  constexpr int64_t kMostRanks = 1 << 24;
  if (wantedRanks.empty()) wantedRanks = {o.ranks};
  for (const int64_t wanted : wantedRanks) {
    if (wanted < 1 || wanted > kMostRanks)
      return wrong("--ranks is ", wanted, ", which is not in 1..", kMostRanks);
    if (o.rootGiven && wanted <= o.root && o.ahead())
      return wrong("--root is ", o.root, ", which is not in 0..", wanted - 1);
  }
  if (o.ahead() && o.ranksGiven) {
    std::ranges::sort(wantedRanks);
    wantedRanks.erase(std::ranges::unique(wantedRanks).begin(), wantedRanks.end());
    o.finished = wantedRanks;
  }
  if (o.rank < 0 || o.rank >= o.ranks)
    return wrong("--rank is ", o.rank, ", which is not in 0..", o.ranks - 1);
  if (o.root < 0 || o.root >= o.ranks)
    return wrong("--root is ", o.root, ", which is not in 0..", o.ranks - 1);

  for (const std::string &p : o.passes)
    if (p != "default" && !findPass(p))
      return wrong("there is no pass '", p, "' (nbcc --help lists them)");
  for (const std::string &target : wantedTargets) {
    const Target *found = findTarget(target);
    if (!found) {
      std::string known;
      for (const Target *t : targets()) known += (known.empty() ? "" : ", ") + std::string(t->name);
      return wrong("there is no target '", target, "'; there is ", known);
    }
    if (std::ranges::find(o.targets, found) != o.targets.end())
      return wrong("--target names ", target, " twice");
    o.targets.push_back(found);
    o.target = o.targets.front();
  }
  if (!device.empty()) {
    if (!o.target) return wrong("--device needs --target");
    if (o.targets.size() > 1) return wrong("--device needs a single --target");
    if (!(o.targetOptions.device = findDevice(*o.target, device)))
      return wrong(o.target->name, " knows no device '", device, "' (nbcc --help lists them)");
  } else if (o.target) {
    o.targetOptions.device = &o.target->devices.front();
  }
  o.targetOptions.within =
      within.empty() ? o.target && o.targetOptions.device->crossChannel : within == "memory";
  if (protocol == "eager") o.targetOptions.protocol = Protocol::eager;
  if (protocol == "rendezvous") o.targetOptions.protocol = Protocol::rendezvous;
  if (protocol == "direct") {
    o.targetOptions.protocol = Protocol::direct;
    if (app.count("--depth") > 0 && o.targetOptions.depth > 1)
      return wrong("--protocol=direct has one call under way, and --depth is ",
                   o.targetOptions.depth);
  }
  for (const std::string &length : lengths) {
    o.lengths.push_back(length == "each" ? Blocks::each : Blocks::equal);
    if (std::ranges::count(o.lengths, o.lengths.back()) > 1)
      return wrong("--lengths names ", length, " twice");
  }
  o.targetOptions.lengths = o.lengths.front();
  const bool each = std::ranges::count(o.lengths, Blocks::each) > 0;
  if (o.lengths.size() > 1 && !o.ahead())
    return wrong("lengths both equal and each make a library: -o libNAME.so, libNAME.a or NAME.o");
  if (each && !o.target && o.explain.empty())
    return wrong("--lengths=each needs --target (nbcc --help lists them)");
  if (!o.counts.empty() && (!each || !o.run))
    return wrong("--counts needs --lengths=each and --run");

  if (!o.explain.empty()) {
    if (o.ahead() || o.format || o.inspect || o.run || o.prove || o.emit != Emit::nothing)
      return wrong(
          "--explain-selection does no more than that: not with -o, --emit, --run or others");
    if (!readSize(bytes, o.bytes))
      return wrong("--bytes wants a number, as 64K, not '", bytes, "'");
    if (nodesOption->count() && o.topology.ranks())
      return wrong("--nodes and --topology both say where the ranks are");
    if (o.nodes < 1 || o.nodes > o.ranks)
      return wrong("--nodes is ", o.nodes, ", which is not in 1..", o.ranks);
  }
  bool needsTarget =
      o.emit == Emit::tasks || o.emit == Emit::resources || o.emit == Emit::templateBytes || o.run;
  if (needsTarget && !o.target)
    return wrong(o.run ? "--run" : "--emit=" + emit, " needs --target (nbcc --help lists them)");
  if (o.input == Input::goal && (o.emit != Emit::nothing || o.run || o.target))
    return wrong("GOAL says nothing of data: it can be checked, not compiled, printed or run");
  if (o.emit == Emit::links && (!o.passes.empty() || o.target))
    return wrong("--emit=links is of the program as written: not with --target or --run=<pass>");
  if (o.input != Input::source && (o.emit == Emit::ast || o.emit == Emit::llvm))
    return wrong("--emit=", emit, " needs a source, not a schedule");
  if (o.format && o.input != Input::source)
    return wrong("--format needs a source; -x says that FILE holds something else");
  if (o.format && (o.emit != Emit::nothing || o.run || o.prove))
    return wrong("--format does no more than that: not with --emit, --run or --prove");
  if (!o.output.empty() && o.emit == Emit::nothing && !o.format && !o.library)
    return wrong("-o needs --emit, or a name that ends in .so, .a or .o: what is to be written?");
  if (o.ahead()) {
    if (!o.target && o.library) return wrong("a library needs --target (nbcc --help lists them)");
    if (o.input != Input::source) return wrong("a library is made of sources, not of schedules");
    if (o.run) return wrong("--run runs one FILE; a library is opened and used (nbc/library.h)");
    if (!topology.empty() || !grid.empty() || !graph.empty())
      return wrong(
          "a library is for ranks wherever they are, so not with --topology, --cart or --graph");
    const std::string name = libraryName(o.output.empty() ? o.file : o.output);
    constexpr size_t kLongestName = 63;
    if (name.empty() || name.size() > kLongestName)
      return wrong("'", o.output, "' gives no name of a library: 1 to ", kLongestName,
                   " characters");
  }
  if (cpu == "native") o.cpuLevel = hostCpuLevel();
  if (cpu.starts_with("x86-64-v")) o.cpuLevel = cpu.back() - '0';
  if (cpu != "generic" && !o.library)
    return wrong("--cpu is of a library's code: it needs -o libNAME.so");
  if (!o.timeline.empty() && !o.run) return wrong("--timeline needs --run");
  if (o.rendezvous && !o.run) return wrong("--rendezvous needs --run");
  if (o.transfer && !o.run) return wrong("--transfer needs --run");
  if (const ForeignOption foreign = foreignOption(o); foreign.option)
    return wrong(foreign.option, " is target ", foreign.target, "'s: ", o.target->name,
                 " has no such choice");
  return std::nullopt;
}

}  // namespace nbcc
