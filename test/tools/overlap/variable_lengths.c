// Where an array gets its length, what that is computed from is read: it ends the window.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | grep -Ev "remark|cannot start" | FileCheck %s
#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>
enum { N = 100 };
struct list {
  int length;
  double of[N];
};
static double other[N];
static int n = 3;

static double last(double row[n]) { return row[2]; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  // CHECK: [[#@LINE+2]]:14: note: it must be complete here: n is read, which MPI_Bcast writes
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  double row[n];
  // CHECK: [[#@LINE+2]]:16: note: it must be complete here: n is read
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  double (*to)[n] = NULL;
  // CHECK: [[#@LINE+2]]:37: note: it must be complete here: n is read
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  void *m = malloc(sizeof(double[7][n]));
  // CHECK: [[#@LINE+2]]:23: note: it must be complete here: n is read
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  typedef double rows[n];
  // CHECK: [[#@LINE+2]]:19: note: it must be complete here: n is read
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  m = (double (*)[n])other;
  // CHECK: [[#@LINE+2]]:22: note: it must be complete here: offsetof(struct list, of[n]) is read
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  other[2] = (double)offsetof(struct list, of[n]);
  // CHECK: [[#@LINE+2]]:14: note: it must be complete here: n in last() is read
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  other[1] = last(other);
  // A name of a type says what its length was.
  // CHECK: [[#@LINE+4]]:3: note: it must be complete here: n is written
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  rows *r = NULL;
  for (int i = 0; i < N; ++i) other[i] = sizeof row;
  n = r || to || m;
  MPI_Finalize();
}
