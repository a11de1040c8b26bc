// Between what falls through and the next case stands nothing but what says so.
// REQUIRES: openmpi
// RUN: grep -v CHECK %s > %t.c && cp %t.c %t.cpp && nbc-overlap --fix %t.c -- mpicc.openmpi && FileCheck %s --input-file=%t.c
// RUN: mpicc.openmpi -Wall -Wextra -Werror -fsyntax-only %t.c
// RUN: nbc-overlap --fix %t.cpp -- mpicxx.openmpi -DOMPI_SKIP_MPICXX && FileCheck %s --input-file=%t.cpp
#include <mpi.h>
static double w[1000];
static int count;
#ifdef __cplusplus
#define FALLS_THROUGH [[fallthrough]]
#else
#define FALLS_THROUGH __attribute__((fallthrough))
#endif
int main(int argc, char **argv) {
  int x = 1, i;
  MPI_Init(&argc, &argv);
  switch (argc) {
    case 1:
      count++;
      MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
      for (i = 0; i < 1000; i++) w[i] = i;
      FALLS_THROUGH;
      // CHECK:      for (i = 0; i < 1000; i++) w[i] = i;
      // CHECK-NEXT: MPI_Wait(
      // CHECK-NEXT: FALLS_THROUGH;
    case 2:
      count++;
      MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
      for (i = 0; i < 1000; i++) w[i] = i; /* fall through */
      // CHECK:      for (i = 0; i < 1000; i++) w[i] = i;{{$}}
      // CHECK-NEXT: MPI_Wait({{.*}}); /* fall through */
    case 3: count++;
  }
  MPI_Finalize();
  return x + w[5] > 0;
}
