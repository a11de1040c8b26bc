// SPDX-License-Identifier: BSD-3-Clause
/// below.h - the MPI that our names stand before.
///
///   program -> MPI_Bcast or PMPI_Bcast: ours -> the next MPI_Bcast, perhaps a profiler's ->
///   PMPI_Bcast
///
/// Both names are ours, so that a profiler before us, which calls PMPI_X, comes to us as well. One
/// behind us comes to us a second time, with what we have passed on to it: that goes to the MPI
/// itself.
///
///   return PASS(MPI_Bcast)(buffer, count, type, root, comm);

#pragma once

#include <dlfcn.h>
#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <utility>

namespace nbcc::dropin {

/// Calls that this thread has passed on and that have not come back yet; of a progress thread of
/// the runtime's never 0.
extern constinit thread_local int passing __attribute__((tls_model("initial-exec")));

/// A function behind ours: of whoever is next, and of the MPI.
template <class Function>
struct Below {
  Function *next, *own;

  explicit Below(const char *profiled)  // "PMPI_Bcast"
      : next(reinterpret_cast<Function *>(dlsym(RTLD_NEXT, profiled + 1))),
        own(reinterpret_cast<Function *>(dlsym(RTLD_NEXT, profiled))) {}

  template <class... Values>
  auto operator()(Values... values) const {
    struct Depth {
      Depth() { ++passing; }
      ~Depth() { --passing; }
      bool nested() const { return passing > 1; }
    } depth;
    return (depth.nested() ? own : next)(std::forward<Values>(values)...);
  }
};

/// Our function by its other name.
#define ALSO(name) extern "C" decltype(P##name) P##name __attribute__((alias(#name)));

#define PASS(function)                                                             \
  ([]() -> const auto & {                                                          \
    static const ::nbcc::dropin::Below<decltype(::function)> below("P" #function); \
    return below;                                                                  \
  }())

}  // namespace nbcc::dropin
