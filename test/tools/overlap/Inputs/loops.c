/* Loops whose turns overlap, or start one persistent call; each rank delayed as its number and the seed say. What rank 0
 * prints depends on every byte that was received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 64 };
struct parts {
  double *mine, *all, *next, *sum;
  int ranks, steps;
};
static unsigned state;

static void delay(void) { usleep(rand_r(&state) % 500); }

static double *numbers(int n) {
  double *v = malloc(sizeof *v * (size_t)n);
  if (!v) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < n; ++i) v[i] = 0;
  return v;
}

static void produce(const struct parts *p, int rank, int step) {
  delay();
  for (int i = 0; i < N; ++i) p->next[i] = p->next[i] * 0.5 + rank * 10 + step + i;
}

static double consume(const struct parts *p) {
  double sum = 0;
  for (int i = 0; i < N * p->ranks; ++i) sum += p->all[i] * (i % 5);
  return sum;
}

/* What a turn gathers is looked at in the next, behind what that one produces. */
static double gathered(const struct parts *p, int rank, int steps) {
  double total = 0;
  for (int step = 0; step < steps; ++step) {
    produce(p, rank, step);
    total += consume(p);
    for (int i = 0; i < N; ++i) p->mine[i] = p->next[i];
    if (step > 17) break;
    MPI_Allgather(p->mine, N, MPI_DOUBLE, p->all, N, MPI_DOUBLE, MPI_COMM_WORLD);
  }
  return total + consume(p);
}

/* The same call in each turn. */
static double summed(int rank, int steps) {
  double mine[N], all[N] = {0}, other[N] = {0}, total = 0;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < N; ++i) mine[i] = rank + i * step + all[i] / 1e3;
    MPI_Allreduce(mine, all, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    delay();
    for (int i = 0; i < N; ++i) other[i] += mine[i];
    for (int i = 0; i < N; ++i) total += all[i] - other[i] / 7;
  }
  return total;
}

static double either(const struct parts *p, int kind) {
  double sum = 0;
  int rc;
  if (kind % 2)
    MPI_Allgather(p->mine, N, MPI_DOUBLE, p->all, N, MPI_DOUBLE, MPI_COMM_WORLD);
  else
    MPI_Alltoall(p->all, N, MPI_DOUBLE, p->sum, N, MPI_DOUBLE, MPI_COMM_WORLD);
  delay();
  for (int i = 0; i < N; ++i) p->next[i] += i;
  sum += consume(p) + p->sum[3];
  rc = MPI_Bcast(p->next, N, MPI_DOUBLE, kind % p->ranks, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) return -1;
  delay();
  for (int i = 0; i < N; ++i) p->mine[i] += i;
  return sum + p->next[7];
}

int main(int argc, char **argv) {
  int rank;
  double sums[3], all[3];
  struct parts p;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
  state = (argc > 1 ? atoi(argv[1]) : 1) * 31 + rank;
  p.mine = numbers(N);
  p.next = numbers(N);
  p.all = numbers(N * p.ranks);
  p.sum = numbers(N * p.ranks);
  sums[0] = gathered(&p, rank, 30);
  sums[1] = summed(rank, 20);
  sums[2] = 0;
  for (int kind = 0; kind < 6; ++kind) sums[2] += either(&p, kind);
  for (int i = 0; i < 3; ++i) sums[i] = (long long)sums[i] % 1000003;
  MPI_Reduce(sums, all, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: %.0f %.0f %.0f\n", p.ranks, all[0], all[1], all[2]);
  MPI_Finalize();
  return 0;
}
