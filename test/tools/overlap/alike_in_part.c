// What a rank puts in another place than others do, or in a part only, is not the same on all; with -DSAME it is.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix:
// CHECK-COUNT-9: note: not changed: whether a rank comes here depends on
// RUN: nbc-overlap %s -- mpicc.openmpi -DSAME | FileCheck %s --check-prefix=SAME --implicit-check-not="depends on"
// SAME-COUNT-9: note: fix: MPI_Ibcast
#include <mpi.h>
enum { N = 400 };
static double y[N];
static int x, seen[64];
#ifdef SAME
#define OWN(rank) 0
#define PART MPI_LONG
#define TYPE MPI_INT
#define FAILS(info) MPI_Barrier(MPI_COMM_WORLD)
#else
#define OWN(rank) rank
#define PART MPI_INT
#define TYPE type
#define FAILS(info) MPI_Info_delete(info, "role")
#endif
static void work(void) {
  for (int i = 0; i < N; ++i) y[i] = i;
}
static void element(int rank) {
  int own[8];
  for (int i = 0; i < 8; ++i) own[i] = 0;
  own[OWN(rank)] = 1;
  if (own[0]) {
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    work();
  }
}
static void incremented(int rank) {
  seen[OWN(rank)]++;
  if (seen[0]) {
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    work();
  }
}
static void by_pointer(int rank) {
  int own[8];
  for (int i = 0; i < 8; ++i) own[i] = 0;
  *(OWN(rank) + own) = 1;
  if (own[0]) {
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    work();
  }
}
static void received(int rank) {
  int one = 1, all[8];
  for (int i = 0; i < 8; ++i) all[i] = 0;
  MPI_Allreduce(&one, all + OWN(rank), 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (all[0]) {
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    work();
  }
}
static void element_received(int rank) {
  int one = 1, all[8];
  for (int i = 0; i < 8; ++i) all[i] = 0;
  MPI_Allreduce(&one, &all[OWN(rank)], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (all[0]) {
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    work();
  }
}
static void displaced(int rank, int size) {
  int all[16], counts[16], at[16];
  for (int i = 0; i < size; ++i) counts[i] = 1;
  for (int i = 0; i < size; ++i) at[i] = (i + OWN(rank)) % size;
  MPI_Allgatherv(&rank, 1, MPI_INT, all, counts, at, MPI_INT, MPI_COMM_WORLD);
  if (all[0]) {
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    work();
  }
}
static void spread(int rank) {
  int all[64];
  MPI_Datatype type;
  for (int i = 0; i < 64; ++i) all[i] = 0;
  MPI_Type_vector(2, 1, 4 + rank, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Bcast(all, 1, TYPE, 0, MPI_COMM_WORLD);
  if (all[4]) {
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    work();
  }
}
static void half(int rank) {
  long n = (long)rank << 32;
  MPI_Bcast(&n, 1, PART, 0, MPI_COMM_WORLD);
  if (n == 0) {
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    work();
  }
}
// A call fails without anything being broken.
static void failed(int rank) {
  MPI_Info info;
  MPI_Info_create(&info);
  if (rank == 0) MPI_Info_set(info, "role", "root");
  if (FAILS(info) == MPI_SUCCESS) {
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    work();
  }
}
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  element(rank);
  incremented(rank);
  by_pointer(rank);
  received(rank);
  element_received(rank);
  displaced(rank, size);
  spread(rank);
  half(rank);
  failed(rank);
  MPI_Finalize();
}
