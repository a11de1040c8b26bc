// SPDX-License-Identifier: BSD-3-Clause
// set.h - a set of algorithms for a test, and what became of a request.

#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "nbc/algorithms.h"

namespace nbcc {

/// Allgather around a ring, as a user might write it.
inline const char *const kRing =
    "allgather circle {\n"
    "  copy in -> out[me];\n"
    "  for i in 1 ..< P {\n"
    "    round {\n"
    "      send out[(me - i + 1) mod P] to (me + 1) mod P;\n"
    "      recv out[(me - i) mod P] from (me - 1) mod P;\n"
    "    }\n"
    "  }\n"
    "}\n";

class Set {
 public:
  explicit Set(const std::vector<std::string> &from, const std::string &cache,
               nbc_algorithms_options options = {}) {
    std::vector<const char *> paths;
    for (const std::string &path : from) paths.push_back(path.c_str());
    options.cache = cache.c_str();
    if (!options.compiler) options.compiler = NBCC_JIT;
    const char *said = nullptr;
    status = nbc_algorithms_open(paths.data(), paths.size(), &options, &all, &said);
    why = said;
  }
  ~Set() { nbc_algorithms_close(all); }
  Set(const Set &) = delete;

  static nbc_build_request request(const char *algorithm, uint32_t ranks = 4) {
    nbc_build_request r = {};
    r.algorithm = algorithm;
    r.target = "mpi";
    r.ranks = ranks;
    r.rank = ranks - 1;
    return r;
  }

  /// The template's bytes; empty: `status` and `why`.
  std::string build(const nbc_build_request &request) {
    void *data = nullptr;
    size_t bytes = 0;
    const char *said = nullptr;
    status = all->build(all, &request, &data, &bytes, &said);
    why = said;
    std::string text;
    if (status == 0) text.assign(static_cast<const char *>(data), bytes);
    std::free(data);
    return text;
  }
  std::string build(const char *algorithm) { return build(request(algorithm)); }

  nbc_algorithms_info info() const {
    nbc_algorithms_info i = {};
    nbc_algorithms_query(all, &i);
    return i;
  }
  uint64_t found() const { return info().found; }
  uint64_t compiled() const { return info().compiled; }

  nbc_algorithms *all = nullptr;
  int status = 0;
  std::string why;
};

}  // namespace nbcc
