// SPDX-License-Identifier: BSD-3-Clause
/// steps.h - work with nonblocking calls of the MPI below in it, written down as if it waited.
///
///   Steps meet() {
///     int error = co_await Posted{request};   // the function goes on once it is done
///     ...
///   }
///
/// Whoever has the Steps calls advance() now and then: a test, and what comes behind it if that was
/// done. taken() says whether any has got further. Costs one allocation, of the function's
/// variables.

#pragma once

#include <mpi.h>

#include <coroutine>
#include <exception>
#include <new>
#include <utility>

namespace nbcc::dropin {

/// A call that was begun, or could not be.
struct Posted {
  MPI_Request request = MPI_REQUEST_NULL;
  int error = MPI_SUCCESS;  // the request is null then
};

class Steps {
 public:
  struct promise_type {
    Posted posted;

    struct Awaited {
      Posted &of;
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<>) const noexcept {}
      int await_resume() const noexcept { return of.error; }
    };
    Awaited await_transform(Posted p) noexcept {
      posted = p;
      return {posted};
    }
    Steps get_return_object() noexcept { return Steps(Handle::from_promise(*this)); }
    static Steps get_return_object_on_allocation_failure() noexcept { return Steps(); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }  // they catch what they throw
  };

  Steps() = default;
  Steps(Steps &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Steps &operator=(Steps &&other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Steps() {
    if (handle_) handle_.destroy();
  }

  /// Whether there are any; not, if there was no memory for them.
  explicit operator bool() const { return handle_ != nullptr; }
  /// Goes on as far as it can be done without waiting. True: to the end.
  bool advance() {
    while (handle_ && !handle_.done()) {
      Posted &p = handle_.promise().posted;
      int done = 1;
      if (!p.error) p.error = PMPI_Test(&p.request, &done, MPI_STATUS_IGNORE);
      if (!done && !p.error) return false;
      ++taken_;
      handle_.resume();
    }
    return true;
  }

  /// Of all there are.
  static unsigned taken() { return taken_; }

 private:
  inline static unsigned taken_ = 0;
  using Handle = std::coroutine_handle<promise_type>;
  explicit Steps(Handle handle) : handle_(handle) {}
  Handle handle_;
};

}  // namespace nbcc::dropin
