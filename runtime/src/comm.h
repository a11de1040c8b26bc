// SPDX-License-Identifier: BSD-3-Clause
// comm.h - a communicator: how ranks find each other, and the devices that serve it.

#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "nbc.h"
#include "runtime/src/targets.h"

struct progress;

// A device of a communicator's, and what its target keeps for all plans on it.
struct attachment {
  const struct target *target;
  struct nbc_device *device;
  void *shared;
};

struct nbc_comm {
  struct nbc_bootstrap bootstrap;
  atomic_uint plans_alive;
  uint32_t plans_made;  // under the mutex
  pthread_mutex_t mutex;
  struct nbc_algorithms *algorithms;  // null: none were given
  struct progress *progress;  // null: no thread; set before there are plans, until there are none
  size_t device_count;
  struct attachment devices[];  // one for each target at most
};

// Ends what the communicator was given to make templates.
void close_algorithms(nbc_comm *);

// Null: the communicator has none for this target.
const struct attachment *comm_device(const nbc_comm *, const struct target *);
struct nbc_device *comm_device_for(const nbc_comm *, const char *target);
