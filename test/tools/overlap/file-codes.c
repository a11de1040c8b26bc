// A file may be there for one rank and not for another, and MPI goes on.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix:
// CHECK: note: not changed: whether a rank comes here depends on 'code == MPI_SUCCESS'
#include <mpi.h>
void elsewhere(void);  // in no source: it may hold another one of each kind
enum { N = 400 };
static double y[N], in, out;
int main(int argc, char **argv) {
  MPI_File file;
  MPI_Init(&argc, &argv);
  elsewhere();
  int code = MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  if (code == MPI_SUCCESS) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) y[i] = i;
  }
  MPI_Finalize();
}
