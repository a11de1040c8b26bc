// SPDX-License-Identifier: BSD-3-Clause
// waiting.cpp - what MPI has for requests, where ours stand among others.
//
// Of several at once, the MPI is asked about its own in a copy of the array, where ours are null
// requests. Where none is ours and nothing of ours is under way, it does all by itself.

#include <algorithm>
#include <memory>
#include <new>

#include "dropin/calls.h"

using namespace nbcc::dropin;

namespace {

/// An array of requests: the MPI's in a copy, ours by themselves.
class Mixed {
 public:
  Mixed(int count, MPI_Request *requests) : count_(count), requests_(requests) {
    if (count > few) many_.reset(new (std::nothrow) MPI_Request[static_cast<std::size_t>(count)]);
    theirs_ = count > few ? many_.get() : small_;
    for (int i = 0; theirs_ && i < count; ++i) {
      bool ours = is_ours(requests[i]);
      theirs_[i] = ours ? MPI_REQUEST_NULL : requests[i];
      if (!ours && requests[i] != MPI_REQUEST_NULL) has_theirs_ = true;
    }
  }
  bool ok() const { return theirs_ != nullptr; }
  bool has_theirs() const { return has_theirs_; }
  MPI_Request *theirs() { return theirs_; }
  /// The MPI has changed these.
  void copy_back() {
    for (int i = 0; i < count_; ++i)
      if (!is_ours(requests_[i])) requests_[i] = theirs_[i];
  }

