// Functions that are given the address of a field, or of an array that is one, leave the others alone as long as they do
// nothing with it but to look there; the library does if it takes the field for a text.
// REQUIRES: openmpi
// RUN: for n in 1 2 3 4; do nbc-overlap %s -- mpicc.openmpi -DWAY=$n || exit 1; done | FileCheck %s --check-prefix=STAYS
// RUN: for n in 5 6 7 8 9 10; do nbc-overlap %s -- mpicc.openmpi -DWAY=$n || exit 1; done | FileCheck %s --check-prefix=LEAVES
// STAYS-COUNT-4: note: fix: MPI_Iallreduce here
// LEAVES-COUNT-6: 'o.last', which may differ among ranks
// LEAVES-NOT: note: fix
#include <mpi.h>
#include <stdio.h>
#include <string.h>
struct options {
  char name[32];
  double least;
  int list[4], last;
};
static double w[1000], in, out, *kept;
static void one(double *p, int r) {
  if (p) *p += r;
}
static void handed_on(double *p, int r) { one(p, r); }
static void all(int *p, int r) {
  for (int i = 0; i < 4; ++i) p[i] = r;
}
static void name(char *to, int r) { sprintf(to, "%d", r); }
static void next(double *p, int r) { p[1] = r; }
static void steps(double *p, int r) { *++p = r; }
static void keeps(double *p, int r) { kept = p + 2, *p = r; }
static void copies(double *p, int r) {
  int values[7] = {r, r, r, r, r, r, r};
  memcpy(p, values, sizeof values);
}
static void adds(int *p, int r) { *(p + 4) = r; }
static void takes(int *p, int r) {
  int *q = &p[0];
  q[4] = r;
}
int main(int argc, char **argv) {
  struct options o = {"", 0, {0}, 1};
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (WAY == 1) one(&o.least, rank);
  if (WAY == 2) handed_on(&o.least, rank);
  if (WAY == 3) all(o.list, rank);
  if (WAY == 4) name(o.name, rank);
#if WAY == 5
  next(&o.least, rank);
#elif WAY == 6
  steps(&o.least, rank);
#elif WAY == 7
  keeps(&o.least, rank);
#elif WAY == 8
  copies(&o.least, rank);
#elif WAY == 9
  adds(o.list, rank);
#elif WAY == 10
  takes(o.list, rank);
#endif
  if (o.last) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 1000; ++i) w[i] += i;
  } else {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return w[3] < 0;
}
