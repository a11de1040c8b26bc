// SPDX-License-Identifier: BSD-3-Clause
// trace.c - libapp-trace: when an application starts its collectives and when it waits for them.
//
// Put in front of the MPI, it writes what rank 0 does between its last MPI_Pcontrol(1) and the
// MPI_Pcontrol(0) behind it to the file that APP_TRACE names: how many microseconds that took, and
// a line for each collective, in the order of starts:
//
//   allgather 1024 12.3 13.1 40.2 55.0
//
// its name without I and v (`messages`: what MPI_Waitall ends), the bytes of a block (of the
// longest, or of the vector), and microseconds since MPI_Pcontrol(1): start begins, start ends,
// wait begins, wait ends. A call that blocks starts and waits at once. Of one thread, as the
// applications have.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct event {
  const char *name;
  double bytes, begin, started, waits, over;
  const MPI_Request *request;  // null: it is over
};

static struct event *events;
static size_t count, room;
static size_t traced;  // of events: those before MPI_Pcontrol(0)
static double zero, end;

static struct event *add(const char *name, double bytes) {
  if (count == room) {
    room = room ? 2 * room : 1024;
    events = (struct event *)realloc(events, room * sizeof *events);
    if (!events) abort();
  }
  const double now = PMPI_Wtime();
  events[count] = (struct event){name, bytes, now, now, 0, 0, NULL};
  return &events[count++];
}

static double bytes_of(int n, MPI_Datatype type) {
  int size;
  PMPI_Type_size(type, &size);
  return (double)n * size;
}

static double longest(const int counts[], MPI_Datatype type, MPI_Comm comm) {
  int ranks, most = 0;
  PMPI_Comm_size(comm, &ranks);
  for (int r = 0; r < ranks; ++r)
    if (counts[r] > most) most = counts[r];
  return bytes_of(most, type);
}

static int ended(struct event *e, int error) {
  e->waits = e->started;
  e->over = PMPI_Wtime();
  return error;
}

static int begun(struct event *e, const MPI_Request *request, int error) {
  e->started = PMPI_Wtime();
  e->request = request;
  return error;
}

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  struct event *e = add("allreduce", bytes_of(n, type));
  return ended(e, PMPI_Allreduce(in, out, n, type, op, comm));
}

int MPI_Iallreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request) {
  struct event *e = add("allreduce", bytes_of(n, type));
  return begun(e, request, PMPI_Iallreduce(in, out, n, type, op, comm, request));
}

int MPI_Iallgather(const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count,
                   MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request) {
  struct event *e = add("allgather", bytes_of(out_count, out_type));
  return begun(e, request,
               PMPI_Iallgather(in, in_count, in_type, out, out_count, out_type, comm, request));
}

int MPI_Ialltoall(const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request) {
  struct event *e = add("alltoall", bytes_of(out_count, out_type));
  return begun(e, request,
               PMPI_Ialltoall(in, in_count, in_type, out, out_count, out_type, comm, request));
}

int MPI_Alltoallv(const void *in, const int in_counts[], const int in_places[],
                  MPI_Datatype in_type, void *out, const int out_counts[], const int out_places[],
                  MPI_Datatype out_type, MPI_Comm comm) {
  struct event *e = add("alltoall", longest(in_counts, in_type, comm));
  return ended(e, PMPI_Alltoallv(in, in_counts, in_places, in_type, out, out_counts, out_places,
                                 out_type, comm));
}

int MPI_Ialltoallv(const void *in, const int in_counts[], const int in_places[],
                   MPI_Datatype in_type, void *out, const int out_counts[], const int out_places[],
                   MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request) {
  struct event *e = add("neighbor_alltoall", longest(in_counts, in_type, comm));
  return begun(e, request,
               PMPI_Ialltoallv(in, in_counts, in_places, in_type, out, out_counts, out_places,
                               out_type, comm, request));
}

int MPI_Igather(const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count,
                MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request *request) {
  struct event *e = add("gather", bytes_of(in_count, in_type));
  return begun(e, request,
               PMPI_Igather(in, in_count, in_type, out, out_count, out_type, root, comm, request));
}

int MPI_Igatherv(const void *in, int in_count, MPI_Datatype in_type, void *out,
                 const int out_counts[], const int out_places[], MPI_Datatype out_type, int root,
                 MPI_Comm comm, MPI_Request *request) {
  struct event *e = add("gather", bytes_of(in_count, in_type));
  return begun(e, request,
               PMPI_Igatherv(in, in_count, in_type, out, out_counts, out_places, out_type, root,
                             comm, request));
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  struct event *e = events + count;
  while (e > events && (--e)->request != request) continue;
  if (count == 0 || e->request != request) return PMPI_Wait(request, status);
  e->waits = PMPI_Wtime();
  int error = PMPI_Wait(request, status);
  e->over = PMPI_Wtime();
  e->request = NULL;
  return error;
}

// Messages beside collectives: one line for what is waited for at once, with the bytes of the
// longest send.
static double longest_send;

int MPI_Isend(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
  const double bytes = to == MPI_PROC_NULL ? 0 : bytes_of(n, type);
  if (bytes > longest_send) longest_send = bytes;
  return PMPI_Isend(data, n, type, to, tag, comm, request);
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
  struct event *e = add("messages", longest_send);
  longest_send = 0;
  return ended(e, PMPI_Waitall(n, requests, statuses));
}

int MPI_Pcontrol(const int level, ...) {
  if (level) {
    count = 0;
    zero = PMPI_Wtime();
  } else {
    traced = count;
    end = PMPI_Wtime();
  }
  return MPI_SUCCESS;
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char *name = getenv("APP_TRACE");
  FILE *file = rank == 0 && name ? fopen(name, "w") : NULL;
  if (file) fprintf(file, "%.3f\n", 1e6 * (end - zero));
  for (size_t i = 0; file && i < traced; ++i) {
    const struct event *e = &events[i];
    fprintf(file, "%s %.0f %.3f %.3f %.3f %.3f\n", e->name, e->bytes, 1e6 * (e->begin - zero),
            1e6 * (e->started - zero), 1e6 * (e->waits - zero), 1e6 * (e->over - zero));
  }
  if (file && fclose(file)) perror(name);
  free(events);
  return PMPI_Finalize();
}
