// Likewise in C++, where assignments are lvalues, and casts lead to derived classes.
// REQUIRES: openmpi
// RUN: cp %s %t.cpp && nbc-overlap --fix %t.cpp -- mpicxx.openmpi -std=c++20 -DOMPI_SKIP_MPICXX | FileCheck %s --implicit-check-not=fix: && cmp %s %t.cpp
// CHECK-COUNT-14: note: it must be complete here: {{.*(written|read)}}
#include <mpi.h>

#include <string>
enum { N = 100 };
static double w[N];
struct Base {
  int k;
};
struct Derived : Base {
  double x;
};
static void c1() {
  double a[N], *p = a;
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 1; i < N; ++i) w[i] = *++p;
}
static void c2() {
  double a[N], b[N], *p = b;
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = (p = a)[i];
}
static void c3(bool first) {
  double a[N], b[N], *p = a, *q = b;
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = (first ? p : q)[i];
}
static void c4() {
  Derived d;
  Base *b = &d;
  Derived *q = static_cast<Derived *>(b);
  MPI_Bcast(&d.x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = q->x;
}
template <class T>
static double ofDerived(const Base &b) {
  return static_cast<const T &>(b).x;
}
static void c5() {
  Derived d;
  MPI_Bcast(&d.x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = ofDerived<Derived>(d);
}
struct Number {
  double a, b;
};
static void c6() {
  Number n;
  double Number::*f = &Number::a;
  MPI_Bcast(&n.a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = n.*f;
}
static void c7() {
  Number n, *p = &n;
  double Number::*f = &Number::a;
  MPI_Bcast(&n.a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = p->*f;
}
static void c8(const char *name) {
  double a[N], b[N], *p = std::string(name) == "a" ? a : b;
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = p[i];
}
static void c9(bool first) {
  double a[N], b[N], *p = b;
  double &r = (w[0] = first, *(p = a + 3));
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = r;
}
static void c10() {
  double a[N];
  double *const &r = a + 3;
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 9; ++i) w[i] = r[i];
}
static void c11() {
  double a[N], *p = a;
  long n = __builtin_bit_cast(long, p);
  double *q = reinterpret_cast<double *>(n);
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = q[i];
}
static void c12() {
  double a[N], *p = a;
  double *q = reinterpret_cast<double *>(reinterpret_cast<long &>(p));
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = q[i];
}
struct Pair {
  double *p, *q;
};
static void c13() {
  double a[N];
  Pair pair(a, nullptr);
  MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = pair.p[i];
}
static void c14(double *a) {
  double **p = new double *(a), b[N];
  *p = b;
  double **q = new double *(b);
  MPI_Bcast(b, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = (*q)[i];
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  c1(), c2(), c3(argc > 1), c4(), c5(), c6(), c7(), c8(argv[0]), c9(argc > 1), c10(), c11();
  c12(), c13(), c14(w);
  MPI_Finalize();
  return w[5] > 0;
}
