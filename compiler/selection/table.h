// SPDX-License-Identifier: BSD-3-Clause
/// table.h - which algorithm a collective call is given: a table that was measured, and that people
/// read.
///
///   {"about": ["8 ranks on one node, nbc-tune"],
///    "rows": [{"collective": "allgather", "ranks": "2..8", "nodes": 1, "bytes": "..64K",
///              "target": "shm", "algorithm": "linear"},
///             {"collective": "allgather", "blocking": false, "target": "sci", "transfer": "dma",
///              "algorithm": "ring"},
///             {"collective": "allgather", "algorithm": "bruck:k=3"}]}
///
/// Rows are tried in order; the first that fits decides. What a row does not say, fits; ranks,
/// nodes and bytes may be several ranges (ranges.h). `bytes` are those of a block, or of the
/// vector; calls whose ranks know different ones (v-variants, `each`) are taken to have 0.
/// `commutes` is of the operator; `blocking` is MPI_Allgather, not MPI_Iallgather or
/// MPI_Allgather_init. `transfer` says how bytes go there (nbc_plan_options): by target sci pio or
/// dma, by target verbs eager, write, read or send. What is chosen depends on nothing that two
/// ranks might see differently.
///
/// A collective may be without rows; where it has some, the last one fits every call. A row may say
/// an algorithm that cannot do the call at hand (it needs an even number of ranks; the operator
/// does not commute): whoever knows that says so by ask(), and such a row does not fit.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nbc.h"
#include "nbc/template.h"

namespace nbcc {

/// What is known of a call, alike on all ranks.
struct Situation {
  nbc_kind kind = NBC_BARRIER;
  bool each = false;  // blocks have lengths of their own
  std::uint32_t ranks = 1, nodes = 1;
  std::uint64_t bytes = 0;
  bool commutes = true;                   // the operator
  std::vector<std::string_view> targets;  // that the communicator has, the best first
  const std::int32_t *nodeOf = nullptr;   // of each rank; null: nobody knows
  bool blocking = true;                   // the program computes nothing meanwhile
};

/// What was chosen.
struct Choice {
  std::string algorithm;                                         // "allgather.bruck"
  std::vector<std::pair<std::string, std::int64_t>> parameters;  // by name
  std::string target;
  nbc_transfer transfer = NBC_TRANSFER_AUTO;
  std::uint64_t from = 0,
                to = UINT64_MAX;  // it would be the same from this many bytes to that many
  int row = -1;                   // in the table, from 0; -1: an override
};

struct Row {
  std::string text;  // as it stands in the file, for people
  int line = 0;      // 0: an override
};

struct Rule;  // rule.h

class Table {
 public:
  /// Rows, and what is said of each.
  using Reasons = std::vector<std::pair<Row, std::string>>;

  Table();
  ~Table();
  Table(Table &&) noexcept;
  Table &operator=(Table &&) noexcept;

  /// Reads a table; null and what is wrong, with line and the values found, where it is none: a
  /// line for each mistake.
  static std::optional<Table> read(std::string_view text, std::string_view name, std::string &why);
  /// NBC_ALLGATHER=bruck:k=3: this algorithm for all calls of the kind that it can do; of kinds
  /// with v- or w-variants, allgatherv and its like are those, and the plain name the others. The
  /// last one said counts. False: no such kind, or no algorithm's name.
  bool override_with(std::string_view kind, std::string_view algorithm, std::string &why);

  /// Why an algorithm cannot do what a call asks for; empty: it can. Of `Choice` algorithm,
  /// parameters and target are given. Must not depend on `bytes`, and be alike on all ranks.
  using Able = std::function<std::string(const Choice &, const Situation &)>;
  void ask(Able);

  /// The row that decides; none: no row fits. `refused` gets the overrides for such a call that are
  /// not taken for it, and why.
  std::optional<Choice> choose(const Situation &, Reasons *refused = nullptr) const;
  /// Each row of the collective that was looked at, and why it does not fit ("" for the one that
  /// decides).
  Reasons explain(const Situation &) const;
  /// Overrides of which `wrong` says something whatever the call, and if `rows` the rows, too. Of
  /// `Choice` algorithm and parameters are given.
  Reasons check(const std::function<std::string(const Choice &)> &wrong, bool rows) const;

 private:
  std::vector<Rule> rules_, overrides_;
  Able able_;
};

/// Table::override_with() for NBC_ALLGATHER and its like in this process's environment. False: some
/// are wrong, as `why` says, a line for each; the others count.
bool overrideByEnvironment(Table &, std::string &why);

}  // namespace nbcc
