// SPDX-License-Identifier: BSD-3-Clause
// compiler.h - libnbc-jit.so, which is loaded when it is first needed.

#pragma once

#include <string>
#include <vector>

#include "compiler/algorithms/origin.h"
#include "nbc/jit.h"

namespace nbcc {

class Compiler {
 public:
  /// `path`: null or empty: beside this library; "off": none.
  explicit Compiler(const char *path);

  /// What is another where another compiler is installed. Does not load it.
  std::string identity() const;

  struct Made {
    int status = 0;
    std::string library, said;
    std::vector<Origin::Input> inputs;  // but for the source itself
  };
  /// Whatever is wrong is in `said`, that there is no compiler as well.
  Made compile(const nbc_jit_request &) const;

 private:
  std::string path_;  // empty: none
};

}  // namespace nbcc
