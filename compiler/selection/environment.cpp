// SPDX-License-Identifier: BSD-3-Clause
// environment.cpp - NBC_ALLGATHERV=ring and its like.
//
// Variables are looked up by the names that there are, so one with a wrong name is not seen: other
// programs may have variables that begin alike.

#include <cstdlib>

#include "compiler/selection/rule.h"
#include "dsl/diag.h"

namespace nbcc {

bool overrideByEnvironment(Table &table, std::string &why) {
  why.clear();
  for (const Collective &c : collectives())
    for (const char *letter : {"", "v", "w"}) {
      std::optional<bool> each;
      std::string name = cat(c.name, letter);
      if (!collectiveOfCall(name, each)) continue;
      for (char &l : name) l = static_cast<char>(std::toupper(static_cast<unsigned char>(l)));
      const std::string variable = cat("NBC_", name);
      const char *value = std::getenv(variable.c_str());
      std::string wrong;
      if (value && !table.override_with(name, value, wrong))
        why += cat(why.empty() ? "" : "\n", variable, ": ", wrong);
    }
  return why.empty();
}

}  // namespace nbcc
