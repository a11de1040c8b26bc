// SPDX-License-Identifier: BSD-3-Clause
// progress.cpp - what is under way, and who moves it on.

#include <dlfcn.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "dropin/queue.h"

namespace nbcc::dropin {

constinit thread_local int passing = 0;
static thread_local bool held __attribute__((tls_model("initial-exec"))) = false;

namespace {

std::mutex mutex;
std::atomic<unsigned> threads_waiting{0};  // for it
std::atomic<int> level{-1};                // of threads, as MPI gave it; -1: not asked yet
std::atomic<bool> over{false};             // MPI_Finalize has been called
// Requests in the list, and in queues. Changed with the lock held, asked for without it.
std::atomic<std::size_t> under_way{0};
Request *first = nullptr;                // those that have been started and not ended
MPI_Request endless = MPI_REQUEST_NULL;  // the MPI's; a test of it moves all on that the MPI has

bool find_level() {
  int up = 0, found = MPI_THREAD_SINGLE;
  if (PASS(MPI_Initialized).own(&up) || !up || PMPI_Query_thread(&found)) return false;
  level = found;
  return true;
}

void unlink(Request *r) {
  (r->previous ? r->previous->next : first) = r->next;
  if (r->next) r->next->previous = r->previous;
  r->next = r->previous = nullptr;
  count_under_way(-1);
}

void look(Request *r) {
  int done = 0;
  switch (r->state) {
    case Request::running: {
      int status = nbc_test(&r->call, &done);
      if (done) finish(r, error_of(status));
      break;
    }
    case Request::below: {
      int error = PMPI_Test(&r->of_mpi, &done, MPI_STATUS_IGNORE);
      if (done || error) finish(r, error ? error : r->error);
      break;
    }
    case Request::idle:
    case Request::queued:
    case Request::done:
      break;
  }
}

void progress() {
  advance_queues();
  for (Request *r = first, *next; r; r = next) {
    next = r->next;
    if (!r->rested_for) look(r);
  }
}

int set_nothing(void *, MPI_Status *status) {
  PMPI_Status_set_cancelled(status, 0);
  return PMPI_Status_set_elements(status, MPI_BYTE, 0);
}

std::int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * std::int64_t{1000000000} + t.tv_nsec;
}

// Whether it had something to move. It does not say, but then takes longer than at its quickest.
bool ask_the_mpi() {
  static std::int64_t quickest = INT64_MAX;
  if (endless == MPI_REQUEST_NULL &&
      PMPI_Grequest_start(
          set_nothing, [](void *) -> int { return MPI_SUCCESS; },
          [](void *, int) -> int { return MPI_SUCCESS; }, nullptr, &endless))
    return false;
  int ended;
  const std::int64_t begin = now();
  PMPI_Test(&endless, &ended, MPI_STATUS_IGNORE);
  const std::int64_t took = now() - begin;
  quickest = std::min(quickest, took);
  constexpr std::int64_t copied = 4000;  // ns: a part of a message, of some ten KiB
  return took > 4 * quickest + copied;
}

}  // namespace

void finish(Request *r, int error) {
  unlink(r);
  if (r->state == Request::running && r->looked && !error)
    error = hand_out(r->looked->arguments, r->looked->line);
  r->error = error;
  r->state = Request::done;
  Communicator *c = r->communicator;
  if (r->alone) end_alone(*c);
  bool initialised = r->abandoned && r->persistent;  // which holds it once more
  const bool raises = error && !r->abandoned;  // whose handler, collect() asks the communicator
  if (r->abandoned) give_back(r);
  if (!raises) c->release();
  if (initialised) c->release();
}

bool has_threads() {
  return level.load(std::memory_order_relaxed) == MPI_THREAD_MULTIPLE;
}

void Lock::enter() {
  if (has_threads() && !mutex.try_lock()) {
    threads_waiting.fetch_add(1, std::memory_order_relaxed);
    mutex.lock();
    threads_waiting.fetch_sub(1, std::memory_order_relaxed);
  }
  ++passing;
  held = true;
}

