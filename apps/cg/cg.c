// SPDX-License-Identifier: BSD-3-Clause
// cg.c - conjugate gradients on a 3-d Poisson problem, the halo exchanged by one collective call.
//
// After Hoefler and others, who exchanged it with a nonblocking alltoallv: each rank has a box of
// the grid, each iteration multiplies by the 7-point Laplacian, and for that needs the faces of the
// boxes around. While they are under way the inside is computed, which needs none. --neighbor=1
// takes neighbor_alltoallv in place of alltoallv.
//
// Boundary values are zero and the right side is the matrix times all ones, so the solution is
// known.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "app.h"
#include "persistent.h"

enum { FACES = 6 };  // below and above in each dimension, as MPI orders a grid's neighbours

struct box {
  MPI_Comm grid;
  int cells[3];    // of this rank, without the layer around them
  long first[3];   // where they begin in the grid
  long stride[3];  // of an array that has the layer
  long volume;     // of such an array
  // What is sent and received: the faces, one behind the other.
  int face_cells[FACES], neighbor[FACES];  // neighbor: rank, or MPI_PROC_NULL
  double *out, *in;
  // For alltoallv, an entry for each rank; for neighbor_alltoallv, for each face.
  int *counts, *displacements;
};

struct exchange {
  bool neighbors;
  MPI_Request request;  // persistent: made once
};

static void make_box(struct box *box, const struct app *app, long n, bool neighbors) {
  int dims[3] = {0, 0, 0}, periods[3] = {0, 0, 0}, at[3];
  MPI_Dims_create(app->ranks, 3, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &box->grid);
  MPI_Cart_coords(box->grid, app->rank, 3, at);
  for (int d = 0; d < 3; ++d) {
    box->cells[d] = (int)app_share(n, dims[d], at[d]);
    box->first[d] = app_first(n, dims[d], at[d]);
  }
  box->stride[2] = 1;
  box->stride[1] = box->cells[2] + 2;
  box->stride[0] = box->stride[1] * (box->cells[1] + 2);
  box->volume = box->stride[0] * (box->cells[0] + 2);

  int entries = neighbors ? FACES : app->ranks, all = 0;
  box->counts = app_allocate(sizeof(int) * entries);
  box->displacements = app_allocate(sizeof(int) * entries);
  for (int i = 0; i < entries; ++i) box->counts[i] = box->displacements[i] = 0;
  for (int face = 0; face < FACES; ++face) {
    int d = face / 2, below, above;
    MPI_Cart_shift(box->grid, d, 1, &below, &above);
    box->neighbor[face] = face % 2 ? above : below;
    bool there = box->neighbor[face] != MPI_PROC_NULL;
    box->face_cells[face] = there ? box->cells[(d + 1) % 3] * box->cells[(d + 2) % 3] : 0;
    int entry = neighbors ? face : box->neighbor[face];
    if (there || neighbors) {
      box->counts[entry] = box->face_cells[face];
      box->displacements[entry] = all;
    }
    all += box->face_cells[face];
  }
  box->out = app_allocate(sizeof(double) * all);
  box->in = app_allocate(sizeof(double) * all);
}

static void free_box(struct box *box) {
  free(box->out);
  free(box->in);
  free(box->counts);
  free(box->displacements);
  MPI_Comm_free(&box->grid);
}

/// Copies between `faces` and the cells at the box's border (pack), or the layer around it
/// (unpack).
static void move_faces(const struct box *box, double *values, double *faces, bool pack) {
  for (int face = 0; face < FACES; ++face) {
    if (box->neighbor[face] == MPI_PROC_NULL) continue;
    int d = face / 2, u = d == 0 ? 1 : 0, v = d == 2 ? 1 : 2;
    long last = pack ? box->cells[d] : box->cells[d] + 1, first = pack ? 1 : 0;
    double *plane = values + (face % 2 ? last : first) * box->stride[d];
    for (long i = 1; i <= box->cells[u]; ++i)
      for (long j = 1; j <= box->cells[v]; ++j) {
        double *cell = plane + i * box->stride[u] + j * box->stride[v];
        if (pack)
          *faces++ = *cell;
        else
          *cell = *faces++;
      }
  }
}

static double at_cell(const struct box *box, const double *p, long i) {
  const long *s = box->stride;
  return 6 * p[i] - p[i - s[0]] - p[i + s[0]] - p[i - s[1]] - p[i + s[1]] - p[i - 1] - p[i + 1];
}

/// s = A p for cells that have no neighbour on another rank, or for all others.
static void multiply(const struct box *box, const double *p, double *s, bool inside) {
  const int *n = box->cells;
  for (long x = 1; x <= n[0]; ++x)
    for (long y = 1; y <= n[1]; ++y) {
      long row = x * box->stride[0] + y * box->stride[1];
      bool border = x == 1 || x == n[0] || y == 1 || y == n[1];
      if (border != inside)
        for (long z = inside ? 2 : 1; z <= (inside ? n[2] - 1 : n[2]); ++z)
          s[row + z] = at_cell(box, p, row + z);
      if (!border && !inside && n[2] > 0) {
        s[row + 1] = at_cell(box, p, row + 1);
        s[row + n[2]] = at_cell(box, p, row + n[2]);
      }
    }
}

static double dot(const struct box *box, const double *a, const double *b) {
  double sum = 0;
  for (long x = 1; x <= box->cells[0]; ++x)
    for (long y = 1; y <= box->cells[1]; ++y) {
      long row = x * box->stride[0] + y * box->stride[1];
      for (long z = 1; z <= box->cells[2]; ++z) sum += a[row + z] * b[row + z];
    }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, box->grid);
  return sum;
}

