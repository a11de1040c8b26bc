// SPDX-License-Identifier: BSD-3-Clause
// report.cpp - what is said on stderr. With NBC_VERBOSE=1: what was taken over, and what was not
// and why; all ranks together.
//
//   nbc: 4 ranks, 4804 collective calls in all, 99.9 % of them ours
//   nbc: 300 communicators, 297 of them with the plans of freed ones
//   nbc: buffers: 12 registered for a call, 9588 found registered
//   nbc: calls     bytes     algorithm                        target
//   nbc: 4800      38400     allreduce.recursive_doubling     shm
//   nbc: passed on:
//   nbc: 4         MPI_Barrier: an intercommunicator

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dropin/queue.h"
#include "nbc/transfer.h"
#include "nbc/verbs.h"

namespace nbcc::dropin {

namespace {

struct Sum {
  std::uint64_t calls = 0, bytes = 0;
};
using Lines = std::map<std::string, Sum>;  // by what is said of them

// Beginnings: what was not taken, plans, then what was passed on.
constexpr char taken = '+', passed = '-', unheeded = '!';
const std::string communicators = "=";  // calls: all; bytes: those that were served by freed ones
// Of adapters: calls: registered, bytes: found registered; messages round what cannot be.
const std::string buffers = "@", detours = "~";

Lines lines;

void add(const std::string &key, std::uint64_t calls, std::uint64_t bytes) {
  Sum &sum = lines[key];
  sum.calls += calls;
  sum.bytes += bytes;
}

std::string written() {
  std::string text;
  for (const auto &[key, sum] : lines)
    text += key + '\n' + std::to_string(sum.calls) + ' ' + std::to_string(sum.bytes) + '\n';
  return text;
}

void read(const std::string &text) {
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos;) {
    std::string key = text.substr(at, end - at);
    std::size_t numbers = end + 1;
    end = text.find('\n', numbers);
    if (end == std::string::npos) return;
    unsigned long long calls = 0, bytes = 0;
    if (std::sscanf(text.c_str() + numbers, "%llu %llu", &calls, &bytes) == 2)
      add(key, calls, bytes);
    at = end + 1;
  }
}

// Those of the other ranks, on rank 0.
bool gather() {
  int rank = 0, ranks = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::string mine = written();
  int bytes = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks)), places(counts.size());
  PMPI_Gather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  int all = 0;
  for (std::size_t i = 0; i < counts.size(); all += counts[i++]) places[i] = all;
  std::string text(rank == 0 ? static_cast<std::size_t>(all) : 0, '\0');
  PMPI_Gatherv(mine.data(), bytes, MPI_CHAR, text.data(), counts.data(), places.data(), MPI_CHAR, 0,
               MPI_COMM_WORLD);
  if (rank != 0) return false;
  lines.clear();
  read(text);
  return true;
}

void print(int ranks) {
  std::uint64_t ours = 0, theirs = 0;
  std::size_t wide = sizeof "algorithm";
  for (const auto &[key, sum] : lines) {
    if (key[0] == taken) ours += sum.calls;
    if (key[0] == passed) theirs += sum.calls;
    if (key[0] == taken) wide = std::max(wide, key.find('\t') + 1);
  }
  double share =
      ours + theirs ? 100.0 * static_cast<double>(ours) / static_cast<double>(ours + theirs) : 100;
  std::string text;
  char line[512];
  auto say = [&](auto... values) {
    std::snprintf(line, sizeof line, values...);
    text += std::string("nbc: ") + line + '\n';
  };
  say("%d ranks, %" PRIu64 " collective calls in all, %.1f %% of them ours", ranks, ours + theirs,
      share);
  const Sum made = lines[communicators];
  if (made.bytes)
    say("%" PRIu64 " communicators, %" PRIu64 " of them with the plans of freed ones", made.calls,
        made.bytes);
  const Sum known = lines[buffers];
  if (known.calls)
    say("buffers: %" PRIu64 " registered for a call, %" PRIu64 " found registered", known.calls,
        known.bytes);
  if (const Sum copied = lines[detours]; copied.calls)
    say("%" PRIu64 " messages copied, since their buffers cannot be registered", copied.calls);
  for (const auto &[key, sum] : lines)
    if (key[0] == unheeded) say("%s", key.c_str() + 1);
  if (ours)
    say("%-10s %-14s %-*s %s", "calls", "bytes", static_cast<int>(wide), "algorithm", "target");
  for (const auto &[key, sum] : lines) {
    if (key[0] != taken) continue;
    std::size_t tab = key.find('\t');
    say("%-10" PRIu64 " %-14" PRIu64 " %-*s %s", sum.calls, sum.bytes, static_cast<int>(wide),
        key.substr(1, tab - 1).c_str(), key.c_str() + tab + 1);
  }
  if (theirs) say("%s", "passed on to MPI:");
  for (const auto &[key, sum] : lines)
    if (key[0] == passed) say("%-10" PRIu64 " %s", sum.calls, key.c_str() + 1);
  std::fputs(text.c_str(), stderr);  // at once: other ranks may be writing, too
}

}  // namespace

void complain(const std::string &what) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::fprintf(stderr, "nbc: %s\n", what.c_str());
}

void end_program(const std::string &why) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "nbc: rank %d: %s\n", rank, why.c_str());
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

void count_passed(const char *name, const char *why) {
  add(std::string(1, passed) + name + ": " + why, 1, 0);
}

void count_unheeded(const std::string &what) {
  add(unheeded + what, 1, 0);
}

void count_plan(const Plan &plan) {
  if (!plan.calls) return;
  std::string key = taken + plan.algorithm + '\t' + plan.target;
  if (plan.transfer) key.append(" by ").append(nbc_transfer_name(plan.transfer));
  add(key, plan.calls, plan.bytes);
  if (!plan.plan) return;
  nbc_verbs_counts known;
  nbc_verbs_query(plan.plan, &known);
  add(buffers, known.registered, known.found);
  add(detours, known.detours, 0);
}

void count_communicator(bool served) {
  add(communicators, 1, served);
}

void report() {
  const char *verbose = std::getenv("NBC_VERBOSE");
  if (!verbose || !*verbose || std::string_view(verbose) == "0") return;
  int ranks = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (gather()) print(ranks);
}

}  // namespace nbcc::dropin
