/* Buffers taken in turns, rows of an array, and parts of one that almost touch. What rank 0 prints depends on every number
 * that was received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40, ROWS = 12 };
typedef struct {
  double *send[2], *line;
  double *grid;
  int n, ranks;
} Work;
static int rank;

static double *numbers(int n) {
  double *v = malloc(sizeof *v * (size_t)n);
  if (!v) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < n; ++i) v[i] = 0.25 * i;
  return v;
}

static void produce(const Work *w, int step) {
  double *to = w->send[step % 2];
  for (int i = 0; i < w->n; ++i) to[i] = step * 3 + i * (rank + 1);
}

static double *row(const Work *w, int step) { return w->grid + step * w->n; }

/* Sent from two buffers, into rows of a grid, of which older ones are looked at. */
static double pipeline(Work *w) {
  double seen = 0;
  for (int step = 0; step < ROWS; ++step) {
    produce(w, step);
    for (int i = 0; i < step * w->n - w->n; ++i) seen += w->grid[i] * (i % 7);
    MPI_Allreduce(w->send[step % 2], row(w, step), w->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < ROWS * w->n; ++i) seen += w->grid[i] * (i % 5);
  return seen;
}

/* Halves by a variable; what is sent was there in the turn before. */
static double flipping(int steps) {
  double both[2][N], all[N] = {0}, sum = 0;
  int now = 0;
  for (int i = 0; i < N; ++i) both[0][i] = both[1][i] = rank + i;
  while (steps-- > 0) {
    for (int i = 0; i < N; ++i) both[now][i] = both[now][i] * 0.5 + steps + rank;
    for (int i = 0; i < N; ++i) both[now][i] += 1.0 / (i + 1);
    sum += all[steps % N];
    MPI_Allreduce(both[now], all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    now = 1 - now;
  }
  return sum + all[3];
}

/* Three parts in turns, each root's another. */
static double ring(double *v, int n, int ranks, int steps) {
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    for (int k = 0; k < n; ++k) v[(i + 1) % 3 * n + k] = i + rank * k;
    MPI_Bcast(v + i % 3 * n, n, MPI_DOUBLE, i % ranks, MPI_COMM_WORLD);
    for (int k = 0; k < n; ++k) sum += v[(i + 2) % 3 * n + k];
    sum += v[i % 3 * n + n - 1];
  }
  return sum;
}

/* A wave front: the row above is read while this one is summed up; the first and last elements lie at each other's side. */
static double sides(double *v, int n) {
  double sum = 0;
  for (int r = 1; r < ROWS; ++r) {
    MPI_Allreduce(MPI_IN_PLACE, &v[r * n], n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int k = (r - 1) * n; k < r * n; ++k) sum += v[k] * (k % 3);
    for (int k = r * n - n; k <= r * n; ++k) sum += v[k];
  }
  return sum;
}

int main(int argc, char **argv) {
  Work w = {.n = N};
  double sums[4], all[4];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &w.ranks);
  for (int i = 0; i < 2; ++i) w.send[i] = numbers(N);
  w.grid = numbers(ROWS * N);
  double *v = numbers(ROWS * N);
  sums[0] = pipeline(&w);
  sums[1] = flipping(15);
  sums[2] = ring(v, N, w.ranks, 11);
  sums[3] = sides(v, N);
  MPI_Reduce(sums, all, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: %.3f %.3f %.3f %.3f\n", w.ranks, all[0], all[1], all[2], all[3]);
  MPI_Finalize();
  return 0;
}