bool Lock::try_enter() {
  if (has_threads() && !mutex.try_lock()) return false;
  ++passing;
  return held = true;
}

void Lock::leave() {
  held = false;
  --passing;
  if (has_threads()) mutex.unlock();
}

bool Lock::is_held() {
  return held;
}

Lock::Lock() {
  enter();
}
Lock::~Lock() {
  leave();
}

bool not_for_us() {
  return passing || over.load(std::memory_order_relaxed) ||
         (level.load(std::memory_order_relaxed) < 0 && !find_level());
}

// Open MPI's waits call what is registered there, as its own nonblocking collectives are.
namespace {

using Callback = int (*)();
using Registrar = int (*)(Callback);
Registrar remove_from_mpi = nullptr;  // null: nothing is registered
bool attached_everywhere = false;

Registrar find_in_mpi(const char *name) {
  return reinterpret_cast<Registrar>(dlsym(RTLD_DEFAULT, name));
}

// What it calls may be in the middle of a call that was passed on; never of one of ours, which
// holds the lock. It does not wait for another thread's, which moves all on itself. `passing` is
// that of who called the MPI.
int carry_on() {
  if (Lock::is_held() || !busy()) return 0;
  const int outer = std::exchange(passing, 0);
  Lock::if_free(progress);
  passing = outer;
  return 0;
}

void detach() {
  if (remove_from_mpi) remove_from_mpi(carry_on);
  remove_from_mpi = nullptr;
  attached_everywhere = false;
}

}  // namespace

void attach_to_mpi() {
  const Registrar add = find_in_mpi("opal_progress_register");
  const Registrar remove = find_in_mpi("opal_progress_unregister");
  if (add && remove && add(carry_on) == 0) remove_from_mpi = remove;
}

bool is_attached() {
  return remove_from_mpi != nullptr;
}

void set_attached_everywhere(bool is) {
  attached_everywhere = is;
}

bool is_attached_everywhere() {
  return attached_everywhere;
}

void set_over() {
  over = true;
  detach();
  if (endless == MPI_REQUEST_NULL) return;
  PMPI_Grequest_complete(endless);
  PMPI_Wait(&endless, MPI_STATUS_IGNORE);
}

bool busy() {
  return under_way.load(std::memory_order_relaxed) > 0;
}

void count_under_way(int change) {
  under_way.store(under_way.load(std::memory_order_relaxed) + static_cast<std::size_t>(change),
                  std::memory_order_relaxed);
}

void link(Request *r) {
  r->previous = nullptr;
  r->next = first;
  if (first) first->previous = r;
  first = r;
  count_under_way(1);
}

// The MPI moves its own messages on when it is asked for anything: a peer's call of ours may stand
// behind one of them. Asking costs as much as several looks at our calls, but nothing where those
// sleep or yield in between. Not by MPI_Iprobe: an MPI that finds a message looks no further.
enum : unsigned { between_asking = 64, a_while = 256, seldom = 1024 };
static int away = 0;           // others may have had the processor since it was asked
static unsigned absences = 0;  // how often that was so
static unsigned wakeful = 0;   // rounds: it has just moved something, and may have more soon

// A clock that is read in some nanoseconds, and says no more than whether it was long ago.
static std::uint64_t ticks() {
#if defined __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(now());
#endif
}
static std::uint64_t asked = 0;
constexpr std::uint64_t a_moment = 40000;  // some 10 to 40 us

void move_on(unsigned round) {
  // Ranks that share a core yield in the shortest wait.
  const bool ask = round % between_asking == between_asking - 1 || (away && round > between_asking);
  away = 0;
  if (ask || busy()) progress();
  if (!ask) return;
  if (ask_the_mpi()) wakeful = a_while;
  asked = ticks();
}

// A program that tests now and then has computed in between, however often it tests.
void move_on() {
  static unsigned round = 0;
  const bool long_ago = ticks() - asked > a_moment;
  move_on(long_ago ? between_asking - 1 : round++ % between_asking);
}

