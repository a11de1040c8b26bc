// A coroutine ends by co_return, and may stay away where it waits.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -std=c++20 | FileCheck %s --implicit-check-not=fix:
#include <mpi.h>

#include <coroutine>

enum { N = 200 };
static int x;
static double s;
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

static void share() {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Bcast: line [[#@LINE+3]] can run meanwhile
  // CHECK: note: not changed: how often a rank comes here is not followed
  MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) s += i;
}
static Task others(int rank) {
  if (rank == 0) co_return;
  share();
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  others(rank);
  if (rank == 0) MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return x > 0 && s > 0;
}
