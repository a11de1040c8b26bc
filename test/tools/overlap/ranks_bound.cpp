// A loop that turns as often as the rank says, by a name of a structured binding, or by a field that was filled through one.
// REQUIRES: openmpi
// RUN: for n in 1 2 3; do nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -std=c++17 -DCASE=$n; done | FileCheck %s --implicit-check-not=fix:
// CHECK: note: not changed: 'i < rank' may differ among ranks and decides how often MPI_Bcast is called before
// CHECK: note: not changed: 'i < world.rank' may differ among ranks and decides how often MPI_Bcast is called before
// CHECK: note: not changed: 'i < world.size' may differ among ranks and decides how often MPI_Bcast is called before
#include <mpi.h>
#include <utility>
enum { N = 400 };
static double y[N];
static int x;
static struct {
  int rank, size;
} world;
static std::pair<int, int> where() {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return {rank, size};
}
static void find() {
  auto &[rank, size] = world;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}
static void share() {
  auto [rank, size] = where();
#if CASE == 1
  for (int i = 0; i < rank; ++i) MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
#elif CASE == 2
  for (int i = 0; i < world.rank; ++i) MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
#else
  for (int i = 0; i < world.size; ++i) MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
#endif
  y[0] = rank < size;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  find();
  share();
  MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = i;
  MPI_Finalize();
}
