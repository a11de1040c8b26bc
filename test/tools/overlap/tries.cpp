// A try may stand beside a window, or around it, if who comes to its handlers ends there. No window has one in it.
// REQUIRES: openmpi
// RUN: nbc-overlap --whole %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -std=c++17 | FileCheck %s
#include <mpi.h>
#include <stdexcept>
#include <string>
enum { N = 400 };
static double y[N], in, out;

static int elsewhere(const char *text) {
  int n = 1;
  try {
    n = std::stoi(text);
  } catch (const std::exception &) {
    n = 2;
  }
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+2]]
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = n;
  return n;
}
static void around() {
  try {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+2]]
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) y[i] = i;
    elsewhere("3");
  } catch (...) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static void within(const char *text) {
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = i;
  // CHECK: [[#@LINE+1]]:3: note: it must be complete here: what throws and what catches cannot be seen into
  try {
    y[0] = std::stoi(text);
  } catch (...) {
  }
}
static void goesOn(const char *text) {
  try {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) y[i] = i;
    y[0] = std::stoi(text);
    // CHECK: [[#@LINE+1]]:5: note: not changed: an exception would lead past the wait, to this handler, which goes on
  } catch (const std::exception &) {
    y[1] = out;
  }
}
static void handler(const char *text) {
  try {
    y[0] = std::stoi(text);
    // CHECK: [[#@LINE+1]]:5: note: not changed: it stands in a handler
  } catch (const std::exception &) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) y[i] = i;
  }
}
static void caught() {
  double buffer[N], *q = nullptr;
  try {
    throw static_cast<double *>(buffer);
  } catch (double *p) {
    q = p;
  }
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: q[i] is read, and may be memory that MPI_Bcast writes
  MPI_Bcast(buffer, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = q[i];
}
static void caughtReference() {
  double buffer[N], *q = nullptr;
  try {
    throw static_cast<double *>(buffer);
  } catch (double *&p) {
    q = p;
  }
  // CHECK: [[#@LINE+2]]:38: note: it must be complete here: q[i] is read, and may be memory that MPI_Bcast writes
  MPI_Bcast(buffer, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) y[i] = q[i];
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  elsewhere(argv[0]), around(), within(argv[0]), goesOn(argv[0]), handler(argv[0]), caught(), caughtReference();
  MPI_Finalize();
}
