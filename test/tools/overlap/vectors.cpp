// Vectors of numbers may be made, resized and run over while a call is under way that has others; nobody catches.
// REQUIRES: openmpi
// RUN: grep -v CHECK %s > %t.cpp && nbc-overlap --fix %t.cpp -- mpicxx.openmpi -std=c++17 -DOMPI_SKIP_MPICXX > %t.out
// RUN: FileCheck %s --input-file=%t.cpp && mpicxx.openmpi -std=c++17 -DOMPI_SKIP_MPICXX -fsyntax-only %t.cpp
// RUN: grep -v CHECK %s > %t.try.cpp && echo 'void f() { try { } catch (...) { } }' >> %t.try.cpp && cp %t.try.cpp %t.before.cpp
// RUN: nbc-overlap --fix %t.try.cpp -- mpicxx.openmpi -std=c++17 -DOMPI_SKIP_MPICXX > %t.out && not diff %t.before.cpp %t.try.cpp > %t.diff
// RUN: FileCheck %s --input-file=%t.diff --check-prefix=TRY
// TRY-COUNT-3: MPI_Request
// TRY-NOT: MPI_Request
#include <mpi.h>

#include <vector>

template <class T>
struct Own {
  using value_type = T;
  T *allocate(std::size_t n);
  void deallocate(T *, std::size_t);
};

struct Histogram {
  std::vector<int> mine = std::vector<int>(100), all = std::vector<int>(100), keys;
  long moved = 0;

  void gather() {
    // CHECK-LABEL: void gather()
    // CHECK: MPI_Iallreduce(mine.data(), all.data()
    // CHECK: for (int key : keys) moved += next[key]++;
    // CHECK-NEXT: MPI_Wait(
    // CHECK-NEXT: moved += all[3];
    MPI_Allreduce(mine.data(), all.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::vector<int> next(100);
    for (std::size_t b = 1; b < 100; ++b) next[b] = next[b - 1] + mine[b - 1];
    for (int key : keys) moved += next[key]++;
    moved += all[3];
  }

  void runs_over() {
    // CHECK-LABEL: void runs_over()
    // CHECK: MPI_Iallreduce(mine.data(), all.data()
    // CHECK-NEXT: for (int &key : keys) key = moved;
    // CHECK-NEXT: MPI_Wait(
    // CHECK-NEXT: for (int &count : all) count = 0;
    MPI_Allreduce(mine.data(), all.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int &key : keys) key = moved;
    for (int &count : all) count = 0;
  }

  // What is resized, run over or assigned to is the buffer; or it holds what has a constructor.
  void not_changed() {
    // CHECK-LABEL: void not_changed()
    // CHECK-NOT: MPI_Request
    // CHECK: int main
    MPI_Allreduce(mine.data(), all.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    all.push_back(3);
    moved = 7;
    MPI_Allreduce(mine.data(), all.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int &count : mine) count = 3;
    MPI_Allreduce(mine.data(), all.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::vector<int> copy(all);
    moved = 8;
    MPI_Allreduce(mine.data(), all.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::vector<Histogram> more(3);
    moved = 7;
    MPI_Allreduce(mine.data(), all.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::vector<int> &same = all;
    for (int &count : same) count = moved;
    MPI_Allreduce(mine.data(), all.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    auto it = mine.begin();
    for (int i = 0; i < 100; ++i) *it++ = i;
    MPI_Allreduce(mine.data(), all.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    keys.push_back(all[4]);
    moved = 1;
    MPI_Allreduce(mine.data(), all.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::vector<int> part(all.data(), all.data() + 50);
    moved = 2;
    MPI_Allreduce(mine.data(), all.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    keys.assign(&all[3], &all[7]);
    moved = 3;
    MPI_Allreduce(mine.data(), all.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::vector<int, Own<int>> strange(3);
    moved = 5;
    MPI_Allreduce(mine.data(), all.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::vector<int> taken(static_cast<std::vector<int> &&>(all));
    moved = 4;
  }
};

static void sizes(std::vector<double> &flux, std::vector<double> &total, double *y);

int main(int argc, char **argv) {
  Histogram h;
  std::vector<double> flux(100), total(100);
  double y;
  MPI_Init(&argc, &argv);
  h.keys.resize(1000);
  h.gather();
  h.runs_over();
  h.not_changed();
  sizes(flux, total, &y);
  MPI_Finalize();
}

// What a count is computed from counts, size() as well; a loop may ask for that of a buffer.
static int length(const std::vector<int> &v) {
  return static_cast<int>(v.size());
}
static void sizes(std::vector<double> &flux, std::vector<double> &total, double *y) {
  // CHECK-LABEL: void sizes({{.*}} {
  // CHECK: push_back(
  // CHECK: MPI_Iallreduce(flux.data(), total.data(), static_cast
  // CHECK-NEXT: MPI_COMM_WORLD
  // CHECK-NEXT: for
  // CHECK-NEXT: boundary.resize(
  // CHECK-NEXT: MPI_Wait(
  // CHECK-NEXT: MPI_Request
  // CHECK-NEXT: MPI_Iallreduce(flux.data(), total.data(), length
  std::vector<int> boundary;
  double centre[100];
  for (int i = 0; i < 100; ++i)
    if (i % 3 == 0) boundary.push_back(i);
  MPI_Allreduce(flux.data(), total.data(), static_cast<int>(boundary.size()), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  for (std::size_t i = 0; i < total.size(); ++i) centre[i % 100] = 2;
  boundary.resize(50);
  MPI_Allreduce(flux.data(), total.data(), length(boundary), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) centre[i] = i;
  y[0] = centre[3];
}
