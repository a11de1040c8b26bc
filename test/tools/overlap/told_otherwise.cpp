// What others may be told, or look at, where no statement says so in MPI's or the system's own words.
// REQUIRES: openmpi
// RUN: for how in 0 1 2 3 4; do nbc-overlap %s -- mpicxx.openmpi -DHOW=$how | grep "remark:\|told by\|by another" | sed "s/.*MPI_Reduce: /$how: /; s/.*MPI: / /"; done | FileCheck %s
// CHECK: 0: lines 34 to 37 can run meanwhile
// CHECK-NEXT: 1: line 34 can run meanwhile
// CHECK-NEXT: a rank may be told by it that others have come to MPI_Reduce
// CHECK-NEXT: 2: line 34 can run meanwhile
// CHECK-NEXT: a rank may be told by it that others have come to MPI_Reduce
// CHECK-NEXT: 3: line 34 can run meanwhile
// CHECK-NEXT: a rank may be told by it that others have come to MPI_Reduce
// CHECK-NEXT: 4: line 34 can run meanwhile
// CHECK-NEXT: messages may be seen earlier, by MPI_Init_thread() by another name
#include <mpi.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <fstream>
#include <memory>
static double w[1000];
struct Log {
#if HOW == 1
  std::ofstream to;
#endif
};
int main(int argc, char **argv) {
  int rank, one = 1, sum = 0, m = 0, have = 0;
#if HOW == 4
  int (*init)(int *, char ***, int, int *) = MPI_Init_thread;
  init(&argc, &argv, MPI_THREAD_MULTIPLE, &have);
#else
  MPI_Init(&argc, &argv);
#endif
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; ++i) w[i] += i;
  if (rank == 0) MPI_Send(&m, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
  if (rank == 2) MPI_Recv(&m, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 1000; ++i) w[i] += i;
  w[0] += sum + have;
#if HOW == 1
  if (rank == 1) {
    Log log;
    log.to.open("shared");
  }
#elif HOW == 2
  auto log = std::make_unique<std::ofstream>();
#elif HOW == 3
  if (rank == 1) pidfd_send_signal(pidfd_open(1, 0), SIGUSR1, nullptr, 0);
#endif
  MPI_Finalize();
}
