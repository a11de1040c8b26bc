// What stands for the object of a method, or before a static member, is computed like any argument.
// REQUIRES: openmpi
// RUN: nbc-overlap --whole --least=1 %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX | FileCheck %s --implicit-check-not=fix:
#include <mpi.h>

#include <vector>
enum { N = 400 };
static int chosen, turn, x;
static double total[4];
struct Cell {
  double v;
  static double sum;
  void mark(double by) { v += by; }
  double get() const { return v; }
  operator double() const { return v; }
  static double all() { return sum; }
};
double Cell::sum = 1;
static Cell cells[N];
static Cell &next() { return cells[turn++]; }
static Cell &filled(double *p) {
  p[0] = 7;
  return cells[0];
}
static Cell &checked(int i) {
  if (i > 3) throw 1;
  return cells[i];
}
struct Last {
  int k;
  ~Last() { total[0] = 7; }
  int get() { return k; }
};
struct Handle {
  Cell *p;
  int uses;
  Cell *operator->() {
    ++uses;
    return p;
  }
};
struct Level {
  MPI_Comm comm;
  operator MPI_Comm() const { return comm; }
};
struct Grid {
  double v[4];
  double *data() { return v; }
};
static void byIndex() {
  // CHECK: [[#@LINE+2]]:{{.*}} it must be complete here: chosen is read
  MPI_Bcast(&chosen, 1, MPI_INT, 0, MPI_COMM_WORLD);
  cells[chosen].mark(1);
}
static double converted() {
  // CHECK: [[#@LINE+2]]:{{.*}} it must be complete here: chosen is read
  MPI_Bcast(&chosen, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return cells[chosen];
}
static void inVector(std::vector<Cell> &all) {
  // CHECK: [[#@LINE+2]]:{{.*}} it must be complete here: chosen is read
  MPI_Bcast(&chosen, 1, MPI_INT, 0, MPI_COMM_WORLD);
  all[chosen].mark(1);
}
static void byCall() {
  // CHECK: [[#@LINE+2]]:{{.*}} it must be complete here: p[0]
  MPI_Bcast(total, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  filled(total).mark(1);
}
static double ofStatic() {
  // CHECK: [[#@LINE+2]]:{{.*}} it must be complete here: turn
  MPI_Bcast(&turn, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return next().all();
}
static int ofTemporary() {
  // CHECK: [[#@LINE+1]]:{{.*}} note:
  MPI_Bcast(total, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return Last{3}.get();
}
static void byArrow() {
  Handle h{cells, 0};
  // CHECK: [[#@LINE+2]]:{{.*}} it must be complete here: uses
  MPI_Bcast(&h.uses, 1, MPI_INT, 0, MPI_COMM_WORLD);
  h->mark(1);
}
static void throws(int n) {
  // CHECK: [[#@LINE+1]]:{{.*}} note:
  MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
  checked(n).mark(2);
}
static void carried(int rank) {
  int k = 0;
  for (int i = 0; i < 5; ++i) {
    cells[k].mark(1);
    int mine = i + rank;
    // CHECK: [[#@LINE+1]]:{{.*}} note:
    MPI_Allreduce(&mine, &k, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
}
// What the call itself is given does not go above what chooses it.
static double ofArgument() {
  Grid grids[2] = {};
  double t = 0;
  int k = 0;
  k = 1 - k;
  for (int i = 0; i < N; ++i) t += i;
  // CHECK: [[#@LINE+1]]:{{.*}} fix: MPI_Ibcast before line [[#@LINE-1]], MPI_Wait here
  MPI_Bcast(grids[k].data(), 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return t;
}
static double ofCommunicator() {
  Level levels[2] = {{MPI_COMM_WORLD}, {MPI_COMM_SELF}};
  double t = 0;
  int k = 1;
  k = 1 - k;
  for (int i = 0; i < N; ++i) t += i;
  // CHECK: [[#@LINE+1]]:{{.*}} fix: MPI_Iexscan before line [[#@LINE-1]], MPI_Wait here
  MPI_Exscan(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, levels[k]);
  return t;
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<Cell> all(N);
  byIndex(), inVector(all), byCall(), byArrow(), carried(rank);
  double t = converted() + ofStatic() + ofTemporary() + ofArgument() + ofCommunicator();
  throws(argc);
  MPI_Finalize();
  return t < all[0].get();
}
