// Pointers that are exchanged as bytes point at each other's memory afterwards.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#define SWAP(x, y)               \
  do {                           \
    char t_[sizeof(x)];          \
    memcpy(t_, &(x), sizeof t_); \
    memcpy(&(x), &(y), sizeof t_); \
    memcpy(&(y), t_, sizeof t_); \
  } while (0)
enum { N = 100 };
struct grid {
  double *now, *next;
};
static double in[N];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  struct grid g = {malloc(N * sizeof(double)), malloc(N * sizeof(double))}, *to = &g, before = g;
  SWAP(to->now, to->next);
  // CHECK: [[#@LINE+2]]:31: note: it must be complete here: to->next[i] is read, and may be memory
  MPI_Allreduce(in, before.now, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) to->next[i] *= 2;
  MPI_Finalize();
  return to->now[5] > 0;
}
