// More that is not changed: what indices and pointers are computed from is something else each time, or may be.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > %t.out && cmp %s %t.c
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
enum { N = 100 };
struct s { double *b[2]; int n, cur; double flat[2][N]; double *one; };
static double out[N], G[4*N];
static void work(double *v, int n) { for (int i = 0; i < n; ++i) v[i] += i; }
static void w2(struct s *q, int i) { work(q->b[i], N); }
static void setn(struct s *q) { q->n += 1; }
static int next(int x) { static int c; return x + c++; }
static void length_changes(struct s *q, double *v) {
  MPI_Allreduce(v, v + q->n, q->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  setn(q); work(v + q->n + q->n - 1, q->n);
}
static void flipped_in_memory(struct s *q, int steps) {
  for (int i = 0; i < steps; ++i) {
    work(q->flat[q->cur], N);
    MPI_Allreduce(q->flat[q->cur], out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    q->cur = 1 - q->cur;
  }
}
static void different_each_time(struct s *q, int steps) {
  for (int i = 0; i < steps; ++i) {
    w2(q, next(i) % 2);
    MPI_Allreduce(q->b[i % 2], out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}
static void shadowed(int steps) {
  for (int i = 0; i < steps; ++i) {
    for (int i = 0; i < N; ++i) G[i % 2 * N] = i;
    MPI_Allreduce(&G[i % 2 * N], out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}
static void of_the_outer_loop(int steps) {
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < steps; ++i) {
      work(G + (j % 2) * N, N);
      MPI_Allreduce(G + (j % 2) * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}
static void of_any_sign(double *v, int n, int m) {
  MPI_Allreduce(v + m, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 0; k < n; ++k) v[k] = 1;
  MPI_Allreduce(v + m * n, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 0; k < n; ++k) v[(m + m) * n + k] = 1;
}
static void moving_pointer(double *v, int steps) {
  double *p = v;
  for (int i = 0; i < steps; ++i, p += N) {
    work(p, N);
    MPI_Allreduce(p, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}
static void wraps(int steps) {
  unsigned char u = 0;
  for (int i = 0; i < steps; ++i) {
    work(G + (unsigned char)(u + 255) * 1 , N);
    MPI_Allreduce(G + u + N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    u = u + 255;
  }
}
static void one_too_many(double *v, int n) {
  for (int i = 0; i + 1 < n; ++i) {
    MPI_Allreduce(v + i * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int q = 0; q < N + 1; ++q) v[i * N + N - q] = q;
  }
}
static double *cache;
static double *cached(void) { if (!cache) cache = malloc(N * 8); return cache; }
struct t { double *b[2]; };
static void one_for_all(int steps) {
  struct t t;
  for (int i = 0; i < 2; ++i) t.b[i] = cached();
  for (int i = 0; i < steps; ++i) {
    work(t.b[i % 2], N);
    MPI_Allreduce(t.b[i % 2], out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}
struct u { double *b[2]; double *alias; };
static void second_name(int steps) {
  struct u u;
  for (int i = 0; i < 2; ++i) u.b[i] = malloc(N * 8);
  u.alias = u.b[0];
  for (int i = 0; i < steps; ++i) {
    work(u.alias, N);
    MPI_Allreduce(u.b[i % 2], out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  struct s q = {.n = argc};
  for (int i = 0; i < 2; ++i) q.b[i] = malloc(N * 8);
  double *v = calloc(64 * N, 8);
  length_changes(&q, v); flipped_in_memory(&q, argc); different_each_time(&q, argc); shadowed(argc); of_the_outer_loop(argc); of_any_sign(v, N, argc); moving_pointer(v, argc); wraps(argc); one_too_many(v, argc); one_for_all(argc); second_name(argc);
  MPI_Finalize();
}
