// SPDX-License-Identifier: BSD-3-Clause
// elsewhere.c - calls of windows, files and groups that wait for other ranks, in the middle of a
// collective call.
//
// Some ranks wait for the collective call first, which needs all ranks to move it on; the others
// are in the other call meanwhile.

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LENGTH = 3000, TURNS = 6 };

static int me, ranks, wrong;
static int mine[LENGTH], *all, *shown;
static MPI_Comm half, made, between = MPI_COMM_NULL;  // the halves
static MPI_Group half_group;
static MPI_Win window;
static MPI_File file;
static const char *file_name;

static void fence(void) {
  MPI_Win_fence(0, window);
  MPI_Put(&me, 1, MPI_INT, (me + 1) % ranks, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  wrong += shown[0] != (me + ranks - 1) % ranks;
}

static void make_window(void) {
  MPI_Win_create(shown, sizeof *shown, sizeof *shown, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
}

static void free_window(void) {
  MPI_Win_free(&window);
}

// Rank 0's window is open to the others, and it waits until they are done.
static void expose(void) {
  MPI_Group world, others;
  const int first = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (me == 0) {
    MPI_Group_excl(world, 1, &first, &others);
    MPI_Win_post(others, 0, window);
    MPI_Win_wait(window);
    wrong += ranks > 1 && shown[0] < 1;
  } else {
    MPI_Group_incl(world, 1, &first, &others);
    MPI_Win_start(others, 0, window);
    MPI_Put(&me, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
  }
  MPI_Group_free(&others);
  MPI_Group_free(&world);
}

// Rank 0's, whose lock the others have in turn.
static void lock_window(void) {
  if (me == 0) return;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Put(&me, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
  MPI_Win_unlock(0, window);
}

static void open_file(void) {
  MPI_File_open(MPI_COMM_WORLD, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
}

static void resize(void) {
  MPI_File_set_size(file, (MPI_Offset)(ranks * (int)sizeof me));
}

static void view(void) {
  MPI_File_set_view(file, me * (MPI_Offset)sizeof me, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
}

// Open MPI returns once another rank has the data, which need not have written them yet; what reads
// in parts may read them before, without us, too.
static void write_all(void) {
  MPI_File_write_at_all(file, 0, &me, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void read_in_parts(void) {
  int back = -1;
  MPI_File_read_at_all_begin(file, 0, &back, 1, MPI_INT);
  MPI_File_read_at_all_end(file, &back, MPI_STATUS_IGNORE);
  wrong += back != me;
}

// Which an MPI may do by collective calls of its own.
static void read_later(void) {
  int back = -1;
  MPI_Request request;
  MPI_File_iread_at_all(file, 0, &back, 1, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  wrong += back != me;
}

static void close_file(void) {
  MPI_File_close(&file);
}

static void create_of_group(void) {
  MPI_Comm_create_group(MPI_COMM_WORLD, half_group, 3, &made);
  int same = 0;
  MPI_Comm_compare(made, half, &same);
  wrong += same != MPI_CONGRUENT;
  MPI_Comm_free(&made);
}

static void split(void) {
  int same = 0;
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &made);
  MPI_Comm_compare(made, half, &same);
  wrong += same != MPI_CONGRUENT;
  MPI_Comm_free(&made);
}

// Which is passed on.
static void sum_of_others(void) {
  const int one = 1;
  int sum = 0;
  if (ranks == 1) return;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, between);
  wrong += sum != (me % 2 == 0 ? ranks / 2 : (ranks + 1) / 2);
}

static void connect_halves(void) {
  if (ranks == 1) return;
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, me % 2 == 0, 4, &made);
  int there = 0;
  MPI_Comm_remote_size(made, &there);
  wrong += there != (me % 2 == 0 ? ranks / 2 : (ranks + 1) / 2);
  MPI_Comm_disconnect(&made);
}

// From rank 0, which is waited for, to rank 1.
static void pass_message(void) {
#if MPI_VERSION >= 4
  int got = -1;
  if (ranks > 1 && me == 0) MPI_Send_c(&ranks, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
  if (me == 1) MPI_Recv_c(&got, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  wrong += me == 1 && got != ranks;
  got = me;
  if (me < ranks / 2 * 2)
    MPI_Sendrecv_replace_c(&got, 1, MPI_INT, me ^ 1, 7, me ^ 1, 7, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
  wrong += me < ranks / 2 * 2 && got != (me ^ 1);
#endif
}

static void (*const calls[])(void) = {
    make_window,     fence, expose,        lock_window,    free_window,  open_file,
    resize,          view,  write_all,     read_in_parts,  read_later,   close_file,
    create_of_group, split, sum_of_others, connect_halves, pass_message,
};

static void sleep_at_random(void) {
  nanosleep(&(struct timespec){.tv_nsec = rand() % 3 * 300000}, NULL);
}

// Whether the MPI moves calls on where it waits for an origin, a target or a lock.
#if defined(OPEN_MPI)
static const bool covers_targets = true;
#else
static const bool covers_targets = false;
#endif

static void beside(void (*call)(void), bool wait_first) {
  MPI_Request request;
  const bool holds = covers_targets && call == lock_window && me == 0;
  if (holds) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  wait_first = wait_first || holds;
  for (int i = 0; i < LENGTH; ++i) mine[i] = me * LENGTH + i;
  sleep_at_random();
  MPI_Iallgather(mine, LENGTH, MPI_INT, all, LENGTH, MPI_INT, MPI_COMM_WORLD, &request);
  if (wait_first) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (holds) MPI_Win_unlock(0, window);
  sleep_at_random();
  call();
  if (!wait_first) MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < ranks * LENGTH; ++i) wrong += all[i] != i;
}

int main(int count, char **words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  srand((unsigned)me);
  file_name = count > 1 ? words[1] : "elsewhere.data";
  all = (int *)malloc((size_t)ranks * sizeof mine);
  shown = (int *)calloc(1, sizeof *shown);
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
  MPI_Comm_group(half, &half_group);
  if (ranks > 1) MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, me % 2 == 0, 5, &between);

  for (int turn = 0; turn < TURNS; ++turn)
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
      // Elsewhere who opens a window to the others does so before he is waited for.
      const bool first = calls[i] == expose && !covers_targets ? me != 0 : (me + turn) % 2;
      beside(calls[i], first);
    }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("elsewhere on %d: %d wrong\n", ranks, wrong);
  MPI_Group_free(&half_group);
  if (ranks > 1) MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  free(shown);
  free(all);
  MPI_Finalize();
  return wrong != 0;
}
