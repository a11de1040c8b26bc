// Parts of an array that may be the same, or that cannot be told: nothing is changed.
// REQUIRES: openmpi
// RUN: cp %s %t.c && nbc-overlap --fix %t.c -- mpicc.openmpi > %t.out && cmp %s %t.c
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
enum { N = 100 };
static double in[4 * N], out[64 * N];
static int place, ranks;
static unsigned turn;
static void work(double *v) {
  for (int i = 0; i < N; ++i) v[i] += i;
}
static void move(void) { place += 3; }
static void sums(double *from, double *to, int n) {
  MPI_Allreduce(from, to, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

// One too many; one below; backwards; in steps; what is compared is something else.
static void ends(int n, int m, double *v) {
  MPI_Allreduce(v, v + n, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 0; k <= n; ++k) v[k] = k;
  MPI_Allreduce(v, v + n, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 2 * n - 1; k < 3 * n; ++k) v[k] = k;
  MPI_Allreduce(v, v + n, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 3 * n; k >= 2 * n - 1; --k) v[k] = k;
  MPI_Allreduce(v, v + n, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 2 * n; k < 3 * n; ++k) v[m * k] = k;
  MPI_Allreduce(v, v + n, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 2 * n; k < 3 * n; ++k) v[k - m] = k;
  MPI_Allreduce(v, v + n, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 2 * n, j = 0; j < n; ++k, ++j) v[k] = k;
  MPI_Allreduce(v, v + n, m, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 2 * n; k < 3 * n; ++k) v[k] = k;
}

// What an index is computed from changes in between: here, in a function, by a pointer, in the body of the loop.
static void changes(int n, double *v) {
  int *p = &place, at = 2 * n;
  MPI_Allreduce(v, v + at, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  at = 3 * n, work(v + at);
  sums(v, v + place, n);
  MPI_Allreduce(v, v + place, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  move(), work(v + place + n);
  MPI_Allreduce(v, v + place, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = *p -= n; k < *p + n; ++k) v[place + n + k - *p] = 1;
  MPI_Allreduce(v, v + n, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 2 * n; k < 3 * n; ++k) {
    if (k == 2 * n + 3) k -= n;
    v[k] = 1;
  }
  double *moving = v + 2 * n;
  MPI_Allreduce(v, v + n, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 0; k < n; ++k) *--moving = 1;
}

// Buffers taken in turns that come again too early, or may.
static void turns(int steps, int many, double *v) {
  for (int i = 0; i < steps; ++i) {  // every other
    for (int k = 0; k < N; ++k) in[i / 2 % 2 * N + k] = k;
    MPI_Allreduce(in + i / 2 % 2 * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < steps; i += 2) {
    for (int k = 0; k < N; ++k) in[i % 2 * N + k] = k;
    MPI_Allreduce(in + i % 2 * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < steps; ++i) {
    for (int k = 0; k < N; ++k) in[i % many * N + k] = k;
    MPI_Allreduce(in + i % many * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < steps; ++i) {  // one more than there is between two
    for (int k = 0; k <= N; ++k) in[i % 2 * N + k] = k;
    MPI_Allreduce(in + i % 2 * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < steps; ++i) {  // the one before is what the next fills, or is filled here
    for (int k = 0; k < N; ++k) in[(i + i + 1) % 2 * N + k] = in[i % 2 * N + k] = k;
    MPI_Allreduce(in + i % 2 * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (unsigned i = 0; i < (unsigned)steps; ++i) {
    for (int k = 0; k < N; ++k) in[(i - 1) % 3 * N + k] = k;
    MPI_Allreduce(in + i % 3 * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  int now = 0, which = 0;
  for (int i = 0; i < steps; ++i) {  // flipped twice; in some turns only; not for sure
    work(in + now * N);
    MPI_Allreduce(in + now * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    now = 1 - now;
    now = 1 - now;
  }
  for (int i = 0; i < steps; ++i) {
    work(in + now * N);
    MPI_Allreduce(in + now * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (i % 3) now = 1 - now;
  }
  for (int i = 0; i < steps; ++i) {
    work(in + which * N);
    MPI_Allreduce(in + which * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    which = !which;
  }
  for (int i = 0; i < steps; ++i) {  // a pointer that was there before the flip
    double *mine = v + now * N;
    now = 1 - now;
    work(mine);
    MPI_Allreduce(v + now * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < steps; ++i) {
    work(v + turn % 2 * N);
    MPI_Allreduce(v + turn % 2 * N, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    ++turn;
    turn += ranks;
  }
}

// A remainder of -1 is another one where it has become unsigned, and where & asks for it.
static double by_three(int last) {
  static double slots[3];
  size_t before = last;
  MPI_Bcast(&slots[(last + 1) % (sizeof slots / sizeof slots[0])], 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) slots[last % (sizeof slots / sizeof slots[0])] += i;
  MPI_Bcast(&slots[(before + 1) % 3], 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) slots[before % 3] += i;
  return slots[0];
}
static double by_two(int last) {
  static double slots[4];
  size_t before = last;
  MPI_Bcast(&slots[last & 1], 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) slots[last % 2 + 2] += i;
  MPI_Bcast(&slots[before % 2], 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) slots[last % 2 + 2] += i;
  return slots[1];
}

// Arrays of pointers of which two may be the same: set to one thing, exchanged, given away, moved as bytes.
struct pool {
  double *same[2], *exchanged[2], *given[2];
};
struct bytes {
  double *moved[2];
};
void elsewhere(double **);
static void pools(int steps, struct pool *p, struct bytes *b) {
  double *local[2] = {in, in};
  for (int i = 0; i < 2; ++i) p->exchanged[i] = malloc(N), p->given[i] = malloc(N), b->moved[i] = malloc(N);
  p->same[0] = p->same[1] = malloc(N);
  double *t = p->exchanged[0];
  p->exchanged[1] = t;
  elsewhere(p->given);
  memmove((char *)b + sizeof(double *), b, sizeof(double *));
  for (int i = 0; i < steps; ++i) {
    work(p->same[i % 2]);
    MPI_Allreduce(p->same[i % 2], out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < steps; ++i) {
    work(p->exchanged[i % 2]);
    MPI_Allreduce(p->exchanged[i % 2], out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < steps; ++i) {
    work(p->given[i % 2]);
    MPI_Allreduce(p->given[i % 2], out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < steps; ++i) {
    work(b->moved[i % 2]);
    MPI_Allreduce(b->moved[i % 2], out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < steps; ++i) {
    work(local[i % 2]);
    MPI_Allreduce(local[i % 2], out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

// No end is known of what is received from each rank, no begin of what displacements say.
static void lengths(double *v, int n, int *counts, int *places) {
  MPI_Allgather(in, N, MPI_DOUBLE, v, N, MPI_DOUBLE, MPI_COMM_WORLD);
  work(v + 2 * N);
  MPI_Allgatherv(in, N, MPI_DOUBLE, v + 3 * N, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
  work(v);
  MPI_Datatype columns;
  MPI_Type_vector(n, 1, 2 * n, MPI_DOUBLE, &columns);
  MPI_Bcast(v, 1, columns, 0, MPI_COMM_WORLD);
  work(v + N);
  MPI_Bcast(v, N, MPI_LONG_DOUBLE, 0, MPI_COMM_WORLD);
  work(v + N);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  struct pool p;
  struct bytes b;
  double *v = calloc(64 * N, sizeof *v);
  ends(N, argc, v);
  changes(N, v);
  turns(argc, argc + 1, v);
  pools(argc, &p, &b);
  v[0] = by_three(argc - 2) + by_two(argc - 2);
  lengths(v, N, (int *)v, (int *)v);
  MPI_Finalize();
}