 private:
  enum { few = 64 };
  int count_;
  MPI_Request *requests_;
  MPI_Request small_[few];
  std::unique_ptr<MPI_Request[]> many_;
  MPI_Request *theirs_ = nullptr;
  bool has_theirs_ = false;
};

bool all_theirs(int count, const MPI_Request *requests) {
  return !requests || std::none_of(requests, requests + std::max(count, 0), is_ours);
}

// A status is there, or nobody wants one.
const MPI_Status *given(const MPI_Status *status) {
  static constexpr MPI_Status ignored = {};
  return status == MPI_STATUS_IGNORE || status == MPI_STATUSES_IGNORE ? &ignored : status;
}

// What the MPI is left to do alone, and what it objects to at once. Callbacks that it calls in
// what was passed on may wait for ours. A program may ask some million times a second, so where it
// has never had a request of ours, nothing is looked at.
template <class... Results>
inline bool leave(int count, const MPI_Request *requests, const Results *...results) {
  if (never_any() && !busy()) return true;
  if (count < 0 || !requests || (... || !results)) return true;
  return all_theirs(count, requests) ? not_for_us() || !busy() : Lock::is_held();
}

// A single one of ours, wherever the call comes from.
bool is_for_us(const MPI_Request *request) {
  return request && is_ours(*request) && !Lock::is_held();
}

// Null: what looks like one of ours is none; the program has made a mistake.
bool all_there(int count, const MPI_Request *requests) {
  return std::all_of(requests, requests + count,
                     [](MPI_Request r) { return !is_ours(r) || request_of(r); });
}

MPI_Status *at(MPI_Status *statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

int no_memory() {
  return raise(MPI_COMM_SELF, MPI_ERR_NO_MEM);
}
int no_request() {
  return raise(MPI_COMM_SELF, MPI_ERR_REQUEST);
}

// Ends one of ours among others; as MPI has it, its error stands in its status, the place-th.
// What MPI's function then returns: `error`, or that of this one.
int collect_one(MPI_Request *request, MPI_Status *statuses, int place, int error) {
  int failed = collect(request_of(*request), request, at(statuses, place));
  if (statuses != MPI_STATUSES_IGNORE) {
    statuses[place].MPI_ERROR = failed;
    if (failed) failed = MPI_ERR_IN_STATUS;
  }
  return error ? error : failed;
}

int collect_all(int count, MPI_Request *requests, MPI_Status *statuses, int error) {
  for (int i = 0; i < count; ++i)
    if (is_ours(requests[i])) error = collect_one(&requests[i], statuses, i, error);
  return error;
}

bool ours_over(int count, const MPI_Request *requests) {
  return std::all_of(requests, requests + count,
                     [](MPI_Request r) { return !is_ours(r) || is_over(request_of(r)); });
}

// One of ours to rest for; null: none is under way.
Request *one_running(int count, const MPI_Request *requests) {
  for (int i = 0; i < count; ++i)
    if (is_ours(requests[i]) && request_of(requests[i])->state == Request::running)
      return request_of(requests[i]);
  return nullptr;
}

void were_waited_for(int count, const MPI_Request *requests, bool away) {
  for (int i = 0; i < count; ++i)
    if (is_ours(requests[i])) was_waited_for(request_of(requests[i]), away);
}

// One that is done, and was under way: -1, none. `active`: whether any is under way.
int find_done(int count, const MPI_Request *requests, bool *active) {
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    const Request *r = request_of(requests[i]);
    if (r->state == Request::done) return i;
    if (r->state != Request::idle) *active = true;
  }
  return -1;
}

// MPI_Testall, and one round of MPI_Waitall, once ours are over.
int test_all(int count, MPI_Request *requests, int *flag, MPI_Status *statuses) {
  Mixed mixed(count, requests);
  if (!mixed.ok()) return no_memory();
  int error = MPI_SUCCESS;
  *flag = 1;
  if (mixed.has_theirs()) {
    error = PMPI_Testall(count, mixed.theirs(), flag, statuses);
    mixed.copy_back();
  }
  return *flag ? collect_all(count, requests, statuses, error) : error;
}

// MPI_Testany, and one round of MPI_Waitany.
int test_any(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status) {
  bool active = false;
  *flag = 0;
  *index = find_done(count, requests, &active);
  if (*index >= 0) {
    *flag = 1;
    return collect(request_of(requests[*index]), &requests[*index], status);
  }
  Mixed mixed(count, requests);
  if (!mixed.ok()) return no_memory();
  MPI_Status found;
  int error = PMPI_Testany(count, mixed.theirs(), index, flag, &found);
  mixed.copy_back();
  if (*flag && *index == MPI_UNDEFINED && active)
    *flag = 0;  // of the MPI's there is none; of ours there is
  if (!*flag) *index = MPI_UNDEFINED;
  if (*flag && status != MPI_STATUS_IGNORE) *status = found;
  return error;
}

// MPI_Testsome, and one round of MPI_Waitsome.
int test_some(int count, MPI_Request *requests, int *found, int *indices, MPI_Status *statuses) {
  bool active = false;
  find_done(count, requests, &active);
  Mixed mixed(count, requests);
  if (!mixed.ok()) return no_memory();
  int theirs = MPI_UNDEFINED, error = MPI_SUCCESS;
  if (mixed.has_theirs()) {
    error = PMPI_Testsome(count, mixed.theirs(), &theirs, indices, statuses);
    mixed.copy_back();
  }
  int n = theirs == MPI_UNDEFINED ? 0 : theirs;
  bool any = theirs != MPI_UNDEFINED || active;
  for (int i = 0; i < count; ++i) {
    if (!is_ours(requests[i])) continue;
    if (request_of(requests[i])->state != Request::done) continue;
    any = true;
    error = collect_one(&requests[i], statuses, n, error);
    indices[n++] = i;
  }
  *found = any ? n : MPI_UNDEFINED;
  return error;
}

// Looks until something is found, or fails.
template <class Look>
int wait_for_some(Lock &lock, int count, const MPI_Request *requests, Look look) {
  for (unsigned round = 0;; ++round) {
    int found = 0;
    move_on(round);
    int error = look(&found);
    if (found || error) return error;
    rest(lock, round, one_running(count, requests));
  }
}

}  // namespace

extern "C" int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  if (leave(1, request, given(status))) return PASS(MPI_Wait)(request, status);
  Lock lock;
  if (!is_ours(*request)) return wait_below(lock, request, status);
  Request *r = request_of(*request);
  if (!r) return no_request();
  return wait_and_collect(lock, r, request, status);
}
ALSO(MPI_Wait)

extern "C" int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  if (leave(1, request, flag, given(status))) return PASS(MPI_Test)(request, flag, status);
  Lock lock;
  move_on();
  if (!is_ours(*request)) return PMPI_Test(request, flag, status);
  Request *r = request_of(*request);
  if (!r) return no_request();
  *flag = is_over(r);
  return *flag ? collect(r, request, status) : MPI_SUCCESS;
}
ALSO(MPI_Test)

extern "C" int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (leave(count, requests, given(statuses))) return PASS(MPI_Waitall)(count, requests, statuses);
  Lock lock;
  if (!all_there(count, requests)) return no_request();
  const unsigned before = times_away();
  return wait_for_some(lock, count, requests, [&](int *done) {
    if (!ours_over(count, requests)) return MPI_SUCCESS;
    were_waited_for(count, requests, times_away() != before);
    return test_all(count, requests, done, statuses);
  });
}
ALSO(MPI_Waitall)

