// A call that is written nowhere may be a collective: through a pointer, of a virtual function, of an object that comes
// or goes; or an exception may lead past one. Then what it does before another one is not the same on all ranks.
// REQUIRES: openmpi
// RUN: for n in 1 2 3 4 5 6 7; do nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -DCASE=$n; done | FileCheck %s --implicit-check-not=fix:
// CHECK-COUNT-7: note: not changed: {{'(BEFORE|std::for_each.*)' may (call functions that call MPI_Bcast|differ among ranks and decides how)|an exception may lead a rank past a call}}
// RUN: nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX -DCASE=0 | FileCheck %s --check-prefix=PLAIN
// PLAIN: note: fix: MPI_Ibcast
#include <mpi.h>
#include <algorithm>
enum { N = 400 };
static double y[N];
static int a, b, rank;
static void work() {
  for (int i = 0; i < N; ++i) y[i] = i;
}
#if CASE == 1
static void extra() { MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD); }
static void (*hook)() = extra;
#define BEFORE if (rank == 0) hook()
#elif CASE == 2
struct Base {
  virtual void go() {}
  virtual ~Base() {}
};
struct Sync : Base {
  void go() override { MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD); }
};
static Sync s;
static Base none, *h = &s;
#define BEFORE if (rank == 0) h = &none; h->go()
#elif CASE == 3
struct Sync {
  Sync() { MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD); }
};
#define BEFORE if (rank == 0) Sync s
#elif CASE == 4
static int take() {
  MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return a;
}
struct Inner {
  int n;
  Inner() : n(take()) {}
};
struct Sync {
  Inner inner;
};
#define BEFORE if (rank == 0) Sync s
#elif CASE == 5
struct Sync {
  ~Sync() { MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD); }
};
#define BEFORE if (rank == 0) Sync s
#elif CASE == 6
template <class F>
void each(int *from, int *to, F f) { std::for_each(from, to, f); }
static void all() {
  each(&a, &a + (rank == 0), [](int) { MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD); });
}
#define BEFORE all()
#elif CASE == 7
static void check() {
  if (rank == 0) throw 1;
}
static void first() {
  try {
    check();
    MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD);
  } catch (int) {
  }
}
#define BEFORE first()
#else
struct Plain {
  int n;
  Plain() : n(1) {}
  ~Plain() { a = n; }
};
static void (*hook)() = work;
#define BEFORE if (rank == 0) Plain p; if (rank == 1) hook()
#endif
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  BEFORE;
  MPI_Bcast(&b, 1, MPI_INT, 0, MPI_COMM_WORLD);
  work();
  MPI_Finalize();
}
