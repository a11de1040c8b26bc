// SPDX-License-Identifier: BSD-3-Clause
// pcg.c - preconditioned conjugate gradients, with three inner products an iteration.
//
// After Kandalla and others, who took hypre's solver and its driver's 27-point Laplacian. They have
// three algorithms; in the two variants here that overlap it is always the third:
//
//   --algorithm=1  as hypre has it: each inner product is needed at once
//   --algorithm=2  with a split preconditioner, C = L L^T: x follows one iteration later, and
//                  gamma is used first in the next
//   overlapped     the same, and each of the three goes on behind a scaling or an axpy
//
// C is the diagonal, so L is its square root. The grid lies in slabs along its slowest dimension.
// What neighbours need goes by point-to-point messages, as in hypre; what is measured as
// communication are the inner products.
//
// Boundary values are zero and the right side is the matrix times all ones, so the solution is
// known.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "persistent.h"

struct slab {
  long n, planes;     // the grid is n * n in a plane; planes of this rank
  long plane, cells;  // points of a plane, of all planes
  int below, above;   // ranks, or MPI_PROC_NULL
};

struct product {  // an inner product under way
  double sum;
  MPI_Request request;
};

/// Vectors have a plane below and one above their own. Returns the first of their own.
static double *zeros(const struct slab *slab) {
  size_t all = (size_t)(slab->cells + 2 * slab->plane);
  double *values = app_allocate(sizeof(double) * all);
  memset(values, 0, sizeof(double) * all);
  return values + slab->plane;
}

static void release(const struct slab *slab, double *values) {
  free(values - slab->plane);
}

/// s = A p in one plane.
static void multiply_plane(const struct slab *slab, const double *p, double *s, long k) {
  long n = slab->n;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < n; ++i) {
      double around = 0;
      for (long z = k - 1; z <= k + 1; ++z)
        for (long y = j > 0 ? j - 1 : j; y <= (j < n - 1 ? j + 1 : j); ++y) {
          const double *row = p + z * slab->plane + y * n;
          around += row[i];
          if (i > 0) around += row[i - 1];
          if (i < n - 1) around += row[i + 1];
        }
      long at = k * slab->plane + j * n + i;
      s[at] = 27 * p[at] - around;
    }
}

