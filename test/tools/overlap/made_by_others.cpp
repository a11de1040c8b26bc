// Constructors and destructors that come to a collective by something that nobody sees call it: a pointer, a library, objects
// that they make.
// REQUIRES: openmpi
// RUN: for how in 0 1 2 3 4 5 6; do nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DHOW=$how | grep "64:.*fix:\|may be made\|others on other\|decides how often" | sed "s/.*note: /$how: /;s/; so it.*//" | sort -u; done | FileCheck %s --implicit-check-not=fix:
// CHECK: 0: fix: MPI_Iallreduce here
// CHECK: 1: not changed: 'n' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK: 2: not changed: 'n' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK: 3: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
// CHECK: 4: not changed: 'std::generate_n(&turns, n, sum)' may call functions that call MPI_Allreduce, and others on other ranks
// CHECK: 5: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
// CHECK: 6: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>
static double x = 1, y, v[1000];
static int turns;
static int sum() {
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return ++turns;
}
#if HOW == 1
static int (*chosen)() = sum;
#elif HOW == 2
struct Last {
  ~Last() { sum(); }
};
#elif HOW == 3 || HOW == 5 || HOW == 6
struct Sum {
  Sum() { sum(); }
};
#endif
#if HOW == 6
static void make(int n) { std::vector<Sum> all(n); }
#endif
struct Made {
  explicit Made(int n) : all(n) {
#if HOW == 1
    if (n) chosen();
#elif HOW == 2
    if (n) Last();
#elif HOW == 4
    std::generate_n(&turns, n, sum);
#elif HOW == 6
    make(n);
#endif
  }
#if HOW == 3
  std::vector<Sum> all;
#else
  int all;
#endif
#if HOW == 5
  ~Made() { std::vector<Sum> last(all); }
#endif
};
int main(int argc, char **argv) {
  int rank;
  double c = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  { Made one(rank == 0); }
  MPI_Allreduce(&x, &c, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; ++i) v[i] += i;
  std::printf("%g\n", c);
#if HOW
  if (rank) sum();
#endif
  MPI_Finalize();
}
