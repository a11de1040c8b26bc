// Constructors that come to a collective: as often as there are objects, which a row or a container has of as many as the rank
// says; and through other constructors, in what they choose there.
// REQUIRES: openmpi
// RUN: for how in 0 1 2 3 4; do nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DHOW=$how | grep "43:.*fix:\|may be made\|called before" | sed "s/.*note: /$how: /;s/ may get.*//" | sort -u; done | FileCheck %s
// CHECK: 0: fix: MPI_Iallreduce here
// CHECK-NEXT: 1: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
// CHECK-NEXT: 2: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
// CHECK-NEXT: 3: not changed: 'r' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK-NEXT: 4: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
#include <mpi.h>

#include <cstdio>
#include <vector>
static double x = 1, y, v[1000];
static int turns;
struct Sum {
  Sum() {
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    ++turns;
  }
};
#if HOW == 3
struct Chosen {
  explicit Chosen(int r) {
    if (r) Sum();
  }
};
#endif
int main(int argc, char **argv) {
  int rank;
  double c = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#if HOW == 1
  delete[] new Sum[rank + 1];
#elif HOW == 2
  std::vector<Sum> all(rank + 1);
#elif HOW == 3
  Chosen one(rank);
#elif HOW == 4
  Sum all[rank + 1];
#endif
  MPI_Allreduce(&x, &c, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; ++i) v[i] += i;
  std::printf("%g\n", c);
  while (turns < 5) Sum();
  MPI_Finalize();
}
