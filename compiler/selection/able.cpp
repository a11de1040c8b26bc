// SPDX-License-Identifier: BSD-3-Clause
// able.cpp - from a library's flags and `requires` to whether a call can be done.

#include "compiler/selection/able.h"

#include <algorithm>

#include "dsl/diag.h"
#include "nbc/build.h"

namespace nbcc {

bool parametersOf(const nbc_library &lib, const nbc_library_algorithm &a,
                  const std::vector<std::pair<std::string, std::int64_t>> &given,
                  std::vector<std::int64_t> &values, std::string &why) {
  const auto *table =
      static_cast<const nbc_library_parameter *>(nbc_library_table(&lib, lib.parameters));
  values.clear();
  for (std::uint32_t i = 0; i < a.parameters.count; ++i)
    values.push_back(table[a.parameters.begin + i].value);
  for (const auto &[name, value] : given) {
    std::uint32_t i = 0;
    while (i < a.parameters.count &&
           name != nbc_library_text(&lib, table[a.parameters.begin + i].name))
      ++i;
    if (i == a.parameters.count) {
      why = cat("it has no parameter ", name);
      return false;
    }
    values[i] = value;
  }
  return true;
}

namespace {

const nbc_library_algorithm *find(const nbc_library &lib, const Choice &c, std::string &why) {
  const nbc_library_algorithm *a = nbc_library_named(&lib, c.algorithm.c_str());
  if (!a) why = cat("the library ", lib.name, " holds no ", c.algorithm);
  return a;
}

}  // namespace

std::string missing(const nbc_library &lib, const Choice &c) {
  std::vector<std::int64_t> parameters;
  std::string why;
  if (const nbc_library_algorithm *a = find(lib, c, why))
    parametersOf(lib, *a, c.parameters, parameters, why);
  return why;
}

std::string unable(const nbc_library &lib, const Choice &c, const Situation &s) {
  std::string why;
  const nbc_library_algorithm *a = find(lib, c, why);
  if (!a) return why;
  if (!s.commutes && !(a->flags & NBC_LIBRARY_RANK_ORDER))
    return "it is for operators that commute";
  if (s.each && !(a->flags & NBC_LIBRARY_ANY_LENGTHS)) return "it is for blocks equally long";
  std::vector<std::int64_t> parameters;
  if (!parametersOf(lib, *a, c.parameters, parameters, why)) return why;
  if (a->flags & NBC_LIBRARY_TOPOLOGY && !s.nodeOf) return "nobody knows where the ranks are";

  nbc_build_request r = {};
  r.algorithm = c.algorithm.c_str();
  r.target = c.target.c_str();
  r.lengths = s.each ? NBC_LENGTHS_EACH : NBC_LENGTHS_EQUAL;
  r.ranks = s.ranks;
  r.parameters = parameters.data();
  r.parameter_count = static_cast<std::uint32_t>(parameters.size());
  r.node_of = s.nodeOf;
  char said[256];
  if (nbc_build_check(&lib, &r, said, sizeof said) == NBC_OK) return "";
  why = said;
  why = why.substr(0, why.find('\n'));
  constexpr std::string_view error =
      ": error: ";  // behind the place in the source, if there is one
  const size_t at = why.find(error);
  return at == why.npos ? why : why.substr(at + error.size());
}

}  // namespace nbcc
