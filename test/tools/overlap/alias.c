// Ways to the same memory: in each function the call writes or reads what the loop behind it touches, and the
// loop is not among what can run meanwhile.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi | FileCheck %s --implicit-check-not=fix: && cmp %s %t.c
// CHECK-COUNT-18: note: it must be complete here: {{.*(written|read)}}
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 100 };
typedef struct {
  double *buf;
  double arr[N];
  int n;
} Grid;
static double g[N], h[N];
static void work(double *v) {
  for (int i = 0; i < N; i++) v[i] += i;
}
static double *stash;
static void keep(double *p) {
  stash = p;
}
static void use_stash(void) {
  for (int i = 0; i < N; i++) stash[i] = i;
}
static double *pick(double *a, double *b, int k) {
  return k ? a : b;
}
struct Node {
  struct Node *next;
  double v[N];
};
static int rec(int n, double *v) {
  return n <= 0 ? 0 : (v[n] = n, rec(n - 1, v));
}

static void a1(void) {
  double in[N] = {0}, out[N];
  keep(out);
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  use_stash();
  work(g);
}
static void a2(int k) {
  double in[N] = {0}, out[N];
  double *p = pick(in, out, k);
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) p[i] = i;
}
static void a3(Grid *G) {
  MPI_Allreduce(MPI_IN_PLACE, G->buf, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) G->arr[i] = i;
}
static void a4(void) {
  Grid G;
  G.buf = malloc(N * 8);
  double *q = G.buf;
  double out[N];
  MPI_Bcast(q, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) G.buf[i] = i;
  (void)out;
}
static void a5(void) {
  double in[N] = {0}, out[N];
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  rec(5, in);
}
static void a6(void) {
  struct Node n1 = {0}, n2 = {&n1};
  MPI_Bcast(n1.v, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) n2.next->v[i] = 1;
}
static void a7(void) {
  double in[N] = {0}, out[N];
  double *p[2] = {in, out};
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) p[1][i] = i;
}
static void a8(void) {
  double in[N] = {0}, out[N];
  unsigned long u = (unsigned long)out;
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) ((double *)u)[i] = i;
}
static void a9(void) {
  double in[N] = {0}, out[N], *q;
  memcpy(&q, &(double *){out}, sizeof q);
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) q[i] = i;
}
static void b1(void) {
  double in[N] = {0}, out[N], *q = 0, **qq = &q;
  *qq = out;
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) q[i] = i;
}
static void b2(double *v) {
  MPI_Bcast(v, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(g);
}
static void b3(void) {
  double *v = malloc(N * 8), *w = v + 3, *z;
  z = w;
  MPI_Bcast(v, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N - 3; i++) z[i] = 1;
  free(v);
}
static void b4(void) {
  static double *cache;
  double *v = malloc(N * 8);
  if (!cache) cache = v;
  MPI_Bcast(v, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N - 3; i++) cache[i] = 1;
}
static void b5(int n) {
  double m[n][N];
  memset(m, 0, sizeof m);
  double *row = m[1];
  MPI_Bcast(m[0], N + 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) row[i] = 1;
}
static void b6(void) {
  int counts[64] = {0}, *c = counts;
  double in[N] = {0}, out[N];
  MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 64; i++) c[i] = 1;
}
static void b7(void) {
  union {
    double d[N];
    char c[N * 8];
  } u;
  double other[N];
  MPI_Bcast(u.d, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N * 8; i++) u.c[i] = 1;
  (void)other;
}
static void b8(double **rows) {
  double in[N] = {0};
  MPI_Allreduce(in, rows[0], N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) rows[1][i] = i;
}
static void b9(void) {
  double in[N] = {0}, *out = malloc(N * 8);
  double *old = out;
  out = malloc(N * 8);
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) old[i] = i;
}
int main(int argc, char **argv) {
  Grid G;
  MPI_Init(&argc, &argv);
  a1();
  a2(argc);
  a3(&G);
  a4();
  a5();
  a6();
  a7();
  a8();
  a9();
  b1();
  b2(g);
  b3();
  b4();
  b5(4);
  b6();
  b7();
  b8(0);
  b9();
  work(h);
  MPI_Finalize();
}
