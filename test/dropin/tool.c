// SPDX-License-Identifier: BSD-3-Clause
// tool.c - a profiling tool as they all are: MPI's names, which count and hand on to PMPI's.
//
// Preloaded before or behind libnbc-mpi.so; at the end rank 0 says what it has seen.

#include <mpi.h>
#include <stdio.h>

static int allreduces, waits, barriers;

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  ++allreduces;
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  ++waits;
  return PMPI_Wait(request, status);
}

int MPI_Barrier(MPI_Comm comm) {
  ++barriers;
  return PMPI_Barrier(comm);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    fprintf(stderr, "tool: %d allreduces, %d waits, %d barriers\n", allreduces, waits, barriers);
  return PMPI_Finalize();
}
