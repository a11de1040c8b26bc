// std::vector holds its elements; what may move them, or throw, ends the window.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 | FileCheck %s
// RUN: cp %s %t.cpp && nbc-overlap --fix %t.cpp -- mpicxx.openmpi -std=c++17 > /dev/null
// RUN: mpicxx.openmpi -fsyntax-only %t.cpp
#include <mpi.h>

#include <vector>

static void apart(std::vector<double> &seen) {
  std::vector<double> in(100), out(100), other(100);
  // CHECK: [[#@LINE+4]]:3: remark: MPI_Allreduce: line [[#@LINE+6]] can run
  // CHECK-NEXT: [[#@LINE+6]]:18: note: it must be complete here: out[0] is read, which
  // CHECK-NEXT: note: it cannot start before
  // CHECK-NEXT: [[#@LINE+1]]:3: note: fix:
  MPI_Allreduce(in.data(), out.data(), static_cast<int>(in.size()), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  for (std::size_t i = 0; i < other.size(); ++i) other[i] = in[i];
  other[0] = 3 * out[0];
  seen = other;
}

static void grows() {
  std::vector<double> in(100), out(100), other(100);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:3: note: it must be complete here: out is written
  MPI_Allreduce(&in[0], &out[0], 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  out.resize(200);
  for (std::size_t i = 0; i < other.size(); ++i) other[i] = in[i];
}

static void throws() {
  std::vector<double> in(100), out(100);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:23: note: it must be complete here: vector cannot be seen into
  MPI_Allreduce(&in[0], &out[0], 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  std::vector<double> other(100);
  for (std::size_t i = 0; i < other.size(); ++i) other[i] = 1;
}

static void catches() {
  try {
    throws();
  } catch (...) {
  }
}

static void references(double (&in)[100], double (&out)[100], double &first) {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: nothing can run
  // CHECK-NEXT: [[#@LINE+2]]:33: note: it must be complete here: first is written, and may be memory
  MPI_Allreduce(in, out, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) first = i;
}

static void lambda() {
  double in[100] = {}, out[100], other[100];
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce: line [[#@LINE+3]] can run
  // CHECK-NEXT: [[#@LINE+3]]:15: note: it must be complete here: '[&] { return out[0] + other[0]; }' cannot be seen
  MPI_Allreduce(in, out, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) other[i] = 1;
  auto look = [&] { return out[0] + other[0]; };
  look();
}

template <class T>
void in_template(T *in, T *out) {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Allreduce:
  // CHECK: note: not changed: it stands in a template
  MPI_Allreduce(in, out, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) {
  }
}

int main(int argc, char **argv) {
  double a[100] = {}, b[100] = {};
  std::vector<double> v;
  MPI_Init(&argc, &argv);
  apart(v), grows(), catches(), references(a, b, b[0]), lambda();
  in_template(a, b);
  MPI_Finalize();
}
