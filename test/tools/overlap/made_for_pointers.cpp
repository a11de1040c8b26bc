// std::make_unique() hands on what it is given, and where std's own pointers lead objects only end: communicators of
// such objects are those that their constructors are given.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 | FileCheck %s --check-prefix=ONE
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DBY_NEW | FileCheck %s --check-prefix=ONE
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DBY_SHARED | FileCheck %s --check-prefix=ONE
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DBY_BASE | FileCheck %s --check-prefix=ONE
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DBY_RANK | FileCheck %s --check-prefix=TWO
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DBY_POINTER | FileCheck %s --check-prefix=TWO
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DBY_VECTOR | FileCheck %s --check-prefix=TWO
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DBY_SETTING | FileCheck %s --check-prefix=TWO
#include <mpi.h>

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>
class Solver {
 public:
  explicit Solver(MPI_Comm comm, int n) : comm_(comm), x_(n) {}
  double step() {
    double local = 0, total = 0;
    for (double v : x_) local += v;
    // ONE: [[#@LINE+2]]:5: note: fix: MPI_Iallreduce here
    // TWO: [[#@LINE+1]]:5: note: not changed: 'comm_' may be another communicator on other ranks
    MPI_Allreduce(&local, &total, 1, MPI_DOUBLE, MPI_SUM, comm_);
    for (double &v : x_) v = v * 1.5 + 1;
    return total;
  }
  double norm() {
    double local = x_[0], total = 0;
    MPI_Allreduce(&local, &total, 1, MPI_DOUBLE, MPI_SUM, comm_);
    return total;
  }
  void set(MPI_Comm comm) {
#ifdef BY_SETTING
    comm_ = comm;
#endif
  }

 private:
  MPI_Comm comm_;
  std::vector<double> x_;
};
#ifdef BY_BASE
struct Derived : Solver {
  explicit Derived(MPI_Comm comm) : Solver(comm, 10) {}
};
#endif
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef BY_NEW
  std::unique_ptr<Solver> s(new Solver(MPI_COMM_WORLD, 10));
#elif defined BY_SHARED
  std::shared_ptr<Solver> s(new Solver(MPI_COMM_WORLD, 10)), t = s;
#elif defined BY_BASE
  std::unique_ptr<Solver> s = std::make_unique<Derived>(MPI_COMM_WORLD);
#elif defined BY_RANK
  auto s = std::make_unique<Solver>(rank ? MPI_COMM_WORLD : MPI_COMM_SELF, 10);
#elif defined BY_POINTER
  auto make = &std::make_unique<Solver, MPI_Comm, int>;
  auto s = make(rank ? MPI_COMM_WORLD : MPI_COMM_SELF, 10), t = std::make_unique<Solver>(MPI_COMM_WORLD, 10);
#elif defined BY_VECTOR
  std::vector<Solver> all;
  all.emplace_back(rank ? MPI_COMM_WORLD : MPI_COMM_SELF, 10);
  auto s = std::make_unique<Solver>(MPI_COMM_WORLD, 10);
  if (rank) s = std::make_unique<Solver>(all[0]);
#else
  MPI_Comm comm = MPI_COMM_WORLD;
  std::unique_ptr<Solver> t, s = std::make_unique<Solver>(comm, 10);
  t.swap(s);
  s = std::move(t);
#endif
  if (rank) s->set(MPI_COMM_SELF);
  double r = 0;
  for (int i = 0; i < 10; ++i) r = s->step();
  if (r > 5) r = s->norm();
  std::printf("%g\n", r);
  s.reset();
  MPI_Finalize();
}
