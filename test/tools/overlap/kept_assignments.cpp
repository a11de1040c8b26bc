// What an assignment or an increment is in C++, the variable once more, may be kept: then it changes by another name.
// REQUIRES: openmpi
// RUN: for way in none increment object assignment address; do echo "$way: $(nbc-overlap %s -- mpicxx.openmpi -DWAY_$way | grep 'lines [0-9]* to [0-9]* can run' | wc -l)"; done | FileCheck %s
// CHECK: none: 1
// CHECK-NEXT: increment: 0
// CHECK-NEXT: object: 0
// CHECK-NEXT: assignment: 0
// CHECK-NEXT: address: 0
// What has no type yet, in a lambda with auto, is nothing to stumble over.
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 -DWAY_generic | FileCheck %s --check-prefix=GENERIC
// GENERIC: remark: MPI_Bcast
#include <mpi.h>

struct Cursor {
  int &at;
};
struct Owner {
  explicit Owner(int n) : n_(n) {}
  int n_;
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int n = 400;
  static double rows[2][n], sum[n];
  int k = -1;
#if defined(WAY_increment)
  int &other = ++k;
#elif defined(WAY_object)
  Cursor cursor{++k};
#define other cursor.at
#elif defined(WAY_assignment)
  int &other = (k = 0);
#elif defined(WAY_address)
  int *at = &(k = 0);
#define other (*at)
#else
  int other;
  k = 0;
#endif
#ifdef WAY_generic
  auto owns = [](auto count) { Owner owner(count), *also = new Owner(count); delete also; };
  owns(3);
#endif
  MPI_Bcast(rows[k], n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  other = 1;
  for (int i = 0; i < n; ++i) rows[1 - k][i] += i;
  for (int i = 0; i < n; ++i) sum[i] = rows[0][i] - rows[1][i];
  MPI_Finalize();
  return other;
}
