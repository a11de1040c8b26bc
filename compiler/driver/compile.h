// SPDX-License-Identifier: BSD-3-Clause
// compile.h - the stages behind the parser, for one rank at a time.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "codegen/target.h"
#include "compiler/driver/options.h"
#include "compiler/jit/elaborator.h"
#include "compiler/templates/template_maker.h"
#include "dsl/collectives.h"

namespace nbcc {

/// One algorithm with its parameters, and the schedules made of it. Schedules
/// come from `build`, or were read from a text (-x schedule).
class Compilation {
 public:
  /// From a checked source. Reports unknown, missing and superfluous parameters
  /// and algorithms.
  Compilation(const ast::File &, const Options &, Diag &);
  /// From schedules that were read.
  Compilation(std::vector<Schedule>, const Options &, Diag &);
  /// The same algorithm, for another thread: that has a Diag of its own, and knows
  /// peers of its own. Only of what came from a source.
  Compilation(const Compilation &, Diag &);
  Compilation(const Compilation &) = delete;  // it is asked for schedules where it is

  const ast::Algorithm *algorithm() const { return algorithm_; }
  ast::Kind kind() const;
  std::string name() const;
  Collective collective() const;
  /// Of schedules that were read: their root; whether `in` was replaced already.
  int64_t readRoot() const { return read_.front().root; }
  bool readInPlace() const { return !algorithm_ && read_.front().inPlace; }
  const Elaborator &elaborator() const { return *elaborator_; }
  const std::vector<int64_t> &parameters() const { return parameters_; }

  /// Where the ranks are from now on; null: as --topology said, or nobody knows.
  void place(const Topology *);
  /// Where so many ranks are; null: nobody knows.
  const Topology *topology(int64_t ranks) const;
  /// The algorithm asks where the ranks are, and --topology does not say it.
  bool needsTopology() const;
  /// Who is whose neighbour from now on; null: as --cart or --graph said, or nobody knows.
  void connect(const Graph *);
  /// The algorithm's kind has neighbours, and neither --cart nor --graph says who they are.
  bool needsGraph() const;

  /// Whether `requires` holds for this many ranks; reports where it is asked to.
  std::optional<bool> applies(int64_t ranks, bool report);
  std::optional<std::vector<ClaimValue>> claims(int64_t ranks, int64_t root);

  /// As the program says it: Order::rounds.
  std::optional<Schedule> written(int64_t ranks, int64_t rank, int64_t root);
  /// What the passes make of it. `in place` only changes what the kind has.
  void improve(Schedule &, bool inPlace);
  /// As --emit=schedule shows it: as written, or after the passes of --run=.
  std::optional<Schedule> transformed(int64_t ranks, int64_t rank, int64_t root);
  /// The template of one rank, its order proven from the bytes; `legal`, if
  /// given, gets what it was emitted from.
  std::optional<Template> compile(int64_t ranks, int64_t rank, int64_t root, bool inPlace,
                                  std::vector<Legal> *legal = nullptr);

 private:
  Request request(int64_t ranks, int64_t rank, int64_t root) const;

  const Options &options_;
  Diag &diag_;
  const ast::Algorithm *algorithm_ = nullptr;
  std::vector<int64_t> parameters_;
  const Topology *topology_ = nullptr;
  const Graph *graph_ = nullptr;
  std::unique_ptr<Elaborator> elaborator_;
  std::vector<Schedule> read_;
  TemplateMaker maker_{
      [this](int64_t ranks, int64_t rank, int64_t root) { return written(ranks, rank, root); },
      options_.strictRounds, diag_};
};

/// Takes a file in (Diag::addFile). Empty: it cannot be read, which was reported.
std::optional<uint16_t> readFile(const std::string &path, Diag &);

/// Whether MPI_IN_PLACE changes anything for it.
inline bool hasInPlace(const Collective &c) {
  return c.hasInPlace();
}

}  // namespace nbcc
