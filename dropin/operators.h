// SPDX-License-Identifier: BSD-3-Clause
/// operators.h - operators that calls under way still use, although the program has freed them.

#pragma once

#include <mpi.h>

namespace nbcc::dropin {

void retain(MPI_Op);
void release(MPI_Op);
/// MPI_Op_free: true, it will be freed with the last call that uses it.
bool defer_free(MPI_Op);

}  // namespace nbcc::dropin
