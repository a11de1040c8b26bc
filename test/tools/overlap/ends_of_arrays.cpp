// The end of an array of objects runs the destructor of each, also in a container.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DOMPI_SKIP_MPICXX | FileCheck %s
#include <mpi.h>

#include <array>
enum { N = 100 };
static double other[N], out;
struct Guard {
  double *p;
  ~Guard() { *p += 1; }
};

int main(int argc, char **argv) {
  double mine = argc;
  MPI_Init(&argc, &argv);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK-NEXT: [[#@LINE+3]]:11: note: it must be complete here: ~Guard cannot be seen into
  MPI_Allreduce(&mine, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  {
    Guard both[2] = {{&out}, {&other[0]}};
    for (int i = 0; i < N; ++i) other[i] = i;
  }
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK-NEXT: [[#@LINE+3]]:26: note: it must be complete here: ~Guard cannot be seen into
  MPI_Allreduce(&mine, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  {
    std::array<Guard, 1> one = {{{&out}}};
    for (int i = 0; i < N; ++i) other[i] = i;
  }
  MPI_Finalize();
}
