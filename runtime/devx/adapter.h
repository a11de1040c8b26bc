// SPDX-License-Identifier: BSD-3-Clause
// adapter.h - an mlx5 adapter that has been opened, and its queues; between the files here.
//
//   choose.c    which adapter, port and GID
//   adapter.c   nbc_devx_open: all that queues share; registration of memory
//   rest.c      how long a thread rests that has found nothing done
//   memory.c    memory that queues are made in
//   queues.c    completion queues and queue pairs: made, destroyed
//   connect.c   where peers find each other
//   events.c    what it tells without being asked
//   ring.c      the doorbell: the one store that no memory takes
//
// Completion queues and queue pairs share one doorbell page (UAR): a WAIT names no CQ of another.

#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "nbc/devx.h"
#include "runtime/devx/commands.h"
#include "runtime/devx/devx.h"

struct devx_port {
  uint8_t number, gid_index;
  struct ibv_port_attr attributes;
  union ibv_gid gid;
};

// By number, which has 24 bits; looked up without a lock.
enum { DEVX_HALF = 1 << 12 };
struct devx_table {
  _Atomic(_Atomic(void *) *) halves[DEVX_HALF];
};

struct devx_memory {
  uint8_t *at;
  size_t bytes;
  struct mlx5dv_devx_umem *known;
};

struct devx_cq {
  struct mlx5dv_devx_obj *object;
  struct devx_memory memory;
  uint32_t number, users;
  const struct mlx5_err_cqe *only;  // its one entry, by words of errors; null: it has several
};

struct devx_qp {
  struct mlx5dv_devx_obj *object, *receives;
  struct devx_memory memory;
  uint32_t number;
  struct devx_cq *cq[2];  // send, receive
  uint32_t rnr_timer;     // a code
  atomic_uint failed;     // enum mlx5_syndrome
};

struct devx_region {
  struct devx_region *next;
  struct ibv_mr *mr;
};

struct devx_adapter {
  struct nbc_hca base;  // first: the device
  struct devx_libraries libraries;
  struct nbc_hca_facts facts;
  struct ibv_context *context;
  struct ibv_pd *domain;
  struct mlx5dv_devx_uar *page;
  struct mlx5dv_devx_event_channel *channel;
  uint32_t domain_number, event_queue;
  uint8_t service_level, traffic_class;
  uint8_t log_reads, log_own_reads;  // under way at once: of our memory, by us
  struct devx_port port;
  struct devx_table qps, cqs;
  pthread_mutex_t mutex;  // of what is made and destroyed
  struct devx_region *regions;
  atomic_int gone;         // the adapter has failed
  _Atomic int64_t looked;  // when for events, in ticks of the coarse clock
};

static inline struct devx_adapter *devx_adapter_of(struct nbc_hca *hca) {
  return (struct devx_adapter *)hca;
}

// choose.c

// Opens what is asked for, and is able to. Negative: *why says in words what there is.
int devx_choose(const struct devx_libraries *, const struct nbc_devx_options *,
                struct devx_adapter *, struct devx_why *why);

// memory.c

// Pages of zeros, which the adapter may read and write, and a child of fork() does not get. False:
// there are none; errno.
bool devx_take_memory(struct devx_adapter *, size_t bytes, struct devx_memory *);
void devx_give_memory(struct devx_adapter *, struct devx_memory *);
// False: there is no memory.
bool devx_enter(struct devx_table *, uint32_t number, void *what);
void *devx_find(struct devx_table *, uint32_t number);
// Calls `each` for all that are there.
void devx_for_all(struct devx_adapter *, struct devx_table *,
                  void (*each)(struct devx_adapter *, void *));
void devx_free_table(struct devx_table *);

// queues.c
int devx_create_cq(struct nbc_hca *, uint32_t log_entries, uint32_t flags, struct nbc_hca_cq *);
int devx_create_qp(struct nbc_hca *, const struct nbc_hca_qp_request *, struct nbc_hca_qp *);
int devx_destroy_cq(struct nbc_hca *, uint32_t number);
int devx_destroy_qp(struct nbc_hca *, uint32_t number);
// All that are left.
void devx_destroy_queues(struct devx_adapter *);
// Carries out a command that moves a queue pair on. False: it was refused; errno.
bool devx_modify(struct devx_adapter *, const struct devx_qp *, const uint8_t *command);
int devx_status_of(int error);

// connect.c
int devx_address(struct nbc_hca *, uint8_t address[32]);
int devx_connect_qp(struct nbc_hca *, uint32_t number, const uint8_t address[32],
                    uint32_t peer_number);

// events.c
bool devx_watch(struct devx_adapter *, struct devx_why *why);
void devx_watch_no_more(struct devx_adapter *);
bool devx_watch_qp(struct devx_adapter *, struct devx_qp *);
uint32_t devx_failed(struct nbc_hca *, uint32_t number);

// ring.c
void devx_doorbell(struct nbc_hca *, uint32_t number, uint64_t ctrl);
