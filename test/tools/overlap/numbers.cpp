// Of the standard library's functions of numbers it is known that they do no more; min() and max() refer to what they are given.
// REQUIRES: openmpi
// RUN: grep -v CHECK %s > %t.cpp && nbc-overlap --fix %t.cpp -- mpicxx.openmpi > %t.out
// RUN: FileCheck %s --input-file=%t.cpp && mpicxx.openmpi -DOMPI_SKIP_MPICXX -Wall -Wextra -Werror -fsyntax-only %t.cpp
// RUN: FileCheck %s --input-file=%t.out --check-prefix=OUT
// RUN: cp %t.cpp %t.again.cpp && nbc-overlap --fix %t.again.cpp -- mpicxx.openmpi && cmp %t.cpp %t.again.cpp
#include <mpi.h>

#include <algorithm>
#include <cmath>

namespace {

constexpr int n = 100;
double in[n], out[n], other[n];
float single[n];

struct Money {
  double euros;
  bool operator<(const Money &than) const { return euros < than.euros; }
};

void work(double least) {
  for (int i = 0; i < n; ++i) {
    other[i] = std::max(other[i], least) + std::clamp(other[i], 0.0, least) + std::min(1.0, std::abs(other[i])) + std::pow(other[i], 2.0);
    single[i] = std::sqrt(single[i]) + std::fmod(single[i], 2.f);
  }
}

void seen() {
  MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  work(2);
  // CHECK: MPI_Iallreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &allreduce_request);
  // CHECK-NEXT: work(2);
  // CHECK-NEXT: MPI_Wait(&allreduce_request, MPI_STATUS_IGNORE);
  out[0] += std::max(3.0, other[1]);
}

void chosen() {
  MPI_Bcast(out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(3);
  // CHECK: MPI_Ibcast(out
  // CHECK-NEXT: work(3);
  // CHECK-NEXT: MPI_Wait(
  // CHECK-NEXT: other[0] = std::max(other[0], out[0]);
  other[0] = std::max(other[0], out[0]);
}

void referred_to() {
  const double &greater = std::max(other[1], out[1]);
  MPI_Bcast(out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work(4);
  // CHECK: const double &greater
  // CHECK: MPI_Ibcast(out
  // CHECK-NEXT: work(4);
  // CHECK-NEXT: MPI_Wait(
  // CHECK-NEXT: other[2] = greater;
  other[2] = greater;
}

// Of the program's own type, by the program's own operator.
void of_others() {
  Money mine{other[3]}, yours{other[4]};
  MPI_Bcast(out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  // CHECK: MPI_Bcast(out, n
  // OUT: note: it must be complete here: max cannot be seen into
  other[3] = std::max(mine, yours).euros;
  work(5);
}

}  // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  seen();
  chosen();
  referred_to();
  of_others();
  MPI_Finalize();
}
