/* Collective calls in the ways that public mini-applications make them: time steps with a common step, histograms that are
 * exchanged, clusters, a vector in blocks, parameters that one rank reads, wrappers with timers, norms. */
#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 48, K = 4 };
#define USE_MPI 1
typedef double Real;
typedef struct {
  int steps, points, kind;
  Real eps;
} Parameters;
typedef struct {
  Real *x, *v, *f, *e;
  Real dt_courant, dt_hydro, dt;
  int n, cycle;
} Domain;

static unsigned state;
static double seconds[3];
static int rank, ranks;

static void delay(void) { usleep(rand_r(&state) % 300); }
static void start_timer(int i) { seconds[i] -= MPI_Wtime(); }
static void stop_timer(int i) { seconds[i] += MPI_Wtime(); }

static Real *vector(int n) {
  Real *v = (Real *)calloc((size_t)n + 1, sizeof *v);
  if (v == NULL) {
    fprintf(stderr, "no memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return v;
}

/* One rank reads, all get a copy. */
static void read_parameters(Parameters *p, int argc, char **argv) {
  if (rank == 0) {
    p->steps = argc > 2 ? atoi(argv[2]) : 5;
    p->points = N;
    p->kind = 1;
    p->eps = 1e-3;
  }
  MPI_Bcast(&p->steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(&p->points, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(p, sizeof *p, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Sums in wrappers, with a timer around them. */
static void add_real(Real *send, Real *recv, int count) {
  MPI_Allreduce(send, recv, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static Real ddot(int n, const Real *x, const Real *y) {
  Real local = 0, global = 0;
  for (int i = 0; i < n; ++i) local += x[i] * y[i];
#ifdef USE_MPI
  start_timer(0);
  MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  stop_timer(0);
#else
  global = local;
#endif
  return global;
}

/* The step that all may take, by the slowest. */
static void time_increment(Domain *d) {
  Real least = 1e20, mine;
  if (d->dt_courant < least) least = d->dt_courant / 2;
  if (d->dt_hydro < least) least = d->dt_hydro * 2 / 3;
  mine = least;
#if USE_MPI
  MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
#endif
  d->dt = least;
  ++d->cycle;
}
static void forces(Domain *d) {
  delay();
  for (int i = 1; i < d->n - 1; ++i) d->f[i] = d->x[i - 1] - 2 * d->x[i] + d->x[i + 1];
  d->dt_courant = 0.1 + fabs(d->f[d->n / 2]) / (1 + rank);
  d->dt_hydro = 0.2 + 1.0 / (2 + d->cycle);
}
static Real leapfrog(Domain *d, int steps) {
  Real kinetic = 0, all[2] = {0, 0}, mine[2];
  for (int s = 0; s < steps; ++s) {
    forces(d);
    time_increment(d);
    for (int i = 0; i < d->n; ++i) d->v[i] += d->dt * d->f[i];
    kinetic = 0;
    for (int i = 0; i < d->n; ++i) kinetic += d->v[i] * d->v[i];
    mine[0] = kinetic;
    mine[1] = s;
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < d->n; ++i) d->x[i] += d->dt * d->v[i];
    delay();
    if (rank == 0 && s % 2 == 0) d->e[s % N] = all[0];
  }
  return all[0] + all[1] + d->e[0] + d->x[d->n / 3];
}

/* Keys by bucket: counts first, then keys. */
static Real buckets(int n) {
  int *keys = malloc(sizeof *keys * n), *sent = calloc(ranks, sizeof *sent), *got = calloc(ranks, sizeof *got);
  int *sent_at = calloc(ranks, sizeof *sent_at), *got_at = calloc(ranks, sizeof *got_at), all = 0;
  for (int i = 0; i < n; ++i) keys[i] = (i * 7919 + rank * 31) % (100 * ranks);
  int *sorted = malloc(sizeof *sorted * n), *next = calloc(ranks, sizeof *next);
  for (int i = 0; i < n; ++i) sent[keys[i] / 100]++;
  MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 1; r < ranks; ++r) sent_at[r] = next[r] = sent_at[r - 1] + sent[r - 1];
  for (int i = 0; i < n; ++i) sorted[next[keys[i] / 100]++] = keys[i];
  delay();
  for (int r = 0; r < ranks; ++r) {
    got_at[r] = all;
    all += got[r];
  }
  int *mine = malloc(sizeof *mine * (all + 1));
  MPI_Alltoallv(sorted, sent, sent_at, MPI_INT, mine, got, got_at, MPI_INT, MPI_COMM_WORLD);
  Real sum = 0;
  for (int i = 0; i < all; ++i) sum += mine[i] * (Real)(i % 3 + 1);
  free(keys), free(sent), free(got), free(sent_at), free(got_at), free(sorted), free(next), free(mine);
  return sum;
}

/* Clusters: until no point changes. */
static Real clusters(int n, int most) {
  Real centre[K], sums[K], all[K], points[N];
  int counts[K], all_counts[K], of[N], changed, any, turn = 0;
  memset(of, 0, sizeof of);
  for (int i = 0; i < n; ++i) points[i] = (i * 37 + rank * 11) % 101;
  for (int k = 0; k < K; ++k) centre[k] = k * 25;
  MPI_Bcast(centre, K, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  do {
    changed = 0;
    for (int k = 0; k < K; ++k) sums[k] = counts[k] = 0;
    for (int i = 0; i < n; ++i) {
      int best = 0;
      for (int k = 1; k < K; ++k)
        if (fabs(points[i] - centre[k]) < fabs(points[i] - centre[best])) best = k;
      if (of[i] != best) changed++;
      of[i] = best;
      sums[best] += points[i];
      counts[best]++;
    }
    MPI_Allreduce(sums, all, K, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(counts, all_counts, K, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    delay();
    for (int k = 0; k < K; ++k)
      if (all_counts[k] > 0) centre[k] = all[k] / all_counts[k];
    MPI_Allreduce(&changed, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } while (any > 0 && ++turn < most);
  return centre[0] + 2 * centre[K - 1] + turn;
}

/* Two vectors taken in turns, the new one gathered by all; the norm decides. */
static Real jacobi(int n, int most, Real eps) {
  Real *x = vector(n * ranks), *y = vector(n * ranks), *b = vector(n), *mine = vector(n), *t, norm = 1;
  for (int i = 0; i < n; ++i) b[i] = rank + i;
  for (int turn = 0; turn < most && norm > eps; ++turn) {
    for (int i = 0; i < n; ++i) {
      Real s = b[i];
      for (int j = 0; j < n * ranks; ++j) s -= x[j] / (10.0 * n * ranks);
      mine[i] = s / 2;
    }
    MPI_Allgather(mine, n, MPI_DOUBLE, y, n, MPI_DOUBLE, MPI_COMM_WORLD);
    Real local = 0;
    for (int i = 0; i < n; ++i) local += fabs(mine[i] - x[rank * n + i]);
    add_real(&local, &norm, 1);
    t = x;
    x = y;
    y = t;
  }
  Real result = ddot(n, x, x) + norm;
  free(x), free(y), free(b), free(mine);
  return result;
}

int main(int argc, char *argv[]) {
  Parameters p;
  Domain d;
  Real sums[5], all[5];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  state = (argc > 1 ? atoi(argv[1]) : 1) * 131 + rank;
  read_parameters(&p, argc, argv);
  d.n = p.points;
  d.cycle = 0;
  d.x = vector(d.n);
  d.v = vector(d.n);
  d.f = vector(d.n);
  d.e = vector(d.n);
  for (int i = 0; i < d.n; ++i) d.x[i] = (i * (rank + 3)) % 17;
  sums[0] = leapfrog(&d, p.steps);
  sums[1] = buckets(10 * p.points);
  sums[2] = clusters(p.points, 9);
  sums[3] = jacobi(p.points, 12, p.eps);
  sums[4] = p.kind + p.steps;
  for (int i = 0; i < 5; ++i) sums[i] = fmod(sums[i] * 1000, 1000003);
  for (int i = 0; i < 5; ++i) sums[i] = floor(sums[i]);
  MPI_Reduce(sums, all, 5, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: %.0f %.0f %.0f %.0f %.0f\n", ranks, all[0], all[1], all[2], all[3], all[4]);
  MPI_Finalize();
  return seconds[0] < 0;
}
