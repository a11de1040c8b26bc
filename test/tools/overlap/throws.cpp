// A cast to a reference throws where the object is of another class, and nothing would wait.
// REQUIRES: openmpi
// RUN: cp %s %t.cpp && nbc-overlap --whole --fix %t.cpp -- mpicxx.openmpi -DOMPI_SKIP_MPICXX | FileCheck %s --implicit-check-not=fix: && cmp %s %t.cpp
#include <mpi.h>

#include <typeinfo>
struct Base {
  virtual ~Base() {}
};
struct Derived : Base {
  int k = 0;
};
static double w[1000];
static int x;
static int kOf(Base &b) {
  return dynamic_cast<Derived &>(b).k;
}
static int named(Base &b) {
  MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
  // CHECK: [[#@LINE+1]]:16: note: it must be complete here: throw, by dynamic_cast, leaves the block
  Derived &d = dynamic_cast<Derived &>(b);
  for (int i = 0; i < 1000; i++) w[i] = i + d.k;
  return x;
}
static int inCallee(Base &b) {
  MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
  // CHECK: [[#@LINE+1]]:41: note: it must be complete here: throw, by dynamic_cast, in kOf() leaves the block
  for (int i = 0; i < 1000; i++) w[i] = kOf(b);
  return x;
}
int main(int argc, char **argv) {
  Base b;
  MPI_Init(&argc, &argv);
  try {
    named(b), inCallee(b);
  } catch (const std::bad_cast &) {
  }
  MPI_Finalize();
}