static void multiply_blocking(struct app *app, struct box *box, const struct exchange *by,
                              double *p, double *s) {
  move_faces(box, p, box->out, true);
  double begin = app_enter();
  if (by->neighbors)
    MPI_Neighbor_alltoallv(box->out, box->counts, box->displacements, MPI_DOUBLE, box->in,
                           box->counts, box->displacements, MPI_DOUBLE, box->grid);
  else
    MPI_Alltoallv(box->out, box->counts, box->displacements, MPI_DOUBLE, box->in, box->counts,
                  box->displacements, MPI_DOUBLE, box->grid);
  app_leave(app, begin);
  multiply(box, p, s, true);
  move_faces(box, p, box->in, false);
  multiply(box, p, s, false);
}

static void multiply_overlapped(struct app *app, struct box *box, struct exchange *by, double *p,
                                double *s) {
  move_faces(box, p, box->out, true);
  double begin = app_enter();
  if (app->variant == APP_PERSISTENT)
    MPI_Start(&by->request);
  else if (by->neighbors)
    MPI_Ineighbor_alltoallv(box->out, box->counts, box->displacements, MPI_DOUBLE, box->in,
                            box->counts, box->displacements, MPI_DOUBLE, box->grid, &by->request);
  else
    MPI_Ialltoallv(box->out, box->counts, box->displacements, MPI_DOUBLE, box->in, box->counts,
                   box->displacements, MPI_DOUBLE, box->grid, &by->request);
  app_leave_started(app, begin);
  multiply(box, p, s, true);
  app_wait(app, &by->request);
  move_faces(box, p, box->in, false);
  multiply(box, p, s, false);
}

static void make_persistent(struct box *box, struct exchange *by) {
  if (by->neighbors)
    MPI_Neighbor_alltoallv_init(box->out, box->counts, box->displacements, MPI_DOUBLE, box->in,
                                box->counts, box->displacements, MPI_DOUBLE, box->grid,
                                MPI_INFO_NULL, &by->request);
  else
    MPI_Alltoallv_init(box->out, box->counts, box->displacements, MPI_DOUBLE, box->in, box->counts,
                       box->displacements, MPI_DOUBLE, box->grid, MPI_INFO_NULL, &by->request);
}

/// a = a + factor b, or factor a + b; the layer may take part, it is filled again.
static void add(const struct box *box, double *a, double factor, const double *b) {
  for (long i = 0; i < box->volume; ++i) a[i] += factor * b[i];
}
static void scale_and_add(const struct box *box, double *a, double factor, const double *b) {
  for (long i = 0; i < box->volume; ++i) a[i] = factor * a[i] + b[i];
}

/// For the grid's own edge the layer has to stay zero.
static double *zeros(const struct box *box) {
  double *values = app_allocate(sizeof(double) * box->volume);
  for (long i = 0; i < box->volume; ++i) values[i] = 0;
  return values;
}

/// A times ones: of a cell's neighbours those count that are outside of the grid.
static double wanted_at(const struct box *box, long n, const long cell[3]) {
  double outside = 0;
  for (int d = 0; d < 3; ++d) {
    long at = box->first[d] + cell[d] - 1;
    outside += (at == 0) + (at == n - 1);
  }
  return outside;
}

int main(int argc, char **argv) {
  long n = 64, most = 1000, neighbor = 0;
  struct app app;
  app_open(&app, &argc, &argv, "cg",
           (struct app_option[]){{"size", "grid points in each direction", &n, 1, 1000},
                                 {"iterations", "at most", &most, 0, 0},
                                 {"neighbor", "1: neighbor_alltoallv", &neighbor, 0, 1},
                                 {0}});
  struct box box;
  struct exchange by = {.neighbors = neighbor != 0, .request = MPI_REQUEST_NULL};
  make_box(&box, &app, n, by.neighbors);
  if (app.variant == APP_PERSISTENT) make_persistent(&box, &by);

  double *x = zeros(&box), *r = zeros(&box), *p = zeros(&box), *s = zeros(&box);
  for (long i = 1; i <= box.cells[0]; ++i)
    for (long j = 1; j <= box.cells[1]; ++j)
      for (long k = 1; k <= box.cells[2]; ++k) {
        long at = i * box.stride[0] + j * box.stride[1] + k;
        p[at] = r[at] = wanted_at(&box, n, (long[]){i, j, k});
      }
  double rho = dot(&box, r, r), wanted = rho * 1e-20;

  app_start_clock(&app);
  long iteration = 0;
  for (; iteration < most && rho > wanted; ++iteration) {
    if (app.variant == APP_BLOCKING)
      multiply_blocking(&app, &box, &by, p, s);
    else
      multiply_overlapped(&app, &box, &by, p, s);
    double alpha = rho / dot(&box, p, s);
    add(&box, x, alpha, p);
    add(&box, r, -alpha, s);
    double before = rho;
    rho = dot(&box, r, r);
    scale_and_add(&box, p, rho / before, r);
  }
  app_stop_clock(&app);

  double furthest = 0;
  for (long i = 1; i <= box.cells[0]; ++i)
    for (long j = 1; j <= box.cells[1]; ++j)
      for (long k = 1; k <= box.cells[2]; ++k)
        furthest = fmax(furthest, fabs(x[i * box.stride[0] + j * box.stride[1] + k] - 1));
  if (by.request != MPI_REQUEST_NULL) MPI_Request_free(&by.request);
  char note[64];
  snprintf(note, sizeof note, "iterations=%ld error=%.1e", iteration, furthest);
  free(x);
  free(r);
  free(p);
  free(s);
  free_box(&box);
  return app_close(&app, furthest < 1e-6, note);
}
