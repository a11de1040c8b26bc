// An iterator leads to its vector's numbers, and to nothing beside that vector.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -std=c++17 | FileCheck %s
#include <mpi.h>
#include <vector>
enum { N = 400 };
namespace {
struct Sorter {
  std::vector<double> keys = std::vector<double>(N), sums = std::vector<double>(N);
  double *others;

  void count() {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Ibcast here, MPI_Wait behind line [[#@LINE+2]]
    MPI_Bcast(sums.data(), N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) others[i] = i;
  }
  void move() {
    auto key = keys.begin();
    // CHECK: [[#@LINE+2]]:33: note: it must be complete here: operator* cannot be seen into
    MPI_Bcast(keys.data(), N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) *key = i;
  }
  double *first() { return &*keys.begin(); }
  void read(double *y) {
    double *p = first();
    // CHECK: [[#@LINE+2]]:40: note: it must be complete here: p[i] is read, and may be memory that MPI_Bcast writes
    MPI_Bcast(keys.data(), N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) y[i] = p[i];
  }
};
}  // namespace
int main(int argc, char **argv) {
  double y[N];
  MPI_Init(&argc, &argv);
  Sorter s;
  s.others = y;
  s.count(), s.move(), s.read(y);
  MPI_Finalize();
}
