// What qsort() does with a function that is seen: it moves what it is given, and reads what that reads.
// RUN: nbc-overlap %s -- mpicc 2>&1 | FileCheck %s

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000 };
static double sum[1], all[1], by[N];
static int keys[N];
static long asked;

static int up(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

static int byValue(const void *a, const void *b) {
  const double x = by[*(const int *)a], y = by[*(const int *)b];
  return (x > y) - (x < y);
}

static int byResult(const void *a, const void *b) {
  return (*(const int *)a - *(const int *)b) * (all[0] > 0 ? 1 : -1);
}

static int counted(const void *a, const void *b) {
  ++asked;
  return *(const int *)a - *(const int *)b;
}

static int byText(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static int told(const void *a, const void *b) {
  printf("%d\n", *(const int *)a);
  return *(const int *)a - *(const int *)b;
}

static int swaps(const void *a, const void *b) {
  *(int *)a = *(const int *)b;
  return 0;
}

int main(int argc, char **argv) {
  static char *words[N];
  static double values[N];
  int (*chosen)(const void *, const void *) = argc > 1 ? up : byValue;
  MPI_Init(&argc, &argv);
  // CHECK: sorted.c:[[#@LINE+1]]:3: remark: MPI_Allreduce: line [[#@LINE+2]] can run meanwhile
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  qsort(keys, N, sizeof *keys, up);
  printf("%g\n", all[0]);
  // CHECK: sorted.c:[[#@LINE+1]]:3: remark: MPI_Allreduce: line [[#@LINE+2]] can run meanwhile
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  qsort(keys, N, sizeof *keys, &byValue);
  printf("%g\n", all[0]);

  // What it is given, or what its function reads, is the call's.
  // CHECK: sorted.c:[[#@LINE+2]]:9: note: it must be complete here: values is read, which MPI_Bcast writes
  MPI_Bcast(values, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  qsort(values, N, sizeof *values, up);
  // CHECK: sorted.c:[[#@LINE+2]]:3: note: it must be complete here: all[0] is read, which MPI_Allreduce writes
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  qsort(keys, N, sizeof *keys, byResult);

  // It does more, or may.
  // CHECK: sorted.c:[[#@LINE+2]]:3: note: it must be complete here: qsort cannot be seen into
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  qsort(keys, N, sizeof *keys, counted);
  // CHECK: sorted.c:[[#@LINE+2]]:3: note: it must be complete here: qsort cannot be seen into
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  qsort(words, N, sizeof *words, byText);
  // CHECK: sorted.c:[[#@LINE+2]]:3: note: it must be complete here: qsort cannot be seen into
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  qsort(keys, N, sizeof *keys, told);
  // CHECK: sorted.c:[[#@LINE+2]]:3: note: it must be complete here: qsort cannot be seen into
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  qsort(keys, N, sizeof *keys, swaps);
  // CHECK: sorted.c:[[#@LINE+2]]:3: note: it must be complete here: qsort cannot be seen into
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  qsort(keys, N, sizeof *keys, chosen);
  printf("%g %d %ld %s\n", all[0], keys[0], asked, words[0] ? words[0] : "");
  MPI_Finalize();
  return 0;
}
