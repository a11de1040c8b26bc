// A loop that threads share is a statement like others, with its pragma; any other directive ends the window.
// REQUIRES: openmpi
// RUN: grep -v CHECK %s > %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi -fopenmp
// RUN: FileCheck %s --input-file=%t.c && mpicc.openmpi -fopenmp -Wall -Werror -fsyntax-only %t.c
#include <mpi.h>
enum { N = 100 };
static int hist[N];

int main(int argc, char **argv) {
  int chunk = argc, at = 0;
  double in[N] = {0}, out[N], other[N], sum = 0;
  MPI_Init(&argc, &argv);
  // CHECK:      MPI_Iallreduce(
  // CHECK-NEXT: #pragma
  // CHECK-NEXT: for (int
  // CHECK-NEXT: MPI_Wait(
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < N; ++i) other[i] = i;
  // CHECK-NEXT: MPI_Allreduce(
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < N; ++i) sum += out[i];
  // CHECK: MPI_Allreduce(
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#pragma omp parallel
  {
    for (int i = 0; i < N; ++i) other[i] = i;
  }
  // Where a chunk is named, or a part of an array is, its size is read.
  // CHECK: MPI_Bcast(&chunk
  MPI_Bcast(&chunk, 1, MPI_INT, 0, MPI_COMM_WORLD);
#pragma omp parallel for schedule(static, chunk)
  for (int i = 0; i < N; ++i) other[i] = i;
  // CHECK: MPI_Bcast(&chunk
  MPI_Bcast(&chunk, 1, MPI_INT, 0, MPI_COMM_WORLD);
#pragma omp parallel for reduction(+ : hist[:chunk])
  for (int i = 0; i < N; ++i) ++hist[i % chunk];
  // CHECK: MPI_Bcast(&chunk
  MPI_Bcast(&chunk, 1, MPI_INT, 0, MPI_COMM_WORLD);
#pragma omp simd linear(at : chunk)
  for (int i = 0; i < N; ++i) other[(at + i) % N] = i;
  // CHECK: MPI_Bcast(in
#pragma omp parallel
  {
#pragma omp master
    {
      MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      for (int i = 0; i < N; ++i) other[i] = i;
    }
  }
  MPI_Finalize();
  return sum + other[1] + out[0] > 0;
}
