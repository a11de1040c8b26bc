// SPDX-License-Identifier: BSD-3-Clause
// adapter.h - an adapter of libibverbs that has been opened, and its queues; between the files
// here.
//
//   choose.c  which device, port and GID
//   open.c    what it can do; registration of memory
//   queues.c  completion queues and queue pairs
//   events.c  what it tells without being asked
//   watch.c   memory that goes
//
// A communicator opens the adapter for itself: one context, one protection domain. So what a plan
// registers is out of reach for all but the communicator's own queue pairs.

#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "nbc/verbs.h"

// Whom a call would be made by: filled by choose_place().
struct place {
  struct ibv_context *context;
  uint8_t port, gid_index;
  struct ibv_port_attr attributes;  // of the port
  union ibv_gid gid;
};

// Whom to tell of memory that goes; null: nobody.
struct watch {
  nbc_verbs_gone *gone;
  void *context;
};

struct adapter {
  struct nbc_verbs base;  // first: the device
  struct place place;
  struct ibv_pd *domain;
  struct nbc_verbs_facts facts;
  struct watch watch;
  enum ibv_mtu mtu;
  uint8_t service_level, traffic_class, retry_count;
  uint8_t own_reads, served_reads;  // of a queue pair under way: by us, and of our memory
  atomic_int gone;                  // the device has failed
  _Atomic int64_t looked;           // when for events, in ticks of the coarse clock
};

struct completions {
  struct adapter *adapter;
  struct ibv_comp_channel *channel;
  struct ibv_cq *cq;
  bool armed;         // the next entry makes the channel readable, or one has
  atomic_int failed;  // it has overrun
};

struct queue_pair {
  struct adapter *adapter;
  struct ibv_qp *qp;
  uint32_t first_packet;
  atomic_int failed;
};

static inline struct adapter *adapter_of(struct nbc_verbs *base) {
  return (struct adapter *)base;
}

// A status for an errno of libibverbs'.
int status_of(int error);

// choose.c

// What `options`, and what they leave open the environment, ask for. False: it cannot be; *why.
bool complete_options(const struct nbc_verbs_options *given, struct nbc_verbs_options *options,
                      char device[64], const char **why);
// Opens the device. Negative: *why says in words what there is.
int choose_place(const struct nbc_verbs_options *, struct place *, const char **why);
// Words that stay good until this thread's next call. Returns them.
__attribute__((format(printf, 1, 2))) const char *say(const char *format, ...);

// queues.c
extern const struct nbc_verbs_ops adapter_ops;
int register_memory(struct nbc_verbs *, void *begin, size_t bytes, int access, void **region,
                    uint32_t *lkey, uint32_t *rkey);
void deregister_memory(struct nbc_verbs *, void *region);
void tell_facts(struct nbc_verbs *, struct nbc_verbs_facts *);

// events.c

// The descriptor of events does not block from now on.
int watch_events(struct adapter *);
// Takes in all that has come.
void take_events(struct adapter *);
// The same, but not more often than every few milliseconds: cheap.
void glance_events(struct adapter *);

// watch.c
int watch_memory(struct nbc_verbs *, nbc_verbs_gone *, void *context);
