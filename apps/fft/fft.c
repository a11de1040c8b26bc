// SPDX-License-Identifier: BSD-3-Clause
// fft.c - a 3-d Fourier transform whose transposition goes on behind the transforms around it.
//
// Each rank has planes of x. A tile is some of them: its lines along z are transformed, then it is
// dealt out by alltoall, after which each rank has a range of z for these x. While a tile is
// under way the lines along z of the next are transformed, and those along y of the one before,
// which are complete. x comes last, when all have arrived.
//
//   z(0)  start(0)  z(1)  wait(0) start(1)  y(0)  z(2)  wait(1) start(2)  y(1)  ...
//
// FFTW transforms lines; nothing of its MPI part is used. Blocks are padded to the same length, so
// any number of ranks will do. Checked against the definition, at frequencies chosen at random, and
// by Parseval's sum.

#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "app.h"
#include "persistent.h"

typedef double complex number;

struct cube {
  long n, planes, depth;  // planes of x for a rank, planes of z after the transposition; padded
  long tile, tiles;       // planes of x that travel together; how many such
  long x0, z0;            // where this rank's begin
  long xs, zs;            // how many of them there are
  long block;             // numbers of a tile for one rank
  int ranks;
  number *input;      // [x][y][z]
  number *line;       // a plane of x, transformed along z
  number *outgoing;   // two tiles: [rank][x of the tile][y][z of the rank]
  number *arrived;    // all tiles: [tile][rank][x of the tile][y][z]
  number *transform;  // [y][z][x]
  fftw_plan along_z, along_y, along_x;
  MPI_Request *requests;  // one a tile
};

static number input_at(const struct cube *c, long x, long y, long z) {
  uint64_t n = app_random((uint64_t)((x * c->n + y) * c->n + z));
  return (double)(n & 0xffff) / 65536 - 0.5 + ((double)(n >> 16 & 0xffff) / 65536 - 0.5) * I;
}

static number *numbers(long count) {
  return app_allocate(sizeof(number) * (size_t)count);
}

static void make_cube(struct cube *c, const struct app *app, long n, long tile) {
  *c = (struct cube){.n = n, .ranks = app->ranks};
  c->planes = c->depth = (n + app->ranks - 1) / app->ranks;
  c->tile = tile < c->planes ? tile : c->planes;
  c->tiles = (c->planes + c->tile - 1) / c->tile;
  c->x0 = c->z0 = app->rank * c->planes;
  long left = n - c->x0;
  c->xs = c->zs = left < 0 ? 0 : left < c->planes ? left : c->planes;
  c->block = c->tile * n * c->depth;
  c->input = numbers(c->xs * n * n);
  c->line = numbers(n * n);
  c->outgoing = numbers(2 * c->ranks * c->block);
  c->arrived = numbers(c->tiles * c->ranks * c->block);
  c->transform = numbers(n * c->depth * n);
  for (long i = 0; i < 2 * c->ranks * c->block; ++i) c->outgoing[i] = 0;  // what pads
  for (long x = 0; x < c->xs; ++x)
    for (long y = 0; y < n; ++y)
      for (long z = 0; z < n; ++z) c->input[(x * n + y) * n + z] = input_at(c, c->x0 + x, y, z);
  int length = (int)n, depth = (int)c->depth;
  c->along_z = fftw_plan_many_dft(1, &length, length, c->line, NULL, 1, length, c->line, NULL, 1,
                                  length, FFTW_FORWARD, FFTW_ESTIMATE | FFTW_UNALIGNED);
  c->along_y = fftw_plan_many_dft(1, &length, depth, c->arrived, NULL, depth, 1, c->arrived, NULL,
                                  depth, 1, FFTW_FORWARD, FFTW_ESTIMATE | FFTW_UNALIGNED);
  c->along_x = fftw_plan_many_dft(1, &length, (int)(n * c->depth), c->transform, NULL, 1, length,
                                  c->transform, NULL, 1, length, FFTW_FORWARD,
                                  FFTW_ESTIMATE | FFTW_UNALIGNED);
  c->requests = app_allocate(sizeof(MPI_Request) * (size_t)c->tiles);
  for (long t = 0; t < c->tiles; ++t) c->requests[t] = MPI_REQUEST_NULL;
}

