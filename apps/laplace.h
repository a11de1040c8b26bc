// SPDX-License-Identifier: BSD-3-Clause
// laplace.h - a 27-point Laplacian on a cube, as in hypre's driver, for the solvers that share it.
//
// The grid lies in slabs along its slowest dimension. What neighbours need goes by point-to-point
// messages, as in hypre. Boundary values are zero and the right side is the matrix times all ones,
// so the solution is known.
#ifndef APPS_LAPLACE_H
#define APPS_LAPLACE_H

#include "app.h"

struct slab {
  long n, first, planes;  // the grid is n * n in a plane; which of them this rank has
  long plane, cells;      // points of a plane, of all planes of this rank
  int below, above;       // ranks, or MPI_PROC_NULL
};

/// Ranks that would have no plane take no part: all of them lie at the end.
struct slab slab_of(const struct app *, long n);

/// A vector of zeros, with a plane below and one above those of the slab. Returns the first point
/// of the slab's own; ends the program where there is no memory.
double *slab_zeros(const struct slab *);
void slab_release(const struct slab *, double *vector);

/// s = A p: inner planes while those of the neighbours come. Of A the diagonal is 26. Collective
/// among neighbours.
void slab_multiply(const struct slab *, double *p, double *s);

/// b = A x for an x of ones, and how far the furthest point of an x is from one.
void slab_right_side(const struct slab *, double *b);
double slab_error(const struct slab *, const double *x);

/// What this rank has of an inner product.
double slab_dot(const struct slab *, const double *a, const double *b);

#endif
