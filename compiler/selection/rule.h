// SPDX-License-Identifier: BSD-3-Clause
/// rule.h - a row of a table as it is tried.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/selection/ranges.h"
#include "compiler/selection/table.h"
#include "dsl/collectives.h"

namespace nbcc {

struct Rule {
  Row row;
  nbc_kind kind = NBC_BARRIER;
  Ranges ranks, nodes, bytes;
  std::optional<bool> each, commutes, blocking;  // nothing: either
  std::string target;                            // empty: the best that there is
  nbc_transfer transfer = NBC_TRANSFER_AUTO;
  std::string algorithm;  // "allgather.bruck"
  std::vector<std::pair<std::string, std::int64_t>> parameters;

  /// Whether it says nothing of when.
  bool always() const {
    return ranks.all() && nodes.all() && bytes.all() && !each && !commutes && !blocking &&
           target.empty();
  }
};

/// The collective of a call's name: allgather, allgatherv, alltoallw; and whether it is such a
/// variant (nothing: the name is for both, as reduce_scatter). Null: there is none.
const Collective *collectiveOfCall(std::string_view name, std::optional<bool> &each);

/// "bruck:k=3,radix=4" of a kind, also "allgather.bruck:k=3". False: `why` says what is wrong.
bool readAlgorithm(std::string_view text, std::string_view kind, Rule &, std::string &why);

}  // namespace nbcc
