// What decides on the way to a call: results of functions, numbers that a collective has just filled, promises.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | grep -E "remark|not changed|fix" | FileCheck %s
// RUN: nbc-overlap --alike flag,config.turns %s -- mpicc.openmpi | FileCheck %s --check-prefix=ALIKE
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
void elsewhere(void);  // in no source: it may hold another one of each kind
enum { N = 100 };
static double in[N], out[N], other[N];
struct config {
  int turns, rank;
};
static void work(void) {
  for (int i = 0; i < N; ++i) other[i] += i;
}

static double dot(const double *a, MPI_Comm comm) {
  double sum = 0;
  for (int i = 0; i < N; ++i) sum += a[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return sum;
}
static double dot_world(const double *a) {
  double sum = 0;
  for (int i = 0; i < N; ++i) sum += a[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

// Each of these comes to its call as often on all ranks, or may not.
static void alike(void) {
  double rho = dot_world(in);
  while (rho > 1) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Bcast
    // CHECK-NEXT: [[#@LINE+1]]:5: note: fix
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work();
    rho = dot_world(in);
  }
}
static void filled(void) {
  double sum = in[0];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  other[0] = sum;
  if (fabs(sum) > 3) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Bcast
    // CHECK-NEXT: [[#@LINE+1]]:5: note: fix
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work();
  }
}
static void dealt_out(void) {
  int ranks, dims[2] = {0, 0}, others[2] = {0, 0}, me;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Dims_create(ranks, 2, dims);
  MPI_Dims_create(me + 1, 2, others);
  if (dims[1] > 1) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Bcast
    // CHECK-NEXT: [[#@LINE+1]]:5: note: fix
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work();
  }
  if (others[1] > 1) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Exscan
    // CHECK-NEXT: note: not changed: whether a rank comes here depends on 'others[1] > 1'
    MPI_Exscan(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}
static void by_communicator(MPI_Comm comm) {
  if (dot(in, MPI_COMM_SELF) > 3) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Bcast
    // CHECK-NEXT: note: not changed: whether
    MPI_Bcast(in, N, MPI_DOUBLE, 0, comm);
    work();
  }
}
static void changed(int rank) {
  double sum = in[0], count = in[0], branch = in[0], none = in[0], early = in[0];
  MPI_Status status;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  sum += rank;
  if (sum > 3) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Bcast
    // CHECK-NEXT: note: not changed: whether a rank comes here depends on 'sum > 3'
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work();
  }
  MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Recv(&count, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
  if (count > 3) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Bcast
    // CHECK-NEXT: note: not changed: whether a rank comes here depends on 'count > 3'
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work();
  }
  if (rank > 2) branch = 7;
  if (N > 7) MPI_Allreduce(MPI_IN_PLACE, &branch, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  if (branch > 3) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Bcast
    // CHECK-NEXT: note: not changed: whether a rank comes here depends on
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work();
  }
  MPI_Bcast(&none, 0, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (none > 3) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Bcast
    // CHECK-NEXT: note: not changed: whether a rank comes here depends on 'none > 3'
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work();
  }
  MPI_Bcast(&early, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) {
    if (early > 3) {
      // CHECK: [[#@LINE+2]]:7: remark: MPI_Bcast
      // CHECK-NEXT: note: not changed: whether a rank comes here depends on 'early > 3'
      MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      work();
    }
    early += rank;
  }
  MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if ((sum = rank) > 3) {
    if (sum > 2) {
      // CHECK: [[#@LINE+2]]:7: remark: MPI_Bcast
      // CHECK-NEXT: note: not changed: whether a rank comes here depends on
      MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      work();
    }
  }
}

// One variable, two groups of ranks.
static void two_groups(int rank) {
  MPI_Comm group;
  double sum = rank;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &group);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, group);
  MPI_Comm_free(&group);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &group);
  if (sum > 3) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Bcast
    // CHECK-NEXT: note: not changed: whether a rank comes here depends on 'sum > 3'
    MPI_Bcast(in, N, MPI_DOUBLE, 0, group);
    work();
  }
}
static void one_group(int rank) {
  MPI_Comm group;
  double sum = rank;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &group);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, group);
  if (sum > 3) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Bcast
    // CHECK-NEXT: [[#@LINE+1]]:5: note: fix
    MPI_Bcast(in, N, MPI_DOUBLE, 0, group);
    work();
  }
}

static void promised(const struct config *c, int flag) {
  if (flag > 3)
    for (int i = 0; i < c->turns; ++i) {
      // CHECK: [[#@LINE+4]]:7: remark: MPI_Scan
      // CHECK-NEXT: note: not changed: whether
      // ALIKE: [[#@LINE+2]]:7: remark: MPI_Scan
      // ALIKE: [[#@LINE+1]]:7: note: fix
      MPI_Scan(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      work();
    }
  if (c->rank > 3) {
    // ALIKE: [[#@LINE+2]]:5: remark: MPI_Scan
    // ALIKE: note: not changed: whether a rank comes here depends on 'c->rank > 3'
    MPI_Scan(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}

// A rank may end in a function that talks to others first.
static void last(int rank) {
  if (rank == 3) {
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    exit(0);
  }
}
static void ends(int rank) {
  last(rank);
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Scatter
  // CHECK-NEXT: note: not changed: whether a rank comes here depends on 'rank == 3'
  MPI_Scatter(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work();
}

// The same function is asked for its result and for its end.
static int chosen(int rank) {
  if (rank == 77) exit(1);
  return rank == 3;
}
static void by_result(int rank) {
  if (chosen(5) || N > 3) {
    work();
  }
  if (chosen(rank)) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Gather
    // CHECK-NEXT: note: not changed: whether a rank comes here depends on 'chosen(rank)'
    MPI_Gather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work();
  }
}
static void behind(int rank) {
  chosen(rank);
  int way = chosen(rank);
  for (int i = 0; i < 3; ++i) {
    if (way) {
      // CHECK: [[#@LINE+2]]:7: remark: MPI_Gather
      // CHECK-NEXT: note: not changed: whether a rank comes here depends on
      MPI_Gather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      work();
    }
  }
}

// What a rank may end in is asked for when it is called; what it returns, behind that.
static void turns(int rank) {
  chosen(rank);
  if (chosen(rank)) return;
  // CHECK: [[#@LINE+2]]:3: remark: MPI_Gather
  // CHECK-NEXT: note: not changed: whether a rank comes here depends on 'chosen(rank)'
  MPI_Gather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  work();
}
static void later(int rank) {
  for (int i = 0; i < 3; ++i) {
    // CHECK: [[#@LINE+2]]:5: remark: MPI_Gather
    // CHECK-NEXT: note: not changed: whether a rank comes here depends on
    MPI_Gather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work();
    if (chosen(rank)) return;
  }
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  elsewhere();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  struct config c = {rank, rank};
  alike();
  filled();
  dealt_out();
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 3, 0, &part);
  by_communicator(part);
  by_communicator(MPI_COMM_WORLD);
  changed(rank);
  two_groups(rank);
  one_group(rank);
  promised(&c, rank);
  by_result(rank);
  behind(rank);
  turns(rank);
  later(rank);
  ends(rank);
  MPI_Finalize();
}
