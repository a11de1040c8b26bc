// SPDX-License-Identifier: BSD-3-Clause
// shm.c - target shm: messages within a node, over lanes of shared memory (near.c).
//
// A peer that the template has on another node is served by the communicator's p2p device, as in
// target mpi; without one no such plan is made.

#include "nbc/shm.h"

#include "runtime/src/messages.h"
#include "runtime/src/near.h"

static int create(nbc_plan *plan) {
  return near_create(plan, plan->tables.header->peers.count);
}

const struct target shm = {
    .name = NBC_SHM_TARGET,
    .host_waits = true,
    .leaves_memory = true,
    // Copied twice 8 KiB cost half of what reading the sender's memory does; and who has sent does
    // not wait for who receives, which counts where ranks outnumber cores.
    .eager_bytes = 8192,
    .attach = near_attach,
    .detach = near_detach,
    .longest = near_longest,
    .check = messages_check,
    .create = create,
    .connect = messages_connect,
    .reachable = near_reachable,
    .layouts = near_layouts,
    .keep_warm = near_keep_warm,
    .prepare = messages_prepare,
    .admit = messages_admit,
    .begin = messages_begin,
    .at_once = messages_at_once,
    .most_at_once = messages_most_at_once,
    .enable = messages_enable,
    .poll = messages_poll,
    .lingers = messages_linger,
    .complete = messages_complete,
    .failed = near_failed,
    .glance = near_failed,
    .sleep = near_rest,
    .destroy = near_destroy,
};
