/* SPDX-License-Identifier: BSD-3-Clause
 * nbc_mpi.h - communicators of an MPI library, for plans of targets mpi and shm, and others.
 *
 *     nbc_comm *comm;
 *     nbc_comm_create_mpi(MPI_COMM_WORLD, &comm);          // collective
 *     nbc_plan_create(comm, template, bytes, NULL, &plan);
 *     nbc_plan_connect(plan);                              // collective
 *     ...
 *     nbc_plan_free(plan);
 *     nbc_comm_free(comm);                                 // collective, before MPI_Finalize
 *
 * One library for each MPI, since their ABIs differ: libnbc_openmpi, libnbc_mpich. Link the one
 * whose mpi.h the program was compiled with.
 *
 * All messages go over a duplicate of the communicator, where errors are returned: a message that
 * fails makes its plan fail, with NBC_ERROR_DEVICE. Ranks must connect their plans one after the
 * other, in the same order. Plans of several threads need MPI_THREAD_MULTIPLE, and so
 * does a progress thread (nbc_comm_progress).
 *
 * Messages longer than 2^30 bytes are sent whole, as a datatype of larger units, which is
 * made in nbc_start. nbc_wait tests in a loop, and soon yields the processor between tests: MPI has
 * nothing to sleep on.
 *
 * An MPI moves its messages on when it is called. So nbc_test and nbc_wait of any target ask it to,
 * if nothing has moved for some time: a rank that waits there does not hold up one that waits for
 * its MPI_Isend. Not where MPI is at MPI_THREAD_SERIALIZED, nor in another thread than MPI's main
 * one below that: what has to move then is the program's to test.
 *
 * It need not be called for messages that it sends eagerly: a network that works by itself carries
 * those while the program computes. Longer ones wait for both sides to look (a rendezvous). So
 * messages can be sent in fragments that the MPI sends eagerly, which takes its copies, and memory
 * where a receiver comes late: nbc_mpi_options.fragment, or NBC_MPI_FRAGMENT in the environment,
 * bytes. It must be the same on all ranks, or both ends would not meet.
 *
 * MPI is called by its PMPI_ names alone: profilers see what a program asks of MPI, not what its
 * libraries do for it.
 *
 * A plan that is abandoned takes its receives back. MPI cannot take back a send that nobody has
 * received: its buffer may be read until MPI_Finalize, and must stay.
 */
#ifndef NBC_MPI_H
#define NBC_MPI_H

#include <mpi.h>

#include "nbc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a communicator of one of MPI's. Collective over that, which may be freed or used for
 * anything afterwards. The new one has a device of target mpi, and one of target shm if that can be
 * opened on all ranks (nbc/shm.h): for the ranks that MPI_Comm_split_type finds on this node; what
 * plans of target shm send to other nodes goes over MPI. NBC_ERROR_ARGUMENT for an
 * intercommunicator; NBC_ERROR_DEVICE: MPI could not duplicate it. */
int nbc_comm_create_mpi(MPI_Comm, nbc_comm **);

/* How a communicator is made. Zero: the default. The same on all ranks. */
struct nbc_mpi_options {
  int without_shm;       /* target mpi alone */
  const uint32_t *nodes; /* for each rank, where it is to be taken for being (nbc_shm_options);
                            null: as MPI says */
  uint64_t fragment;     /* what is longer is sent in fragments of so many bytes; 0: as
                            $NBC_MPI_FRAGMENT says, else whole */
  /* More of them, for plans of other targets (nbc/verbs.h, nbc/hca.h): where all went well they are
   * the communicator's, as nbc_comm_create() has it; else still the caller's. */
  struct nbc_device *const *devices;
  size_t device_count; /* of these, at most NBC_MOST_DEVICES - 2 */
};
/* Makes a communicator as nbc_comm_create_mpi does, with options; null: the default.
 * NBC_ERROR_ARGUMENT: also for devices that nbc_comm_create() refuses, and on all ranks for
 * fragments that are not the same on all, or a NBC_MPI_FRAGMENT that is no number. */
int nbc_comm_create_mpi_with(MPI_Comm, const struct nbc_mpi_options *, nbc_comm **);

/* Makes the device of target mpi alone, for nbc_comm_create() with a bootstrap of the caller's own.
 * Local. Messages go over this very communicator, with any of its tags, so it is to be one that
 * nobody else sends messages over; collectives may run on it. From now on it returns its errors. It
 * stays the caller's, who frees it once the device is closed. Fragments are what $NBC_MPI_FRAGMENT
 * says; that all ranks have the same is the caller's to see to. NBC_ERROR_ARGUMENT: null, an
 * intercommunicator, or as of nbc_mpi_fragment(); NBC_ERROR_MEMORY; NBC_ERROR_DEVICE: MPI failed.
 */
int nbc_mpi_device(MPI_Comm, struct nbc_device **);

/* What $NBC_MPI_FRAGMENT says, in bytes; 0: nothing, or 0, and messages go whole. Thread safe.
 * NBC_ERROR_ARGUMENT, and 0 bytes: it is no number that fits. */
int nbc_mpi_fragment(uint64_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
