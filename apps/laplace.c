// SPDX-License-Identifier: BSD-3-Clause
// laplace.c - see laplace.h.

#include "laplace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct slab slab_of(const struct app *app, long n) {
  struct slab slab = {.n = n, .planes = app_share(n, app->ranks, app->rank), .plane = n * n};
  slab.first = app_first(n, app->ranks, app->rank);
  slab.cells = slab.planes * slab.plane;
  bool last = app->rank == app->ranks - 1 || app_share(n, app->ranks, app->rank + 1) == 0;
  slab.below = app->rank == 0 || !slab.planes ? MPI_PROC_NULL : app->rank - 1;
  slab.above = last || !slab.planes ? MPI_PROC_NULL : app->rank + 1;
  return slab;
}

double *slab_zeros(const struct slab *slab) {
  size_t all = (size_t)(slab->cells + 2 * slab->plane);
  double *values = app_allocate(sizeof(double) * all);
  memset(values, 0, sizeof(double) * all);
  return values + slab->plane;
}

void slab_release(const struct slab *slab, double *vector) {
  free(vector - slab->plane);
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

void slab_multiply(const struct slab *slab, double *p, double *s) {
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

double slab_dot(const struct slab *slab, const double *a, const double *b) {
  double sum = 0;
  for (long i = 0; i < slab->cells; ++i) sum += a[i] * b[i];
  return sum;
}

/// A times ones: 27 less the points around, the point itself among them, that are in the grid.
static double wanted_at(long n, const long point[3]) {
  double around = 1;
  for (int d = 0; d < 3; ++d) around *= 1 + (point[d] > 0) + (point[d] < n - 1);
  return 27 - around;
}

void slab_right_side(const struct slab *slab, double *b) {
  long n = slab->n;
  for (long i = 0; i < slab->cells; ++i)
    b[i] = wanted_at(n, (long[]){i % n, i / n % n, i / slab->plane + slab->first});
}

double slab_error(const struct slab *slab, const double *x) {
  double furthest = 0;
  for (long i = 0; i < slab->cells; ++i) furthest = fmax(furthest, fabs(x[i] - 1));
  return furthest;
}
