// A pointer whose bytes are copied, or that is printed and read again, is a pointer to the same.
// RUN: for how in 1 2 3 4 5 6 7 8 9; do nbc-overlap --least=1 %s -- mpicc -DHOW=$how | FileCheck %s --implicit-check-not=fix: || { echo $how; exit 1; }; done
// RUN: for how in 0 10; do nbc-overlap --least=1 %s -- mpicc -DHOW=$how | grep -c fix: | grep -x 1 || { echo $how; exit 1; }; done
// CHECK-COUNT-2: note: not changed

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double w[1000];
struct held {
  int *p;
};

static void copied(void *to, const void *from, size_t n) { memcpy(to, from, n); }
static int *loaded(int **from) {
  int *p;
  memcpy(&p, from, sizeof p);
  return p;
}

int main(int argc, char **argv) {
  int rank, k = 0, other = 0, *q = &k, *p = &other;
  char text[32];
  double a = 1, b = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#if HOW == 1
  memcpy(&p, &q, sizeof p);
#elif HOW == 2
  for (size_t i = 0; i < sizeof p; ++i) ((char *)&p)[i] = ((char *)&q)[i];
#elif HOW == 3
  sprintf(text, "%p", (void *)q);
  sscanf(text, "%p", (void **)&p);
#elif HOW == 4
  copied(&p, &q, sizeof p);
#elif HOW == 5
  p = loaded(&q);
#elif HOW == 6
  const void *from = &q;
  memmove(&p, from, sizeof p);
#elif HOW == 7
  struct held h;
  memcpy(&h.p, &q, sizeof q);
  p = h.p;
#elif HOW == 8
  unsigned char bytes[sizeof q];
  memcpy(bytes, &q, sizeof q);
  memcpy(&p, bytes, sizeof p);
#elif HOW == 9
  char *name;
  memcpy(&name, argv, sizeof name);
  name[0] = (char)rank;
  k = argv[0][0];
#elif HOW == 10  // what is pointed at is no pointer
  int copy;
  memcpy(&copy, q, sizeof copy);
  printf("%s %d %p\n", argv[0], memcmp(&copy, q, sizeof copy), (void *)q);
#endif
  *p = rank;
  if (k) {
    MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 1000; ++i) w[i] = w[i] * 2 + 1;
  } else {
    MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  printf("%g %s\n", b, argc > 3 ? text : "");
  MPI_Finalize();
  return 0;
}
