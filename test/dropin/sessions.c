// SPDX-License-Identifier: BSD-3-Clause
// sessions.c - a program of sessions alone, and one that calls MPI_Init beside or within them;
// communicators of groups, which some ranks make while others wait for a call of ours.

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int me, ranks, wrong, one = 1, sum;

static void check(int right) {
  wrong += !right;
}

static void use(MPI_Group group, const char *name) {
  MPI_Comm comm, made;
  MPI_Request request;
  char second[64];
  MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < 10; ++i) {
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    check(sum == ranks);
  }
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  if (me == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  snprintf(second, sizeof second, "%s.2", name);
  MPI_Comm_create_from_group(group, second, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(sum == ranks);
  MPI_Barrier(made);
  MPI_Comm_free(&made);
  MPI_Comm_free(&comm);
}

static void session(const char *name) {
  MPI_Session session;
  MPI_Group all;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  use(all, name);
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
}

int main(int argc, char **argv) {
  const char *world = argc > 1 ? argv[1] : "none";
  int is = 0, provided;
  MPI_Session first;
  if (!strcmp(world, "before")) MPI_Init(&argc, &argv);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first);
  MPI_Initialized(&is);
  check(is == !strcmp(world, "before"));
  session("nbc.one");
  if (!strcmp(world, "within")) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Initialized(&is);
    check(is);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == ranks);
    MPI_Finalized(&is);
    check(!is);
    MPI_Finalize();
    MPI_Finalized(&is);
    check(is);
  }
  session("nbc.two");
  printf("sessions: rank %d, %d wrong\n", me, wrong);
  fflush(stdout);
  MPI_Session_finalize(&first);
  if (!strcmp(world, "before")) MPI_Finalize();
  return wrong != 0;
}
