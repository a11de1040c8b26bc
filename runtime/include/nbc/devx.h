/* SPDX-License-Identifier: BSD-3-Clause
 * devx.h - mlx5 adapters by DevX: a device of target coredirect (nbc/hca.h).
 *
 *     struct nbc_device *devices[1];
 *     nbc_devx_open(NULL, &devices[0], &why);                  // libnbc-devx, which loads libmlx5
 *     nbc_comm_create(&bootstrap, devices, 1, &comm);
 *     ...
 *     nbc_comm_free(comm);                                     // closes the device
 *
 * Queues are made by commands to the adapter's firmware, as libibverbs has no queue pairs that are
 * cross-channel or managed: rings in this process's memory, which the runtime writes and the
 * adapter reads, and one page of doorbells for all of them. Nothing goes through the kernel but
 * making, connecting and destroying, and the registration of memory.
 *
 * Templates are to be made for what the adapter can: nbc-adapters says as which --device it is to
 * be taken, connectx7-cd where it counts completions, connectx7 where it waits for words alone. Of
 * templates that reduce on the adapter hosts reduce.
 *
 * A queue pair that fails (a peer does not answer what was sent to it, for about half a second)
 * ends calls with NBC_ERROR_DEVICE. A peer that is gone and to whom nothing is sent is noticed by
 * nobody: nbc_plan_abandon is for whoever does not want to wait any more.
 *
 * This has not met an adapter: docs/coredirect.md says what is known of each part, and how it is
 * tested.
 */
#ifndef NBC_DEVX_H
#define NBC_DEVX_H

#include <stdint.h>

#include "nbc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a device is opened. Zero: the default, in brackets. What is not said here the environment may
 * say: NBC_DEVX_DEVICE=mlx5_0:1 (adapter, port) or any, NBC_DEVX_GID=3, NBC_DEVX_PATIENCE=4.
 * rdma-core's libraries are those that the loader finds, or those in the folder NBC_RDMA_CORE. */
struct nbc_devx_options {
  const char *device; /* by name, with its port or without: "mlx5_0", "mlx5_0:1"; "any" [the first
                         that waits for completions or words and has an active port; InfiniBand
                         before RoCE] */
  int gid_index;      /* from 1; -1: 0 [InfiniBand: 0. RoCE: the last of version 2 with an IPv4
                         address; else the last of version 2] */
  uint32_t service_level, traffic_class;
  int patience; /* as nbc_hca_options has it [4] */
};

/* Opens an adapter. Local. `options` may be null. The device is the communicator's: nbc_comm_free
 * closes it. *why says in words what was looked for and what is there; good until this thread's
 * next call; may be null.
 *
 * NBC_ERROR_ARGUMENT: a null pointer, or options that cannot be; NBC_ERROR_DEVICE: rdma-core is not
 * there, no adapter is, or none that can and may be used; NBC_ERROR_MEMORY. Thread safe. */
int nbc_devx_open(const struct nbc_devx_options *, struct nbc_device **, const char **why);

#ifdef __cplusplus
}
#endif
#endif
