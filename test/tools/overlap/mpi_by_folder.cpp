// An MPI's own headers are no code of the program's, however the compiler is told where they are; and what is read in a
// choice, or by std::min(), is only read.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- -I$(mpicxx.openmpi --showme:incdirs | cut -d" " -f1) | FileCheck %s
// RUN: nbc-overlap %s -- mpicxx.openmpi | FileCheck %s
// RUN: nbc-overlap %s -- mpicxx.openmpi -DCHANGED | FileCheck %s --check-prefix=CHANGED --implicit-check-not=fix:
#include <mpi.h>
#include <algorithm>
#include <cstdio>
double in[100], out[1000];
int size;
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int k = argc;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifdef CHANGED
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (rank ? k : size) = 1;
#endif
  const int most = k > 3 ? k : size, least = std::min(k, size);
  // CHECK: note: fix: MPI_Ibcast
  // CHANGED: not changed: whether a rank comes here depends on 'most > 1 && least > 0'
  if (most > 1 && least > 0) {
    MPI_Bcast(in, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 1000; i++) out[i] = i * 2.0;
    std::printf("%g %g\n", in[0], out[1]);
  }
  if (least == 1) MPI_Bcast(in, 50, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Finalize();
}
