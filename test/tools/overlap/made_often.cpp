// Constructors that come to a collective: as often as there are objects, which a row or a container has of as many as the rank
// says; and through other constructors, in what they choose there.
// REQUIRES: openmpi
// RUN: for how in 0 1 2 3 4; do nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DHOW=$how | grep "77:.*fix:\|may be made\|called before" | sed "s/.*note: /$how: /;s/ may get.*//" | sort -u; done | FileCheck %s
// CHECK: 0: fix: MPI_Iallreduce here
// CHECK-NEXT: 1: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
// CHECK-NEXT: 2: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
// CHECK-NEXT: 3: not changed: 'r' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK-NEXT: 4: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
// Nor is it seen who evaluates a default argument, and how often what a field of an aggregate is declared with.
// RUN: for how in 5 6 7; do nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DHOW=$how | grep "fix:\|called by a default" | sed "s/.*note: /$how: /" | sort -u; done | FileCheck %s --check-prefix=STANDS --implicit-check-not=fix:
// STANDS: 5: not changed: MPI_Allreduce may be called by a default argument, or by what a field is declared with
// STANDS: 6: not changed: MPI_Allreduce may be called by a default argument, or by what a field is declared with
// STANDS: 7: not changed: MPI_Allreduce may be called by a default argument, or by what a field is declared with
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>
static double x = 1, y, v[1000];
static int turns;
#if HOW < 5
#define AGAIN Sum()
struct Sum {
  Sum() {
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    ++turns;
  }
};
#endif
#if HOW == 3
struct Chosen {
  explicit Chosen(int r) {
    if (r) Sum();
  }
};
#endif
#if HOW >= 5
#define AGAIN sum()
static int sum(double of = 1) {
  double all;
  MPI_Allreduce(&of, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return ++turns;
}
struct Numbered {
#if HOW == 5
  int number;
  explicit Numbered(int n = sum()) : number(n) {}
#elif HOW == 6
  int number = sum();
#else
  int number;
#endif
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
#elif HOW == 5
  std::vector<Numbered> all(rank + 1);
#elif HOW == 6
  delete[] new Numbered[rank + 1]{};
#elif HOW == 7
  std::vector<int> all(rank + 1);
  std::for_each(all.begin(), all.end(), [](int, int n = sum()) { turns += n > 9; });
#endif
  MPI_Allreduce(&x, &c, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; ++i) v[i] += i;
  std::printf("%g\n", c);
  while (turns < 5) AGAIN;
  MPI_Finalize();
}
