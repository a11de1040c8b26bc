// SPDX-License-Identifier: BSD-3-Clause
// near.h - messages within a node.
//
// A plan's records are messages.h's; what they go through is made here. A peer on this node is
// reached by the communicator's device of target shm; one that the template of target shm has on
// another node by its device of target mpi.

#pragma once

#include "runtime/src/plan.h"

// Lanes to the first `peers` of the template; what they are to know is put for them.
int near_create(nbc_plan *, uint32_t peers);
bool near_reachable(const nbc_plan *);
enum nbc_layouts near_layouts(const nbc_plan *);
void near_destroy(nbc_plan *);
bool near_failed(nbc_plan *);
bool near_rest(nbc_plan *);
void near_keep_warm(nbc_plan *);
// Bytes of a message.
uint64_t near_longest(const nbc_plan *);

// What plans of a communicator that take turns have together.
int near_attach(struct nbc_device *, void **shared);
void near_detach(void *shared);
