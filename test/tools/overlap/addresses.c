// A datatype that is made of addresses reaches from the buffer to other variables.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
#include <mpi.h>
enum { N = 100 };
static double other[N];
static MPI_Datatype both(double *a, double *b) {
  int lengths[2] = {1, 1};
  MPI_Aint first, second, places[2] = {0, 0};
  MPI_Datatype types[2] = {MPI_DOUBLE, MPI_DOUBLE}, all;
  MPI_Get_address(a, &first);
  MPI_Get_address(b, &second);
  places[1] = second - first;
  MPI_Type_create_struct(2, lengths, places, types, &all);
  MPI_Type_commit(&all);
  return all;
}

int main(int argc, char **argv) {
  double a = argc, b = 3;
  MPI_Init(&argc, &argv);
  MPI_Datatype type = both(&a, &b);
  // CHECK: [[#@LINE+2]]:43: note: it must be complete here: b is read, and may be memory that MPI_Bcast writes
  MPI_Bcast(&a, 1, type, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) other[i] += b;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Bcast
  // CHECK: note: fix
  MPI_Bcast(&a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) other[i] += b;
  MPI_Finalize();
}
