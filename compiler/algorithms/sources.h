// SPDX-License-Identifier: BSD-3-Clause
// sources.h - from one algorithm of a source to a library that is loaded: from the cache, else by
// the compiler.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/algorithms/cache.h"
#include "compiler/algorithms/compiler.h"
#include "nbc/algorithms.h"

namespace nbcc {

/// Whether a source has the head of an algorithm: `allgather bruck`, but for comments. It is not
/// parsed: what is not a source at all may say yes.
bool hasHead(std::string_view source, std::string_view kind, std::string_view name);

class Sources {
 public:
  explicit Sources(const nbc_algorithms_options &);
  ~Sources();
  Sources(const Sources &) = delete;

  struct Wanted {
    std::string file;
    const std::string &text;
    const char *algorithm;
    const int64_t *parameters;  // null: the source's own
    uint32_t parameterCount;
    uint32_t ranks;
  };
  /// Null: `status` and `why`.
  const nbc_library *find(const Wanted &, int &status, std::string &why);

  const Cache &cache() const { return cache_; }
  const std::string &installed() const { return installed_; }
  uint64_t found() const { return found_; }
  uint64_t compiled() const { return compiled_; }

 private:
  std::string key(const Wanted &, uint32_t proven) const;
  const nbc_library *cached(const std::string &key);
  const nbc_library *compile(const Wanted &, uint32_t proven, const std::string &key, int &status,
                             std::string &why);

  Cache cache_;
  Compiler compiler_;
  uint32_t proveUpTo_;
  std::string installed_;                              // folder of algorithms that `run` knows
  std::map<std::string, const nbc_library *> opened_;  // by key
  uint64_t found_ = 0, compiled_ = 0;
};

}  // namespace nbcc
