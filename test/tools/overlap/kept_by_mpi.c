// MPI keeps what an attribute, a keyval or a buffer of messages is, and gives it back elsewhere.
// REQUIRES: openmpi
// RUN: nbc-overlap --whole --least=1 %s -- mpicc.openmpi -std=gnu99 -w | FileCheck %s --implicit-check-not=fix:
#include <mpi.h>
#include <stdlib.h>
static double *kept, *work;
static int copies(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
  kept = extra;
  return *flag = 0;
}
static double asAttribute(int key) {
  double *a = calloc(4, sizeof *a), *p = NULL, sum = 0;
  int flag;
  MPI_Attr_put(MPI_COMM_WORLD, key, a);
  MPI_Attr_get(MPI_COMM_WORLD, key, &p, &flag);
  // CHECK: [[#@LINE+2]]:{{.*}} it must be complete here: p[i] is read
  MPI_Allreduce(MPI_IN_PLACE, a, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) sum += p[i];
  return sum;
}
static double asExtra(void) {
  double *a = calloc(4, sizeof *a), sum = 0;
  int key;
  MPI_Keyval_create(copies, MPI_NULL_DELETE_FN, &key, a);
  // CHECK: [[#@LINE+2]]:{{.*}} it must be complete here: kept[i] is read
  MPI_Allreduce(MPI_IN_PLACE, a, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) sum += kept[i];
  return sum;
}
static double asBuffer(void) {
  double *a = malloc(10000), *p = malloc(8 * sizeof *p), sum = 0;
  int size;
  MPI_Buffer_attach(a, 10000);
  MPI_Buffer_detach(&p, &size);
  // CHECK: [[#@LINE+2]]:{{.*}} it must be complete here: p[i] is read
  MPI_Allreduce(MPI_IN_PLACE, a, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) sum += p[i];
  return sum;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double sum = asAttribute(argc) + asExtra() + asBuffer();
  MPI_Finalize();
  return sum > 0;
}
