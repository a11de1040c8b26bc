// SPDX-License-Identifier: BSD-3-Clause
// again.c - communicators that are made and freed, over and over.
//
// A new one may have what a freed one has left, if all its ranks mean the same one: of several
// there are, with the same ranks in this order or another one, with neighbours or without, freed in
// an order of each rank's own, some of them with calls under way. Arguments: rounds, seed.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 6, LENGTH = 37 };

struct live {
  MPI_Comm comm;
  MPI_Request request;  // of a call that is under way
  int neighbors;        // two, or none
  int sources[2];       // they are these
  int to[LENGTH], from[LENGTH];
};

static unsigned random_state;
static unsigned draw(unsigned below) {
  random_state = random_state * 1103515245u + 12345u;
  return (random_state >> 16) % below;
}

static int me, all, wrong;

// Where rank r of a communicator is in the world.
static int world_rank(MPI_Comm comm, int r) {
  MPI_Group group, world;
  int found;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, 1, &r, world, &found);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return found;
}

static void make(struct live *l) {
  const unsigned how = draw(9);
  const int left = (me + all - 1) % all, right = (me + 1) % all, last = me == all - 1,
            weights[] = {1, 1};
  l->neighbors = how < 4 ? 0 : 2;
  l->sources[0] = left, l->sources[1] = right;
  if (how == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &l->comm);
  } else if (how < 4) {  // all; all, the other way round; every other rank
    MPI_Comm_split(MPI_COMM_WORLD, how == 3 ? me % 2 : 0, how == 2 ? -me : me, &l->comm);
  } else if (how < 6) {  // a line; a ring
    const int ring = how == 5;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &all, &ring, 0, &l->comm);
    if (!ring && me == 0) l->sources[0] = MPI_PROC_NULL;
    if (!ring && last) l->sources[1] = MPI_PROC_NULL;
  } else {  // a ring the other way round; the same without the last; all twice their own neighbour
    const int ring = how == 6 ? all : how == 7 && !last ? all - 1 : 0;
    const int of[] = {ring ? (me + 1) % ring : me, ring ? (me + ring - 1) % ring : me};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, of, weights, 2, of, weights, MPI_INFO_NULL, 0,
                                   &l->comm);
    l->sources[0] = of[0], l->sources[1] = of[1];
  }
  l->request = MPI_REQUEST_NULL;
}

static void call(struct live *l, int round) {
  int rank, ranks;
  MPI_Comm_rank(l->comm, &rank);
  MPI_Comm_size(l->comm, &ranks);
  int *seen = (int *)malloc((size_t)ranks * sizeof *seen);
  const int mine = me * 1000 + round;
  MPI_Allgather(&mine, 1, MPI_INT, seen, 1, MPI_INT, l->comm);
  for (int r = 0; r < ranks; ++r) wrong += seen[r] != world_rank(l->comm, r) * 1000 + round;
  const int root = (int)draw(1000) % ranks;
  int told = rank == root ? mine : -1;
  MPI_Bcast(&told, 1, MPI_INT, root, l->comm);
  wrong += told != seen[root];
  free(seen);
  if (!l->neighbors) return;
  int from[2] = {-1, -1};
  MPI_Neighbor_allgather(&mine, 1, MPI_INT, from, 1, MPI_INT, l->comm);
  for (int i = 0; i < 2; ++i)
    wrong += from[i] != (l->sources[i] < 0 ? -1 : l->sources[i] * 1000 + round);
}

static void begin(struct live *l, int round) {
  for (int i = 0; i < LENGTH; ++i) l->from[i] = me + i + round;
  MPI_Iallreduce(l->from, l->to, LENGTH, MPI_INT, MPI_MAX, l->comm, &l->request);
}

static void end(struct live *l) {
  if (l->request == MPI_REQUEST_NULL) return;
  MPI_Wait(&l->request, MPI_STATUS_IGNORE);
  // Of every other rank the last one is this one, or the next.
  const int last = l->to[0] - l->from[0] + me;
  wrong += last != all - 1 && last != all - 1 - (all - 1 - me) % 2;
  for (int i = 1; i < LENGTH; ++i) wrong += l->to[i] != l->to[0] + i;
}

int main(int count, char **words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  const int rounds = count > 1 ? atoi(words[1]) : 100;
  random_state = count > 2 ? (unsigned)atoi(words[2]) : 1;
  struct live live[MOST];
  for (int round = 0; round < rounds; ++round) {
    const int made = 1 + (int)draw(MOST);
    unsigned under_way = 0;
    for (int i = 0; i < made; ++i) make(&live[i]);
    for (int i = 0; i < made; ++i) {
      if (draw(3)) call(&live[i], round);
      if (draw(3) == 0) under_way |= 1u << i;
      if (under_way >> i & 1) begin(&live[i], round);
    }
    for (int i = 0; i < made; ++i) MPI_Comm_free(&live[(i + me) % made].comm);
    for (int i = 0; i < made; ++i) end(&live[i]);
  }
  int sum = 0;
  MPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("again on %d: %d wrong\n", all, sum);
  MPI_Finalize();
  return sum != 0;
}