extern "C" int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
  if (leave(count, requests, flag, given(statuses)))
    return PASS(MPI_Testall)(count, requests, flag, statuses);
  Lock lock;
  if (!all_there(count, requests)) return no_request();
  move_on();
  *flag = 0;
  return ours_over(count, requests) ? test_all(count, requests, flag, statuses) : MPI_SUCCESS;
}
ALSO(MPI_Testall)

extern "C" int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
  if (leave(count, requests, index, given(status)))
    return PASS(MPI_Waitany)(count, requests, index, status);
  Lock lock;
  if (!all_there(count, requests)) return no_request();
  return wait_for_some(lock, count, requests,
                       [&](int *done) { return test_any(count, requests, index, done, status); });
}
ALSO(MPI_Waitany)

extern "C" int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                           MPI_Status *status) {
  if (leave(count, requests, index, flag, given(status)))
    return PASS(MPI_Testany)(count, requests, index, flag, status);
  Lock lock;
  if (!all_there(count, requests)) return no_request();
  move_on();
  return test_any(count, requests, index, flag, status);
}
ALSO(MPI_Testany)

extern "C" int MPI_Waitsome(int count, MPI_Request requests[], int *found, int indices[],
                            MPI_Status statuses[]) {
  if (leave(count, requests, found, indices, given(statuses)))
    return PASS(MPI_Waitsome)(count, requests, found, indices, statuses);
  Lock lock;
  if (!all_there(count, requests)) return no_request();
  return wait_for_some(lock, count, requests, [&](int *done) {
    const int error = test_some(count, requests, found, indices, statuses);
    *done = *found != 0;
    return error;
  });
}
ALSO(MPI_Waitsome)

extern "C" int MPI_Testsome(int count, MPI_Request requests[], int *found, int indices[],
                            MPI_Status statuses[]) {
  if (leave(count, requests, found, indices, given(statuses)))
    return PASS(MPI_Testsome)(count, requests, found, indices, statuses);
  Lock lock;
  if (!all_there(count, requests)) return no_request();
  move_on();
  return test_some(count, requests, found, indices, statuses);
}
ALSO(MPI_Testsome)

extern "C" int MPI_Start(MPI_Request *request) {
  if (!is_for_us(request)) return PASS(MPI_Start)(request);
  Lock lock;
  Request *r = request_of(*request);
  return r ? start(r) : no_request();
}
ALSO(MPI_Start)

extern "C" int MPI_Startall(int count, MPI_Request requests[]) {
  if (all_theirs(count, requests)) return PASS(MPI_Startall)(count, requests);
  for (int i = 0; i < count; ++i) {
    int error = MPI_Start(&requests[i]);
    if (error) return error;
  }
  return MPI_SUCCESS;
}
ALSO(MPI_Startall)

extern "C" int MPI_Request_free(MPI_Request *request) {
  if (!is_for_us(request)) return PASS(MPI_Request_free)(request);
  Lock lock;
  Request *r = request_of(*request);
  if (!r) return no_request();
  free_request(r);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}
ALSO(MPI_Request_free)

extern "C" int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
  if (leave(1, &request, flag, given(status)))
    return PASS(MPI_Request_get_status)(request, flag, status);
  Lock lock;
  move_on();
  if (!is_ours(request)) return PMPI_Request_get_status(request, flag, status);
  const Request *r = request_of(request);
  if (!r) return no_request();
  *flag = is_over(r);
  if (*flag && status != MPI_STATUS_IGNORE) set_empty(status);
  return MPI_SUCCESS;
}
ALSO(MPI_Request_get_status)

// MPI: a collective cannot be cancelled.
extern "C" int MPI_Cancel(MPI_Request *request) {
  if (!is_for_us(request)) return PASS(MPI_Cancel)(request);
  Lock lock;
  return no_request();
}
ALSO(MPI_Cancel)

#if defined(OPEN_MPI)  // elsewhere handles are the same in Fortran

extern "C" MPI_Fint MPI_Request_c2f(MPI_Request request) {
  if (!is_ours(request)) return PASS(MPI_Request_c2f)(request);
  Lock lock;
  return fortran_of(request);
}
ALSO(MPI_Request_c2f)

extern "C" MPI_Request MPI_Request_f2c(MPI_Fint request) {
  if (!is_ours_in_fortran(request)) return PASS(MPI_Request_f2c)(request);
  Lock lock;
  return from_fortran(request);
}
ALSO(MPI_Request_f2c)

#endif
