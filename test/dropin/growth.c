// SPDX-License-Identifier: BSD-3-Clause
// growth.c - calls that get longer, in an address space too small for scratch of any length.
//
//   NBC_ALLREDUCE=recursive_doubling: one plan for all lengths, if there is room for it
//
// The last rank is in place at the second call, which is nobody's habit there: that the first one's
// plan has been replaced it has to notice all the same.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LONGEST = 3 << 20 };

static void limit(unsigned long long more) {
  unsigned long long pages = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file || fscanf(file, "%llu", &pages) != 1) MPI_Abort(MPI_COMM_WORLD, 1);
  fclose(file);
  struct rlimit least = {.rlim_cur = pages * (unsigned long long)sysconf(_SC_PAGESIZE) + more};
  least.rlim_max = least.rlim_cur;
  if (setrlimit(RLIMIT_AS, &least)) MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int count, char **words) {
  int rank, ranks, wrong = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  limit(2ull << 30);
  int *in = (int *)malloc(LONGEST * sizeof *in), *out = (int *)malloc(LONGEST * sizeof *out);
  const int lengths[] = {1, LONGEST, 1, LONGEST / 8, LONGEST};
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < lengths[i]; ++k) in[k] = k + rank + i;
    int in_place = i == 1 && rank == ranks - 1;
    if (in_place) memcpy(out, in, (size_t)lengths[i] * sizeof *in);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, lengths[i], MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int k = 0; k < lengths[i]; ++k)
      wrong += out[k] != ranks * (k + i) + ranks * (ranks - 1) / 2;
  }
  if (rank == 0) printf("growth on %d: %d wrong\n", ranks, wrong);
  free(in);
  free(out);
  MPI_Finalize();
  return wrong != 0;
}
