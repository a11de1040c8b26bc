// A field that is seen as a vector, a complex number or a wider one is seen with what follows it; one that is an array of
// letters is not, and from one an offset in bytes leads to the structure around it.
// REQUIRES: openmpi
// RUN: nbc-overlap --whole --least=1 %s -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix:
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
typedef float four __attribute__((vector_size(16), may_alias));
typedef uint64_t word __attribute__((may_alias));
static struct {
  float at[3], mass;
} point __attribute__((aligned(16)));
static struct {
  double re, im;
} number;
static struct {
  unsigned low, high;
} pair __attribute__((aligned(8)));
static struct link {
  double payload[4];
  int inner[2], outer;
} links;
static double w[400];
static four sum;
static uint64_t key;
static void work(void) {
  for (int i = 0; i < 400; i++) w[i] = i;
}
static void twice(_Complex double *c) { *c += *c; }
static void asVector(void) {
  // CHECK: [[#@LINE+2]]:{{.*}} note: it must be complete here
  MPI_Bcast(&point.mass, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);
  sum += *(four *)point.at;
}
static void asComplex(void) {
  // CHECK: [[#@LINE+2]]:{{.*}} note: it must be complete here
  MPI_Bcast(&number.im, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  *(_Complex double *)&number.re *= 2;
}
static void inCallee(void) {
  // CHECK: [[#@LINE+2]]:{{.*}} note: it must be complete here
  MPI_Bcast(&number.im, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  twice((_Complex double *)&number.re);
}
static void asWord(void) {
  // CHECK: [[#@LINE+2]]:{{.*}} note: it must be complete here
  MPI_Bcast(&pair.high, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  key = *(word *)&pair.low;
}
static void byOffset(int *p) {
  // CHECK: [[#@LINE+2]]:{{.*}} note: it must be complete here
  MPI_Bcast(&links.outer, 1, MPI_INT, 0, MPI_COMM_WORLD);
  ((struct link *)((char *)p - offsetof(struct link, inner)))->outer = 1;
}
static void backByBytes(int *p) {
  // CHECK: [[#@LINE+2]]:{{.*}} note: it must be complete here
  MPI_Bcast(links.payload, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  *(int *)((char *)p - sizeof links.payload) = 1;
}
// As large as it is, it is that field.
static void asAnother(void) {
  // CHECK: [[#@LINE+1]]:{{.*}} fix: MPI_Ibcast here, MPI_Wait behind line [[#@LINE+2]]
  MPI_Bcast(&pair.high, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  *(int *)&pair.low = 5;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  asVector(), asComplex(), inCallee(), asWord(), asAnother(), work();
  byOffset(links.inner), backByBytes(links.inner);
  MPI_Finalize();
  return w[0] + sum[0] > key;
}