static void free_cube(struct cube *c) {
  for (long t = 0; t < c->tiles; ++t)
    if (c->requests[t] != MPI_REQUEST_NULL) MPI_Request_free(&c->requests[t]);
  free(c->requests);
  fftw_destroy_plan(c->along_z);
  fftw_destroy_plan(c->along_y);
  fftw_destroy_plan(c->along_x);
  for (int i = 0; i < 5; ++i)
    free((number *[]){c->input, c->line, c->outgoing, c->arrived, c->transform}[i]);
}

static number *outgoing(const struct cube *c, long t) {
  return c->outgoing + t % 2 * c->ranks * c->block;
}

static number *arrived(const struct cube *c, long t) {
  return c->arrived + t * c->ranks * c->block;
}

/// Of plane x, the one in place i of its tile.
static void transform_z(struct cube *c, long t, long i) {
  long n = c->n, x = t * c->tile + i;
  if (x >= c->xs) return;
  for (long j = 0; j < n * n; ++j) c->line[j] = c->input[x * n * n + j];
  fftw_execute(c->along_z);
  for (long r = 0; r < c->ranks; ++r) {
    number *to = outgoing(c, t) + r * c->block + i * n * c->depth;
    long first = r * c->depth, end = first + c->depth < n ? first + c->depth : n;
    for (long y = 0; y < n; ++y)
      for (long z = first; z < end; ++z) to[y * c->depth + z - first] = c->line[y * n + z];
  }
}

/// Of the plane that rank r sent in place i of a tile.
static void transform_y(struct cube *c, long t, long r, long i) {
  number *plane = arrived(c, t) + r * c->block + i * c->n * c->depth;
  fftw_execute_dft(c->along_y, plane, plane);
}

static void transform_x(struct cube *c) {
  long n = c->n;
  for (long x = 0; x < n; ++x) {
    long r = x / c->planes, place = x % c->planes, t = place / c->tile, i = place % c->tile;
    const number *from = arrived(c, t) + r * c->block + i * n * c->depth;
    for (long yz = 0; yz < n * c->depth; ++yz) c->transform[yz * n + x] = from[yz];
  }
  fftw_execute(c->along_x);
}

/// Counted in bytes, of which an MPI_DOUBLE_COMPLEX has none that all MPIs know from C.
static int bytes(const struct cube *c) {
  return (int)(c->block * (long)sizeof(number));
}

static void run_blocking(struct app *app, struct cube *c) {
  for (long t = 0; t < c->tiles; ++t) {
    for (long i = 0; i < c->tile; ++i) transform_z(c, t, i);
    double begin = app_enter();
    MPI_Alltoall(outgoing(c, t), bytes(c), MPI_BYTE, arrived(c, t), bytes(c), MPI_BYTE,
                 MPI_COMM_WORLD);
    app_leave(app, begin);
    for (long r = 0; r < c->ranks; ++r)
      for (long i = 0; i < c->tile; ++i) transform_y(c, t, r, i);
  }
  transform_x(c);
}

static void start(struct app *app, struct cube *c, long t) {
  double begin = app_enter();
  if (app->variant == APP_PERSISTENT)
    MPI_Start(&c->requests[t]);
  else
    MPI_Ialltoall(outgoing(c, t), bytes(c), MPI_BYTE, arrived(c, t), bytes(c), MPI_BYTE,
                  MPI_COMM_WORLD, &c->requests[t]);
  app_leave_started(app, begin);
}

