// A field is followed by the name of its object, as long as nothing else may lead to it.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -DOMPI_SKIP_MPICXX | FileCheck %s
#include <mpi.h>
#include <cstdlib>
#include <string>
#include <vector>
enum { N = 400 };
static double y[N], in, out;
static void work() {
  for (int i = 0; i < N; ++i) y[i] = i;
}
struct Options {
  int steps = 0, every = 0;
  std::string name;
  std::vector<int> shape;
  int area() const { return steps * every; }
};
struct Plain {
  int steps, every;
};
struct Selfish {
  int steps;
  int *self = &steps;
};
struct Derived : Plain {
  int more;
};
struct Lying {
  int steps, more;
  void set(int to) const { const_cast<Lying *>(this)->steps = to; }
};
struct Changed {
  int steps, more;
  void set(int to) { steps = to; }
};
static void read(int argc, char **argv, Plain &p) {
  p.steps = std::atoi(argv[1]);
  p.every = argc;
}
static bool due(const Plain &p, int k) {
  return k % p.every == 0;
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Plain p{};
  read(argc, argv, p);
  const Plain &same = p;
  for (int k = 0; k < same.steps; ++k)
    if (due(p, k)) {
      // CHECK: [[#@LINE+1]]:7: note: fix: MPI_Iallreduce here
      MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      work();
    }
  Plain copy = p, other{0, 0};
  other = copy;
  if (other.steps > 3) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  Options o;
  o.steps = rank;
  if (o.steps) {
    // CHECK: depends on 'o.steps', which may differ among ranks
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  static Selfish s;
  *s.self = rank;
  if (s.steps) {
    // CHECK: depends on 's.steps', which may differ among ranks: what 's' is declared with may be another value
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  Derived d{};
  static_cast<Plain &>(d).steps = rank;
  if (d.steps) {
    // CHECK: depends on 'd.steps', which may differ among ranks
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  Changed c{0, 0};
  c.set(rank);
  if (c.steps) {
    // CHECK: depends on 'c.steps', which may differ among ranks
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  Lying l{0, 0};
  l.set(rank);
  if (l.steps) {
    // CHECK: depends on 'l.steps', which may differ among ranks
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  Plain q{0, 0};
  auto &[first, second] = q;
  first = rank;
  if (q.steps) {
    // CHECK: depends on 'q.steps', which may differ among ranks
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  MPI_Finalize();
}
