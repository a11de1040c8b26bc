// SPDX-License-Identifier: BSD-3-Clause
// grids.c - communicators of many groups, made and freed in turn, as libraries of grids do.
//
// Rank 3 is in one group, the others are in nine, so they have freed eight others before that one
// comes again. What they have left of it must be what rank 3 has.

#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 10, GROUPS = 9 };

static int wrong;

// Places in the communicator; -1: not there.
static const int group_places[GROUPS][4] = {{0, 1, 2, 3},  {0, 1, 2, -1},  {0, 2, 1, -1},
                                            {1, 0, 2, -1}, {1, 2, 0, -1},  {2, 0, 1, -1},
                                            {2, 1, 0, -1}, {0, 1, -1, -1}, {1, 0, -1, -1}};

static void use(const int *places, int me, int round) {
  int ranks = 0, sum = 0, unused_too = round % 2;
  for (int r = 0; r < 4; ++r) ranks += places[r] >= 0;
  MPI_Comm comm, other = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, places[me] < 0 ? MPI_UNDEFINED : 0, places[me], &comm);
  if (comm == MPI_COMM_NULL) return;
  if (unused_too) MPI_Comm_dup(comm, &other);
  const int mine = round + places[me];
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  wrong += sum != ranks * round + ranks * (ranks - 1) / 2;
  if (unused_too) MPI_Comm_free(&other);
  MPI_Comm_free(&comm);
}

int main(int count, char **words) {
  int me, ranks, all = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int round = 0; round < ROUNDS; ++round)
    for (int g = 0; g < GROUPS; ++g) use(group_places[g], me, round);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) printf("grids: %d wrong\n", all);
  MPI_Finalize();
  return wrong != 0;
}
