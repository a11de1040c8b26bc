// SPDX-License-Identifier: BSD-3-Clause
// selection.cpp - reads the table once, each rank for itself.
//
// Ranks that read different ones would choose differently; making a plan finds that out, and all
// then do without (plans.cpp).

#include "dropin/selection.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "compiler/selection/able.h"
#include "dropin/calls.h"
#include "dropin/default_table.h"
#include "dropin/shipped.h"

namespace nbcc::dropin {

namespace {

std::optional<Table> read_given() {
  const char *given = std::getenv("NBC_TABLE");
  if (!given || !*given) return std::nullopt;
  std::ifstream file(given, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()), why;
  if (!file) {
    complain(std::string("NBC_TABLE: cannot read ") + given + "; the built-in table is used");
    return std::nullopt;
  }
  std::optional<Table> table = Table::read(text, given, why);
  if (!table) complain("NBC_TABLE: the built-in table is used, since\n" + why);
  return table;
}

// What a user says and no call can take. Of the built-in table, a library of his own need not have
// all.
void say_what_is_missing(const Table &table, bool built_in) {
  constexpr int most = 10;
  const nbc_library *library = shipped();
  if (!library) return;
  int said = 0;
  for (const auto &[row, why] :
       table.check([library](const Choice &c) { return missing(*library, c); }, !built_in))
    if (!row.line)
      complain("NBC_" + row.text + ": " + why);
    else if (++said <= most)
      complain("NBC_TABLE: line " + std::to_string(row.line) + ": " + why);
  if (said > most) complain("NBC_TABLE: likewise " + std::to_string(said - most) + " more rows");
}

Table read() {
  std::string why;
  std::optional<Table> table = read_given();
  const bool built_in = !table;
  if (built_in) table = Table::read(default_table, "the built-in table", why);
  if (!table) complain(why);  // which a test would have found
  Table all = table ? std::move(*table) : Table();
  if (!overrideByEnvironment(all, why)) complain(why);
  say_what_is_missing(all, built_in);
  // What was proven of an algorithm, and what it requires: nobody else asks before it runs.
  all.ask([](const Choice &c, const Situation &s) {
    const nbc_library *library = shipped();
    return library ? unable(*library, c, s) : std::string();
  });
  return all;
}

const Table &table() {
  static const Table once = read();
  return once;
}

}  // namespace

void read_table() {
  table();
}

std::optional<Choice> choose(const Communicator &c, const Operation &o, const Outline &line) {
  Situation s;
  s.kind = o.kind;
  s.each = o.each;
  s.ranks = static_cast<std::uint32_t>(c.ranks());
  s.nodes = static_cast<std::uint32_t>(c.nodes());
  s.bytes = line.bytes;
  s.commutes = line.commutes;
  s.blocking = line.blocking;
  s.nodeOf = c.node_of();
  if (c.has("shm")) s.targets.push_back("shm");
  if (c.has("mpi")) s.targets.push_back("mpi");
  for (const char *adapter : {"coredirect", "sci", "verbs"})
    if (c.has(adapter)) s.targets.push_back(adapter);
  Table::Reasons refused;
  const std::optional<Choice> choice = table().choose(s, &refused);
  for (const auto &[row, why] : refused)
    count_unheeded("NBC_" + row.text + " was not taken: " + why);
  return choice;
}

}  // namespace nbcc::dropin
