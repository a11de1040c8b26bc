/* Linked into a program, makes its nonblocking collectives as late as can be: what is sent is read, and what is received is
 * written, in MPI_Wait. Until then memory that will be received holds nonsense. So whatever touches a buffer too early
 * shows in the result, on any number of ranks. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, ALLREDUCE = 1, BCAST, ALLGATHER, ALLTOALL, REDUCE };
static struct late {
  MPI_Request request;
  int kind, count, root;
  const void *send;
  void *recv;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;
} under_way[MOST];

static int start(struct late l, MPI_Request *request) {
  int i = 0, size, ranks, rank;
  while (i < MOST && under_way[i].kind) ++i;
  if (i == MOST) MPI_Abort(l.comm, 9);
  PMPI_Ibarrier(l.comm, request);
  l.request = *request;
  under_way[i] = l;
  PMPI_Type_size(l.type, &size);
  PMPI_Comm_size(l.comm, &ranks);
  PMPI_Comm_rank(l.comm, &rank);
  size_t bytes = (size_t)size * (size_t)l.count * (size_t)(l.kind == ALLGATHER || l.kind == ALLTOALL ? ranks : 1);
  const int is_written = l.kind == BCAST ? rank != l.root : l.kind != REDUCE || rank == l.root;
  if (l.send != MPI_IN_PLACE && is_written) memset(l.recv, 0x7b, bytes);
  return MPI_SUCCESS;
}

int MPI_Iallreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request) {
  return start((struct late){.kind = ALLREDUCE, .count = count, .send = send, .recv = recv, .type = type, .op = op, .comm = comm},
               request);
}
int MPI_Ireduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request *request) {
  return start((struct late){.kind = REDUCE, .count = count, .root = root, .send = send, .recv = recv, .type = type, .op = op, .comm = comm},
               request);
}
int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request) {
  return start((struct late){.kind = BCAST, .count = count, .root = root, .recv = buffer, .type = type, .comm = comm}, request);
}
int MPI_Iallgather(const void *send, int count, MPI_Datatype type, void *recv, int each, MPI_Datatype of, MPI_Comm comm,
                   MPI_Request *request) {
  (void)each, (void)of;
  return start((struct late){.kind = ALLGATHER, .count = count, .send = send, .recv = recv, .type = type, .comm = comm}, request);
}
int MPI_Ialltoall(const void *send, int count, MPI_Datatype type, void *recv, int each, MPI_Datatype of, MPI_Comm comm,
                  MPI_Request *request) {
  (void)each, (void)of;
  return start((struct late){.kind = ALLTOALL, .count = count, .send = send, .recv = recv, .type = type, .comm = comm}, request);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  for (int i = 0; i < MOST && *request != MPI_REQUEST_NULL; ++i) {
    struct late l = under_way[i];
    if (!l.kind || l.request != *request) continue;
    under_way[i].kind = 0;
    PMPI_Wait(request, status);
    if (l.kind == ALLREDUCE) return PMPI_Allreduce(l.send, l.recv, l.count, l.type, l.op, l.comm);
    if (l.kind == REDUCE) return PMPI_Reduce(l.send, l.recv, l.count, l.type, l.op, l.root, l.comm);
    if (l.kind == BCAST) return PMPI_Bcast(l.recv, l.count, l.type, l.root, l.comm);
    if (l.kind == ALLGATHER) return PMPI_Allgather(l.send, l.count, l.type, l.recv, l.count, l.type, l.comm);
    return PMPI_Alltoall(l.send, l.count, l.type, l.recv, l.count, l.type, l.comm);
  }
  return PMPI_Wait(request, status);
}
