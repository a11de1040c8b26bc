// SPDX-License-Identifier: BSD-3-Clause
// requests.cpp - the memory of our requests, and their handles.
//
// One range of addresses is reserved for all there can ever be; its pages come when they are first
// used. So a request never moves, a handle is checked by arithmetic, and what has been freed can be
// looked at without harm.

#include "dropin/requests.h"

#include <sys/mman.h>

#include <new>

namespace nbcc::dropin {

namespace detail {
std::uintptr_t arena = 0;
std::size_t arena_bytes = 0;
}  // namespace detail

namespace {

Request *free_list = nullptr;  // by `next`
std::size_t used = 0;          // of the arena, from its beginning

Request *at(std::size_t index) {
  return reinterpret_cast<Request *>(detail::arena) + index;
}

bool reserve() {
  if (detail::arena_bytes) return true;
  std::size_t bytes = detail::most_requests * sizeof(Request);
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  detail::arena = reinterpret_cast<std::uintptr_t>(memory);
  detail::arena_bytes = bytes;
  return true;
}

std::size_t index_of(const Request *r) {
  return static_cast<std::size_t>(r - reinterpret_cast<const Request *>(detail::arena));
}

}  // namespace

Request *take_request() {
  Request *r = free_list;
  if (r) {
    free_list = r->next;
    r->next = nullptr;
  } else {
    if (!reserve() || used == detail::most_requests) return nullptr;
    r = new (at(used++)) Request;
  }
  r->in_use = true;
  return r;
}

void give_back(Request *r) {
  if (r->persistent) r->plan->taken = false;
  r->~Request();
  new (r) Request;
  r->next = free_list;
  free_list = r;
}

#if defined(MPICH)

MPI_Request handle_of(const Request *r) {
  return static_cast<MPI_Request>(detail::ours | index_of(r));
}

Request *request_of(MPI_Request handle) {
  std::size_t index = static_cast<unsigned>(handle) & ~static_cast<unsigned>(detail::of_ours);
  return index < used && at(index)->in_use ? at(index) : nullptr;
}

#else

MPI_Request handle_of(const Request *r) {
  return reinterpret_cast<MPI_Request>(const_cast<Request *>(r));
}

Request *request_of(MPI_Request handle) {
  std::size_t offset = reinterpret_cast<std::uintptr_t>(handle) - detail::arena;
  std::size_t index = offset / sizeof(Request);
  return offset % sizeof(Request) == 0 && index < used && at(index)->in_use ? at(index) : nullptr;
}

#endif

// Open MPI numbers its own from 0.
enum : MPI_Fint { first_fortran = 0x40000000 };

MPI_Fint fortran_of(MPI_Request handle) {
  return first_fortran + static_cast<MPI_Fint>(index_of(request_of(handle)));
}

bool is_ours_in_fortran(MPI_Fint number) {
  return number >= first_fortran && static_cast<std::size_t>(number - first_fortran) < used;
}

MPI_Request from_fortran(MPI_Fint number) {
  return handle_of(at(static_cast<std::size_t>(number - first_fortran)));
}

}  // namespace nbcc::dropin
