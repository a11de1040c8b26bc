// SPDX-License-Identifier: BSD-3-Clause
// pipecg.c - conjugate gradients in a pipeline: one reduction an iteration, behind all of the
// matrix.
//
// After Ghysels and Vanroose, Hiding global synchronization latency in the preconditioned conjugate
// gradient algorithm (algorithm 4; PETSc has it as KSPPIPECG). pcg's overlapped products have a
// scaling or an axpy to hide behind, a tenth of an iteration. Here w = A u is kept beside u = r /
// d, and the matrix is multiplied with what follows w while the products are summed up that say how
// far to go:
//
//   gamma = (r, u)   delta = (w, u)   rest = (r, r)      summed up over all ranks, while
//   m = w / d        n = A m
//   beta = gamma / gamma before       alpha = gamma / (delta - beta gamma / alpha before)
//   z = n + beta z   q = m + beta q   s = w + beta s   p = u + beta p
//   x = x + alpha p  r = r - alpha s  u = u - alpha q  w = w - alpha z
//
// It pays with four vectors more, and with twice the work on vectors.

#include <stdio.h>

#include "app.h"
#include "laplace.h"
#include "persistent.h"

enum { GAMMA, DELTA, REST, SUMS };

struct pipeline {
  double *x, *r, *u, *w, *m, *n, *z, *q, *s, *p;
  double *d;            // the matrix's diagonal
  double gamma, alpha;  // of the iteration before; gamma is 0 in the first
};

/// From x = 0 on.
static struct pipeline open_pipeline(const struct slab *slab) {
  struct pipeline v = {0};
  double **vectors[] = {&v.x, &v.r, &v.u, &v.w, &v.m, &v.n, &v.z, &v.q, &v.s, &v.p, &v.d};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) *vectors[i] = slab_zeros(slab);
  slab_right_side(slab, v.r);
  for (long i = 0; i < slab->cells; ++i) {
    v.d[i] = 26;
    v.u[i] = v.r[i] / v.d[i];
  }
  slab_multiply(slab, v.u, v.w);
  return v;
}

static void close_pipeline(const struct slab *slab, const struct pipeline *v) {
  double *vectors[] = {v->x, v->r, v->u, v->w, v->m, v->n, v->z, v->q, v->s, v->p, v->d};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) slab_release(slab, vectors[i]);
}

/// What this rank has of the sums.
static void multiply_vectors(const struct slab *slab, const struct pipeline *v, double *sums) {
  double gamma = 0, delta = 0, rest = 0;
  for (long i = 0; i < slab->cells; ++i) {
    gamma += v->r[i] * v->u[i];
    delta += v->w[i] * v->u[i];
    rest += v->r[i] * v->r[i];
  }
  sums[GAMMA] = gamma;
  sums[DELTA] = delta;
  sums[REST] = rest;
}

/// m = w / d, n = A m
static void look_ahead(const struct slab *slab, const struct pipeline *v) {
  for (long i = 0; i < slab->cells; ++i) v->m[i] = v->w[i] / v->d[i];
  slab_multiply(slab, v->m, v->n);
}

static void advance(const struct slab *slab, struct pipeline *v, const double *sums) {
  double gamma = sums[GAMMA], beta = 0, alpha = gamma / sums[DELTA];
  if (v->gamma != 0) {
    beta = gamma / v->gamma;
    alpha = gamma / (sums[DELTA] - beta * gamma / v->alpha);
  }
  for (long i = 0; i < slab->cells; ++i) {
    v->z[i] = v->n[i] + beta * v->z[i];
    v->q[i] = v->m[i] + beta * v->q[i];
    v->s[i] = v->w[i] + beta * v->s[i];
    v->p[i] = v->u[i] + beta * v->p[i];
    v->x[i] += alpha * v->p[i];
    v->r[i] -= alpha * v->s[i];
    v->u[i] -= alpha * v->q[i];
    v->w[i] -= alpha * v->z[i];
  }
  v->gamma = gamma;
  v->alpha = alpha;
}

/// Both return the number of iterations. `least`: of the residual's square.
static long run_blocking(struct app *app, const struct slab *slab, struct pipeline *v, double least,
                         long most) {
  double sums[SUMS];
  for (long iteration = 0;; ++iteration) {
    multiply_vectors(slab, v, sums);
    double begin = app_enter();
    MPI_Allreduce(MPI_IN_PLACE, sums, SUMS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    app_leave(app, begin);
    look_ahead(slab, v);
    if (iteration == most || sums[REST] <= least) return iteration;
    advance(slab, v, sums);
  }
}

static long run_overlapped(struct app *app, const struct slab *slab, struct pipeline *v,
                           double least, long most) {
  double sums[SUMS];
  MPI_Request request = MPI_REQUEST_NULL;
  if (app->variant == APP_PERSISTENT)
    MPI_Allreduce_init(MPI_IN_PLACE, sums, SUMS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
  long iteration = 0;
  for (;; ++iteration) {
    multiply_vectors(slab, v, sums);
    double begin = app_enter();
    if (app->variant == APP_PERSISTENT)
      MPI_Start(&request);
    else
      MPI_Iallreduce(MPI_IN_PLACE, sums, SUMS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    app_leave_started(app, begin);
    look_ahead(slab, v);
    app_wait(app, &request);
    if (iteration == most || sums[REST] <= least) break;
    advance(slab, v, sums);
  }
  if (app->variant == APP_PERSISTENT) MPI_Request_free(&request);
  return iteration;
}

int main(int argc, char **argv) {
  long n = 48, most = 1000;
  struct app app;
  app_open(&app, &argc, &argv, "pipecg",
           (struct app_option[]){{"size", "grid points in each direction", &n, 1, 1000},
                                 {"iterations", "at most", &most, 0, 0},
                                 {0}});
  struct slab slab = slab_of(&app, n);
  struct pipeline pipeline = open_pipeline(&slab);
  double whole = slab_dot(&slab, pipeline.r, pipeline.r);
  MPI_Allreduce(MPI_IN_PLACE, &whole, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

  app_start_clock(&app);
  long iterations = app.variant == APP_BLOCKING
                        ? run_blocking(&app, &slab, &pipeline, whole * 1e-20, most)
                        : run_overlapped(&app, &slab, &pipeline, whole * 1e-20, most);
  app_stop_clock(&app);

  double error = slab_error(&slab, pipeline.x);
  close_pipeline(&slab, &pipeline);
  char note[64];
  snprintf(note, sizeof note, "iterations=%ld error=%.1e", iterations, error);
  return app_close(&app, error < 1e-6, note);
}
