// A function that --local names reads and writes its object, and all that its arguments lead to.
// REQUIRES: openmpi
// RUN: nbc-overlap --local scale --local smooth --local apply --local add --whole --least=1 %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX | FileCheck %s --implicit-check-not=fix:
#include <mpi.h>

#include <cstdlib>
#include <vector>
struct Field {
  double v[4];
  void scale(double);
};
struct Grid {
  double *cells;
  int n;
};
void smooth(double **rows, int n);
void apply(const Grid &, double *out);
void add(std::vector<double> &, const double *);
static Field one;
static void ofObject() {
  // CHECK: [[#@LINE+2]]:{{.*}} it must be complete here: one is read
  MPI_Allreduce(MPI_IN_PLACE, one.v, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  one.scale(2);
}
static void ofLocal() {
  Field v = {{1, 2, 3, 4}};
  // CHECK: [[#@LINE+2]]:{{.*}} it must be complete here: v is read
  MPI_Allreduce(MPI_IN_PLACE, v.v, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  v.scale(2);
}
static void byRows() {
  double *a = static_cast<double *>(std::malloc(32)), *rows[1] = {a};
  // CHECK: [[#@LINE+2]]:{{.*}} it must be complete here: rows is read
  MPI_Allreduce(MPI_IN_PLACE, a, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  smooth(rows, 1);
}
static void byStructure() {
  double out[4];
  Grid grid = {static_cast<double *>(std::malloc(32)), 4};
  // CHECK: [[#@LINE+2]]:{{.*}} it must be complete here: grid is read
  MPI_Allreduce(MPI_IN_PLACE, grid.cells, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  apply(grid, out);
}
// What it is given leads to nothing else.
static void apart() {
  std::vector<double> a(4), b(4);
  double c[4] = {1};
  // CHECK: [[#@LINE+1]]:{{.*}} fix: MPI_Iallreduce before line {{[0-9]+}}, MPI_Wait behind line [[#@LINE+2]]
  MPI_Allreduce(MPI_IN_PLACE, a.data(), 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  add(b, c);
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  ofObject(), ofLocal(), byRows(), byStructure(), apart();
  MPI_Finalize();
}
