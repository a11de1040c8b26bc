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
// C is the diagonal, so L is its square root. What is measured as communication are the inner
// products.

#include <math.h>
#include <stdio.h>

#include "app.h"
#include "laplace.h"
#include "persistent.h"

struct product {  // an inner product under way
  double sum;
  MPI_Request request;
};

static double dot(struct app *app, const struct slab *slab, const double *a, const double *b) {
  double sum = slab_dot(slab, a, b), begin = app_enter();
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  app_leave(app, begin);
  return sum;
}

static void start_dot(struct app *app, struct product *product, const struct slab *slab,
                      const double *a, const double *b) {
  product->sum = slab_dot(slab, a, b);
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
  double *p = slab_zeros(slab), *s = slab_zeros(slab);
  for (long i = 0; i < slab->cells; ++i) p[i] = q->r[i] / q->diagonal[i];
  double gamma = dot(app, slab, q->r, p);
  long iteration = 0;
  while (iteration < q->most) {
    ++iteration;
    slab_multiply(slab, p, s);
    double alpha = gamma / dot(app, slab, s, p);
    add(slab, q->x, alpha, p);
    add(slab, q->r, -alpha, s);
    for (long i = 0; i < slab->cells; ++i) s[i] = q->r[i] / q->diagonal[i];
    double before = gamma;
    gamma = dot(app, slab, q->r, s);
    if (dot(app, slab, q->r, q->r) <= q->least) break;
    scale_and_add(slab, p, gamma / before, s);
  }
  slab_release(slab, p);
  slab_release(slab, s);
  return iteration;
}

/// 1 / L, for C = L L^T the diagonal.
static double *inverse_root(const struct slab *slab, const double *diagonal) {
  double *root = slab_zeros(slab);
  for (long i = 0; i < slab->cells; ++i) root[i] = 1 / sqrt(diagonal[i]);
  return root;
}

static long solve_split(struct app *app, const struct slab *slab, const struct problem *q) {
  double *p = slab_zeros(slab), *s = slab_zeros(slab), *t = slab_zeros(slab), *w = slab_zeros(slab);
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
    slab_multiply(slab, p, s);
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
  for (int i = 0; i < 5; ++i) slab_release(slab, (double *[]){p, s, t, w, root}[i]);
  return iteration;
}

/// p is taken in turns from two vectors, so that x may follow behind.
static long solve_overlapped(struct app *app, const struct slab *slab, const struct problem *q) {
  double *p = slab_zeros(slab), *previous = slab_zeros(slab), *s = slab_zeros(slab),
         *t = slab_zeros(slab), *w = slab_zeros(slab);
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
    slab_multiply(slab, p, s);
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
  for (int i = 0; i < 6; ++i) slab_release(slab, (double *[]){p, previous, s, t, w, root}[i]);
  return iteration;
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
  struct slab slab = slab_of(&app, n);
  double *x = slab_zeros(&slab), *r = slab_zeros(&slab), *diagonal = slab_zeros(&slab);
  for (long i = 0; i < slab.cells; ++i) diagonal[i] = 26;
  slab_right_side(&slab, r);  // x is zero
  double whole = dot(&app, &slab, r, r);
  struct problem problem = {x, r, diagonal, whole * 1e-20, most};

  app_start_clock(&app);
  long iterations = app.variant != APP_BLOCKING ? solve_overlapped(&app, &slab, &problem)
                    : algorithm == 1            ? solve(&app, &slab, &problem)
                                                : solve_split(&app, &slab, &problem);
  app_stop_clock(&app);

  double error = slab_error(&slab, x);
  for (int i = 0; i < 3; ++i) slab_release(&slab, (double *[]){x, r, diagonal}[i]);
  char note[64];
  snprintf(note, sizeof note, "iterations=%ld error=%.1e", iterations, error);
  return app_close(&app, error < 1e-6, note);
}
