// What a number is elsewhere does not matter: in a loop that begins by setting it, behind a broadcast at the end of each
// turn, or where it was just set.
// REQUIRES: openmpi
// RUN: for n in 1 2 3 4 5 6; do nbc-overlap %s -- mpicc.openmpi -DCASE=$n; done | FileCheck %s
// CHECK-COUNT-6: note: fix: MPI_Iallreduce
// RUN: for n in 11 12 13 14 15 16 17 18; do nbc-overlap %s -- mpicc.openmpi -DCASE=$n; done | FileCheck %s --check-prefix=OTHER --implicit-check-not=fix:
// OTHER: whether a rank comes here depends on 'rank == 0'
// OTHER: whether a rank comes here depends on 'i < 10'
// OTHER: how often a rank comes here is not followed
// OTHER: whether a rank comes here depends on 'rank == 0 && k == 3'
// OTHER: whether a rank comes here depends on '!done'
// OTHER: whether a rank comes here depends on 'k < 50 && !done'
// OTHER: whether a rank comes here depends on '!done'
// OTHER: whether a rank comes here depends on 'k > 2'
#include <mpi.h>
#include <stdio.h>
static double in[10], out[10], other[1000];
static void once(void) {
  MPI_Allreduce(in, out, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int j = 0; j < 1000; ++j) other[j] = j * 2.0;
  in[0] = out[0];
}
int main(int argc, char **argv) {
  int rank, i = 0, k, done = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#if CASE == 1  // set by the loop
  for (i = 0; i < 10; ++i) once();
  if (rank == 0)
    for (i = 0; i < 1000; ++i) other[i] = 1;
#elif CASE == 2  // with another
  for (k = 1, i = 0; i < 10; i += k) once();
  i = rank;
#elif CASE == 3  // each turn ends with a broadcast of it
  for (k = 0; k < 50 && !done; k++) {
    once();
    if (rank == 0 && in[0] > 1) done = 1;
    MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
#elif CASE == 4
  while (!done) {
    if (!done) once();
    if (rank == 0 && in[0] > 1) done = 1;
    MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
#elif CASE == 5  // whatever it was before
  done = rank;
  do {
    once();
    if (rank == 0 && in[0] > 1) done = 1;
    MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  } while (!done);
#elif CASE == 6  // set just before
  k = 3;
  printf("%d\n", k);
  if (k > 2) once();
  k = rank;
#elif CASE == 11  // the rank sets it in the loop
  for (i = 0; i < 10; ++i) {
    once();
    if (rank == 0) i = 10;
  }
#elif CASE == 12  // and before
  for (i = rank; i < 10; ++i) once();
#elif CASE == 13  // a jump leads into the loop
  i = rank;
  if (argc > 5) goto inside;
  for (i = 0; i < 10; ++i) {
  inside:
    once();
  }
#elif CASE == 14  // a turn may end without the broadcast
  for (k = 0; k < 50 && !done; k++) {
    once();
    if (rank == 0 && k == 3) {
      done = 1;
      continue;
    }
    MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
#elif CASE == 15  // the first does not begin with one
  done = rank;
  while (!done) {
    once();
    MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
#elif CASE == 16  // something comes behind it
  for (k = 0; k < 50 && !done; k++, done += rank) {
    once();
    MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
#elif CASE == 17  // by a pointer, from a rank
  int *p = &done;
  while (!done) {
    once();
    MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Recv(p, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
#elif CASE == 18  // later, by what was started before
  MPI_Request r;
  MPI_Irecv(&k, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &r);
  k = 3;
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  if (k > 2) once();
#endif
  if (rank == 0) MPI_Allreduce(in, out, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  if (rank == 1) MPI_Allreduce(in, out, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
}
