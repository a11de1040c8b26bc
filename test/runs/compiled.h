// SPDX-License-Identifier: BSD-3-Clause
// compiled.h - an algorithm of the library, compiled for all its ranks.

#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/driver/compile.h"
#include "dsl/parse.h"

namespace nbcc {

class Compiled {
 public:
  /// `legalOf`: whose legal schedules are kept, -1: nobody's.
  Compiled(const std::string &algorithm, int64_t ranks, Protocol protocol, int64_t legalOf = -1,
           Blocks blocks = Blocks::equal)
      : diag(said) {
    options.file = NBCC_SOURCE_DIR "/stdlib_algos/" + algorithm + ".nbc";
    options.target = findTarget("coredirect");
    options.targetOptions.device = &options.target->devices.front();
    options.targetOptions.protocol = protocol;
    options.targetOptions.lengths = blocks;
    options.targetOptions.depth = 1;
    options.ranks = ranks;
    file_ = parse(options.file, diag);
    if (!file_) return;
    check(*file_, diag);
    compilation = std::make_unique<Compilation>(*file_, options, diag);
    for (int64_t rank = 0; rank < ranks && diag.ok(); ++rank)
      if (auto t = compilation->compile(ranks, rank, 0, true, rank == legalOf ? &legal : nullptr))
        templates.push_back(std::move(*t));
  }

  std::ostringstream said;  // empty: all went well
  Diag diag;
  Options options;
  std::unique_ptr<Compilation> compilation;
  std::vector<Template> templates;
  std::vector<Legal> legal;
  const ast::File &file() const { return *file_; }

 private:
  std::unique_ptr<ast::File> file_;
};

}  // namespace nbcc
