// Ways to the same memory that C++ adds: references, iterators, containers, operators.
// REQUIRES: openmpi
// RUN: cp %s %t.cpp && nbc-overlap --fix %t.cpp -- mpicxx.openmpi -std=c++17 | FileCheck %s --implicit-check-not=fix: && cmp %s %t.cpp
// CHECK-COUNT-17: note: it must be complete here: {{.*(written|read|cannot be seen into)}}
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>
static void w1(std::vector<double> &v) {
  for (auto &x : v) x += 1;
}
struct S {
  std::vector<double> a, b;
  double *p;
  void f();
  void g() {
    for (auto &x : b) x = 1;
  }
};
void S::f() {
  MPI_Allreduce(a.data(), b.data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) b[i] = 1;
}
static void c1() {
  std::vector<double> in(100), out(100);
  auto it = out.begin();
  MPI_Allreduce(in.data(), out.data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) *it++ = 1;
}
static void c2() {
  std::vector<double> in(100), out(100), o(100);
  MPI_Allreduce(in.data(), out.data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  w1(out);
}
static void c3() {
  std::vector<double> in(100), out(100), o(100);
  MPI_Allreduce(in.data(), out.data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (double x : out) o[0] += x;
}
static void c4() {
  std::vector<double> in(100), out(100), o(100);
  double &r = out[3];
  MPI_Allreduce(in.data(), out.data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) o[i] = r;
}
static void c5() {
  double in[100] = {}, out[100], o[100];
  const double *m = std::max_element(out, out + 100);
  MPI_Allreduce(in, out, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) o[i] = *m;
  (void)o;
}
static void c6() {
  std::unique_ptr<double[]> in(new double[100]), out(new double[100]);
  MPI_Allreduce(in.get(), out.get(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) out[i] = 1;
}
static void c7() {
  double in[100] = {}, out[100];
  double *p = in, *q = out;
  std::swap(p, q);
  MPI_Allreduce(in, out, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) p[i] = 1;
}
static void c8(std::vector<double> &in, std::vector<double> &out, std::vector<double> &o) {
  MPI_Allreduce(in.data(), out.data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) o[i] = std::sqrt(i);
}
static double &at(double *v, int i) {
  return v[i];
}
static void c9() {
  double in[100] = {}, out[100];
  MPI_Allreduce(in, out, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) at(out, i) = 1;
}
struct T {
  double v[100];
  T &operator=(double x) {
    for (auto &e : v) e = x;
    return *this;
  }
};
static void d1() {
  T t;
  double o[100];
  MPI_Bcast(t.v, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  t = 3.0;
  (void)o;
}
struct U {
  double *p;
  double operator()(int i) const {
    return p[i];
  }
};
static void d2() {
  double out[100], o[100];
  U u{out};
  MPI_Bcast(out, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) o[i] = u(i);
  (void)o;
}
static void d3() {
  double out[100], o[100];
  double(&r)[100] = out;
  MPI_Bcast(out, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) o[i] = r[i];
  (void)o;
}
static void d4() {
  std::string s(100, 'x');
  const char *c = s.c_str();
  char o[100];
  MPI_Bcast(&s[0], 100, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) o[i] = c[i];
  (void)o;
}
static void d5() {
  std::vector<std::vector<double>> vv(3, std::vector<double>(100));
  double *row = vv[1].data();
  MPI_Bcast(vv[1].data(), 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) row[i] = 1;
}
static void d6() {
  std::vector<double> out(100), *p = &out;
  double o[100];
  MPI_Bcast(out.data(), 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) o[i] = (*p)[i] + p->at(0);
  (void)o;
}
static void d7() {
  std::vector<double> a(100), out(100);
  MPI_Bcast(out.data(), 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  a.swap(out);
  for (int i = 0; i < 100; ++i) a[i] = 1;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  std::vector<double> v(100);
  S s;
  s.f();
  s.g();
  c1();
  c2();
  c3();
  c4();
  c5();
  c6();
  c7();
  c8(v, v, v);
  c9();
  d1();
  d2();
  d3();
  d4();
  d5();
  d6();
  d7();
  MPI_Finalize();
}
