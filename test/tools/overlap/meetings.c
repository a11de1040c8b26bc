// Where a call is the only one of its kind that ranks can meet at, it does not matter what leads them there.
// REQUIRES: openmpi
// RUN: nbc-overlap --whole --persistent=mpix %s -- mpicc.openmpi | FileCheck %s
// RUN: nbc-overlap %s -- mpicc.openmpi -DPART | FileCheck %s --check-prefix=PART --implicit-check-not=fix:
// RUN: nbc-overlap --persistent=mpix %s -- mpicc.openmpi | FileCheck %s
// RUN: nbc-overlap --whole %s -- mpicc.openmpi -DPROFILED | FileCheck %s --check-prefix=PROFILED --implicit-check-not=fix:
// RUN: nbc-overlap --whole %s -- mpicc.openmpi -DPOINTER | FileCheck %s --check-prefix=POINTER --implicit-check-not=fix:
// RUN: nbc-overlap --whole %s -- mpicc.openmpi -DSIDES | FileCheck %s --check-prefix=SIDES --implicit-check-not=fix:
// RUN: nbc-overlap --whole %s -- mpicc.openmpi -DJOINED | FileCheck %s --check-prefix=JOINED --implicit-check-not=fix:
// RUN: not nbc-overlap --whole --library %s -- mpicc.openmpi
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
enum { N = 400 };
static double y[N], in, out;
static int kept;
static void work(void) {
  for (int i = 0; i < N; ++i) y[i] += i;
}
static int chance(void) {
  struct timeval now;
  gettimeofday(&now, NULL);
  FILE *file = fopen("here", "r");
  if (file) fclose(file);
  return file != NULL || now.tv_usec > 5 || getpid() > 3;
}
static void parts(MPI_Comm group, MPI_Comm other) {
  // Another communicator than that of the next, for sure.
  if (chance()) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iscan here
    MPI_Scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  if (chance()) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iscan here
    MPI_Scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, group);
    work();
  }
  // What has two names here may be one communicator on two ranks.
  if (chance()) {
    // CHECK: note: not changed: whether a rank comes here depends on 'chance()', which may differ among ranks: {{.*}}; so it may meet the one of {{.*}}meetings.c:[[#@LINE+5]], which need not change with it
    MPI_Exscan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, group);
    work();
  }
  if (chance()) {
    MPI_Exscan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, other);
    work();
  }
}
#ifdef PART
void elsewhere(void);  // in no source
#else
static void elsewhere(void) {}
#endif
int main(int argc, char **argv) {
  MPI_Comm group, other;
  MPI_Init(&argc, &argv);
  elsewhere();
  MPI_Comm_split(MPI_COMM_WORLD, chance(), 0, &group);
  MPI_Comm_split(MPI_COMM_WORLD, chance(), 0, &other);
  if (chance()) {
    // PART: so it may meet one in code that is not seen, elsewhere() for one, unless --whole, which need not change with it
    // PROFILED: so it may meet one by PMPI_Allreduce(), which
    // POINTER: so it may meet one by MPI_Allreduce(), which
    // SIDES: so it may meet one of another group, which
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  if (chance()) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    work();
  }
  if (chance()) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Ireduce here
    MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    work();
  }
  if (chance()) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Ireduce here
    MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, 1, MPI_COMM_WORLD);
    work();
  }
  // Lengths and types that no MPI compares do not tell calls apart, nor do roots that are no constants.
  if (chance()) {
    // CHECK: [[#@LINE+1]]:5: remark: MPI_Bcast
    MPI_Bcast(y, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    // CHECK: note: not changed: whether a rank comes here
    work();
  } else {
    MPI_Bcast(y, 16, MPI_BYTE, kept, MPI_COMM_WORLD);
  }
  // A persistent one is made by all ranks together, and one that has no turn to do would be alone.
  if (chance()) {
    for (int i = 0; i < 10; ++i) {
      // CHECK: note: not persistent: a rank that does not come here would not make the request with the others
      // CHECK: [[#@LINE+1]]:7: note: fix: MPI_Igather here
      MPI_Gather(&in, 1, MPI_DOUBLE, &out, 1, MPI_DOUBLE, 0, MPI_COMM_SELF);
      work();
    }
  }
  parts(group, other);
#ifdef JOINED
  MPI_Comm_get_parent(&group);
  // JOINED: note: not changed: ranks of another program may take part in it
  MPI_Bcast(y, 2, MPI_DOUBLE, 0, group);
  work();
#elif defined SIDES
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 3, 5, &other);
#elif defined PROFILED
  PMPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#elif defined POINTER
  int (*all)() = (int (*)())MPI_Allreduce;
  all();
#endif
  MPI_Finalize();
}
