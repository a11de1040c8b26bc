// Vectors that are swapped or moved have each other's elements, at which older pointers still point.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DOMPI_SKIP_MPICXX | grep -E "remark|complete" | FileCheck %s
#include <mpi.h>

#include <utility>
#include <vector>
enum { N = 100 };
struct Field {
  std::vector<double> now, next;
  double *latest;
};
static std::vector<double> made(std::vector<double> &&v) { return std::move(v); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  std::vector<double> a(N), b(N), c(N), d(N);
  double *p = a.data();
  std::swap(a, b);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK-NEXT: must be complete here: b[i] is read
  MPI_Allreduce(MPI_IN_PLACE, p, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) b[i] *= 2;
  double *q = &c[0];
  c.swap(d);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK-NEXT: must be complete here: d[i] is read
  MPI_Allreduce(MPI_IN_PLACE, q, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) d[i] *= 2;
  std::vector<double> e(N);
  double *r = e.data();
  std::vector<double> f = std::move(e);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK-NEXT: must be complete here: f[i] is read
  MPI_Allreduce(MPI_IN_PLACE, r, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) f[i] *= 2;
  r = f.data();
  std::vector<double> g = made(std::move(f));
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK-NEXT: must be complete here: g[i] is read
  MPI_Allreduce(MPI_IN_PLACE, r, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) g[i] *= 2;
  Field w;
  w.now.resize(N), w.next.resize(N);
  w.latest = w.now.data();
  w.now.swap(w.next);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run meanwhile
  // CHECK-NEXT: must be complete here: w.next[i] is read
  MPI_Allreduce(MPI_IN_PLACE, w.latest, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) w.next[i] *= 2;
  // By their names they are still apart.
  // CHECK: [[#@LINE+1]]:3: remark: MPI_Allreduce: {{.*}}line [[#@LINE+2]] can run meanwhile
  MPI_Allreduce(MPI_IN_PLACE, a.data(), N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) b[i] *= 2;
  MPI_Finalize();
  return a[3] + b[3] + d[3] + g[3] + w.next[3] > 0;
}
