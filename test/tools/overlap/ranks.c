// A call is changed only where all ranks reach it alike: else a blocking one could meet a nonblocking one.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
// RUN: nbc-overlap --library %s -- mpicc.openmpi | FileCheck %s --check-prefix=LIBRARY
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 100 };
static double in[N], out[N], other[N];

static void work(void) {
  for (int i = 0; i < N; ++i) other[i] += i;
}

static void master(void) {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Bcast: line [[#@LINE+3]]
  // CHECK: {{[0-9]+}}:7: note: not changed: whether a rank comes here depends on 'rank == 0'
  MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work();
}

static void worker(void) {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Bcast: line [[#@LINE+3]]
  // CHECK: {{[0-9]+}}:7: note: not changed: whether a rank comes here depends on 'rank == 0'
  MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work();
}

static void direct(int rank, int ranks, int steps) {
  if (ranks > 1) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Allreduce:
    // CHECK: [[#@LINE+1]]:5: note: fix:
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  if (rank < 3) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Scan:
    // CHECK: note: not changed: whether a rank comes here depends on 'rank < 3'
    MPI_Scan(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  for (int i = 0; i < steps; ++i) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Allreduce:
    // CHECK: [[#@LINE+1]]:5: note: fix:
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  int error = 1, mine = rank;
  while (error > 0) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Allreduce:
    // CHECK: [[#@LINE+1]]:5: note: fix:
    MPI_Allreduce(&mine, &error, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    work();
  }
}

// What a condition guards is as bad as the condition.
static void implied(int rank) {
  int chosen = 0;
  if (rank == 2) chosen = 1;
  if (chosen) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Allreduce:
    // CHECK: note: not changed: whether a rank comes here depends on 'rank == 2'
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}

static void leaves(int rank) {
  if (rank == 5) {
    // CHECK: [[#@LINE+1]]:5: remark: MPI_Allreduce:
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return;
  }
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce:
  // CHECK: note: not changed: whether a rank comes here depends on 'rank == 5'
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
}

// A rank that ends in here does not come to what follows, but others do.
static void last(void) {
  // CHECK: [[#@LINE+1]]:3: remark: MPI_Allreduce:
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  exit(0);
}
static void ends(int rank) {
  if (rank == 9) last();
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce:
  // CHECK: note: not changed: whether a rank comes here depends on 'rank == 9'
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
}

// Numbers that each rank makes for itself differ.
static void random_number(void) {
  if (rand() % 2) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Allreduce:
    // CHECK: note: not changed: whether a rank comes here depends on 'rand() % 2'
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}

// The size of another communicator says nothing of this one.
static void other_size(MPI_Comm half) {
  int size;
  MPI_Comm_size(half, &size);
  if (size > 2) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Allreduce:
    // CHECK: note: not changed: whether a rank comes here depends on 'size > 2'
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}

void called_by_others(void) {
  // CHECK: [[#@LINE+4]]:3: remark: MPI_Allreduce:
  // CHECK: note: not changed: nothing here calls called_by_others()
  // LIBRARY: [[#@LINE+2]]:3: remark: MPI_Allreduce:
  // LIBRARY: [[#@LINE+1]]:3: note: fix:
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
}

static void callback(void) {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce:
  // CHECK: note: not changed: callback() is called through a pointer
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
}

int main(int argc, char **argv) {
  int rank, ranks, steps = 10;
  void (*pointer)(void) = callback;
  if (argc < 1) return 1;
  if (argc > 1) steps = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  direct(rank, ranks, steps);
  implied(rank);
  leaves(rank);
  ends(rank);
  random_number();
  other_size(MPI_COMM_SELF);
  pointer();
  if (rank == 0)
    master();
  else
    worker();
  MPI_Finalize();
}
void further(void) {
  MPI_Scan(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
