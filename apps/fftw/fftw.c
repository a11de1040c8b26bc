// SPDX-License-Identifier: BSD-3-Clause
// fftw.c - a cube's Fourier transform and back, by FFTW's own transforms over MPI.
//
// What fft.c does by hand, as a user of a library has it: slabs of planes, transposed in between.
// Out of place FFTW may take MPI_Alltoall or MPI_Alltoallv for that, in place it sends messages; it
// decides by guess, or by trying (--measure=1). Its calls come by here, where their time is taken,
// before they go on to whoever has them next.

#define _GNU_SOURCE  // RTLD_NEXT
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "library.h"

APP_HANDED_ON(MPI_Alltoall,
              (const void *in, int send, MPI_Datatype sent, void *out, int receive,
               MPI_Datatype received, MPI_Comm comm),
              in, send, sent, out, receive, received, comm)
APP_HANDED_ON(MPI_Alltoallv,
              (const void *in, const int sends[], const int from[], MPI_Datatype sent, void *out,
               const int receives[], const int to[], MPI_Datatype received, MPI_Comm comm),
              in, sends, from, sent, out, receives, to, received, comm)
APP_HANDED_ON(MPI_Sendrecv,
              (const void *in, int send, MPI_Datatype sent, int to, int with, void *out,
               int receive, MPI_Datatype received, int from, int of, MPI_Comm comm,
               MPI_Status *status),
              in, send, sent, to, with, out, receive, received, from, of, comm, status)

/// Real or imaginary part i of the cube, from -1 to 1.
static double part(long i) {
  return (double)(app_random((uint64_t)i) >> 11) / (1ul << 52) - 1;
}

/// FFTW's answer; null: there is none, which ends the program.
static void *must(void *what, const char *name) {
  if (what) return what;
  fprintf(stderr, "fftw: FFTW gives no %s\n", name);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

static fftw_complex *numbers(ptrdiff_t count) {
  return must(fftw_alloc_complex((size_t)count), "memory");
}

int main(int argc, char **argv) {
  long n = 64, times = 10, in_place = 0, measure = 0;
  struct app app;
  app_open(&app, &argc, &argv, "fftw",
           (struct app_option[]){{"size", "numbers in each direction", &n, 1, 1000},
                                 {"times", "there and back", &times, 1, 0},
                                 {"in-place", "1: in place", &in_place, 0, 1},
                                 {"measure", "1: FFTW tries its ways", &measure, 0, 1},
                                 {0}});
  app_blocking_only(&app);
  fftw_mpi_init();
  ptrdiff_t planes, first, turned, first_turned;
  const ptrdiff_t needed = fftw_mpi_local_size_3d_transposed(n, n, n, MPI_COMM_WORLD, &planes,
                                                             &first, &turned, &first_turned);
  fftw_complex *cube = numbers(needed), *image = in_place ? cube : numbers(needed);
  const unsigned how = (measure ? FFTW_MEASURE : FFTW_ESTIMATE) | FFTW_DESTROY_INPUT;
  fftw_plan there = must(fftw_mpi_plan_dft_3d(n, n, n, cube, image, MPI_COMM_WORLD, FFTW_FORWARD,
                                              how | FFTW_MPI_TRANSPOSED_OUT),
                         "plan"),
            back = must(fftw_mpi_plan_dft_3d(n, n, n, image, cube, MPI_COMM_WORLD, FFTW_BACKWARD,
                                             how | FFTW_MPI_TRANSPOSED_IN),
                        "plan");
  // This rank's parts, one after the other.
  const long own = 2 * planes * n * n, before = 2 * first * n * n;
  const double points = (double)(n * n * n);
  double *parts = *cube;
  for (long i = 0; i < own; ++i) parts[i] = part(before + i);
  app_start_library(&app);
  for (long k = 0; k < times; ++k) {
    fftw_execute(there);
    fftw_execute(back);
    for (long i = 0; i < own; ++i) parts[i] /= points;
  }
  app_stop_library(&app);

  double error = 0;
  for (long i = 0; i < own; ++i) error = fmax(error, fabs(parts[i] - part(before + i)));
  fftw_destroy_plan(there);
  fftw_destroy_plan(back);
  if (!in_place) fftw_free(image);
  fftw_free(cube);
  fftw_mpi_cleanup();
  char note[64];
  snprintf(note, sizeof note, "error=%.1e", error);
  return app_close(&app, error < 1e-12, note);
}
