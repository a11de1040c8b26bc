// SPDX-License-Identifier: BSD-3-Clause
// library_of.h - from a source to the bytes of a library, all stages of the compiler one after the
// other.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nbcc {

struct SourceRequest {
  std::string file;
  std::optional<std::string> text;  // none: the file is read
  std::string algorithm;            // "allgather.bruck"
  std::optional<std::vector<int64_t>> parameters;
  int64_t ranks = 0;    // to be proven for; 0: not
  std::string library;  // folder of algorithms for `run`; empty: none but the source's own
};

struct MadeLibrary {
  int status = 0;  // enum nbc_status
  std::string bytes;
  std::string said;  // what the stages had to say, as nbcc prints it
  struct Input {
    std::string path;
    std::optional<std::string> text;  // none: looked for, and not there
  };
  std::vector<Input> inputs;
};

/// Whatever is wrong is in `said`. Not thread safe.
MadeLibrary libraryOf(const SourceRequest &);

}  // namespace nbcc
