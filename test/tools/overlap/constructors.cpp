// Constructors keep pointers to the object they make; a library calls some; operator new hands out any memory.
// REQUIRES: openmpi
// RUN: cp %s %t.cpp && nbc-overlap --whole --fix %t.cpp -- mpicxx.openmpi -std=c++20 -DOMPI_SKIP_MPICXX | FileCheck %s --implicit-check-not=fix: && cmp %s %t.cpp
// CHECK-COUNT-15: note: it must be complete here: {{.*(written|read|cannot be seen into)}}
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>
enum { N = 100 };
static double in[N], w[N], a[N], b[N];
struct Twice {
  double a[N], b[N], *now = a;
};
static void c1() {
  Twice f;
  MPI_Allreduce(in, f.a, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = f.now[i];
}
static void c2() {
  Twice f{};
  MPI_Allreduce(in, f.a, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = f.now[i];
}
struct Field {
  double a[N], *now;
  Field() : now(a) {}
};
static void c3() {
  Field f;
  MPI_Allreduce(in, f.a, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = f.now[i];
}
struct Single {
  static Single *self;
  double x[N];
  int n;
  Single() : n(N) { self = this; }
  Single(const Single &) : n(N) { self = this; }
};
Single *Single::self;
static void look() {
  for (int i = 0; i < N; ++i) w[i] = Single::self->x[i];
}
static void c4() {
  Single s;
  MPI_Allreduce(in, s.x, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  look();
}
static void c5() {
  Single *s = new Single;
  MPI_Allreduce(in, s->x, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  look();
}
static Single *made() {
  return new Single;
}
static void c6() {
  Single *s = made();
  MPI_Allreduce(in, s->x, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  look();
}
static void c7(Single s) {
  MPI_Allreduce(in, s.x, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  look();
}
static Single returned() {
  return Single();
}
static void c8() {
  Single s = returned();
  MPI_Allreduce(in, s.x, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  look();
}
struct Base {
  double *p;
  explicit Base(double *q) : p(q) {}
};
struct Derived : Base {
  using Base::Base;
  int n = 0;
};
static Derived derived(a);
static void c9(bool other) {
  if (other) derived.p = b;
  MPI_Allreduce(in, derived.p, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = a[i];
}
static void c10(std::vector<double> &v) {
  std::vector<double> fresh(N);
  double *old = v.data();
  std::swap(v, fresh);
  MPI_Allreduce(in, fresh.data(), N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = old[i];
}
static double *current;
struct Emplaced {
  double *p;
  explicit Emplaced(double *q) : p(q) { current = q; }
};
static void c11() {
  Emplaced direct(b);
  std::vector<Emplaced> all;
  all.emplace_back(a);
  MPI_Allreduce(in, current, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = a[i];
}
static double pool[N];
struct Pooled {
  double d[N];
  static void *operator new(std::size_t) { return pool; }
  static void operator delete(void *) {}
};
static void c12() {
  Pooled *v = new Pooled;
  MPI_Allreduce(in, v->d, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w[i] = pool[i];
}
static double freed;
struct Node {
  double d[8];
  static void operator delete(void *p) {
    freed += 1;
    std::free(p);
  }
};
static void c13() {
  Node *n = new Node;
  MPI_Allreduce(in, &freed, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  delete n;
  for (int i = 0; i < N; ++i) w[i] = i;
}
struct Ends {
  double *from, *to;
};
static double from[N], to[N], sum[N], both[N];
static void c14(const double *x, double *y) {
  MPI_Scan(x, sum, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = i;
}
struct Functor {
  void operator()(Ends &e) const { c14(e.from, e.to); }
};
static void c15() {
  Functor functor;
  Ends one{from, to};
  functor(one);
  std::vector<Ends> two(1);
  two[0].from = two[0].to = both;
  std::for_each(two.begin(), two.end(), functor);
}
struct Keeps {
  double *px, r;
  Keeps(double x) : px(&x), r(0) {
    MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) r += *px;
    px = nullptr;
  }
};
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  c1(), c2(), c3(), c4(), c5(), c6(), c7(*Single::self), c8(), c9(argc > 1), c11(), c12(), c13();
  c15();
  std::vector<double> v(N);
  c10(v);
  Keeps k(argc);
  MPI_Finalize();
  return w[5] + k.r > 0;
}
