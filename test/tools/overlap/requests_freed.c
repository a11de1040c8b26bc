// A message whose request is freed while it is under way is waited for by nobody: a collective may be what tells that it is
// over, and its memory free again. Freed requests of other calls do not matter.
// REQUIRES: openmpi
// RUN: for how in 0 1 2 3 4 5 6 7 8 9; do nbc-overlap %s -- mpicc.openmpi -DHOW=$how | grep "35:.*fix:\|tells when" | sed "s/.*note: /$how: /"; done | FileCheck %s
// CHECK: 0: fix: MPI_Iallreduce here, MPI_Wait behind line 36
// CHECK-NEXT: 1: it must be complete here: a[i] may be of a message whose request is freed, and MPI_Allreduce tells when that is over
// CHECK-NEXT: 2: it must be complete here: a[i] may be of a message whose request is freed, and MPI_Allreduce tells when that is over
// CHECK-NEXT: 3: it must be complete here: a[i] may be of a message whose request is freed, and MPI_Allreduce tells when that is over
// CHECK-NEXT: 4: it must be complete here: a[i] may be of a message whose request is freed, and MPI_Allreduce tells when that is over
// CHECK-NEXT: 5: it must be complete here: a[i] may be of a message whose request is freed, and MPI_Allreduce tells when that is over
// CHECK-NEXT: 6: it must be complete here: a[i] may be of a message whose request is freed, and MPI_Allreduce tells when that is over
// CHECK-NEXT: 7: it must be complete here: a[i] may be of a message whose request is freed, and MPI_Allreduce tells when that is over
// CHECK-NEXT: 8: it must be complete here: a[i] may be of a message whose request is freed, and MPI_Allreduce tells when that is over
// CHECK-NEXT: 9: it must be complete here: a[i] may be of a message whose request is freed, and MPI_Allreduce tells when that is over
#include <mpi.h>
#include <stdio.h>
#include <string.h>
enum { N = 1000 };
static double a[N], b[N];
#if HOW == 2
static void end(MPI_Request *request) { MPI_Request_free(request); }
#elif HOW == 0
static void await(MPI_Request *request) { MPI_Wait(request, MPI_STATUS_IGNORE); }
#elif HOW == 5
static void drop(MPI_Request request) { MPI_Request_free(&request); }
#endif
int main(int argc, char **argv) {
  int rank;
  double x = 1, y = 0;
  MPI_Request sent = MPI_REQUEST_NULL, other = MPI_REQUEST_NULL, copy;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) MPI_Isend(a, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &sent);
  if (rank == 0) MPI_Recv(b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) a[i] = 2;
  printf("%g %g\n", y, b[1]);
#if HOW == 0
  MPI_Send_init(a, N, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &copy);
  await(&other);
  MPI_Request_free(&other);
#elif HOW == 1
  MPI_Request_free(&sent);
#elif HOW == 2
  end(&sent);
#elif HOW == 3
  copy = sent;
  MPI_Request_free(&copy);
#elif HOW == 4
  MPI_Request *at = &sent;
  MPI_Request_free(at);
#elif HOW == 5
  drop(sent);
#elif HOW == 6
  MPI_Request all[1] = {sent};
  MPI_Request_free(&all[0]);
#elif HOW == 7
  memcpy(&copy, &sent, sizeof sent);
  MPI_Request_free(&copy);
#elif HOW == 8
  int (*end)(MPI_Request *) = MPI_Request_free;
  end(&sent);
#elif HOW == 9
  union { MPI_Request one, same; } u;
  MPI_Isend(a, N, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &u.one);
  MPI_Request_free(&u.same);
#endif
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  (void)copy;
  MPI_Finalize();
}
