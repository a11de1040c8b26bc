// A loop through a container has no name for the element that it is at.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX | FileCheck %s
#include <mpi.h>

#include <array>

static std::array<int, 4> histogram;
static int in[4], y[400];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Gather: line [[#@LINE+3]] can run meanwhile
  // CHECK-NEXT: [[#@LINE+3]]:{{[0-9]+}}: note: it must be complete here: what the loop goes through is written, which MPI_Gather writes
  MPI_Gather(in, 1, MPI_INT, histogram.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 400; ++i) y[i] = i;
  for (int &count : histogram) count = y[3];
  MPI_Finalize();
  return histogram[0];
}
