// Ways in which what a rank is decides whether it comes to a call: none of these calls is changed.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix: && cmp %s %t.c
// CHECK-COUNT-30: note: not changed: {{whether a rank comes here depends on|goto is not followed}}
#include <errno.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
void elsewhere(void);  // in no source: it may hold another one of each kind
enum { N = 100 };
static double in[N], out[N], o[N];
static int mode;
int pub;
#define A MPI_COMM_WORLD
static void work(void) {
  for (int i = 0; i < N; i++) o[i] += i;
}
static void set(int *p, int v) {
  *p = v;
}
static void u1(int rank) {
  int f;
  set(&f, rank);
  if (f) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void u2(void) {
  if (mode) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void u3(void) {
  if (pub) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void u4(int rank) {
  for (int i = 0; i < 3; i++) {
    if (rank == i) continue;
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void u5(int rank) {
  int i = 0;
  while (i < 5) {
    i++;
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
    if (rank == 2) i = 9;
  }
}
static void u6(int rank) {
  int a[2] = {0};
  a[0] = rank;
  if (a[1]) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void u7(int rank) {
  switch (rank) {
    case 0:
      work();
      MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
      work();
      break;
    default:
      work();
      MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
      work();
  }
}
static void u8(void) {
  int r;
  MPI_Allreduce(&mode, &r, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  if (r) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void u9(int rank) {
  int r = 0;
  MPI_Reduce(&rank, &r, 1, MPI_INT, MPI_SUM, 0, A);
  if (r) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void v1(int rank) {
  int n = 4;
  int *p = &n;
  *p = rank;
  for (int i = 0; i < n; i++) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void v2(int rank) {
  struct {
    int k;
  } s = {rank};
  if (s.k) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void v3(void) {
  char *e = getenv("PMI_RANK");
  if (e && atoi(e) == 0) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void v4(int rank) {
  int k = rank > 3 ? 1 : 2;
  do {
    work();
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  } while (--k);
}
static void v5(int rank) {
  int sz;
  memcpy(&sz, &rank, sizeof sz);
  if (sz) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void v6(int rank) {
  int k = 0;
  k += rank;
  if (k) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static int amroot(int rank) {
  return rank == 0;
}
static void v7(int rank) {
  if (amroot(rank)) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void v8(int rank) {
  if (rank) goto out;
  MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
  work();
out:
  work();
}
static void v9(int rank) {
  if (rank) return work();
  MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
  work();
}
static __attribute__((const)) int me(void) {
  int rank;
  MPI_Comm_rank(A, &rank);
  return rank;
}
static void w1(void) {
  if (me() == 0) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void w2(void) {
  if (errno) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void w3(int rank) {
  double mine[rank + 1];
  if (sizeof mine / sizeof mine[0] == 1) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void w4(int rank) {
  struct list {
    int length, of[N];
  };
  if (offsetof(struct list, of[rank]) == 4) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
}
static void leaf(void) {
  MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
  work();
}
static void mid(int k) {
  if (k > 2) leaf();
}
int main(int argc, char **argv, char **envp) {
  int rank;
  MPI_Init(&argc, &argv);
  elsewhere();
  MPI_Comm_rank(A, &rank);
  mode = rank;
  u1(rank);
  u2();
  u3();
  u4(rank);
  u5(rank);
  u6(rank);
  u7(rank);
  u8();
  u9(rank);
  v1(rank);
  v2(rank);
  v3();
  v4(rank);
  v5(rank);
  v6(rank);
  v7(rank);
  v8(rank);
  v9(rank);
  w1();
  w2();
  w3(rank);
  w4(rank);
  mid(rank);
  if ((uintptr_t)argv & 16) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
  if (*(long *)argv > 0) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
  if (memcmp(argv, in, 8) > 0) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
  if ((char *)argv < argv[0]) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
  if ((long)argv[1] % 3) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
  if (strcmp(envp[0], "PMI_RANK=0") == 0) {
    MPI_Bcast(in, N, MPI_DOUBLE, 0, A);
    work();
  }
  MPI_Finalize();
}
