// What a check calls in no source may do anything, unless it is promised to do no more than to touch what it is given.
// REQUIRES: openmpi
// RUN: nbc-overlap --library %s -- mpicc.openmpi | FileCheck %s --check-prefix=ASKED
// RUN: nbc-overlap --library --local complain %s -- mpicc.openmpi | FileCheck %s --check-prefix=TOLD
// ASKED: not changed: the if that it stands in does more than stop at an error: complain, unless --local names it
// TOLD: fix: MPI_Iallreduce here, MPI_Wait behind line [[# BEHIND: ]]
#include <mpi.h>

enum { N = 100 };
static double in[N], out[N], other[N];

int complain(const char *what);

double sum_up(void) {
  if (MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS) {
    complain("no sum");
    return 0;
  }
  for (int i = 0; i < N; ++i) other[i] += i;
  return out[0] + other[0];
}
