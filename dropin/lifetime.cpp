// SPDX-License-Identifier: BSD-3-Clause
// lifetime.cpp - MPI's beginning and end.
//
// A program may have sessions alone (MPI 4.0, section 11.3). MPI_COMM_WORLD, which our report, our
// packing and what meets rest on, is not there then. So the first session brings it, unseen, and
// the last one to go takes it away:
//
//   theirs    MPI_Init is the program's to call
//   brought   we have called it; MPI_Initialized says no
//   shared    the program has called it, too
//   returned  and MPI_Finalize, which waits for the last session to end

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "dropin/calls.h"
#include "runtime/mpi/nbc_mpi.h"

using namespace nbcc::dropin;

namespace {

enum World { theirs, brought, shared, returned };
std::atomic<World> world = theirs;
std::mutex world_lock;

// A progress thread uses the MPI beside the program's threads, so it needs MPI_THREAD_MULTIPLE,
// whatever the program does: MPI may provide more than is asked for.
bool wants_thread() {
  const char *progress = std::getenv("NBC_PROGRESS");
  return progress && std::strcmp(progress, "thread") == 0;
}

int least_level(int required) {
  return wants_thread() ? MPI_THREAD_MULTIPLE : required;
}

/// Open MPI holds 32 pages of what a program attaches to a window, and refuses more. Plans have
/// their small pieces between the program's, so these lie on more pages than they would without us:
/// there is room for four times as many, unless the user says how many.
void make_room_for_attached() {
#if defined(OPEN_MPI)
  setenv("OMPI_MCA_osc_rdma_max_attach", "128", 0);
#endif
}

/// Names are the same in all MPIs, handles and constants are not. So there is a library for each,
/// and one in front of another MPI would crash at best.
void refuse_another_mpi() {
#if defined(OPEN_MPI)
  constexpr std::string_view mine = "Open MPI";
#else
  constexpr std::string_view mine = "MPICH";
#endif
  constexpr std::size_t longest = 8192;  // MPICH's; Open MPI's is shorter
  static_assert(MPI_MAX_LIBRARY_VERSION_STRING <= longest);
  char found[longest] = "";
  int length;
  if (PMPI_Get_library_version(found, &length)) return;
  if (std::string_view(found).starts_with("Open MPI") == (mine == "Open MPI")) return;
  found[std::strcspn(found, ",\n")] = '\0';  // behind its number
  std::replace(found, found + std::strlen(found), '\t', ' ');
  std::fprintf(stderr,
               "nbc: this libnbc-mpi.so is for %s, but the program runs with %s: take the one for "
               "that\n",
               mine.data(), found);
  std::_Exit(EXIT_FAILURE);
}

// The runtime refuses these communicator by communicator, and cannot say why.
void check_environment() {
  const char *said = std::getenv("NBC_PROGRESS");
  if (said && *said && !wants_thread() && std::strcmp(said, "none") != 0)
    complain(std::string("NBC_PROGRESS=") + said +
             ": there are none and thread; so all calls go to the MPI");
  std::uint64_t bytes;
  if (nbc_mpi_fragment(&bytes))
    complain(std::string("NBC_MPI_FRAGMENT=") + std::getenv("NBC_MPI_FRAGMENT") +
             ": it is to be a number of bytes; so all calls go to the MPI");
}

Constructor by_init;

int begun(int error) {
  if (!error) check_environment();
  const MPI_Comm all = MPI_COMM_WORLD;
  MPI_Comm parent = MPI_COMM_NULL;
  if (!error && !PMPI_Comm_get_parent(&parent)) look_for_other_worlds(parent);
  // A progress thread asks the MPI for its messages while it has what calls of ours wait for.
  if (!error && !not_for_us() && !wants_thread()) attach_to_mpi();
  if (made_by_all(error, &all, by_init) == MPI_SUCCESS) open_meeting_place();
  return error;
}

int begun_by_all(int error) {
  if (!begun(error)) get_ready();
  return error;
}

int finalize() {
  if (!not_for_us()) end();
  return PASS(MPI_Finalize)();
}

/// Whether the program takes over what a session has brought.
bool takes_over() {
  const std::lock_guard guard(world_lock);
  if (world != brought) return false;
  world = shared;
  return true;
}

}  // namespace

extern "C" int MPI_Init(int *argc, char ***argv) {
  int provided;
  if (takes_over()) return MPI_SUCCESS;
  refuse_another_mpi();
  make_room_for_attached();
  return begun_by_all(wants_thread()
                          ? PASS(MPI_Init_thread)(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                          : PASS(MPI_Init)(argc, argv));
}
ALSO(MPI_Init)

extern "C" int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  if (takes_over()) return PMPI_Query_thread(provided);
  refuse_another_mpi();
  make_room_for_attached();
  return begun_by_all(PASS(MPI_Init_thread)(argc, argv, least_level(required), provided));
}
ALSO(MPI_Init_thread)

#if MPI_VERSION < 4

extern "C" int MPI_Finalize(void) {
  return finalize();
}
ALSO(MPI_Finalize)

#else

namespace {

int sessions = 0;

void bring_world() {
  int up = 0, down = 0, level = MPI_THREAD_SINGLE;
  PASS(MPI_Initialized).own(&up);
  PASS(MPI_Finalized).own(&down);
  if (up || down || PMPI_Query_thread(&level)) return;  // of the session
  if (PASS(MPI_Init_thread).own(nullptr, nullptr, least_level(level), &level)) return;
  world = brought;
  begun(MPI_SUCCESS);
}

// Whether what a session has brought is to go.
bool is_over() {
  return sessions == 0 && (world == brought || world == returned);
}

}  // namespace

extern "C" int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session) {
  refuse_another_mpi();
  const int error = PASS(MPI_Session_init)(info, handler, session);
  if (error || passing) return error;
  const std::lock_guard guard(world_lock);
  if (sessions++ == 0 && world == theirs) bring_world();
  return error;
}
ALSO(MPI_Session_init)

extern "C" int MPI_Session_finalize(MPI_Session *session) {
  const int error = PASS(MPI_Session_finalize)(session);
  if (error || passing) return error;
  const std::lock_guard guard(world_lock);
  --sessions;
  return is_over() ? finalize() : error;
}
ALSO(MPI_Session_finalize)

extern "C" int MPI_Finalize(void) {
  if (passing) return finalize();  // a tool behind us comes back
  const std::lock_guard guard(world_lock);
  if (world == shared) world = returned;
  return world == theirs || is_over() ? finalize() : MPI_SUCCESS;
}
ALSO(MPI_Finalize)

extern "C" int MPI_Initialized(int *flag) {
  if (passing || !flag || world == theirs) return PASS(MPI_Initialized)(flag);
  *flag = world != brought;
  return MPI_SUCCESS;
}
ALSO(MPI_Initialized)

extern "C" int MPI_Finalized(int *flag) {
  if (passing || !flag || world == theirs) return PASS(MPI_Finalized)(flag);
  *flag = world == returned;
  return MPI_SUCCESS;
}
ALSO(MPI_Finalized)

#endif
