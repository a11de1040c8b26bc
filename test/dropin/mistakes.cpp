// SPDX-License-Identifier: BSD-3-Clause
// mistakes.cpp - wrong calls, which an MPI finds at once: its error, and right calls in between.
//
//   mpirun -n 3 [-x LD_PRELOAD=libnbc-mpi.so] dropin-mistakes
//
// Prints what each call returns. With the library and without, that is to be the same.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace {

int rank, ranks;
MPI_Comm line;

const char *name_of(int error) {
  int kind;
  MPI_Error_class(error, &kind);
  struct {
    int kind;
    const char *name;
  } names[] = {
      {MPI_SUCCESS, "right"},    {MPI_ERR_COUNT, "count"},        {MPI_ERR_TYPE, "type"},
      {MPI_ERR_ROOT, "root"},    {MPI_ERR_OP, "operator"},        {MPI_ERR_BUFFER, "buffer"},
      {MPI_ERR_ARG, "argument"}, {MPI_ERR_TRUNCATE, "truncated"}, {MPI_ERR_REQUEST, "request"}};
  for (auto &n : names)
    if (n.kind == kind) return n.name;
  return "other";
}

// A right call behind each wrong one: that nothing has been lost.
void say(const char *call, int error) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, line);
  if (sum != ranks) std::abort();
  if (rank == 0) std::printf("%s: %s\n", call, name_of(error)), std::fflush(stdout);
}

#define SAY(call) say(#call, MPI_##call)

}  // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int open = 0;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &open, 0, &line);
  MPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // where some are told
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

  int a[16] = {}, b[16] = {}, n[] = {1, 1, 1}, at[] = {0, 1, 2}, wrong[] = {1, -1, 1};
  MPI_Datatype ints[] = {MPI_INT, MPI_INT, MPI_INT};
  MPI_Datatype pair, fresh;
  MPI_Request request;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Type_vector(2, 1, 2, MPI_INT, &fresh);  // and not committed

  SAY(Bcast(a, -1, MPI_INT, 0, line));
  SAY(Bcast(a, 1, MPI_DATATYPE_NULL, 0, line));
  SAY(Bcast(a, 1, MPI_INT, ranks, line));
  SAY(Bcast(a, 1, MPI_INT, -1, line));
  SAY(Ibcast(a, 1, MPI_INT, ranks, line, &request));
  SAY(Gather(a, 1, MPI_INT, b, 1, MPI_INT, ranks, line));
  SAY(Scatter(a, 1, MPI_INT, b, 1, MPI_INT, -1, line));
  SAY(Allgather(a, -1, MPI_INT, b, 1, MPI_INT, line));
  SAY(Allgather(a, 1, MPI_INT, b, 1, MPI_DATATYPE_NULL, line));
  SAY(Iallgather(a, 1, MPI_INT, b, -1, MPI_INT, line, &request));
#ifdef MPICH  // Open MPI leaves messages behind that nobody receives
  SAY(Alltoall(a, 2, MPI_INT, b, 1, MPI_INT, line));
#endif
  SAY(Alltoallv(a, wrong, at, MPI_INT, b, n, at, MPI_INT, line));
#ifndef MPICH  // which crashes
  SAY(Alltoallw(a, n, at, ints, b, wrong, at, ints, line));
  SAY(Allreduce(a, b, -1, MPI_INT, MPI_SUM, line));
  SAY(Reduce_scatter_block(a, b, -1, MPI_INT, MPI_SUM, line));
#endif
  SAY(Neighbor_alltoallv(a, wrong, at, MPI_INT, b, n, at, MPI_INT, line));
  SAY(Neighbor_allgatherv(a, 1, MPI_INT, b, wrong, at, MPI_INT, line));
  SAY(Neighbor_alltoallv(a, n, at, MPI_DATATYPE_NULL, b, n, at, MPI_INT, line));

  MPI_Datatype mixed[] = {MPI_INT, fresh, MPI_INT};
  SAY(Bcast(a, 1, fresh, 0, line));
  SAY(Allgather(a, 1, fresh, b, 2, MPI_INT, line));
  SAY(Ialltoall(a, 1, fresh, b, 2, MPI_INT, line, &request));
  SAY(Alltoallv(a, n, at, fresh, b, n, at, MPI_INT, line));
  SAY(Alltoallw(a, n, at, mixed, b, n, at, ints, line));
  SAY(Allreduce(a, b, 1, fresh, MPI_SUM, line));

  SAY(Allreduce(a, b, 1, MPI_DATATYPE_NULL, MPI_SUM, line));
  SAY(Allreduce(a, b, 1, MPI_INT, MPI_OP_NULL, line));
  SAY(Allreduce(a, b, 1, MPI_INT, MPI_MINLOC, line));
  SAY(Allreduce(a, b, 1, MPI_DOUBLE, MPI_BXOR, line));
  SAY(Allreduce(a, b, 1, pair, MPI_SUM, line));
  SAY(Allreduce(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, line));
  SAY(Allreduce(a, a, 2, MPI_INT, MPI_SUM, line));
  SAY(Iallreduce(a, b, 1, MPI_2INT, MPI_SUM, line, &request));
  SAY(Reduce(a, b, 1, MPI_INT, MPI_SUM, ranks, line));
  SAY(Reduce_scatter(a, b, wrong, MPI_INT, MPI_SUM, line));
  SAY(Scan(a, b, 1, MPI_INT, MPI_OP_NULL, line));
  SAY(Exscan(a, b, 1, MPI_FLOAT, MPI_BAND, line));

  // While a call is under way, of which the last rank does not know yet.
  MPI_Comm other;
  MPI_Request waited = MPI_REQUEST_NULL, several[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int flag, found, places[2];
  MPI_Comm_dup(line, &other);
  if (rank != ranks - 1) MPI_Ibarrier(other, &waited);
  SAY(Wait(nullptr, MPI_STATUS_IGNORE));
#ifndef MPICH  // which looks at the request first
  SAY(Test(&waited, nullptr, MPI_STATUS_IGNORE));
#endif
  SAY(Waitall(-1, several, MPI_STATUSES_IGNORE));
  SAY(Waitall(2, nullptr, MPI_STATUSES_IGNORE));
  SAY(Testall(-1, several, &flag, MPI_STATUSES_IGNORE));
  SAY(Waitany(-1, several, &found, MPI_STATUS_IGNORE));
  SAY(Waitany(2, nullptr, &found, MPI_STATUS_IGNORE));
  SAY(Testsome(-1, several, &found, places, MPI_STATUSES_IGNORE));
  SAY(Waitall(0, nullptr, nullptr));
  SAY(Startall(-1, several));
#ifdef MPICH  // the other crashes
  SAY(Ibarrier(line, nullptr));
#endif
  if (rank == ranks - 1) MPI_Ibarrier(other, &waited);
  MPI_Wait(&waited, MPI_STATUS_IGNORE);
  MPI_Comm_free(&other);

  MPI_Type_free(&pair);
  MPI_Type_free(&fresh);
  MPI_Comm_free(&line);
  MPI_Finalize();
}
