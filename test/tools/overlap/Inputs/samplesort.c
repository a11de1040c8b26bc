/* A sample sort: samples gathered by one, splitters broadcast, how much goes where, the keys. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 8

static int by_value(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

static void *grab(size_t n) {
  void *p = malloc(n ? n : 1);
  if (p == NULL) exit(EXIT_FAILURE);
  return p;
}

int main(int argc, char *argv[]) {
  int rank, size, n = 400, i, total = 0, longest, mean;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int *keys = grab(n * sizeof(int)), *samples = grab(SAMPLES * sizeof(int)), *all = grab(SAMPLES * size * sizeof(int));
  int *splitters = grab(size * sizeof(int)), *bucket = grab(n * sizeof(int));
  int *scount = calloc(size, sizeof(int)), *rcount = calloc(size, sizeof(int));
  int *sdisp = calloc(size, sizeof(int)), *rdisp = calloc(size, sizeof(int));
  for (i = 0; i < n; i++) keys[i] = (i * 7919 + rank * 104729) % 10007;
  for (i = 0; i < SAMPLES; i++) samples[i] = keys[i * (n / SAMPLES)];
  MPI_Gather(samples, SAMPLES, MPI_INT, all, SAMPLES, MPI_INT, 0, MPI_COMM_WORLD);
  long sum = 0;
  for (i = 0; i < n; i++) sum += keys[i] % 17;
  if (rank == 0) {
    qsort(all, SAMPLES * size, sizeof(int), by_value);
    for (i = 0; i < size - 1; i++) splitters[i] = all[(i + 1) * SAMPLES];
    splitters[size - 1] = 1 << 30;
  }
  MPI_Bcast(splitters, size, MPI_INT, 0, MPI_COMM_WORLD);
  for (i = 0; i < n; i++) {
    int b = 0;
    while (keys[i] >= splitters[b]) b++;
    bucket[i] = b;
    scount[b]++;
  }
  MPI_Alltoall(scount, 1, MPI_INT, rcount, 1, MPI_INT, MPI_COMM_WORLD);
  int *out = grab(n * sizeof(int)), *at = calloc(size, sizeof(int));
  for (i = 1; i < size; i++) sdisp[i] = at[i] = sdisp[i - 1] + scount[i - 1];
  for (i = 0; i < n; i++) out[at[bucket[i]]++] = keys[i];
  for (i = 0; i < size; i++) {
    rdisp[i] = total;
    total += rcount[i];
  }
  int *in = grab(total * sizeof(int));
  MPI_Alltoallv(out, scount, sdisp, MPI_INT, in, rcount, rdisp, MPI_INT, MPI_COMM_WORLD);
  MPI_Allreduce(&total, &longest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  qsort(in, total, sizeof(int), by_value);
  mean = size * n / size;
  for (i = 1; i < total; i++) sum += (in[i - 1] <= in[i]) * i % 5;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: sum %ld, longest %d, mean %d\n", size, sum, longest, mean);
  free(keys), free(samples), free(all), free(splitters), free(bucket), free(scount), free(rcount);
  free(sdisp), free(rdisp), free(out), free(at), free(in);
  MPI_Finalize();
  return 0;
}
