// SPDX-License-Identifier: BSD-3-Clause
// comm.h - a communicator, and the registrations of memory that its plans share.

#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "nbc.h"
#include "nbc/hca.h"

enum { REGISTRATIONS = 256 };

// Memory known to the adapter. `users` is 0 or more while it is valid, -1 while
// the slot is empty or changes. The rest may be read at any time, but is only
// certain while one is a user.
struct registration {
  atomic_int users;
  atomic_uintptr_t begin, end;
  atomic_uint access;
  atomic_ulong used;  // by the clock below
  uint32_t lkey, rkey;
};

struct nbc_comm {
  struct nbc_bootstrap bootstrap;
  struct nbc_hca *hca;
  struct nbc_hca_facts facts;
  uint8_t address[32];
  atomic_uint plans_alive;
  uint32_t plans_made;    // under the mutex
  pthread_mutex_t mutex;  // of whoever registers; users of what is registered need none
  atomic_ulong clock;     // misses so far
  struct registration cache[REGISTRATIONS];
};

// The registration that holds [begin, begin + bytes) with at least this access, and
// one more user of it; or a negative status. Looks at `hint` first. Allocates, locks
// and calls the adapter only if there is none.
int comm_acquire(nbc_comm *, const void *begin, size_t bytes, uint32_t access, int hint);
void comm_release(nbc_comm *, int registration);
