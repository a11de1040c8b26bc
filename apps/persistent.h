// SPDX-License-Identifier: BSD-3-Clause
// persistent.h - MPI 4's persistent collectives, by their names. Open MPI 4.1 has them as an
// extension.
#ifndef APPS_PERSISTENT_H
#define APPS_PERSISTENT_H

#include <mpi.h>

#if MPI_VERSION < 4
#include <mpi-ext.h>
#ifndef OMPI_HAVE_MPI_EXT_PCOLLREQ
#error "this MPI has no persistent collectives"
#endif
#define MPI_Allgather_init MPIX_Allgather_init
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Alltoall_init MPIX_Alltoall_init
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#define MPI_Gather_init MPIX_Gather_init
#define MPI_Neighbor_alltoallv_init MPIX_Neighbor_alltoallv_init
#endif

#endif