void rest(Lock &lock, unsigned round, nbc_request *ours) {
  static unsigned awake = 0;
  const auto others_wait = [] { return threads_waiting.load(std::memory_order_relaxed) > 0; };
  // A rest sees who has died, too.
  if (ours && (wakeful == 0 || ++awake % seldom == 0)) {
    int rested = 0;
    lock.outside([&] {
      nbc_rest(ours, &rested);
      if (others_wait()) sched_yield();  // or this thread would have it again before they wake
    });
    away = rested;
  } else if (ours || others_wait() || round >= between_asking) {
    if (wakeful > 0) --wakeful;
    lock.outside([] { sched_yield(); });
    away = 1;
  } else if (has_threads()) {
    lock.outside([] {});
  }
  if (away) ++absences;
}

void rest(Lock &lock, unsigned round, Request *r) {
  if (!r || r->state != Request::running) return rest(lock, round);
  r->rested_for = true;
  rest(lock, round, &r->call);
  r->rested_for = false;
}

unsigned times_away() {
  return absences;
}

bool yield(Lock &lock) {
  constexpr std::int64_t a_turn = 2000;  // ns; a yield in vain takes less
  const std::int64_t begin = now();
  lock.outside([] { sched_yield(); });
  return now() - begin > a_turn;
}

void wait_a_while(Lock &lock, unsigned round, nbc_request *ours) {
  move_on(round);
  rest(lock, round, ours);
}

int wait_below(Lock &lock, MPI_Request *request, MPI_Status *status) {
  for (unsigned round = 0;; ++round) {
    int done = 0;
    int error = PMPI_Test(request, &done, status);
    if (error || done) return error;
    wait_a_while(lock, round);
  }
}

static MPI_Request begin_barrier(Lock &lock, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  int two_groups = 0;
  if (comm == MPI_COMM_NULL || !is_of_one_world(comm)) return request;
  PMPI_Comm_test_inter(comm, &two_groups);
  // Between groups a barrier tells of the other group alone; a second one of what that was told.
  if (PMPI_Ibarrier(comm, &request) != MPI_SUCCESS) return MPI_REQUEST_NULL;
  if (!two_groups) return request;
  wait_below(lock, &request, MPI_STATUS_IGNORE);
  return PMPI_Ibarrier(comm, &request) == MPI_SUCCESS ? request : MPI_REQUEST_NULL;
}

MPI_Request begin_to_meet(Lock &lock, MPI_Comm comm) {
  return attached_everywhere ? MPI_REQUEST_NULL : begin_barrier(lock, comm);
}

void meet(Lock &lock, MPI_Comm comm) {
  MPI_Request request = begin_barrier(lock, comm);
  wait_below(lock, &request, MPI_STATUS_IGNORE);
}

bool finish_all(double seconds) {
  const double begin = PMPI_Wtime();
  for (unsigned round = 0; busy() && PMPI_Wtime() < begin + seconds; ++round) {
    move_on(round);
    sched_yield();
  }
  return !busy();
}

/// A code of the MPI's whose text says what went wrong. With the lock held. MPICH cannot add one to
/// a class of its own.
static int new_code(int status) {
  static std::map<int, int> codes;
  const auto [at, fresh] = codes.emplace(status, MPI_ERR_OTHER);
  const std::string text = std::string("nbcc: ") + nbc_status_text(status);
  int kind = 0, code = 0;
  if (fresh && PMPI_Add_error_class(&kind) == MPI_SUCCESS &&
      PMPI_Add_error_code(kind, &code) == MPI_SUCCESS &&
      PMPI_Add_error_string(kind, text.c_str()) == MPI_SUCCESS &&
      PMPI_Add_error_string(code, text.c_str()) == MPI_SUCCESS)
    at->second = code;
  return at->second;
}

int error_of(int status) {
  switch (status) {
    case NBC_OK:
      return MPI_SUCCESS;
    case NBC_ERROR_MEMORY:
    case NBC_ERROR_RESOURCES:
      return MPI_ERR_NO_MEM;
    case NBC_ERROR_ARGUMENT:
      return MPI_ERR_ARG;
    case NBC_ERROR_TOO_LONG:
      return MPI_ERR_COUNT;
    default:
      return new_code(status);
  }
}

}  // namespace nbcc::dropin
