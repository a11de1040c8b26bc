// SPDX-License-Identifier: BSD-3-Clause
// exits.cpp - a program that leaves by exit(): with calls under way and no MPI_Finalize, or with an
// MPI_Finalize in a destructor, behind which nothing of MPI may be gone.
//
//   exits 3     exit(3), with communicators, plans and requests left
//   exits 0     and MPI_Finalize by a static object, made before all that MPI makes

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace {

struct Environment {
  bool begun = false;
  ~Environment() {
    if (!begun) return;
    int me = 0, one = 1, sum = 0, before = 0, ranks = 0;
    MPI_Comm again = MPI_COMM_NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &again);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, again);
    MPI_Scan(&one, &before, 1, MPI_INT, MPI_SUM, again);  // a plan that nothing was made for yet
    MPI_Comm_free(&again);
    MPI_Finalize();
    if (me == 0) std::puts(sum == ranks && before == 1 ? "exits: over" : "exits: WRONG");
  }
};
Environment environment;

}  // namespace

int main(int argc, char **argv) {
  static int mine[100000], all[100000], sums[3];
  MPI_Comm comms[3];
  MPI_Request requests[3];
  MPI_Init(&argc, &argv);
  const int status = argc > 1 ? std::atoi(argv[1]) : 0;
  environment.begun = status == 0;
  for (int i = 0; i < 3; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Allreduce(&i, &sums[i], 1, MPI_INT, MPI_SUM, comms[i]);
  }
  MPI_Comm_free(&comms[2]);
  if (status) {
    MPI_Iallreduce(mine, all, 100000, MPI_INT, MPI_SUM, comms[0], &requests[0]);
    MPI_Ibarrier(comms[1], &requests[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
  }
  std::exit(status);
}