/// With `tests`, one after each plane: as often as there is something to do in between.
static void run_overlapped(struct app *app, struct cube *c, bool tests) {
  for (long t = 0; t <= c->tiles; ++t) {
    for (long i = 0; t < c->tiles && i < c->tile; ++i) {
      transform_z(c, t, i);
      if (tests && t > 0) app_test(app, &c->requests[t - 1]);
    }
    if (t > 0) app_wait(app, &c->requests[t - 1]);
    if (t < c->tiles) start(app, c, t);
    if (t == 0) continue;
    for (long r = 0; r < c->ranks; ++r)
      for (long i = 0; i < c->tile; ++i) {
        transform_y(c, t - 1, r, i);
        if (tests && t < c->tiles) app_test(app, &c->requests[t]);
      }
  }
  transform_x(c);
}

/// The definition, at frequencies chosen at random. Collective.
static bool check_definition(const struct cube *c, int frequencies) {
  bool right = true;
  long n = c->n;
  double turn = -2 * acos(-1) / (double)n;
  for (int f = 0; f < frequencies; ++f) {
    uint64_t chosen = app_random((uint64_t)f + 12345);
    long kx = (long)(chosen % (uint64_t)n), ky = (long)(chosen >> 20) % n,
         kz = (long)(chosen >> 40) % n;
    number sum = 0;
    for (long x = 0; x < c->xs; ++x)
      for (long y = 0; y < n; ++y)
        for (long z = 0; z < n; ++z)
          sum += input_at(c, c->x0 + x, y, z) *
                 cexp(I * turn * (double)((kx * (c->x0 + x) + ky * y + kz * z) % n));
    MPI_Allreduce(MPI_IN_PLACE, &sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (kz < c->z0 || kz >= c->z0 + c->zs) continue;
    number found = c->transform[(ky * c->depth + kz - c->z0) * n + kx];
    if (!(cabs(found - sum) <= 1e-10 * pow((double)n, 1.5))) right = false;
  }
  return right;
}

/// The sum of squares is n^3 times as large as before. Collective.
static bool check_sum(const struct cube *c) {
  double sums[2] = {0, 0};
  for (long i = 0; i < c->xs * c->n * c->n; ++i) sums[0] += creal(c->input[i] * conj(c->input[i]));
  for (long y = 0; y < c->n; ++y)
    for (long z = 0; z < c->zs; ++z)
      for (long x = 0; x < c->n; ++x) {
        number value = c->transform[(y * c->depth + z) * c->n + x];
        sums[1] += creal(value * conj(value));
      }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double wanted = sums[0] * pow((double)c->n, 3);
  return fabs(sums[1] - wanted) <= 1e-10 * wanted;
}

int main(int argc, char **argv) {
  long n = 96, tile = 4, repeats = 3, tests = 1;
  struct app app;
  app_open(&app, &argc, &argv, "fft",
           (struct app_option[]){{"size", "points in each direction", &n, 1, 1000},
                                 {"tile", "planes that travel together", &tile, 1, 1000},
                                 {"repeats", "transforms", &repeats, 1, 0},
                                 {"tests", "1: MPI_Test after each plane", &tests, 0, 1},
                                 {0}});
  struct cube cube;
  make_cube(&cube, &app, n, tile);
  if (cube.block > INT32_MAX / (long)sizeof(number)) {
    if (app.rank == 0)
      fprintf(stderr,
              "fft: a block has %ld numbers, too many for one call: make the tile smaller\n",
              cube.block);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (app.variant == APP_PERSISTENT)
    for (long t = 0; t < cube.tiles; ++t)
      MPI_Alltoall_init(outgoing(&cube, t), bytes(&cube), MPI_BYTE, arrived(&cube, t), bytes(&cube),
                        MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL, &cube.requests[t]);

  app_start_clock(&app);
  for (long i = 0; i < repeats; ++i)
    if (app.variant == APP_BLOCKING)
      run_blocking(&app, &cube);
    else
      run_overlapped(&app, &cube, tests);
  app_stop_clock(&app);

  bool right = check_definition(&cube, 16);
  right = check_sum(&cube) && right;
  char note[64];
  snprintf(note, sizeof note, "tiles=%ld", cube.tiles);
  free_cube(&cube);
  return app_close(&app, right, note);
}
