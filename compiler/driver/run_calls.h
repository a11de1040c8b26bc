// SPDX-License-Identifier: BSD-3-Clause
// run_calls.h - the calls of a run: what each rank gives, and what must be there in the end.

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compiler/driver/guarded.h"
#include "compiler/driver/reference.h"
#include "compiler/driver/vary.h"
#include "dsl/collectives.h"

namespace nbcc {

/// One call of one rank. Does not move while it is under way.
struct Call {
  Guarded in, out;
  Layout inLayout, outLayout;
  std::vector<std::byte> wanted;  // `out`, or what it begins with
  nbc_call arguments{};
  nbc_request request{};
  bool done = false;
};

class Calls {
 public:
  /// The variation, the neighbours (of each rank, where the kind has any) and the schedules (of
  /// each rank, of a user's own collective: what they promise) outlive this.
  Calls(const Collective &, const Options &, uint64_t seed, const Variation &,
        std::span<const Neighbors>, std::span<const Schedule> own);

  std::unique_ptr<Call> make(int64_t rank, int call) const;
  /// Looks at every byte of a call that is done.
  void check(int64_t rank, int call, Call &, Diag &) const;

 private:
  const Variation::Call &shape(int call) const {
    return variation_.calls[static_cast<size_t>(call)];
  }
  const Reference &reference(int call) const { return references_[static_cast<size_t>(call)]; }
  std::optional<size_t> placedAt(int64_t rank, int call) const;
  bool scatterInPlace(int64_t rank, int call) const;
  bool mayHoldAnything(int64_t rank, int n, const Call &, size_t byte) const;
  Layout layout(int64_t rank, int call, bool isOut) const;
  std::vector<std::byte> inMemory(int64_t rank, int call, const Layout &) const;
  std::vector<std::byte> outMemory(int64_t rank, int call, const Layout &) const;
  void giveRows(Call &, int64_t rank, int call) const;

  Collective collective_;
  const Options &o_;
  uint64_t seed_;
  const Variation &variation_;
  std::span<const Neighbors> neighbors_;
  nbc_type type_;
  nbc_op op_;
  std::vector<Reference> references_;  // by call
};

}  // namespace nbcc
