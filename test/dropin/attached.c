// SPDX-License-Identifier: BSD-3-Clause
// attached.c - memory attached to a window, on many pages; each rank writes that of the next.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAGES = 100, APART = 3 * 4096 };

int main(int argc, char **argv) {
  int me, ranks, wrong = 0;
  MPI_Aint mine[PAGES], theirs[PAGES];
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char *memory = calloc(PAGES, APART);
  if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
  const int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;

  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int i = 0; i < PAGES; ++i) {
    MPI_Win_attach(window, memory + i * APART, sizeof(int));
    MPI_Get_address(memory + i * APART, &mine[i]);
  }
  MPI_Sendrecv(mine, PAGES, MPI_AINT, before, 0, theirs, PAGES, MPI_AINT, next, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Win_fence(0, window);
  for (int i = 0; i < PAGES; ++i) MPI_Put(&me, 1, MPI_INT, next, theirs[i], 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < PAGES; ++i) {
    wrong += *(int *)(void *)(memory + i * APART) != before;
    MPI_Win_detach(window, memory + i * APART);
  }
  MPI_Win_free(&window);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("attached: %d pages of %d ranks, %d wrong\n", PAGES, ranks, wrong);
  free(memory);
  MPI_Finalize();
}
