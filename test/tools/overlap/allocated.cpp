// Memory may be allocated by new while a call is under way, for what has no constructor, where nobody catches and operator
// new is nobody's own.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi | FileCheck %s
// RUN: nbc-overlap %s -- mpicxx.openmpi -DCATCHES | FileCheck %s --check-prefix=NOT --implicit-check-not=fix:
// RUN: nbc-overlap %s -- mpicxx.openmpi -DOWN | FileCheck %s --check-prefix=NOT --implicit-check-not=fix:
// NOT-COUNT-2: cannot be seen into
#include <mpi.h>
#include <cstddef>
#include <cstdlib>
static double in[100], out[100], sum;
struct Once {
  Once() : n(1) {}
  int n;
};
static void numbers(int n) {
  // CHECK: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[@LINE+5]]
  MPI_Allreduce(in, out, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double *next = new double[n];
  for (int i = 1; i < n; ++i) next[i] = next[i - 1] + in[i - 1];
  sum = next[n - 1];
  delete[] next;
  in[0] = out[0];
}
static void objects(int n) {
  // CHECK: it must be complete here: 'new Once[n]' cannot be seen into
  MPI_Allreduce(in, out, 50, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  Once *next = new Once[n];
  for (int i = 1; i < n; ++i) next[i].n += next[i - 1].n;
  sum = next[n - 1].n;
  in[0] = out[0];
}
#ifdef OWN
void *operator new[](std::size_t n) {
  in[1] = 2;
  return std::malloc(n);
}
#endif
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
#ifdef CATCHES
  try {
#endif
    numbers(argc);
    objects(argc);
#ifdef CATCHES
  } catch (...) {
  }
#endif
  MPI_Finalize();
}
