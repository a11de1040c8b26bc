// std::fill() and such touch what lies between two iterators; whatever else an iterator is used
// for, or such a function is given, ends the window.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 | FileCheck %s
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++11 | FileCheck %s
// RUN: cp %s %t.cpp && nbc-overlap --fix %t.cpp -- mpicxx.openmpi -std=c++17 > /dev/null
// RUN: mpicxx.openmpi -fsyntax-only %t.cpp
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <vector>

static std::vector<double> a(100), b(100), out(100);
static double field[100];

static void sum() { MPI_Allreduce(field, out.data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

static double apart(std::size_t from) {
  const double value = 3;
  std::vector<double> in(100), result(100), other(100), last(100);
  // CHECK: [[#@LINE+3]]:3: remark: MPI_Allreduce: lines [[#@LINE+5]] to [[#@LINE+10]] can run
  // CHECK-NEXT: [[#@LINE+10]]:26: note: it must be complete here: result.begin() is read, which
  // CHECK: note: fix:
  MPI_Allreduce(in.data(), result.data(), static_cast<int>(in.size()), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  std::fill(other.begin(), other.end(), value);
  std::copy(in.begin(), in.end(), other.begin());
  std::sort(std::begin(other) + static_cast<long>(from), std::end(other));
  std::iota(last.begin(), last.end() - 1, 1.0);
  other[1] = std::inner_product(in.cbegin(), in.cend(), last.cbegin(), 0.0);
  std::fill_n(last.begin(), 10, other[1]);
  return std::accumulate(result.begin(), result.end(), other[0]);
}

static void written() {
  std::vector<double> in(100), result(100);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:13: note: it must be complete here: in.begin() is written
  MPI_Allreduce(in.data(), result.data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  std::fill(in.begin(), in.end(), 1.0);
}

static double by_value() {
  std::vector<double> in(100), other(100);
  double result = 0;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:41: note: it must be complete here: result is read
  MPI_Allreduce(in.data(), &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  std::fill(other.begin(), other.end(), result);
  return other[0];
}

static double by_distance() {
  std::vector<double> in(100), other(100);
  int result = 0, one = 1;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:44: note: it must be complete here: result is read
  MPI_Allreduce(&one, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  std::sort(other.begin(), other.begin() + result);
  return other[0];
}

static double pointers(double *__restrict in, double *__restrict result) {
  double other[100];
  // CHECK: [[#@LINE+3]]:3: remark: MPI_Allreduce: line [[#@LINE-1]] and line [[#@LINE+4]] can run
  // CHECK-NEXT: [[#@LINE+4]]:{{[0-9]+}}: note: it must be complete here: result is read
  // CHECK: note: fix:
  MPI_Allreduce(in, result, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  std::copy(in, in + 100, other);
  return std::accumulate(result, result + 100, 0.0) + other[0];
}

static double kept() {
  std::vector<double> in(100), result(100), other(100);
  auto begin = result.begin();
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:{{[0-9]+}}: note: it must be complete here:
  MPI_Allreduce(in.data(), result.data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  std::fill(begin, begin + 10, 1.0);
  std::fill(other.begin(), other.end(), 1.0);
  return other[0];
}

static bool larger(double x, double y) {
  sum();
  return x > y;
}

static double calls_back() {
  std::vector<double> in(100), result(100), other(100);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:{{[0-9]+}}: note: it must be complete here: begin
  MPI_Allreduce(in.data(), result.data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  std::sort(other.begin(), other.end(), larger);
  return other[0];
}

static double of_pointers(double **rows) {
  std::vector<double> in(100), result(100);
  double *first[2] = {result.data(), in.data()};
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: line [[#@LINE-1]] can run
  // CHECK-NEXT: [[#@LINE+2]]:{{[0-9]+}}: note: it must be complete here: copy
  MPI_Allreduce(in.data(), result.data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  std::copy(first, first + 2, rows);
  return rows[0][0];
}

static void from_result() {
  std::vector<double> in(100), result(100);
  double *last = &*std::copy(in.begin(), in.end(), result.begin()) - 1;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:{{[0-9]+}}: note: it must be complete here: last[0] is written
  MPI_Allreduce(in.data(), result.data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) last[0] = i;
}

static void from_pointers(double *__restrict in) {
  double result[100];
  double *last = std::copy(in, in + 100, result) - 1;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:{{[0-9]+}}: note: it must be complete here: last[0] is written
  MPI_Allreduce(in, result, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) last[0] = i;
}

int main(int argc, char **argv) {
  double *rows[2], x[100] = {}, y[100];
  MPI_Init(&argc, &argv);
  double all = apart(2) + by_value() + by_distance() + pointers(x, y) + kept() + calls_back() +
               of_pointers(rows);
  written(), from_result(), from_pointers(x);
  MPI_Finalize();
  return all > 1e9;
}
