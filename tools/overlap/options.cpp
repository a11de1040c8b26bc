// SPDX-License-Identifier: BSD-3-Clause
// options.cpp - the command line, and --help.

#include "tools/overlap/options.h"

#include <clang/Tooling/CompilationDatabase.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <system_error>

namespace nbcc::overlap {
namespace {

const char *const about =
    "nbc-overlap - finds what an MPI program can do while a collective is under way.\n\n"
    "  nbc-overlap -p build                        all sources of build/compile_commands.json\n"
    "  nbc-overlap --fix solver.c main.c -- mpicc -O2 -fopenmp\n";

const char *const footer =
    "\nExit status: 0 if all sources were read, 1 if clang refused one, 2 if a file or the command "
    "line\n"
    "was wrong.\n";

/// Commands for sources; null: there are none, and `why` says so.
std::unique_ptr<clang::tooling::CompilationDatabase> findCommands(const std::string &folder,
                                                                  const Options &o,
                                                                  std::string &why) {
  using clang::tooling::CompilationDatabase;
  if (!folder.empty()) return CompilationDatabase::autoDetectFromDirectory(folder, why);
  if (!o.sources.empty()) return CompilationDatabase::autoDetectFromSource(o.sources.front(), why);
  why = "there are no sources";
  return nullptr;
}

}  // namespace

Options::Options() = default;
Options::~Options() = default;

std::optional<int> readOptions(int argc, char **argv, Options &o) {
  // What stands behind -- is a compiler's command line, its first word the compiler if it is no
  // flag.
  std::vector<std::string> flags;
  const auto dashes =
      std::find_if(argv, argv + argc, [](const char *a) { return std::string_view(a) == "--"; });
  const bool fixed = dashes != argv + argc;
  if (fixed) {
    flags.assign(dashes + 1, argv + argc);
    argc = static_cast<int>(dashes - argv);
    if (!flags.empty() && !flags.front().starts_with('-')) {
      o.compiler = flags.front();
      flags.erase(flags.begin());
    }
  }

  CLI::App app(about, "nbc-overlap");
  app.set_version_flag("--version", "nbc-overlap " NBCC_VERSION);
  app.footer(footer);
  std::string folder;
  std::vector<std::string> local, alike;
  app.add_option("source", o.sources, "Sources; with -p and none, all that were compiled there");
  app.add_option("-p", folder,
                 "Folder of compile_commands.json; else looked for above the first source");
  app.add_flag("--fix", o.fix,
               "Rewrite what is safe to rewrite, by the rules that --explain prints");
  app.add_option("--export-fixes", o.exportFixes,
                 "Write the same changes as clang-tidy does, to this file");
  app.add_flag("--explain", o.explain, "Print the rules by which a change is safe");
  app.add_option("--profile", o.profile,
                 "Rank places: what NBC_VERBOSE=1 printed, or lines of FILE:LINE SECONDS");
  app.add_option("--least", o.least,
                 "Operations that must be there to run meanwhile; a loop counts 100 times, "
                 "another collective for 1000")
      ->capture_default_str();
  app.add_option("--persistent", o.persistent,
                 "In loops make the call persistent, by the names of MPI 4 (mpi4) or those of Open "
                 "MPI's extension "
                 "(mpix)")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Persistent>{
          {"mpi4", Persistent::mpi4}, {"mpix", Persistent::mpix}}));
  app.add_option(
         "--local", local,
         "Functions without a body in sight that touch only what their arguments point at, keep no "
         "pointer, use no MPI and return: NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option(
         "--alike", alike,
         "Variables, fields as FIELD or STRUCT.FIELD, and results of functions as NAME() or "
         "STRUCT.NAME(), that are the same on all ranks; pointers: null on all or on none")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--whole", o.promises.whole,
               "No code but these sources communicates on the program's communicators");
  app.add_flag("--library", o.promises.library,
               "What no source here calls is called from elsewhere, on all ranks alike")
      ->excludes("--whole");
  app.add_flag("--across-clocks", o.promises.acrossClocks,
               "Move calls across MPI_Wtime() and its like as well: what the program measures of "
               "itself is then something else");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  o.promises.local.insert(local.begin(), local.end());
  o.promises.alike.insert(alike.begin(), alike.end());
  if (o.explain) return std::nullopt;

  std::error_code error;
  if (std::filesystem::current_path(error).empty()) {
    std::cerr << "nbc-overlap: the working directory: " << error.message() << '\n';
    return 2;
  }

  std::string why;
  if (fixed)
    o.commands = std::make_unique<clang::tooling::FixedCompilationDatabase>(".", flags);
  else
    o.commands = findCommands(folder, o, why);
  if (!o.commands) {
    std::cerr << "nbc-overlap: no commands to compile with: " << why
              << "\nnbc-overlap: say -p FOLDER of a compile_commands.json, or -- mpicc and flags "
                 "behind the sources\n";
    return 2;
  }
  if (o.sources.empty()) o.sources = o.commands->getAllFiles();
  if (o.sources.empty()) {
    std::cerr << "nbc-overlap: there are no sources\n";
    return 2;
  }
  return std::nullopt;
}

}  // namespace nbcc::overlap