/// s = A p: inner planes while those of the neighbours come.
static void multiply(const struct slab *slab, double *p, double *s) {
  MPI_Request requests[4];
  MPI_Status statuses[4];
  int length = (int)slab->plane;
  double *last = p + slab->cells - slab->plane;
  MPI_Irecv(p - slab->plane, length, MPI_DOUBLE, slab->below, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(p + slab->cells, length, MPI_DOUBLE, slab->above, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(p, length, MPI_DOUBLE, slab->below, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(last, length, MPI_DOUBLE, slab->above, 0, MPI_COMM_WORLD, &requests[3]);
  for (long k = 1; k < slab->planes - 1; ++k) multiply_plane(slab, p, s, k);
  MPI_Waitall(4, requests, statuses);
  if (slab->planes > 0) multiply_plane(slab, p, s, 0);
  if (slab->planes > 1) multiply_plane(slab, p, s, slab->planes - 1);
}

static double dot_here(const struct slab *slab, const double *a, const double *b) {
  double sum = 0;
  for (long i = 0; i < slab->cells; ++i) sum += a[i] * b[i];
  return sum;
}

static double dot(struct app *app, const struct slab *slab, const double *a, const double *b) {
  double sum = dot_here(slab, a, b), begin = app_enter();
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  app_leave(app, begin);
  return sum;
}

static void start_dot(struct app *app, struct product *product, const struct slab *slab,
                      const double *a, const double *b) {
  product->sum = dot_here(slab, a, b);
  double begin = app_enter();
  if (app->variant == APP_PERSISTENT)
    MPI_Start(&product->request);
  else
    MPI_Iallreduce(MPI_IN_PLACE, &product->sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                   &product->request);
  app_leave_started(app, begin);
}

static double end_dot(struct app *app, struct product *product) {
  app_wait(app, &product->request);
  return product->sum;
}

/// a = a + factor b
static void add(const struct slab *slab, double *a, double factor, const double *b) {
  for (long i = 0; i < slab->cells; ++i) a[i] += factor * b[i];
}

/// a = factor a + b
static void scale_and_add(const struct slab *slab, double *a, double factor, const double *b) {
  for (long i = 0; i < slab->cells; ++i) a[i] = factor * a[i] + b[i];
}

/// a = d b, point by point
static void scale(const struct slab *slab, double *a, const double *d, const double *b) {
  for (long i = 0; i < slab->cells; ++i) a[i] = d[i] * b[i];
}

struct problem {
  double *x, *r;           // at first r = b - A x
  const double *diagonal;  // of the matrix
  double least;            // of the residual's square
  long most;               // iterations
};

static long solve(struct app *app, const struct slab *slab, const struct problem *q) {
  double *p = zeros(slab), *s = zeros(slab);
  for (long i = 0; i < slab->cells; ++i) p[i] = q->r[i] / q->diagonal[i];
  double gamma = dot(app, slab, q->r, p);
  long iteration = 0;
  while (iteration < q->most) {
    ++iteration;
    multiply(slab, p, s);
    double alpha = gamma / dot(app, slab, s, p);
    add(slab, q->x, alpha, p);
    add(slab, q->r, -alpha, s);
    for (long i = 0; i < slab->cells; ++i) s[i] = q->r[i] / q->diagonal[i];
    double before = gamma;
    gamma = dot(app, slab, q->r, s);
    if (dot(app, slab, q->r, q->r) <= q->least) break;
    scale_and_add(slab, p, gamma / before, s);
  }
  release(slab, p);
  release(slab, s);
  return iteration;
}

/// 1 / L, for C = L L^T the diagonal.
static double *inverse_root(const struct slab *slab, const double *diagonal) {
  double *root = zeros(slab);
  for (long i = 0; i < slab->cells; ++i) root[i] = 1 / sqrt(diagonal[i]);
  return root;
}

static long solve_split(struct app *app, const struct slab *slab, const struct problem *q) {
  double *p = zeros(slab), *s = zeros(slab), *t = zeros(slab), *w = zeros(slab);
  double *root = inverse_root(slab, q->diagonal);
  double alpha = 0, beta = 0;
  scale(slab, t, root, q->r);
  double gamma = dot(app, slab, t, t);
  long iteration = 0;
  while (iteration < q->most) {
    ++iteration;
    scale(slab, w, root, t);
    add(slab, q->x, alpha, p);  // of the iteration before
    scale_and_add(slab, p, beta, w);
    multiply(slab, p, s);
    alpha = gamma / dot(app, slab, s, p);
    add(slab, q->r, -alpha, s);
    double rest = dot(app, slab, q->r, q->r);
    scale(slab, t, root, q->r);
    double before = gamma;
    gamma = dot(app, slab, t, t);
    beta = gamma / before;
    if (rest <= q->least) break;
  }
  add(slab, q->x, alpha, p);
  for (int i = 0; i < 5; ++i) release(slab, (double *[]){p, s, t, w, root}[i]);
  return iteration;
}

/// p is taken in turns from two vectors, so that x may follow behind.
static long solve_overlapped(struct app *app, const struct slab *slab, const struct problem *q) {
  double *p = zeros(slab), *previous = zeros(slab), *s = zeros(slab), *t = zeros(slab),
         *w = zeros(slab);
  double *root = inverse_root(slab, q->diagonal);
  struct product rest = {.request = MPI_REQUEST_NULL}, gamma = rest, sdotp = rest;
  struct product *products[] = {&rest, &gamma, &sdotp};
  if (app->variant == APP_PERSISTENT)
    for (int i = 0; i < 3; ++i)
      MPI_Allreduce_init(MPI_IN_PLACE, &products[i]->sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                         MPI_INFO_NULL, &products[i]->request);

  double alpha = 0, before = 0;
  scale(slab, t, root, q->r);
  start_dot(app, &gamma, slab, t, t);
  long iteration = 0;
  for (;;) {
    scale(slab, w, root, t);
    double now = end_dot(app, &gamma);
    if (iteration == q->most || (iteration > 0 && rest.sum <= q->least)) break;
    double *other = p;  // p = w + beta previous
    p = previous;
    previous = other;
    double beta = iteration > 0 ? now / before : 0;
    for (long i = 0; i < slab->cells; ++i) p[i] = w[i] + beta * previous[i];
    ++iteration;
    multiply(slab, p, s);
    start_dot(app, &sdotp, slab, s, p);
    add(slab, q->x, alpha, previous);
    alpha = now / end_dot(app, &sdotp);
    add(slab, q->r, -alpha, s);
    start_dot(app, &rest, slab, q->r, q->r);
    scale(slab, t, root, q->r);
    end_dot(app, &rest);
    before = now;
    start_dot(app, &gamma, slab, t, t);
  }
  add(slab, q->x, alpha, p);
  if (app->variant == APP_PERSISTENT)
    for (int i = 0; i < 3; ++i) MPI_Request_free(&products[i]->request);
  for (int i = 0; i < 6; ++i) release(slab, (double *[]){p, previous, s, t, w, root}[i]);
  return iteration;
}

/// A times ones: 27 less the points around, the point itself among them, that are in the grid.
static double wanted_at(long n, const long point[3]) {
  double around = 1;
  for (int d = 0; d < 3; ++d) around *= 1 + (point[d] > 0) + (point[d] < n - 1);
  return 27 - around;
}

int main(int argc, char **argv) {
  long n = 48, most = 1000, algorithm = 1;
  struct app app;
  app_open(&app, &argc, &argv, "pcg",
           (struct app_option[]){
               {"size", "grid points in each direction", &n, 1, 1000},
               {"iterations", "at most", &most, 0, 0},
               {"algorithm", "of the blocking variant: 1 as in hypre, 2 split", &algorithm, 1, 2},
               {0}});
  // Ranks that would have no plane take no part: all of them lie at the end.
  struct slab slab = {.n = n, .planes = app_share(n, app.ranks, app.rank), .plane = n * n};
  slab.cells = slab.planes * slab.plane;
  bool last = app.rank == app.ranks - 1 || app_share(n, app.ranks, app.rank + 1) == 0;
  slab.below = app.rank == 0 || !slab.planes ? MPI_PROC_NULL : app.rank - 1;
  slab.above = last || !slab.planes ? MPI_PROC_NULL : app.rank + 1;

  double *x = zeros(&slab), *r = zeros(&slab), *diagonal = zeros(&slab);
  long first = app_first(n, app.ranks, app.rank);
  for (long i = 0; i < slab.cells; ++i) {
    diagonal[i] = 26;
    r[i] = wanted_at(n, (long[]){i % n, i / n % n, i / slab.plane + first});  // b; x is zero
  }
  double whole = dot(&app, &slab, r, r);
  struct problem problem = {x, r, diagonal, whole * 1e-20, most};

  app_start_clock(&app);
  long iterations = app.variant != APP_BLOCKING ? solve_overlapped(&app, &slab, &problem)
                    : algorithm == 1            ? solve(&app, &slab, &problem)
                                                : solve_split(&app, &slab, &problem);
  app_stop_clock(&app);

  double furthest = 0;
  for (long i = 0; i < slab.cells; ++i) furthest = fmax(furthest, fabs(x[i] - 1));
  for (int i = 0; i < 3; ++i) release(&slab, (double *[]){x, r, diagonal}[i]);
  char note[64];
  snprintf(note, sizeof note, "iterations=%ld error=%.1e", iterations, furthest);
  return app_close(&app, furthest < 1e-6, note);
}
