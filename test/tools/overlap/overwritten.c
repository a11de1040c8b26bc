// What the first rank reads, and all get by a broadcast before anybody looks: of structures, of fields, of arrays, of
// what stays beyond the function, and of what a parameter leads to.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > %t.first && mpicc.openmpi -o %t.exe %t.c
// RUN: echo 4 3 2 5 | %run_openmpi 3 %t.exe | FileCheck %s --check-prefix=PRINTED
// PRINTED: {{^}}4 3 2 5, and 9{{$}}
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                    \
  do {                                                 \
    int code = (call);                                 \
    if (code != MPI_SUCCESS) {                         \
      fprintf(stderr, "%s: %d\n", #call, code);        \
      MPI_Abort(MPI_COMM_WORLD, code);                 \
    }                                                  \
  } while (0)

struct options {
  int steps, unused;
  double least;
};
static double w[1000], in = 1, out;
static int rank, steps, turns, seen, early;
static void work(void) {
  for (int i = 0; i < 1000; ++i) w[i] += i;
}

static void structure(struct options o) {
  if (rank == 0) {
    if (scanf("%d", &o.steps) != 1) MPI_Abort(MPI_COMM_WORLD, 1);
  } else {
    o.steps = rank;
  }
  CHECK(MPI_Bcast(&o, sizeof o, MPI_BYTE, 0, MPI_COMM_WORLD));
  for (int s = 0; s < o.steps; ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  if (rank == 0) printf("%d", o.steps);
}

static void fields(void) {
  struct options o = {0, 0, 0};
  if (rank == 0 && scanf("%d", &o.steps) != 1) o.steps = 1;
  if (rank == 0) o.least = o.steps / 2.;
  MPI_Bcast(&o.steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (MPI_Bcast(&o.least, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD) != MPI_SUCCESS) return;
  for (int s = 0; s < o.steps; ++s) {
    if (o.least < 0) return;
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    work();
  }
  if (rank == 0) printf(" %d", o.steps);
}

static void array(void) {
  int dims[2];
  if (rank == 0)
    for (int i = 0; i < 2; ++i)
      if (scanf("%d", &dims[i]) != 1) break;
  MPI_Bcast(dims, 2, MPI_INT, 0, MPI_COMM_WORLD);
  for (int s = 0; s < dims[0]; ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    work();
  }
  if (rank == 0) printf(" %d %d", dims[0], dims[1]);
}

static void parse(int *n) { *n = 9; }
static void input(int *n) {
  if (rank == 0) parse(n);
  MPI_Bcast(n, 1, MPI_INT, 0, MPI_COMM_WORLD);
}
static void parameter(void) {
  int n;
  input(&n);
  for (int s = 0; s < n; ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD);
    work();
  }
  if (rank == 0) printf(", and %d\n", n);
}

static void read(int *n, double *least) {
  if (rank == 0) {
    *n = 2;
    if (least) *least = .5;
  }
  MPI_Bcast(n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(least, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void parameters(void) {
  struct options o = {0, 0, 0};
  read(&o.steps, &o.least);
  for (int s = 0; s < o.steps; ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}

static void choose(int to) {
  if (to > 3) return;
  steps = to;
}
static void stays(void) {
  if (rank == 0) choose(3);
  MPI_Bcast(&steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int s = 0; s < steps; ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}

static int look(void) { return turns; }
static void looked_at(void) {
  turns = rank;
  seen = look();
  MPI_Bcast(&turns, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int s = 0; s < turns; ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  if (seen == 7) {
    // CHECK: [[#@LINE-1]]:7: note: not changed: {{.*}}'seen == 7', which may differ among ranks
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}

static void part(void) {
  int dims[2] = {0, rank};
  MPI_Bcast(dims, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (dims[1] == 7) {
    // CHECK: [[#@LINE-1]]:7: note: not changed: {{.*}}'dims[1] == 7', which may differ among ranks
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    work();
  }
}

static void left(void) {
  struct options o = {0, 0, 0};
  for (int i = 0; i < 2; ++i) {
    o.steps = rank;
    if (rank < 3) break;
    MPI_Bcast(&o.steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (o.steps == 7) {
    // CHECK: [[#@LINE-1]]:7: note: not changed: {{.*}}'o.steps == 7', which may differ among ranks
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    work();
  }
}

static void returned(void) {
  early = rank;
  if (rank < 3) return;
  MPI_Bcast(&early, 1, MPI_INT, 0, MPI_COMM_WORLD);
}
static void kept(void) {
  struct options o = {0, 0, 0};
  int *n = &o.steps;
  *n = rank;
  MPI_Bcast(&o, sizeof o, MPI_BYTE, 0, MPI_COMM_WORLD);
  *n = rank + 1;
  if (o.steps == 7) {
    // CHECK: [[#@LINE-1]]:7: note: not changed: {{.*}}'o.steps == 7', which may differ among ranks
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD);
    work();
  }
}

static void both(int *n, int *other) {
  *n = rank;
  seen = *other;
  MPI_Bcast(n, 1, MPI_INT, 0, MPI_COMM_WORLD);
}
static void twice(void) {
  int n[1];
  both(n, n);
  if (seen == 8) {
    // CHECK: [[#@LINE-1]]:7: note: not changed: {{.*}}'seen == 8', which may differ among ranks
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}

int main(int argc, char **argv) {
  struct options o = {0, 0, 0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  structure(o);
  fields();
  array();
  parameter();
  parameters();
  stays();
  looked_at();
  part();
  left();
  returned();
  if (early == 7) {
    // CHECK: [[#@LINE-1]]:7: note: not changed: {{.*}}'early == 7', which may differ among ranks
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    work();
  }
  kept();
  twice();
  MPI_Finalize();
  return w[3] + out + argc < 0;
}
