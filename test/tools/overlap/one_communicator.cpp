// What was learned of one communicator says nothing of another one in the same field, or in the same variable of another
// turn or another call.
// REQUIRES: openmpi
// RUN: for n in 1 2 3 4 5 6 7; do nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -DCASE=$n; done | FileCheck %s --implicit-check-not=fix:
// CHECK-COUNT-10: note: not changed: {{whether a rank comes here depends on|'.*' may be another communicator}}
// RUN: nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -DCASE=0 | FileCheck %s --check-prefix=ONE
// ONE: note: fix: MPI_Ibcast
// ONE: note: fix: MPI_Ireduce
#include <mpi.h>
#include <cstring>
void elsewhere();  // in no source: it may hold another one of each kind
enum { N = 400 };
static double y[N];
static int x, rank;
static void work() {
  for (int i = 0; i < N; ++i) y[i] = i;
}
struct ctx {
  MPI_Comm comm;
#if CASE == 3
  explicit ctx(MPI_Comm c) : comm(c) {}
#endif
};
#if CASE == 5
static void turn(MPI_Comm c, int before, int depth) {
  int n;
  if (before) {
    MPI_Bcast(&x, 1, MPI_INT, 0, c);
    work();
  }
  if (depth == 0) return;
  MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_MIN, c);
  turn(MPI_COMM_WORLD, n, 0);
}
#elif CASE == 7
static void turn(MPI_Comm c, int before, int depth) {
  int n = 1;
  for (int k = 0; k < 2; ++k) {
    if (n && before) {
      MPI_Bcast(&x, 1, MPI_INT, 0, c);
      work();
    }
    MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_MIN, c);
  }
  if (depth > 0) turn(MPI_COMM_WORLD, n, 0);
}
#elif CASE == 6
static void change(MPI_Comm &c) { c = MPI_COMM_WORLD; }
#endif
static void run(MPI_Comm half) {
  int n = 1;
#if CASE == 0
  struct ctx one;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &one.comm);
  MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_MIN, one.comm);
  if (n == 0) {
    MPI_Bcast(&x, 1, MPI_INT, 0, one.comm);
    work();
  }
  int m;
  MPI_Allreduce(&rank, &m, 1, MPI_INT, MPI_MIN, half);
  if (m == 0) {
    MPI_Reduce(&rank, &x, 1, MPI_INT, MPI_SUM, 0, half);
    work();
  }
#elif CASE == 1
  struct ctx all = {MPI_COMM_WORLD}, part;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part.comm);
  MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_MIN, part.comm);
  if (n == 0) {
    MPI_Bcast(&x, 1, MPI_INT, 0, all.comm);
    work();
  }
#elif CASE == 2
  struct ctx all, part;
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part.comm);
  memcpy(&all, &world, sizeof all);
  MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_MIN, part.comm);
  if (n == 0) {
    MPI_Bcast(&x, 1, MPI_INT, 0, all.comm);
    work();
  }
#elif CASE == 3
  ctx all(MPI_COMM_WORLD), part(MPI_COMM_NULL);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part.comm);
  MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_MIN, part.comm);
  if (n == 0) {
    MPI_Bcast(&x, 1, MPI_INT, 0, all.comm);
    work();
  }
#elif CASE == 4
  MPI_Comm comms[2] = {half, MPI_COMM_WORLD};
  for (int k = 0; k < 2; ++k) {
    MPI_Comm c = comms[k];
    if (n) {
      MPI_Bcast(&x, 1, MPI_INT, 0, c);
      work();
    }
    MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_MIN, c);
  }
#elif CASE == 5 || CASE == 7
  turn(half, n, 1);
#elif CASE == 6
  MPI_Comm c = half;
  MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_MIN, c);
  change(c);
  if (n == 0) {
    MPI_Bcast(&x, 1, MPI_INT, 0, c);
    work();
  }
#endif
}
int main(int argc, char **argv) {
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  elsewhere();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  run(half);
  MPI_Finalize();
}
