// SPDX-License-Identifier: BSD-3-Clause
/// shipped.h - what lies beside libnbc-mpi.so and is loaded when it is needed first, never to be
/// closed: plans are made of it to the end.
///
/// Files are looked for in its folder, and in the two above.

#pragma once

#include <string>

#include "nbc/library.h"

struct nbc_device;

namespace nbcc::dropin {

/// The compiled algorithms: $NBC_LIBRARY, or libnbc-colls.so. Null: there are none, and
/// why_not_shipped() says why.
const nbc_library *shipped();
const char *why_not_shipped();

/// An adapter of target coredirect, sci or verbs (nbc/hca.h, nbc/sci.h, nbc/verbs.h) for one
/// communicator, by libnbc-hca.so, libnbc-sci.so or libnbc-verbs.so: so machines without libibverbs
/// need none. Closed by the
/// communicator of ours that it is given to. A negative status: `why` says it. May throw
/// std::bad_alloc.
int open_adapter(const char *target, nbc_device **, std::string &why);

}  // namespace nbcc::dropin
