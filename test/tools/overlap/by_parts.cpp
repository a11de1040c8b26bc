// What is copied by its parts, and ends as they do: vectors, structures of them, std::complex; and
// what runs code of the program's then.
// REQUIRES: openmpi
// RUN: nbc-overlap --least 1 %s -- mpicxx.openmpi -std=c++17 | FileCheck %s
// RUN: cp %s %t.cpp && nbc-overlap --fix --least 1 %t.cpp -- mpicxx.openmpi -std=c++17 > /dev/null
// RUN: mpicxx.openmpi -fsyntax-only -std=c++17 %t.cpp
#include <mpi.h>

#include <complex>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

typedef std::complex<double> Z;

struct Grid {
  std::vector<double> u, v;
  std::string name;
  int nx = 0;
};
struct Loud {
  std::vector<double> u;
  ~Loud() { std::puts("ends"); }
};
struct Holds {
  Loud loud;
  int n = 1;
};
struct Under : Loud {
  double d;
};
static int next() {
  static int n;
  return ++n;
}
struct Numbered {
  std::vector<int> v;
  int id = next();
};
struct Begins {
  std::vector<int> v;
  Begins() { std::puts("begins"); }
};
struct HoldsBegins {
  Begins b;
};
struct Copies {
  double d = 0;
  Copies() = default;
  Copies(const Copies &) { std::puts("copied"); }
  Copies &operator=(const Copies &) = default;
};
struct View {
  double *p;
  int n;
};

static MPI_Comm c = MPI_COMM_WORLD;

static void structures(Grid &g, double s) {
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+7]]
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  Grid other, third(g);
  other.nx = 12;
  other.u.resize(12);
  std::vector<Grid> all(3, g);
  g = third;
  for (int i = 0; i < 12; ++i) g.u[i] = all[0].u[i] + i;
}

struct Point {
  double x, y;
};
static void many(std::vector<Grid> &grids, double s) {
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+4]]
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  std::vector<Point> points(grids.size());
  std::vector<Grid> others(3);
  for (Point &p : points) p.x = p.y + others[0].nx;
}

static void rows(std::vector<std::vector<double>> &a, double s) {
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+6]]
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  std::vector<std::vector<double>> b(a.size(), std::vector<double>(10)), d(a.size()), e = b;
  e[0] = b[0];
  d = a;
  for (int i = 0; i < 10; ++i) e[0][i] += d[0][i];
  a = e;
}

static void complexNumbers(std::vector<Z> &a, double s) {
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+5]]
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  const Z w = std::polar(1.0, 0.5);
  for (Z &z : a) z = z * w + Z(0, 1) - std::conj(z);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] *= 2 * std::abs(a[i]);
  a[0] = a[1].real();
}

static void owned(std::unique_ptr<double[]> &p, std::unique_ptr<Grid> &q, double s) {
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+3]]
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  for (int i = 0; p && i < 10; ++i) p[i] *= 2;
  for (int i = 0; i < q->nx; ++i) q->u[i] += (*q).v[i] + q.get()->v[0];
}

static void particles(std::vector<Grid> &grids, double s) {
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+3]]
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  for (Grid &g : grids)
    for (double &x : g.u) x += 1;
}

static std::vector<double> twice(const std::vector<double> &a) {
  std::vector<double> b(a);
  for (double &x : b) x *= 2;
  return b;
}

static void returned(std::vector<double> &a, double s) {
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+3]]
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  std::vector<double> b = twice(a);
  a = twice(b);
}

