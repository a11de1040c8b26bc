// Checks that throw what the library has, made of numbers and texts. Not what the program's own code makes.
// REQUIRES: openmpi
// RUN: grep -v "CHECK\|RUN:" %s > %t.cpp && nbc-overlap --fix %t.cpp -- mpicxx.openmpi 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t.cpp
// RUN: mpicxx.openmpi -Wall -Werror -fsyntax-only %t.cpp
// RUN: echo '#include <cstdlib>' > %t.new.cpp && echo 'void *operator new(std::size_t n) { return std::malloc(n + 16); }' >> %t.new.cpp
// RUN: grep -v "CHECK\|RUN:" %s > %t.main.cpp && nbc-overlap %t.main.cpp %t.new.cpp -- mpicxx.openmpi 2>&1 | FileCheck %s --check-prefix=NEW
// NEW-NOT: fix:
#include <mpi.h>

#include <cstdio>
#include <stdexcept>
#include <string>

constexpr int N = 100;
static double in[N], out[N], other[N];

struct Failure {
  explicit Failure(int code) : code(code) { ++count; }
  int code;
  static int count;
};
int Failure::count = 0;

static void check(int rc, const char *where) {
  if (rc != MPI_SUCCESS) throw std::runtime_error(std::string(where) + ": " + std::to_string(rc));
}

#define TRY(call)                                                          \
  do {                                                                     \
    const int failed = (call);                                             \
    if (failed != MPI_SUCCESS) throw std::logic_error("failed in " #call); \
  } while (0)

static void work() {
  for (int i = 0; i < N; ++i) other[i] += i;
}

static void throws() {
  // CHECK: int rc = MPI_Iallreduce(
  // CHECK-NEXT: if (rc != MPI_SUCCESS) throw std::runtime_error("failed");
  // CHECK-NEXT: work();
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(
  // CHECK-NEXT: if (rc != MPI_SUCCESS) throw std::runtime_error("failed");
  int rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) throw std::runtime_error("failed");
  work();
  other[0] += out[0];
  // CHECK: rc = MPI_Iallreduce(
  // CHECK-NEXT: check(rc, "sum");
  // CHECK-NEXT: work();
  // CHECK-NEXT: if (rc == MPI_SUCCESS) rc = MPI_Wait(
  // CHECK-NEXT: check(rc, "sum");
  rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  check(rc, "sum");
  work();
  other[0] += out[0];
  // CHECK: TRY(MPI_Iallreduce(
  // CHECK-NEXT: work();
  // CHECK-NEXT: TRY(MPI_Wait(
  TRY(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  work();
  other[0] += out[0];
}

// CHECK-LABEL: does_more(
static void does_more() {
  // WHY: and this one does: 'throw Failure(rc)'
  // CHECK: int rc = MPI_Allreduce(
  int rc = MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) throw Failure(rc);
  work();
  other[0] += out[0];
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  throws();
  does_more();
  std::printf("%g\n", other[0]);
  MPI_Finalize();
}
