// SPDX-License-Identifier: BSD-3-Clause
// hypre.c - pcg's problem, solved by hypre's own preconditioned conjugate gradients.
//
// What pcg.c does by hand, as a user of a library has it: a 27-point Laplacian on a grid in slabs,
// scaled by its diagonal, right side such that the solution is all ones. hypre's collective calls
// are blocking ones, and stand in the library: its allreduces come by here, where their time is
// taken, before they go on to whoever has them next.

#define _GNU_SOURCE  // RTLD_NEXT
#include <HYPRE.h>
#include <HYPRE_struct_ls.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "library.h"

enum { POINTS = 27 };

APP_HANDED_ON(MPI_Allreduce,
              (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
              in, out, count, type, op, comm)

/// A rank's planes of z. Ranks that have none take part all the same.
struct slab {
  HYPRE_Int n, planes, lower[3], upper[3];
  long cells;
};

struct problem {
  HYPRE_StructGrid grid;
  HYPRE_StructStencil stencil;
  HYPRE_StructMatrix matrix;
  HYPRE_StructVector right, solution;
};

static struct slab make_slab(const struct app *app, long n) {
  HYPRE_Int first = (HYPRE_Int)app_first(n, app->ranks, app->rank),
            planes = (HYPRE_Int)app_share(n, app->ranks, app->rank), last = (HYPRE_Int)n - 1;
  return (struct slab){
      (HYPRE_Int)n, planes, {0, 0, first}, {last, last, first + planes - 1}, n * n * planes};
}

static void point(int i, HYPRE_Int offset[3]) {
  offset[0] = i % 3 - 1;
  offset[1] = i / 3 % 3 - 1;
  offset[2] = i / 9 - 1;
}

/// Of cell i of the slab, and the rows' sum as the right side.
static double fill_row(const struct slab *slab, long i, double row[POINTS]) {
  const HYPRE_Int n = slab->n;
  const HYPRE_Int at[3] = {(HYPRE_Int)(i % n), (HYPRE_Int)(i / n % n),
                           (HYPRE_Int)(i / n / n) + slab->lower[2]};
  double sum = 0;
  for (int k = 0; k < POINTS; ++k) {
    HYPRE_Int offset[3];
    point(k, offset);
    int inside = 1, center = 1;
    for (int d = 0; d < 3; ++d) {
      inside = inside && at[d] + offset[d] >= 0 && at[d] + offset[d] < n;
      center = center && offset[d] == 0;
    }
    row[k] = center ? POINTS - 1 : inside ? -1 : 0;
    sum += row[k];
  }
  return sum;
}

// Slabs are changed by nobody, but hypre takes no pointers to constants.
static void make_problem(struct problem *p, struct slab *slab) {
  HYPRE_StructGridCreate(MPI_COMM_WORLD, 3, &p->grid);
  if (slab->planes) HYPRE_StructGridSetExtents(p->grid, slab->lower, slab->upper);
  HYPRE_StructGridAssemble(p->grid);

  HYPRE_Int entries[POINTS];
  HYPRE_StructStencilCreate(3, POINTS, &p->stencil);
  for (int k = 0; k < POINTS; ++k) {
    HYPRE_Int offset[3];
    point(k, offset);
    HYPRE_StructStencilSetElement(p->stencil, k, offset);
    entries[k] = k;
  }

  HYPRE_StructMatrixCreate(MPI_COMM_WORLD, p->grid, p->stencil, &p->matrix);
  HYPRE_StructMatrixInitialize(p->matrix);
  HYPRE_StructVectorCreate(MPI_COMM_WORLD, p->grid, &p->right);
  HYPRE_StructVectorInitialize(p->right);
  HYPRE_StructVectorCreate(MPI_COMM_WORLD, p->grid, &p->solution);
  HYPRE_StructVectorInitialize(p->solution);
  size_t cells = (size_t)slab->cells;
  double *rows = app_allocate(sizeof(double) * POINTS * cells);
  double *right = app_allocate(sizeof(double) * cells);
  for (long i = 0; i < slab->cells; ++i) right[i] = fill_row(slab, i, rows + i * POINTS);
  if (slab->planes) {
    HYPRE_StructMatrixSetBoxValues(p->matrix, slab->lower, slab->upper, POINTS, entries, rows);
    HYPRE_StructVectorSetBoxValues(p->right, slab->lower, slab->upper, right);
  }
  HYPRE_StructVectorSetConstantValues(p->solution, 0);
  HYPRE_StructMatrixAssemble(p->matrix);
  HYPRE_StructVectorAssemble(p->right);
  HYPRE_StructVectorAssemble(p->solution);
  free(rows);
  free(right);
}

static void free_problem(struct problem *p) {
  HYPRE_StructVectorDestroy(p->solution);
  HYPRE_StructVectorDestroy(p->right);
  HYPRE_StructMatrixDestroy(p->matrix);
  HYPRE_StructStencilDestroy(p->stencil);
  HYPRE_StructGridDestroy(p->grid);
}

/// The largest distance of the solution to all ones, on this rank.
static double error_of(const struct problem *p, struct slab *slab) {
  double furthest = 0, *values = app_allocate(sizeof(double) * (size_t)slab->cells);
  if (slab->planes) HYPRE_StructVectorGetBoxValues(p->solution, slab->lower, slab->upper, values);
  for (long i = 0; i < slab->cells; ++i) furthest = fmax(furthest, fabs(values[i] - 1));
  free(values);
  return furthest;
}

int main(int argc, char **argv) {
  long n = 48, most = 1000;
  struct app app;
  app_open(&app, &argc, &argv, "hypre",
           (struct app_option[]){{"size", "grid points in each direction", &n, 1, 1000},
                                 {"iterations", "at most", &most, 1, 0},
                                 {0}});
  app_blocking_only(&app);
  HYPRE_Init();
  struct slab slab = make_slab(&app, n);
  struct problem problem;
  make_problem(&problem, &slab);

  HYPRE_StructSolver solver;
  HYPRE_StructPCGCreate(MPI_COMM_WORLD, &solver);
  HYPRE_StructPCGSetTol(solver, 1e-10);
  HYPRE_StructPCGSetMaxIter(solver, (HYPRE_Int)most);
  HYPRE_StructPCGSetTwoNorm(solver, 1);
  HYPRE_StructPCGSetPrecond(solver, HYPRE_StructDiagScale, HYPRE_StructDiagScaleSetup, NULL);
  HYPRE_StructPCGSetup(solver, problem.matrix, problem.right, problem.solution);
  app_start_library(&app);
  HYPRE_StructPCGSolve(solver, problem.matrix, problem.right, problem.solution);
  app_stop_library(&app);

  HYPRE_Int iterations = 0;
  HYPRE_StructPCGGetNumIterations(solver, &iterations);
  double error = error_of(&problem, &slab);
  HYPRE_StructPCGDestroy(solver);
  free_problem(&problem);
  HYPRE_Finalize();
  char note[64];
  snprintf(note, sizeof note, "iterations=%d error=%.1e", (int)iterations, error);
  return app_close(&app, error < 1e-6, note);
}
