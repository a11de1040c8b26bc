// SPDX-License-Identifier: BSD-3-Clause
/// shipped.h - the library of compiled algorithms of this process.
///
/// $NBC_LIBRARY, or libnbc-colls.so near libnbc-mpi.so: in its folder, or in one of the two above.
/// Opened when it is needed first, and never closed: plans are made of it to the end.

#pragma once

#include "nbc/library.h"

namespace nbcc::dropin {

/// Null: there is none, and why_not_shipped() says why.
const nbc_library *shipped();
const char *why_not_shipped();

}  // namespace nbcc::dropin
