// A name of a structured binding is a part of what was bound, or of a copy of that; what a get() of the program's own
// or a reference in a structure leads to is not followed.
// REQUIRES: openmpi
// RUN: nbc-overlap --whole %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -std=c++17 | FileCheck %s
// RUN: cp %s %t.cpp && nbc-overlap --whole --fix %t.cpp -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -std=c++17 > /dev/null
// RUN: mpicxx.openmpi -DOMPI_SKIP_MPICXX -std=c++17 -fsyntax-only %t.cpp
#include <mpi.h>
#include <tuple>
#include <utility>
enum { N = 400 };
static double y[N], in, out;
struct Two {
  double a, b;
};
struct Rows {
  double *first;
  int n;
};
struct Lent {
  double &a;
  int n;
};
struct Own {
  double *p;
  template <int I>
  double &get() const { return p[I]; }
};
template <>
struct std::tuple_size<Own> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I>
struct std::tuple_element<I, Own> {
  using type = double;
};

static void copy(const Two &two) {
  auto [a, b] = two;
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+2]]
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = a + b;
}
static void pair() {
  auto [a, b] = std::pair<double, int>(1, 2);
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+2]]
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = a + b;
}
static void other() {
  double pairs[2] = {1, 2}, sums[2];
  auto &[a, b] = pairs;
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+2]]
  MPI_Allreduce(&in, sums, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = a + b;
}

static void field() {
  Two two{1, 2};
  auto &[a, b] = two;
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: a is read, which MPI_Bcast writes
  MPI_Bcast(&two.a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = a + b;
}
static void first() {
  std::pair<double, double> two(1, 2);
  auto &[a, b] = two;
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: a is read, which MPI_Bcast writes
  MPI_Bcast(&two.first, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = a + b;
}
static void element() {
  double pairs[2] = {1, 2};
  auto &[a, b] = pairs;
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: b is read, which MPI_Bcast writes
  MPI_Bcast(pairs, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = b;
}
static void itself() {
  auto [a, b] = Two{1, 2};
  // CHECK: [[#@LINE+3]]:38: note: it must be complete here: a is read, which MPI_Bcast writes
  // CHECK: note: it cannot start before this: what the call names is declared
  MPI_Bcast(&a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = a + b;
}
static void pointer() {
  double rows[N];
  auto [p, n] = Rows{rows, N};
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: p[i] is read, and may be memory that MPI_Bcast writes
  MPI_Bcast(rows, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = p[i];
}
static void assigned() {
  double rows[N], none[N];
  auto [p, n] = Rows{none, N};
  p = rows;
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: p[i] is read, and may be memory that MPI_Bcast writes
  MPI_Bcast(rows, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = p[i];
}
static void ranges() {
  Two all[N];
  // CHECK: [[#@LINE+2]]:41: note: it must be complete here: a is read, which MPI_Bcast writes
  MPI_Bcast(all, 2 * N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (const auto &[a, b] : all) y[3] = a - b;
}
static int failed;
static int checked() {
  int rc;
  rc = MPI_Bcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) return failed;
  for (int i = 0; i < N; ++i) y[i] = i;
  // CHECK: [[#@LINE+1]]:3: note: it must be complete here: the check behind it would mean what is declared here
  auto [failed, b] = Two{1, 2};
  return static_cast<int>(failed + b);
}
static void lent() {
  double a = 1;
  // CHECK: [[#@LINE+1]]:8: note: not changed: lent() has a structured binding of what may be elsewhere, which is not
  auto [r, n] = Lent{a, 1};
  MPI_Bcast(&a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = r;
}
static void tied() {
  double a = 1, b = 2;
  // CHECK: [[#@LINE+1]]:8: note: not changed: tied() has a structured binding of what may be elsewhere, which is not
  auto [r, s] = std::tie(a, b);
  MPI_Bcast(&a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = r;
}
static void own() {
  double two[2] = {1, 2};
  // CHECK: [[#@LINE+1]]:8: note: not changed: own() has a structured binding of what may be elsewhere, which is not
  auto [r, s] = Own{two};
  MPI_Bcast(two, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = r;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  copy({1, 2}), pair(), other(), field(), first(), element(), itself(), pointer(), assigned(), ranges();
  checked(), lent(), tied(), own();
  MPI_Finalize();
}
