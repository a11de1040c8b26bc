// SPDX-License-Identifier: BSD-3-Clause
/// requests.h - our requests, among the MPI's own.
///
/// A handle of ours is a value that the MPI never gives out: under Open MPI, where handles are
/// addresses, that of a Request, and all of those are in one range of addresses; under MPICH, where
/// they are numbers of a kind, a type and an index, a type that there is none of. So telling them
/// apart costs a comparison, and whatever takes a request looks (waiting.cpp).

#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "dropin/communicator.h"
#include "dropin/data.h"
#include "dropin/handles.h"
#include "nbc.h"

namespace nbcc::dropin {

/// What a call was looked at for, and kept.
struct Looked {
  Operation operation;
  Outline line;  // refused: the MPI's, in any case; it only keeps the order
  Arguments arguments;
  std::function<int(MPI_Request *)> hand_over;  // the call, to the MPI: while that may be needed
  Handles handles;                              // what it then names
};

/// A call of ours that somebody may ask for, from MPI_I... to MPI_Wait, or from MPI_..._init to
/// MPI_Request_free.
struct Request {
  enum State : std::uint8_t {
    idle,     // persistent, not started; or not in use
    queued,   // its communicator or plan is being made
    running,  // in the runtime's hands
    below,    // in the MPI's hands, which was given it after all
    done
  };
  State state = idle;
  bool persistent = false;
  bool abandoned = false;  // by MPI_Request_free: nobody will ask
  bool in_use = false;
  bool alone = false;       // on its communicator, among collective calls, while the MPI has it
  bool rested_for = false;  // by a thread without the lock: others leave it alone
  int error = MPI_SUCCESS;
  const char *name = nullptr;  // "MPI_Iallreduce"
  Communicator *communicator = nullptr;
  Plan *plan = nullptr;
  nbc_request call;                              // running
  std::optional<Looked> looked;                  // none: a habit (habit.h)
  std::shared_ptr<const void> held;              // what a habit's call refers to
  MPI_Request of_mpi = MPI_REQUEST_NULL;         // below
  Request *next = nullptr, *previous = nullptr;  // among those under way
};

/// A new one; null: no memory. The caller holds the lock (calls.h).
Request *take_request();
void give_back(Request *);

/// A request's handle, and back. Null: a handle of ours that nobody was given, or that has ended.
MPI_Request handle_of(const Request *);
Request *request_of(MPI_Request);
/// Handles as Fortran has them, where those are other numbers.
MPI_Fint fortran_of(MPI_Request);
bool is_ours_in_fortran(MPI_Fint);
MPI_Request from_fortran(MPI_Fint);

namespace detail {
enum : std::size_t { most_requests = std::size_t{1} << 20 };
extern std::uintptr_t arena;  // begins here, where there is one
extern std::size_t arena_bytes;
#if defined(MPICH)
enum : unsigned { ours = 0x3c000000u, of_ours = 0xfc000000u };
#endif
}  // namespace detail

/// Whether no request was ever ours.
inline bool never_any() {
  return detail::arena_bytes == 0;
}

/// Whether a handle may be one of ours: no other is.
inline bool is_ours(MPI_Request handle) {
#if defined(MPICH)
  return (static_cast<unsigned>(handle) & detail::of_ours) == detail::ours;
#else
  return reinterpret_cast<std::uintptr_t>(handle) - detail::arena < detail::arena_bytes;
#endif
}

}  // namespace nbcc::dropin
