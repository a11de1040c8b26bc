// A rank that ends is heard of once more where a constructor, a destructor or what atexit() was given is a collective.
// REQUIRES: openmpi
// RUN: for n in 1 2 3 4; do nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -DCASE=$n; done | FileCheck %s --implicit-check-not=fix:
// CHECK-COUNT-4: note: not changed: whether a rank comes here depends on 'rank == 0'
// RUN: nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -DCASE=0 | FileCheck %s --check-prefix=PLAIN
// PLAIN: note: fix: MPI_Ibcast
#include <mpi.h>
#include <cstdlib>
enum { N = 400 };
static double y[N];
static int a, done;
static void work() {
  for (int i = 0; i < N; ++i) y[i] = i;
}
static void last() {
  if (!done && CASE) MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD);
}
struct Plain {
  ~Plain() { MPI_Finalize(); }
};
#if CASE == 1
struct First {
  First() { last(); }
};
#define END { First f; return 0; }
#elif CASE == 2
struct Last {
  ~Last() { last(); }
} at_end;
#define END return 0
#elif CASE == 3
#define END exit(0)
#elif CASE == 4
struct Foreign {
  Foreign();
};
#define END { Foreign f; return 0; }
#else
#define END return 0
#endif
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  Plain plain;
#if CASE == 3
  atexit(last);
#endif
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) END;
  MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD);
  work();
  done = 1;
}