static void isReadThere(std::vector<double> &a) {
  MPI_Allreduce(MPI_IN_PLACE, a.data(), 3, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: a in twice() is read, which
  std::vector<double> b = twice(a);
}

static std::vector<double> kept(3);
static std::vector<double> taken() {
  return std::move(kept);
}

static void isTakenThere() {
  MPI_Allreduce(MPI_IN_PLACE, kept.data(), 3, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: std::move(kept) in taken() is read
  std::vector<double> b = taken();
}

static void isElement(std::vector<Grid> &grids) {
  MPI_Allreduce(MPI_IN_PLACE, &grids[1].u[0], 3, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: grids is read, which
  for (Grid &g : grids) g.u[0] = 1;
}

static void endsLoudly(double s) {
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: ~Loud cannot be seen into
  Loud l;
}

static void partEndsLoudly(double s) {
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: ~Loud cannot be seen into
  Holds l;
}

static void baseEndsLoudly(double s) {
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: ~Loud cannot be seen into
  Under l;
}

static void beginsWithCall(double s) {
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: Numbered cannot be seen into
  Numbered l;
}

static void partBeginsWithCode(double s) {
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: HoldsBegins cannot be seen into
  HoldsBegins l;
}

static void manyBeginWithCode(double s) {
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: vector cannot be seen into
  std::vector<HoldsBegins> l(3);
}

static void manyBeginWithCalls(double s) {
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: vector cannot be seen into
  std::vector<Numbered> l(3);
}

static void copiesWithCode(const Copies &x, double s) {
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: Copies cannot be seen into
  Copies y = x;
}

static void elementsCopyWithCode(std::vector<Copies> &x, double s) {
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: vector cannot be seen into
  std::vector<Copies> y(x);
}

static void elementsAreAssignedWithCode(std::vector<Copies> &x, std::vector<Copies> &y, double s) {
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: operator= cannot be seen into
  x = y;
}

static void isCopied(Grid &g, Grid &h) {
  MPI_Allreduce(MPI_IN_PLACE, g.u.data(), 10, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: g is read, which MPI_Allreduce writes
  h = g;
}

static void isAssigned(Grid &g, Grid &h) {
  MPI_Allreduce(MPI_IN_PLACE, g.u.data(), 10, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: g is written, which MPI_Allreduce writes
  g = h;
}

static void partIsCopied(Grid &g, Grid &h) {
  MPI_Allreduce(MPI_IN_PLACE, g.u.data(), 10, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: g.u is read, which MPI_Allreduce writes
  h.u = g.u;
}

static void isCopiedManyTimes(Grid &g) {
  MPI_Allreduce(MPI_IN_PLACE, g.u.data(), 10, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: g is read, which MPI_Allreduce writes
  std::vector<Grid> all(3, g);
}

static void rowIsCopied(std::vector<std::vector<double>> &a) {
  MPI_Allreduce(MPI_IN_PLACE, a[1].data(), 10, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: a[0] is read, which MPI_Allreduce writes
  std::vector<double> row = a[0];
}

static void takesOver() {
  std::vector<double> a(4), b(4);
  MPI_Allreduce(MPI_IN_PLACE, a.data(), 4, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: operator= cannot be seen into
  b = std::move(a);
}

static void assignedIsNamed() {
  std::vector<double> a(4), b(4);
  MPI_Allreduce(MPI_IN_PLACE, a.data(), 4, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: a is written, which MPI_Allreduce writes
  (a = b)[0] = 1;
}

static void assignedWasNamed() {
  std::vector<double> a(4), b(4);
  double &x = (a = b)[0];
  MPI_Allreduce(MPI_IN_PLACE, a.data(), 4, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: x is written, which MPI_Allreduce writes
  x = 1;
}

static void viewIsCopied() {
  double d[4] = {};
  View a = {d, 4}, b;
  MPI_Allreduce(MPI_IN_PLACE, d, 4, MPI_DOUBLE, MPI_SUM, c);
  b = a;
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: b.p[0] is written, and may be memory
  b.p[0] = 1;
}

static void complexIsRead() {
  Z w = 1, v;
  MPI_Allreduce(MPI_IN_PLACE, &w, 2, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: w is read, which MPI_Allreduce writes
  v = w;
}

static void complexIsChanged() {
  Z w = 1, v;
  MPI_Allreduce(MPI_IN_PLACE, &w, 2, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: w is read, which MPI_Allreduce writes
  w += v;
}

static void changedIsNamed() {
  Z w = 1, v;
  MPI_Allreduce(MPI_IN_PLACE, &w, 2, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: w is read, which MPI_Allreduce writes
  (w -= v) = 1;
}

static void changedWasNamed() {
  Z w = 1, v;
  Z *x = &(w = v);
  MPI_Allreduce(MPI_IN_PLACE, &w, 2, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: *x is read, which MPI_Allreduce writes
  *x = 2;
}

static void complexAreSwapped() {
  Z w = 1, v;
  MPI_Allreduce(MPI_IN_PLACE, &w, 2, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: swap cannot be seen into
  std::swap(v, w);
}

static void partIsAsked(double &r) {
  Z w = 1;
  MPI_Allreduce(MPI_IN_PLACE, &w, 2, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: w is read, which MPI_Allreduce writes
  r = w.imag();
}

static void elementIsChanged(std::vector<Z> &z) {
  MPI_Allreduce(MPI_IN_PLACE, z.data(), 2, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: z[0] is read, which MPI_Allreduce writes
  z[0] *= 2;
}

static void ownedIsWritten(std::unique_ptr<double[]> &p) {
  MPI_Allreduce(MPI_IN_PLACE, p.get(), 2, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: p is read, and may be memory
  p[1] = 1;
}

static void ownedEnds(double *raw) {
  MPI_Allreduce(MPI_IN_PLACE, raw, 2, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: ~unique_ptr cannot be seen into
  std::unique_ptr<double[]> q(raw);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double s = 1;
  Grid g, h;
  g.u.resize(12), g.v.resize(12);
  std::vector<std::vector<double>> rows(3, std::vector<double>(10));
  std::vector<Z> z(10);
  std::unique_ptr<double[]> p(new double[10]());
  std::unique_ptr<Grid> q(new Grid(g));
  std::vector<Copies> e(3), f(3);
  structures(g, s), ::rows(rows, s), complexNumbers(z, s), owned(p, q, s);
  std::vector<Grid> grids(3, g);
  many(grids, s), manyBeginWithCalls(s), particles(grids, s), returned(g.u, s), isReadThere(g.u), isTakenThere(), isElement(grids);
  endsLoudly(s); partEndsLoudly(s); baseEndsLoudly(s); beginsWithCall(s); partBeginsWithCode(s);
  manyBeginWithCode(s); copiesWithCode(e[0], s); elementsCopyWithCode(e, s);
  elementsAreAssignedWithCode(e, f, s); isCopied(g, h); isAssigned(g, h); partIsCopied(g, h);
  isCopiedManyTimes(g); rowIsCopied(rows); takesOver(); assignedIsNamed(); assignedWasNamed();
  viewIsCopied(); complexIsRead(); complexIsChanged(); changedIsNamed(); changedWasNamed();
  complexAreSwapped(); partIsAsked(s); elementIsChanged(z); ownedIsWritten(p);
  ownedEnds(new double[2]);
  MPI_Finalize();
}
