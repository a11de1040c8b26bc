// Code of other configurations in front of a call: statements that end there are no matter, what the call
// would be a part of is. Each block stands in a function of its own, all of which are called.
// RUN: rm -rf %t && mkdir %t && cp %s %t/a.c && nbc-overlap --fix %t/a.c -- mpicc 2>&1 | FileCheck %s
// RUN: grep -c '^ *MPI_Wait(' %t/a.c | FileCheck %s --check-prefix=WAITS
// RUN: for how in '' -DDEBUG -DOTHER '-DDEBUG -DOTHER'; do mpicc -std=gnu17 -fopenmp -Wall -Werror -fsyntax-only $how %t/a.c || exit 1; done
// WAITS: 8

#include <mpi.h>
#include <stdio.h>

static double sum[1], all[1], w[1000];
static void work(void) {
  for (int i = 0; i < 1000; ++i) w[i] = i;
}

static void whole(void) {
#ifdef DEBUG
  printf("{%s", ")");  // ( {
#endif
  // CHECK: a.c:[[#@LINE+1]]:3: remark: MPI_Allreduce: line [[#@LINE+2]] can run meanwhile
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  printf("%g\n", all[0]);
}

static void branches(void) {
#if defined DEBUG
  if (w[0] > 0) {
    printf("more\n");
  }
#elif defined OTHER
#define COUNT 3
  for (int i = 0; i < COUNT; ++i) work();
#ifdef DEBUG
  work();
#endif
#else
#endif
  // CHECK: a.c:[[#@LINE+1]]:3: remark: MPI_Allreduce: line [[#@LINE+2]] can run meanwhile
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  printf("%g\n", all[0]);
}

static void behindElse(void) {
#ifndef DEBUG
  work();
#else
  printf("more\n");
#endif
  // CHECK: a.c:[[#@LINE+1]]:3: remark: MPI_Allreduce: line [[#@LINE+2]] can run meanwhile
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  printf("%g\n", all[0]);
}

static void within(void) {
#ifdef DEBUG
  printf("more\n");
#else
  // CHECK: a.c:[[#@LINE+1]]:3: remark: MPI_Allreduce: line [[#@LINE+2]] can run meanwhile
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  printf("%g\n", all[0]);
#endif
}

static void ofAnother(void) {
  if (w[0] > 0) work();
#ifdef DEBUG
  else
    printf("more\n");
#endif
  // CHECK: a.c:[[#@LINE+1]]:3: remark: MPI_Allreduce: line [[#@LINE+2]] can run meanwhile
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  printf("%g\n", all[0]);
}

static void dependent(void) {
#ifdef DEBUG
  if (w[0] > 0)
#endif
    // CHECK: a.c:[[#@LINE+1]]:5: note: not changed: a pragma, or an #if, stands before it
    MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  printf("%g\n", all[0]);
}

static void alternative(void) {
#ifdef DEBUG
  if (w[0] > 0)
    work();
  else
#endif
    // CHECK: a.c:[[#@LINE+1]]:5: note: not changed: a pragma, or an #if, stands before it
    MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  printf("%g\n", all[0]);
}

static void ofTheSameChain(void) {
#ifdef DEBUG
  if (w[0] > 0)
#elif defined NEVER
  work();
#else
  work();
#endif
    // CHECK: a.c:[[#@LINE+1]]:5: note: not changed: a pragma, or an #if, stands before it
    MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  printf("%g\n", all[0]);
}

static void inFrontOfAnother(void) {
#ifdef DEBUG
  for (int i = 0; i < 2; ++i)
#endif
#ifndef OTHER
    work();
#endif
  // CHECK: a.c:[[#@LINE+1]]:3: note: not changed: a pragma, or an #if, stands before it
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  printf("%g\n", all[0]);
}

static void inFrontOfStatements(void) {
#ifdef DEBUG
  for (int i = 0; i < 2; ++i)
#endif
    work();
  // CHECK: a.c:[[#@LINE+1]]:3: remark: MPI_Allreduce: line [[#@LINE+2]] can run meanwhile
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  printf("%g\n", all[0]);
}

static void closedAgain(void) {
#ifdef DEBUG
  if (w[0] > 0) {
#endif
    work();
#ifdef DEBUG
  }
#endif
  // CHECK: a.c:[[#@LINE+1]]:3: remark: MPI_Allreduce: line [[#@LINE+2]] can run meanwhile
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  printf("%g\n", all[0]);
}

#ifdef DEBUG
static void headed(int n) {
#else
static void headed(double n) {
#endif
  w[0] = n;
  // CHECK: a.c:[[#@LINE+1]]:3: remark: MPI_Allreduce: line [[#@LINE+2]] can run meanwhile
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  printf("%g\n", all[0]);
}

static void labelled(void) {
#ifdef DEBUG
  if (w[0] > 0) goto next;
  work();
next:
#endif
  // CHECK: a.c:[[#@LINE+1]]:3: note: not changed: a pragma, or an #if, stands before it
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  printf("%g\n", all[0]);
}

static void opened(void) {
#ifdef DEBUG
  if (w[0] > 0) {
    work();
#endif
    // CHECK: a.c:[[#@LINE+1]]:5: note: not changed: a pragma, or an #if, stands before it
    MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#ifdef DEBUG
  }
#endif
  work();
  printf("%g\n", all[0]);
}

static void threads(void) {
#ifdef OTHER
#pragma omp master
#endif
  // CHECK: a.c:[[#@LINE+1]]:3: note: not changed: a pragma, or an #if, stands before it
  MPI_Allreduce(sum, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work();
  printf("%g\n", all[0]);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  whole();
  branches();
  behindElse();
  within();
  ofAnother();
  dependent();
  alternative();
  ofTheSameChain();
  inFrontOfAnother();
  inFrontOfStatements();
  closedAgain();
  headed(1);
  labelled();
  opened();
  threads();
  MPI_Finalize();
  return 0;
}
