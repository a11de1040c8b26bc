// SPDX-License-Identifier: BSD-3-Clause
// lifetime.cpp - MPI's beginning and end.

#include <cstdlib>
#include <cstring>

#include "dropin/calls.h"

using namespace nbcc::dropin;

namespace {

// A progress thread uses the MPI beside the program's threads, so it needs MPI_THREAD_MULTIPLE,
// whatever the program does: MPI may provide more than is asked for.
bool wants_thread() {
  const char *progress = std::getenv("NBC_PROGRESS");
  return progress && std::strcmp(progress, "thread") == 0;
}

/// Open MPI holds 32 pages of what a program attaches to a window, and refuses more. Plans have
/// their small pieces between the program's, so these lie on more pages than they would without us:
/// there is room for four times as many, unless the user says how many.
void make_room_for_attached() {
#if defined(OPEN_MPI)
  setenv("OMPI_MCA_osc_rdma_max_attach", "128", 0);
#endif
}

int begun(int error) {
  const MPI_Comm world = MPI_COMM_WORLD;
  if (made_by_all(error, &world) == MPI_SUCCESS) open_meeting_place();
  return error;
}

}  // namespace

extern "C" int MPI_Init(int *argc, char ***argv) {
  int provided;
  make_room_for_attached();
  return begun(wants_thread() ? PASS(MPI_Init_thread)(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                              : PASS(MPI_Init)(argc, argv));
}
ALSO(MPI_Init)

extern "C" int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  make_room_for_attached();
  return begun(
      PASS(MPI_Init_thread)(argc, argv, wants_thread() ? MPI_THREAD_MULTIPLE : required, provided));
}
ALSO(MPI_Init_thread)

extern "C" int MPI_Finalize(void) {
  if (!not_for_us()) end();
  return PASS(MPI_Finalize)();
}
ALSO(MPI_Finalize)
