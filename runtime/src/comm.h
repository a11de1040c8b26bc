// SPDX-License-Identifier: BSD-3-Clause
// comm.h - a communicator: how ranks find each other, and the devices that serve it.

#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "nbc.h"
#include "runtime/src/targets.h"

struct progress;

// A device of a communicator's, and what its target keeps for all plans on it.
struct attachment {
  const struct target *target;
  struct nbc_device *device;
  void *shared;
};

// What plans that take turns have together (nbc_plan_options.in_turn).
struct turns {
  nbc_plan *holder;         // whose calls there were last; null: it has ended
  int status;               // negative: a call of theirs has failed
  pthread_mutex_t lock;     // where others have one each
  struct scratch *scratch;  // the largest first
};
// Memory for slots and staging, of plans that have none between their calls.
struct scratch {
  struct scratch *next;
  uint8_t *memory;
  size_t bytes;
  bool in_use;  // the device could not be made to leave it alone
};
// That is as large; null: there is no memory.
struct scratch *turns_scratch(struct turns *, size_t bytes);
// Of so many bytes, none of them there yet. Null: there is no memory.
uint8_t *map_scratch(size_t bytes);

struct nbc_comm {
  struct nbc_bootstrap bootstrap;
  atomic_uint plans_alive;
  uint32_t plans_made;  // under the mutex
  pthread_mutex_t mutex;
  struct nbc_algorithms *algorithms;  // null: none were given
  struct progress *progress;  // null: no thread; set before there are plans, until there are none
  struct turns turns;
  size_t device_count;
  struct attachment devices[];  // one for each target at most
};

// Ends what the communicator was given to make templates.
void close_algorithms(nbc_comm *);

// Null: the communicator has none for this target.
const struct attachment *comm_device(const nbc_comm *, const struct target *);
struct nbc_device *comm_device_for(const nbc_comm *, const char *target);
