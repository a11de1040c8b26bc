// Ranks that map a file may see what others write there: then a collective may be what orders it.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
// RUN: nbc-overlap %s -- mpicc.openmpi -DOWN | FileCheck %s --check-prefix=OWN
// OWN: note: fix
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <sys/mman.h>
enum { N = 100 };
#ifdef OWN
#define mmap64(at, bytes, how, kind, file, begin) malloc(bytes)
#endif

int main(int argc, char **argv) {
  double one = argc, all = 0, sum = 0;
  MPI_Init(&argc, &argv);
  double *shared = mmap64(NULL, N * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK-NEXT: note: it must be complete here: shared[i] may be memory that other ranks see
  MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) sum += shared[i];
  MPI_Finalize();
  return sum + all > 0;
}
