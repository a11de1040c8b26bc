// SPDX-License-Identifier: BSD-3-Clause
/// carry_out.h - a call as nbc_start is given it, carried out by the simplest means, and as MPI
/// does it.

#pragma once

#include "dropin/operation.h"
#include "nbc.h"

/// Who sends to whom: ranks, or neighbours (MPI_PROC_NULL: nobody).
struct Peers {
  MPI_Comm comm;
  int rank, ranks, sources[2], destinations[2];
};

/// Collective: what nbc.h promises of the call, by messages of bytes and, in the order of ranks, by
/// the operator. What it says may be anything is overwritten.
void carry_out(nbc_kind, const nbc_call &, int root, const Peers &);

/// The blocking function for it, of the MPI or of what stands before it.
void carry_out_below(const nbcc::dropin::Operation &);
