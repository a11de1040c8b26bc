// What an expression's operands point at, it may point at.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix --local=behind %t.c -- mpicc.openmpi -std=gnu11 | FileCheck %s --implicit-check-not=fix: && cmp %s %t.c
// CHECK-COUNT-12: note: it must be complete here: {{.*(written|read)}}
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
typedef double four __attribute__((vector_size(32)));
enum { N = 100 };
static double w[N], *kept;
static void g1(void) {
  double a[N], *p = a;
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = *(p += 1);
}
static void g2(void) {
  double a[N], b[N], *p = b, *q;
  q = (p = a);
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = q[i];
}
static void g3(void) {
  double a[N], b[N], *p = a, *r = p ?: b;
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = r[i];
}
static void g4(void) {
  double a[N], *_Atomic first = a, *p = first;
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = p[i];
}
static void g5(void) {
  double a[N], b[N], *_Atomic first = b;
  __c11_atomic_store(&first, a, __ATOMIC_SEQ_CST);
  double *p = first;
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = p[i];
}
static void g6(void) {
  double a[N], b[N], *p = b;
  __atomic_store_n(&p, a, __ATOMIC_SEQ_CST);
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = p[i];
}
static void g7(void) {
  double a[N], b[N], *_Atomic first = b, *_Atomic *at = &first;
  *at = a;
  double *p = first;
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = p[i];
}
static void g8(void) {
  four v = {0};
  MPI_Bcast(&v, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) w[i] = v[i];
}
static double *moved(double *p, int n) { return p += n; }
static void g9(void) {
  double a[N], *p = moved(a, 3);
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N - 3; ++i) w[i] = p[i];
}
static void keep(double *p) { kept = ++p; }
static void g10(void) {
  double a[N];
  keep(a);
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N - 1; ++i) w[i] = kept[i];
}
char *behind(char *text);
static void g11(void) {
  char line[N], *end = behind(line);
  MPI_Bcast(line, N, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = *end;
}
static void g12(void) {
  char line[N], *end;
  strcpy(line, "12xyz");
  w[0] = strtol(line, &end, 10);
  MPI_Bcast(line, N, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 1; i < N; ++i) w[i] = *end;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  g1(), g2(), g3(), g4(), g5(), g6(), g7(), g8(), g9(), g10(), g11(), g12();
  MPI_Finalize();
  return w[5] > 0;
}
