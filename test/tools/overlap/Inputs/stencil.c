/* Heat in two dimensions, in the macros and pointers of old codes: two grids that are swapped, rows exchanged with neighbours,
 * a residual that is summed up every few steps and looked at later, a history of maxima. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define W 32
#define AT(i, j) ((i)*W + (j))
#define FOR_INNER(i, j)             \
  for (int i = 1; i <= rows; ++i) \
    for (int j = 1; j < W - 1; ++j)
#define CHECK(call)                                    \
  do {                                                 \
    int rc_ = (call);                                  \
    if (rc_ != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, rc_); \
  } while (0)

static int rank, ranks, rows = 10;
static double history[64];

static void exchange(double *u) {
  int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(&u[AT(1, 0)], W, MPI_DOUBLE, up, 1, &u[AT(rows + 1, 0)], W, MPI_DOUBLE, down, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(&u[AT(rows, 0)], W, MPI_DOUBLE, down, 2, &u[AT(0, 0)], W, MPI_DOUBLE, up, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  double local, residual = 1, most, energy = 0;
  int step, steps = 12;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double *u = calloc((size_t)(rows + 2) * W, sizeof *u), *v = calloc((size_t)(rows + 2) * W, sizeof *v), *swap;
  for (int j = 0; j < W; ++j) u[AT(3, j)] = v[AT(0, j)] = j + rank;
  for (step = 0; step < steps && residual > 1e-9; ++step) {
    exchange(u);
    local = 0;
    FOR_INNER(i, j) {
      v[AT(i, j)] = 0.25 * (u[AT(i - 1, j)] + u[AT(i + 1, j)] + u[AT(i, j - 1)] + u[AT(i, j + 1)]);
      local += (v[AT(i, j)] - u[AT(i, j)]) * (v[AT(i, j)] - u[AT(i, j)]);
    }
    CHECK(MPI_Allreduce(&local, &residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    most = 0;
    FOR_INNER(i, j) if (v[AT(i, j)] > most) most = v[AT(i, j)];
    MPI_Reduce(&most, &history[step], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    FOR_INNER(i, j) energy += v[AT(i, j)] * v[AT(i, j)];
    for (int s = 0; s < step; ++s) energy += history[s] / (s + 1);
    swap = u, u = v, v = swap;
  }
  MPI_Allreduce(MPI_IN_PLACE, &energy, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: %d steps, residual %.6e, energy %.6f, most %.6f\n", ranks, step, residual, energy, history[steps - 1]);
  free(u), free(v);
  MPI_Finalize();
  return 0;
}
