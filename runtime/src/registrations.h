// SPDX-License-Identifier: BSD-3-Clause
// registrations.h - the memory that an adapter knows, shared by the plans of a communicator.

#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REGISTRATIONS = 256 };

// What an adapter calls memory that it knows.
struct known_memory {
  void *region;
  uint32_t lkey, rkey;
};

// How memory becomes known to an adapter, and is forgotten.
struct registrar {
  void *adapter;
  // With this access, which means something to the adapter alone. 0 or a negative status.
  int (*add)(void *adapter, void *begin, size_t bytes, uint32_t access, struct known_memory *);
  void (*remove)(void *adapter, const struct known_memory *);
};

// Memory known to the adapter. `users` is 0 or more while it is valid, -1 while
// the slot is empty or changes. The rest may be read at any time, but is only
// certain while one is a user.
struct registration {
  atomic_int users;
  atomic_uintptr_t begin, end;
  atomic_uint access;
  atomic_ulong used;     // by the clock below
  atomic_bool declared;  // by nbc_register: its owner says when it goes
  struct known_memory as;
};

struct registrations {
  struct registrar registrar;
  pthread_mutex_t mutex;  // of whoever registers; users of what is registered need none
  atomic_ulong clock;     // misses so far
  // Whether memory stays registered when no call uses it, though nobody has declared it. True,
  // where owners or registrations_gone() say when it goes: else the next call with this address
  // would find a registration of what was there before.
  bool keep;
  struct registration slots[REGISTRATIONS];
};

// Keeps what it knows.
int registrations_open(struct registrations *, struct registrar);
void registrations_close(struct registrations *);

// The registration that holds [begin, begin + bytes) with at least this access, and
// one more user of it; or a negative status. Looks at `hint` first. Allocates, locks
// and calls the adapter only if there is none: then *made.
int registrations_acquire(struct registrations *, const void *begin, size_t bytes, uint32_t access,
                          int hint, bool *made);
void registrations_release(struct registrations *, int registration);
// Forgets what no call uses and was used longest ago, declared or not, so that the adapter holds
// less. False: there is none.
bool registrations_make_room(struct registrations *);
// Registers memory that stays until it is forgotten or the room is needed. 0 or a negative status.
int registrations_declare(struct registrations *, void *begin, size_t bytes, uint32_t access);
// All that overlap [begin, begin + bytes). NBC_ERROR_BUSY: some have users, and stay.
int registrations_forget(struct registrations *, const void *begin, size_t bytes);
// The same, later: nothing of it is found any more, and the next to register something tells the
// adapter. Neither locks, nor allocates, nor calls anything: for whoever is about to unmap memory.
void registrations_gone(struct registrations *, const void *begin, size_t bytes);
