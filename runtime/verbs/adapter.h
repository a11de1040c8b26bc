// SPDX-License-Identifier: BSD-3-Clause
// adapter.h - ports of adapters of libibverbs that have been opened, and their queues; between the
// files here.
//
//   options.c what is asked for
//   choose.c  which devices, ports and GIDs
//   open.c    what it can do; registration of memory
//   queues.c  completion queues and queue pairs
//   events.c  what it tells without being asked
//   watch.c   memory that goes
//
// A communicator opens each port for itself: one context, one protection domain. So what a plan
// registers is out of reach for all but the communicator's own queue pairs. Memory is registered
// with all ports; a completion queue is one for each, looked at as if they were one.

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

// A port that queue pairs may have.
struct rail {
  struct place place;
  struct ibv_pd *domain;
  enum ibv_mtu mtu;
  uint8_t own_reads, served_reads;  // of a queue pair under way: by us, and of our memory
};

struct adapter {
  struct nbc_verbs base;  // first: the device
  struct rail rails[NBC_VERBS_RAILS];
  uint32_t rail_count;
  struct nbc_verbs_facts facts;  // the least of all rails
  struct watch watch;
  uint8_t service_level, traffic_class, timeout, retry_count;
  atomic_int gone;         // a device has failed
  _Atomic int64_t looked;  // when for events, in ticks of the coarse clock
};

// One for the queue pairs of each rail.
struct completion_queue {
  struct ibv_comp_channel *channel;
  struct ibv_cq *cq;
  bool armed;  // the next entry makes the channel readable, or one has
};
struct completions {
  struct adapter *adapter;
  struct completion_queue of[NBC_VERBS_RAILS];
  uint32_t next;      // where to look first
  int all;            // of several: a descriptor that is readable when a channel is; else negative
  atomic_int failed;  // one has overrun
};

struct queue_pair {
  struct adapter *adapter;
  const struct rail *rail;
  struct ibv_qp *qp;
  uint32_t first_packet;
  uint8_t rnr_timer;
  atomic_int failed;
};

static inline struct adapter *adapter_of(struct nbc_verbs *base) {
  return (struct adapter *)base;
}

// A status for an errno of libibverbs'.
int status_of(int error);

// options.c

// A port that is asked for.
struct wish {
  char device[64];  // "": any
  uint32_t port;    // 0: any
};
// What `options`, and what they leave open the environment, ask for, and of which ports: at least
// one, or none for all that are active. False: it cannot be; *why.
bool complete_options(const struct nbc_verbs_options *given, struct nbc_verbs_options *options,
                      struct wish wishes[NBC_VERBS_RAILS], uint32_t *count, const char **why);

// choose.c

// Opens the device. Negative: *why says in words what there is.
int choose_place(const struct nbc_verbs_options *, const struct wish *, struct place *,
                 const char **why);
// All active ports, of InfiniBand if there is one of it; in the order of their names, which ranks
// have alike.
int list_places(struct wish wishes[NBC_VERBS_RAILS], uint32_t *count, const char **why);
// Words that stay good until this thread's next call. Returns them.
__attribute__((format(printf, 1, 2))) const char *say(const char *format, ...);

// queues.c
extern const struct nbc_verbs_ops adapter_ops;
int register_memory(struct nbc_verbs *, void *begin, size_t bytes, int access, void **region,
                    uint32_t *lkey, uint32_t *rkey);
void deregister_memory(struct nbc_verbs *, void *region);
void tell_keys(struct nbc_verbs *, void *region, uint32_t rail, uint32_t *lkey, uint32_t *rkey);
void tell_facts(struct nbc_verbs *, struct nbc_verbs_facts *);

// events.c

// The descriptor of events does not block from now on.
int watch_events(const struct rail *);
// Takes in all that has come.
void take_events(struct adapter *);
// The same, but not more often than every few milliseconds: cheap.
void glance_events(struct adapter *);

// watch.c
int watch_memory(struct nbc_verbs *, nbc_verbs_gone *, void *context);
