/* Matrix times vector, again and again, on a grid of ranks: the vector goes down the columns, sums along the rows. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  MPI_Comm row, column;
  int rows, columns, my_row, my_column;
  int n;
  double *a, *x, *part, *y, *next[2];
} Grid;

static void multiply(const Grid *g, const double *x, double *y) {
  for (int i = 0; i < g->n; ++i) {
    y[i] = 0;
    for (int j = 0; j < g->n; ++j) y[i] += g->a[i * g->n + j] * x[j];
  }
}

static void refill(const Grid *g, int step) {
  for (int j = 0; j < g->n; ++j) g->next[step % 2][j] = 1.0 / (step + j + 1 + g->my_column);
}

static double steps(Grid *g, int count) {
  double sum = 0;
  for (int step = 0; step < count; ++step) {
    refill(g, step);
    MPI_Bcast(g->next[step % 2], g->n, MPI_DOUBLE, 0, g->column);
    multiply(g, g->next[step % 2], g->part);
    MPI_Reduce(g->part, g->y, g->n, MPI_DOUBLE, MPI_SUM, 0, g->row);
    for (int i = 0; i < g->n * g->n; ++i) g->a[i] *= 0.99;
    for (int i = 0; i < g->n; ++i) sum += g->y[i];
  }
  return sum;
}

int main(int argc, char **argv) {
  Grid g = {.n = 40};
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  g.columns = size % 2 == 0 ? 2 : 1;
  g.rows = size / g.columns;
  g.my_row = rank / g.columns;
  g.my_column = rank % g.columns;
  MPI_Comm_split(MPI_COMM_WORLD, g.my_row, g.my_column, &g.row);
  MPI_Comm_split(MPI_COMM_WORLD, g.my_column, g.my_row, &g.column);
  g.a = malloc(sizeof(double) * g.n * g.n);
  g.x = calloc(g.n, sizeof(double));
  g.part = calloc(g.n, sizeof(double));
  g.y = calloc(g.n, sizeof(double));
  for (int i = 0; i < 2; ++i) g.next[i] = calloc(g.n, sizeof(double));
  for (int i = 0; i < g.n * g.n; ++i) g.a[i] = (i + rank) % 13;
  double sum = steps(&g, 9), all;
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: %.6f\n", size, all);
  free(g.a), free(g.x), free(g.part), free(g.y), free(g.next[0]), free(g.next[1]);
  MPI_Comm_free(&g.row);
  MPI_Comm_free(&g.column);
  MPI_Finalize();
  return 0;
}
