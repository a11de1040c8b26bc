// SPDX-License-Identifier: BSD-3-Clause
/// table.h - which algorithm a collective call is given: a table that was measured, and that people read.
///
///   {"collective": "allgather", "ranks": "2..8", "nodes": "1", "bytes": "0..64K", "target": "shm",
///    "algorithm": "linear"}
///
/// Rows are tried in order; the first that fits decides. What a row does not say, fits. `bytes` are
/// those of a block, or of the vector; calls whose ranks know different ones (v-variants) are taken
/// to have 0. What is chosen depends on nothing that two ranks might see differently.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nbc/template.h"

namespace nbcc {

/// What is known of a call, alike on all ranks.
struct Situation {
  nbc_kind kind = NBC_BARRIER;
  bool each = false; // blocks have lengths of their own
  std::uint32_t ranks = 1, nodes = 1;
  std::uint64_t bytes = 0;
  bool commutes = true;                  // the operator
  std::vector<std::string_view> targets; // that the communicator has, the best first
};

/// What was chosen.
struct Choice {
  std::string algorithm; // "allgather.bruck"
  std::vector<std::pair<std::string, std::int64_t>> parameters; // by name
  std::string target;
  std::uint64_t from = 0, to = UINT64_MAX; // it would be the same from this many bytes to that many
  int row = -1;                            // in the table, from 0; -1: an override
};

struct Row {
  std::string text;   // as it stands in the file, for people
  int line = 0;
};

class Table {
public:
  /// Reads a table; null and what is wrong, with line and the values found, where it is none.
  static std::optional<Table> read(std::string_view text, std::string_view name, std::string &why);
  /// NBC_ALLGATHER=bruck:k=3: this algorithm for all calls of the kind that it can do. False: no such
  /// kind, or no algorithm's name.
  bool override_with(std::string_view kind, std::string_view algorithm, std::string &why);
  /// The row that decides; none: no row fits.
  std::optional<Choice> choose(const Situation &) const;
  /// Each row that was looked at, and why it does not fit ("" for the one that decides).
  std::vector<std::pair<Row, std::string>> explain(const Situation &) const;
};

} // namespace nbcc
