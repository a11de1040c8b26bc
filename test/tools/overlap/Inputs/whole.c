/* Many collectives with work between them, each rank delayed as its number and the seed say. What rank 0 prints
 * depends on every byte that was received, so it is the same before and after. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 64 };
static unsigned state;
static int ranks;

static void delay(void) { usleep(rand_r(&state) % 700); }

static double compute(double *v, int n, double by) {
  double sum = 0;
  delay();
  for (int i = 0; i < n; ++i) {
    v[i] = v[i] * 0.5 + by + i;
    sum += v[i];
  }
  return sum;
}

/* The sum of the last step is needed only at the end of this one. */
static double iterate(int steps, int rank) {
  double field[N] = {0}, next[N] = {0}, local[2] = {rank, 1}, all[2] = {1, 1}, total = 0;
  for (int step = 0; step < steps && all[0] < 1e12; ++step) {
    local[0] = compute(field, N, rank + step);
    MPI_Allreduce(local, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    compute(next, N, step);
    for (int i = 1; i < N - 1; ++i) next[i] += (field[i - 1] + field[i + 1]) / 2;
    total += all[0] / all[1] + next[N / 2];
  }
  return total;
}

static double transpose(int rank) {
  int *counts = malloc(ranks * sizeof *counts), *places = malloc(ranks * sizeof *places);
  double *out = malloc(ranks * N * sizeof *out), *in = malloc(ranks * N * sizeof *in), other[N] = {0}, sum = 0;
  for (int i = 0; i < ranks; ++i) counts[i] = N, places[i] = i * N;
  for (int i = 0; i < ranks * N; ++i) out[i] = rank * 1000 + i;
  compute(other, N, rank);
  MPI_Alltoallv(out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) other[i] += out[i];
  delay();
  counts[0] = 0;
  for (int i = 0; i < ranks * N; ++i) sum += in[i] * (i % 7);
  for (int i = 0; i < N; ++i) sum += other[i];
  free(counts), free(places), free(out), free(in);
  return sum;
}

static double rooted(int rank) {
  double *parts = calloc(ranks * N, sizeof *parts), mine[N], shared[N] = {0}, sum = 0;
  for (int i = 0; i < ranks * N; ++i) parts[i] = i + 1;
  MPI_Scatter(parts, N, MPI_DOUBLE, mine, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  compute(shared, N, 3);
  for (int i = 0; i < N; ++i) mine[i] += rank + shared[i];
  /* two of them at once */
  MPI_Bcast(shared, N, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);
  MPI_Gather(mine, N, MPI_DOUBLE, parts, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) sum += mine[i];
  delay();
  for (int i = 0; i < ranks * N; ++i) sum += parts[i];
  for (int i = 0; i < N; ++i) sum += shared[i];
  free(parts);
  return sum;
}

static double scanned(int rank) {
  int mine[N], before[N], own[N] = {0};
  double sum = 0;
  for (int i = 0; i < N; ++i) mine[i] = rank + i;
  MPI_Scan(mine, before, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) own[i] = mine[i] * 2;
  delay();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) sum += own[i] + before[i];
  MPI_Reduce_scatter_block(MPI_IN_PLACE, own, N / ranks, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  delay();
  for (int i = 0; i < N; ++i) sum += mine[i];
  for (int i = 0; i < N / ranks; ++i) sum += own[i];
  return sum;
}

int main(int argc, char **argv) {
  int rank;
  double sums[4], all[4];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  state = (argc > 1 ? atoi(argv[1]) : 1) * 31 + rank;
  sums[0] = iterate(20, rank);
  sums[1] = transpose(rank);
  sums[2] = rooted(rank);
  sums[3] = scanned(rank);
  for (int i = 0; i < 4; ++i) sums[i] = (long long)sums[i] % 1000003;
  MPI_Reduce(sums, all, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: %.0f %.0f %.0f %.0f\n", ranks, all[0], all[1], all[2], all[3]);
  MPI_Finalize();
  return 0;
}
