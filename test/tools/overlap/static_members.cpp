// A variable of a class gets its value through an object as well.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX | FileCheck %s --implicit-check-not=fix:
// CHECK: note: not changed: sum() is called through a pointer
// CHECK: note: not changed: whether a rank comes here depends on 'Config::root'
#include <mpi.h>
void elsewhere();  // in no source: it may hold another one of each kind
enum { N = 400 };
static double y[N];
static int x, all;
static void work() {
  for (int i = 0; i < N; ++i) y[i] = i;
}
namespace {
struct Config {
  static int root;
  static void sum() {
    MPI_Allreduce(&x, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
};
int Config::root = 0;
}  // namespace
static void (*hook)();
static void chosen() {
  if (Config::root) {
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    work();
  }
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  elsewhere();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Config c;
  c.root = rank == 0;
  hook = c.sum;
  chosen();
  if (rank == 0) hook();
  MPI_Finalize();
}
