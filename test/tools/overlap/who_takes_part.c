// Of the ranks of a communicator none has MPI_COMM_NULL, where all have got it at one place. A goto forward decides nothing
// of what stands before it.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
#include <mpi.h>
void elsewhere(void);  // in no source: it may hold another one of each kind

static double y[1000], in, out;
static MPI_Comm twice;

static void work(void) {
  for (int i = 0; i < 1000; ++i) y[i] += i;
}

int main(int argc, char **argv) {
  int rank, half;
  MPI_Comm part, other, mine;
  MPI_Init(&argc, &argv);
  elsewhere();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  half = rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, half ? 0 : MPI_UNDEFINED, rank, &part);
  MPI_Comm_split(MPI_COMM_WORLD, half ? MPI_UNDEFINED : 0, rank, &other);
  if (part != MPI_COMM_NULL) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, part);
    work();
  }
  if (MPI_COMM_NULL == part) {
    work();
  } else {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Ibcast here
    MPI_Bcast(&in, 1, MPI_DOUBLE, 0, part);
    work();
  }
  // Ranks of another communicator.
  if (part != MPI_COMM_NULL) {
    // CHECK: [[#@LINE-1]]:7: note: not changed: whether a rank comes here depends on 'part != MPI_COMM_NULL'
    MPI_Bcast(&in, 1, MPI_DOUBLE, 0, other);
    work();
  }
  // Something else is asked, too.
  if (part != MPI_COMM_NULL && half) {
    // CHECK: [[#@LINE-1]]:7: note: not changed: whether a rank comes here depends on 'part != MPI_COMM_NULL && half'
    MPI_Scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, part);
    work();
  }
  // Some have got it elsewhere, and may take part by another name.
  if (half)
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &mine);
  else
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &twice);
  // CHECK: [[#@LINE-4]]:7: note: not changed: whether a rank comes here depends on 'half'
  if (mine != MPI_COMM_NULL) {
    MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, mine);
    work();
  }
  MPI_Comm_split(MPI_COMM_WORLD, half, rank, &twice);
  if (twice != MPI_COMM_NULL) {
    // CHECK: [[#@LINE-1]]:7: note: not changed: whether a rank comes here depends on 'twice !=
    MPI_Exscan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, twice);
    work();
  }
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Ireduce_scatter_block here
  MPI_Reduce_scatter_block(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  if (half) goto end;
  // CHECK: [[#@LINE-1]]:7: note: not changed: whether a rank comes here depends on 'half'
  MPI_Gather(&in, 1, MPI_DOUBLE, y, 1, MPI_DOUBLE, 0, part);
  out += y[0];
end:
  MPI_Finalize();
}
