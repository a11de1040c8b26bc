// SPDX-License-Identifier: BSD-3-Clause
// contexts.c - communicators made while first calls on others are under way.
//
// A communicator of ours begins with the first collective call on the MPI's, and needs a context.
// Even and odd ranks make it begin in different orders, between constructors that wait for all.

#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { TURNS = 30, ENOUGH = 16 };

static int me, ranks, copies, wrong;

static int copy(MPI_Comm from, int key, void *extra, void *value, void *copied, int *take) {
  (void)from, (void)key, (void)extra, (void)value, (void)copied;
  ++copies;
  *take = 0;
  return MPI_SUCCESS;
}

static void begin(MPI_Comm comm, int *sum, MPI_Request *request) {
  static int one = 1;
  *sum = 0;
  MPI_Iallreduce(&one, sum, 1, MPI_INT, MPI_SUM, comm, request);
}

// The first call on `first`, and a communicator made of `second`, which is in use already.
static void cross(MPI_Comm first, MPI_Comm second) {
  MPI_Comm made;
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int sums[3];
  if (me % 2 == 0) begin(first, &sums[0], &requests[0]);
  begin(second, &sums[1], &requests[1]);
  MPI_Comm_dup(second, &made);
  if (me % 2 == 1) begin(first, &sums[0], &requests[0]);
  begin(made, &sums[2], &requests[2]);
  MPI_Comm_free(&made);
  MPI_Waitall(3, requests, statuses);
  for (int i = 0; i < 3; ++i) wrong += sums[i] != ranks;
}

// A communicator of one whose first call is under way, and one of that.
static void chain(void) {
  MPI_Comm made[2];
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int sums[3];
  begin(MPI_COMM_WORLD, &sums[0], &requests[0]);
  MPI_Comm_dup(MPI_COMM_WORLD, &made[0]);
  begin(made[0], &sums[1], &requests[1]);
  MPI_Comm_dup(made[0], &made[1]);
  begin(made[1], &sums[2], &requests[2]);
  MPI_Waitall(3, requests, statuses);
  for (int i = 0; i < 3; ++i) wrong += sums[i] != ranks;
  MPI_Comm_free(&made[0]);
  MPI_Comm_free(&made[1]);
}

// Duplicates between other calls, with which ranks are not equally far.
static void duplicate(void) {
  enum { DUPLICATES = 5 };
  MPI_Comm made[DUPLICATES];
  MPI_Request requests[3 * DUPLICATES];
  MPI_Status statuses[3 * DUPLICATES];
  int sums[DUPLICATES];
  for (int i = 0; i < DUPLICATES; ++i) {
    begin(MPI_COMM_WORLD, &sums[i], &requests[3 * i]);
    if ((me + i) % 2) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    MPI_Comm_idup(MPI_COMM_WORLD, &made[i], &requests[3 * i + 1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[3 * i + 2]);
  }
  MPI_Waitall(3 * DUPLICATES, requests, statuses);
  for (int i = 0; i < DUPLICATES; ++i) {
    wrong += sums[i] != ranks;
    begin(made[i], &sums[i], &requests[i]);
  }
  MPI_Waitall(DUPLICATES, requests, statuses);
  for (int i = 0; i < DUPLICATES; ++i) {
    wrong += sums[i] != ranks;
    MPI_Comm_free(&made[i]);
  }
}

// MPI_Comm_create_group is no collective call of the communicator's.
static void beside(void) {
  MPI_Comm duplicate, grouped;
  MPI_Group all;
  MPI_Request request;
  MPI_Status status;
  int sum;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  if (me % 2 == 0) MPI_Comm_create_group(MPI_COMM_WORLD, all, 0, &grouped);
  MPI_Comm_idup(MPI_COMM_WORLD, &duplicate, &request);
  if (me % 2 == 1) MPI_Comm_create_group(MPI_COMM_WORLD, all, 0, &grouped);
  MPI_Wait(&request, &status);
  begin(grouped, &sum, &request);
  MPI_Wait(&request, &status);
  wrong += sum != ranks;
  MPI_Group_free(&all);
  MPI_Comm_free(&duplicate);
  MPI_Comm_free(&grouped);
}

// Open MPI takes what its nonblocking collectives send for edges, where it has had some twenty of
// them on a communicator.
static void connect(MPI_Comm comm, int turn) {
  const int degree = (turn * 7 + me * 3) % (ranks + 1);
  int to[ENOUGH], weights[ENOUGH], degrees[3];
  MPI_Comm made;
  MPI_Request request;
  MPI_Status status;
  int sum;
  for (int i = 0; i < degree; ++i) to[i] = weights[i] = i;
  MPI_Dist_graph_create(comm, 1, &me, &degree, to, weights, MPI_INFO_NULL, 0, &made);
  begin(made, &sum, &request);
  MPI_Dist_graph_neighbors_count(made, &degrees[0], &degrees[1], &degrees[2]);
  MPI_Wait(&request, &status);
  wrong += sum != ranks || degrees[1] != degree;
  MPI_Comm_free(&made);
}

// Duplicates of two groups' communicator, which is the MPI's, where one group has made more of them
// before than the other. Open MPI numbers them alike on all ranks, in a round for each try.
static void between(void) {
  enum { DUPLICATES = 4 };
  MPI_Comm half, more[3], both, made[DUPLICATES];
  MPI_Request requests[2 * DUPLICATES];
  MPI_Status statuses[2 * DUPLICATES];
  const int first = me == 0;
  int sum;
  if (ranks < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, first, me, &half);
  for (int i = 0; i < 3; ++i) {
    MPI_Comm_dup(half, &more[i]);
    begin(more[i], &sum, &requests[0]);
    MPI_Wait(&requests[0], &statuses[0]);
  }
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first, 5, &both);
  for (int i = 0; i < DUPLICATES; ++i) {
    if ((me + i) % 2) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    MPI_Comm_idup(both, &made[i], &requests[2 * i]);
    MPI_Ibarrier(both, &requests[2 * i + 1]);
  }
  MPI_Waitall(2 * DUPLICATES, requests, statuses);
  for (int i = 0; i < DUPLICATES; ++i) {
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made[i]);
    wrong += sum != (first ? ranks - 1 : 1);
    MPI_Comm_free(&made[i]);
  }
  MPI_Comm_free(&both);
  for (int i = 0; i < 3; ++i) MPI_Comm_free(&more[i]);
  MPI_Comm_free(&half);
}

int main(int count, char **words) {
  int key;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  beside();
  for (int turn = 0; turn < TURNS; ++turn) {
    MPI_Comm a, b;
    chain();
    duplicate();
    between();
    connect(MPI_COMM_WORLD, turn);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_dup(MPI_COMM_WORLD, &b);
    MPI_Comm_set_attr(a, key, NULL);
    cross(a, b);
    cross(b, a);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
  }
  MPI_Comm_free_keyval(&key);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("contexts on %d: %d wrong, %d attributes copied\n", ranks, wrong, copies);
  MPI_Finalize();
  return 0;
}
