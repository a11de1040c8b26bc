// A number that a collective has filled, in a call that is checked in whatever way, and that was changed alike since.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicc.openmpi | FileCheck %s
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECKED(call)                           \
  do {                                          \
    int err_ = (call);                          \
    if (err_ != MPI_SUCCESS) {                  \
      fprintf(stderr, "failed: %d\n", err_);    \
      MPI_Abort(MPI_COMM_WORLD, err_);          \
    }                                           \
  } while (0)
static double y[1000], in, out;
static const int steps = 50;
static void work(void) {
  for (int i = 0; i < 1000; ++i) y[i] += i;
}
static int rank_of(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
static int adds_rank(int *n) {
  *n += rank_of();
  return 1;
}
static void by_macro(void) {
  double all[steps];
  for (int s = 0; s < steps; ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
    all[s] = out;
    double d = out + rank_of();
    CHECKED(MPI_Allreduce(MPI_IN_PLACE, &d, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    if (d < 1e-3) break;
  }
  y[0] = all[0];
}
static void by_if(void) {
  int n = rank_of() ? 0 : 7;
  if (MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int s = 0; s < n; ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    work();
  }
}
static void by_code(void) {
  int n = rank_of() ? 0 : 7;
  int rc = MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rc) MPI_Abort(MPI_COMM_WORLD, rc);
  for (int s = 0; s < n; ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    work();
  }
}
static void clamped(void) {
  int n = rank_of() ? 0 : 7;
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  n += 2;
  if (n > 96) {
    n = 96;
  } else if (n < 3) {
    n++;
  }
  for (int s = 0; s < n; ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD);
    work();
  }
}
static void changed_behind(void) {
  int n = rank_of() ? 0 : 7;
  if (MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 1);
  else
    n = rank_of();
  // CHECK: [[#@LINE+1]]:19: note: not changed: whether a rank comes here depends on 's < n'
  for (int s = 0; s < n; ++s) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    work();
  }
}
static void left_before(int some) {
  int n = rank_of() ? 0 : 7;
  do {
    if (some) break;
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  } while (0);
  // CHECK: [[#@LINE+1]]:19: note: not changed: whether a rank comes here depends on 's < n'
  for (int s = 0; s < n; ++s) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    work();
  }
}
static void clamped_by_rank(void) {
  int n = 7, most = 10 + rank_of();
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  // CHECK: [[#@LINE+1]]:7: note: not changed: whether a rank comes here depends on 'most > 10'
  if (most > 10) n = 96;
  for (int s = 0; s < n; ++s) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD);
    work();
  }
}
static void set_to_rank(void) {
  int n = 7;
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  {
    n = rank_of();
  }
  // CHECK: [[#@LINE+1]]:19: note: not changed: whether a rank comes here depends on 's < n'
  for (int s = 0; s < n; ++s) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD);
    work();
  }
}
static void added_on_the_way(void) {
  int n = 7;
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  n += adds_rank(&n);
  // CHECK: [[#@LINE+1]]:19: note: not changed: whether a rank comes here depends on 's < n'
  for (int s = 0; s < n; ++s) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}
static void not_constant(const int given) {
  // CHECK: [[#@LINE+1]]:19: note: not changed: whether a rank comes here depends on 's < given'
  for (int s = 0; s < given; ++s) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  by_macro(), by_if(), by_code(), clamped();
  changed_behind(), left_before(argc), clamped_by_rank(), set_to_rank(), added_on_the_way(), not_constant(rank_of());
  MPI_Finalize();
}
