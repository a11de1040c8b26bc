// All ranks reach the call, but not as the same one in their order: the first broadcast of rank 0 meets it.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
#include <mpi.h>
enum { N = 200 };
static double y[N];
static int a, b;
static void work(void) {
  for (int i = 0; i < N; ++i) y[i] = i;
}
// As many on both sides, or on another communicator: what follows is in order.
static void in_order(int rank) {
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 3, rank, &part);
  if (rank == 3) MPI_Gather(&a, 1, MPI_INT, y, 1, MPI_INT, 0, part);
  if (rank == 0)
    MPI_Gather(&a, 1, MPI_INT, y, 1, MPI_INT, 0, MPI_COMM_WORLD);
  else
    MPI_Gather(&a, 1, MPI_INT, NULL, 1, MPI_INT, 0, MPI_COMM_WORLD);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Gather
  // CHECK: [[#@LINE+1]]:3: note: fix:
  MPI_Gather(&a, 1, MPI_INT, &b, 1, MPI_INT, 0, MPI_COMM_WORLD);
  work();
}
// Loops that turn as often as the rank says, by a parameter, a field, what was computed, and where they are left.
struct grid {
  int rank, size;
};
static void by_parameter(int me, int size) {
  for (int i = 0; i < me; ++i) MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Scan
  // CHECK: note: not changed: 'i < me' may differ among ranks and decides how often MPI_Scan is called before
  MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  work();
  for (int i = me + 1; i < size; ++i) MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void by_field(const struct grid *g) {
  for (int i = 0; i < g->rank; ++i) MPI_Exscan(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Exscan
  // CHECK: note: not changed: 'i < g->rank' may differ among ranks and decides how often MPI_Exscan is called before
  MPI_Exscan(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  work();
  for (int i = g->rank + 1; i < g->size; ++i) MPI_Exscan(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void who(int *rank) { MPI_Comm_rank(MPI_COMM_WORLD, rank); }
static int share(int all, int of) {
  if (of < all % 3) return all / 3 + 1;
  return all / 3;
}
static void by_share(void) {
  int me, mine;
  who(&me);
  mine = share(N, me);
  while (mine-- > 0) MPI_Alltoall(&a, 1, MPI_INT, y, 1, MPI_INT, MPI_COMM_WORLD);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Alltoall
  // CHECK: note: not changed: 'mine-- > 0' may differ among ranks and decides how often MPI_Alltoall is called before
  MPI_Alltoall(&a, 1, MPI_INT, &b, 1, MPI_INT, MPI_COMM_WORLD);
  work();
}
static void by_break(int me) {
  for (int i = 0;; ++i) {
    if (i >= me) break;
    MPI_Allgather(&a, 1, MPI_INT, y, 1, MPI_INT, MPI_COMM_WORLD);
  }
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allgather
  // CHECK: note: not changed: whether a rank comes here depends on 'i >= me'
  MPI_Allgather(&a, 1, MPI_INT, &b, 1, MPI_INT, MPI_COMM_WORLD);
  work();
}
// What a rank has is its own, but all turn until the sum is small enough.
static double residual(int mine) {
  double sum = 0, all;
  for (int i = 0; i < mine; ++i) sum += y[i];
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
static void until_small(int mine) {
  double left = residual(mine);
  while (left > 1 && residual(mine) > 1) left -= residual(mine);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce
  // CHECK: [[#@LINE+1]]:3: note: fix:
  MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  work();
}
static void early(int rank) {
  if (rank == 0) return;
  MPI_Reduce(&a, &b, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  in_order(rank);
  struct grid g = {.size = 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &g.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g.size);
  by_parameter(rank, g.size);
  by_field(&g);
  by_share();
  by_break(rank);
  until_small(N / g.size + (rank < N % g.size));
  early(rank);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Reduce
  // CHECK: note: not changed: whether a rank comes here depends on 'rank == 0'
  MPI_Reduce(&a, &b, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  work();
  if (rank == 0) MPI_Reduce(&a, &b, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  if (rank == 0) MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Bcast
  // CHECK: note: not changed: 'rank == 0' may differ among ranks and decides how often MPI_Bcast is called before
  MPI_Bcast(rank == 0 ? &b : &a, 1, MPI_INT, 0, MPI_COMM_WORLD);
  work();
  if (rank != 0) MPI_Bcast(&b, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
}
