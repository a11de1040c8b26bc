// What a lambda captures goes out of sight, and so does what it is given. It may stand beside a window, and one that
// has captures is called in none.
// REQUIRES: openmpi
// RUN: nbc-overlap --whole %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -std=c++17 | FileCheck %s
#include <mpi.h>
#include <cstdlib>
enum { N = 400 };
static double y[N], in, out;

static double before() {
  double z = 1;
  auto scaled = [&](double k) { return z * k; };
  z = scaled(2);
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+2]]
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = i;
  return z;
}
static double behind() {
  double sum = 1, all;
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+2]]
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = i;
  auto mean = [&] { return all / sum; };
  return mean();
}
static void plain() {
  double buffer[N];
  auto put = [](int i, double x) { y[i] = x; };
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Ibcast here, MPI_Wait behind line [[#@LINE+2]]
  MPI_Bcast(buffer, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) put(i, i);
}

static void called() {
  double buffer[N];
  auto read = [&](int i) { return buffer[i]; };
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: a lambda, which has captures, cannot be seen into
  MPI_Bcast(buffer, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = read(i);
}
static void given() {
  double buffer[N];
  auto read = [](const double *p, int i) { return p[i]; };
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: p[i] in a lambda is read, and may be memory
  MPI_Bcast(buffer, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = read(buffer, i);
}
static void made() {
  double buffer[N];
  // CHECK: [[#@LINE+3]]:8: note: it must be complete here: '[&buffer] { return buffer[0]; }' cannot be seen into
  MPI_Bcast(buffer, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] =
       [&buffer] { return buffer[0]; }();
}
static void pointed() {
  double buffer[N], none[N], *q = none;
  auto turn = [&] { q = buffer; };
  turn();
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: q[i] is read, {{.*}} MPI_Bcast writes
  MPI_Bcast(buffer, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = q[i];
}
static void handed() {
  double buffer[N], none[N], *q = none;
  auto turn = [&q](double *p) { q = p; };
  turn.operator()(buffer);
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: q[i] is read, {{.*}} MPI_Bcast writes
  MPI_Bcast(buffer, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = q[i];
}
static void allocated() {
  double *p = nullptr;
  auto get = [&] {
    p = static_cast<double *>(std::malloc(N * sizeof *p));
    return p;
  };
  double *q = get();
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: p[i] is read, {{.*}} MPI_Bcast writes
  MPI_Bcast(q, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = p[i];
}
static void again() {
  auto get = [p = static_cast<double *>(nullptr)]() mutable {
    if (!p) p = static_cast<double *>(std::malloc(N * sizeof *p));
    return p;
  };
  double *q = get(), *r = get();
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: r[i] is read, {{.*}} MPI_Bcast writes
  MPI_Bcast(q, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = r[i];
}
static void older(int one) {
  double buffer[N] = {};
  int n = 0;
  auto at = [n] { return n; };
  n = one;
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: buffer[n - 1] is read, which MPI_Bcast writes
  MPI_Bcast(buffer + at.operator()(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = buffer[n - 1];
}
static void inside() {
  double buffer[N];
  // CHECK: [[#@LINE+1]]:16: note: not changed: it stands in a lambda
  auto share = [&] {
    MPI_Bcast(buffer, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) y[i] = i;
  };
  share();
}
static void generic() {
  double buffer[N];
  // CHECK: [[#@LINE+1]]:15: note: not changed: generic() has a lambda with auto, which is not followed
  auto read = [](auto *p) { return p[0]; };
  MPI_Bcast(buffer, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = i;
  y[0] = read(buffer);
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  before(), behind(), plain(), called(), given(), made(), pointed(), handed(), allocated(), again();
  older(argc), inside(), generic();
  MPI_Finalize();
}
