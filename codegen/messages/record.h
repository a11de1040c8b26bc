// SPDX-License-Identifier: BSD-3-Clause
// record.h - one record as bytes, and what fills it in at the call.

#pragma once

#include "codegen/common/places.h"
#include "codegen/messages/program.h"
#include "nbc/template.h"

namespace nbcc::messages {

/// Pieces of a message; none: no bytes.
struct Data {
  codegen::Span pieces;
  bool oneRun = true;
};

/// What a record of a schedule moves, placed.
Data dataOf(const Schedule &, const Record &, codegen::Places &);

/// Writes it, of this step, at `at` of the code. `peer`: its place among the template's peers.
/// True: `fill` is its relocation.
bool write(const Record &, const Step &, uint32_t peer, const Data &, unsigned char *code,
           uint32_t at, nbc_reloc &fill);

}  // namespace nbcc::messages
