// Calls that the language makes: by a base class, through std::function, at the end of a variable. A call that is seen
// beside them says nothing of who comes by these.
// REQUIRES: openmpi
// RUN: cp %s %t.cpp && nbc-overlap --fix %t.cpp -- mpicxx.openmpi -DOMPI_SKIP_MPICXX > %t.out && cmp %s %t.cpp
// RUN: FileCheck %s --input-file=%t.out
#include <mpi.h>
#include <functional>
enum { N = 400 };
static double y[N], in, out;
static void work() {
  for (int i = 0; i < N; ++i) y[i] = i;
}
struct Base {
  virtual void step() = 0;
};
struct Worker : Base {
  void step() override {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Allreduce
    // CHECK: note: not changed: step() may be called where no call is written
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
};
struct Master : Base {
  void step() override { MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
};
static void mean() {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Reduce
  // CHECK: note: not changed: how often a rank comes here is not followed
  MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  work();
}
static void total(double *) {
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Bcast
  // CHECK: note: not changed: total() is called through a pointer
  MPI_Bcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work();
}
static std::function<void()> hook;
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Worker w;
  Master m;
  w.step();
  Base *role = rank == 0 ? static_cast<Base *>(&m) : &w;
  role->step();
  auto report = [] { mean(); };
  report();
  hook = report;
  if (rank == 0) hook();
  total(&in);
  if (rank == 0) {
    __attribute__((cleanup(total))) double mine = 5;
    mine += 1;
  }
  MPI_Finalize();
}
