/* SPDX-License-Identifier: BSD-3-Clause
 * verbs.h - reliable connections of an RDMA adapter: the device of target verbs.
 *
 *     struct nbc_device *devices[1];
 *     nbc_verbs_open(NULL, &devices[0]);                       // libnbc-verbs, over libibverbs
 *     nbc_comm_create(&bootstrap, devices, 1, &comm);
 *     ...
 *     nbc_comm_free(comm);                                     // closes the device
 *
 * How bytes travel. A plan has one queue pair to each peer and one completion queue. Messages up to
 * nbc_plan_options.eager_bytes are copied into the queue, or memory beside it, and sent into a slot
 * of the receiver's: once posted they are the adapter's, and their sender has no more to do with
 * them. Longer ones go from place to place, as soon as both ends have started the call:
 *
 *   write   the receiver tells where to (address, key); the sender writes there, with immediate
 *   read    the sender tells where from; the receiver reads, and says so. The sender's CPU does
 *           nothing in between
 *
 *   send    the receiver posts receives where the data are to be; the sender sends into them,
 *           whether they are there or not: what comes too early comes again (RNR), of a message of
 *           no bytes whose receive lets the data go. Neither CPU does anything in between, and
 *           nobody is told an address. A second queue pair to each peer
 *
 *   direct  the receiver does both: it posts receives where the data are to be, and tells where to.
 *           The sender writes, if it has been told by the end of its start, or test; else it sends.
 *           So neither CPU does anything in between, whoever starts first, and nothing is refused
 *           where the receiver does. For persistent plans (nbc_plan_options.persistent). A second
 *           queue pair to each peer
 *
 * Of memory that was offered before and is registered as it was then, the peer has kept where it
 * is, and is only told that it may be used again. So buffers that come again, as those of
 * persistent calls do, cost one message of a few bytes for each peer and start, and a sender whose
 * peers have started already needs nothing but its own start.
 *
 * That is by length. A plan may have all its messages go one way (nbc_plan_options.transfer), and
 * so may a row of a table (compiler/selection/table.h) and whoever opens the device:
 *
 *   eager         all are copied, in as many slots as it takes. While the receiver has slots, none
 *                 of its looks is needed: 64 KiB each, and of blocks up to max_bytes as many as
 *                 slot_memory holds
 *   write, read, send, direct
 *                 none is copied but those of no bytes
 *
 * Memory. What is sent or received in place has to be registered. That is slow, so what was
 * registered stays so, as long as libucm (of UCX) is there to see that memory is unmapped; else,
 * and with NBC_VERBS_WATCH=no in the environment, for a call, but for what nbc_register was told
 * of, which nbc_deregister has to be told of before it is freed. Where the adapter has on-demand
 * paging, of all that reliable connections do, that is taken then: such memory is not held, and
 * what is mapped later is what is sent. Memory that cannot be pinned goes by it, too. Where more
 * would be held than may be, what no call uses is let go of, that used longest ago first; a call's
 * memory that cannot be registered at all goes by way of the plan's, copied. nbc_verbs_query
 * counts.
 *
 * Several ports. A device may have several, of one adapter or of several: rails, as many on all
 * ranks. Where an algorithm says `on port e` (dsl/LANGUAGE.md), messages go by rail e, modulo how
 * many there are. All between two ranks go by one, so what counts is the first that the lower rank
 * sends to the other, or receives if it sends none: that names the rail of both ends, and a rail
 * need reach only its like. What says no port is on rail 0. Memory is registered with all.
 *
 * Waiting. nbc_wait polls a while, yields, then sleeps on the completion channel; a progress thread
 * (nbc_comm_progress) sleeps there from the beginning. Peers that are
 * waited for in vain are written to (no bytes), which fails when they are gone: then calls end with
 * NBC_ERROR_DEVICE.
 *
 * Functions of the second part are those that the runtime asks for: libibverbs' own structs, so
 * that over libibverbs they cost nothing, and few enough for devices of software.
 */
#ifndef NBC_VERBS_H
#define NBC_VERBS_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#include "nbc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ports of adapters that one device has, at most. */
enum { NBC_VERBS_RAILS = 4 };

/* The target of templates that run on such a device. */
#define NBC_VERBS_TARGET "verbs"

/* How long messages go. */
enum nbc_verbs_rendezvous { NBC_VERBS_WRITE, NBC_VERBS_READ, NBC_VERBS_SEND, NBC_VERBS_DIRECT };

/* Whether peers keep where memory was that was offered to them. */
enum nbc_verbs_offers { NBC_VERBS_KEPT, NBC_VERBS_ANEW };

/* What an adapter knows of a call's memory: pages, which it holds; or addresses, whose pages it
 * asks for when it gets there, which takes longer the first time. */
enum nbc_verbs_memory { NBC_VERBS_MEMORY_AUTO, NBC_VERBS_PINNED, NBC_VERBS_ON_DEMAND };

/* How a device is opened. Zero: the default, in brackets. What is not said here the environment may
 * say: NBC_VERBS_DEVICE=mlx5_0:1 (device, port; several with commas between them; or all),
 * NBC_VERBS_GID=3, NBC_VERBS_RENDEZVOUS=read, send or direct, NBC_VERBS_TRANSFER=eager, write,
 * read, send or direct, NBC_VERBS_RNR_TIMER=12,
 * NBC_VERBS_OFFERS=anew (not kept from call to call), NBC_VERBS_PATIENCE=10,
 * NBC_VERBS_MEMORY=pinned or demand; and of packets NBC_VERBS_MTU=1024, NBC_VERBS_TIMEOUT=20,
 * NBC_VERBS_RETRIES=7, NBC_VERBS_SERVICE_LEVEL=3, NBC_VERBS_TRAFFIC_CLASS=106. */
struct nbc_verbs_options {
  /* By name, with its port or without: "mlx5_0", "mlx5_0:1"; several, in the same order on all
   * ranks: "mlx5_0:1,mlx5_1:1"; "all": each active port, of InfiniBand if there is one of it
   * [the first with an active port; InfiniBand before RoCE] */
  const char *device;
  uint32_t port;    /* of each that is without, from 1 [the first that is active] */
  int gid_index;    /* from 1; -1: 0 [InfiniBand: 0. RoCE: the last of version 2 with an IPv4
                       address; else the last of version 2] */
  enum ibv_mtu mtu; /* at most [the port's active one] */
  uint32_t service_level, traffic_class;
  /* Until packets that are not acknowledged are sent again: 4.096 us * 2^timeout, 1 to 31 [18: 1.07
   * s]; and how often, 1 to 7 [6]; for soft-RoCE 7 is for ever. So long a fabric may take to find
   * another way, and a dead peer to be known. */
  uint32_t timeout, retry_count;
  enum nbc_verbs_rendezvous rendezvous; /* of long messages, where nobody says more [write] */
  enum nbc_transfer transfer;   /* of all plans, whatever their options say [each plan's own] */
  enum nbc_verbs_offers offers; /* ranks may choose differently */
  /* Microseconds for which nbc_start looks for peers that start at the same time, where they have
   * to say where to, or from, before anything long can move (not of send and direct); at most
   * 1000000. -1: 0 [4] */
  int patience;
  /* Of send and direct: when a message comes again that finds no receive, by InfiniBand's code for
   * min_rnr_timer, 1 to 31 [of 0.01 ms for each peer of the plan the next one, 20 (10.24 ms) at
   * most] */
  uint32_t rnr_timer;
  /* [pinned, while it can be and is seen to go; else on demand, where all adapters can] */
  enum nbc_verbs_memory memory;
};

/* Opens an adapter. Local. `options` may be null. The device is the communicator's: nbc_comm_free
 * closes it. *why says in words what was looked for and what is there; good until this thread's
 * next call; may be null.
 *
 * NBC_ERROR_ARGUMENT: a null pointer, or options that cannot be; NBC_ERROR_DEVICE: no such adapter,
 * or none with an active port, or it cannot do what is asked for, or could not be opened;
 * NBC_ERROR_MEMORY. Thread safe. */
int nbc_verbs_open(const struct nbc_verbs_options *, struct nbc_device **, const char **why);

/* Of callers' buffers that a plan's adapter had to know: those that were registered for a call, and
 * those that were found registered. And messages that were copied by the way, since their buffers
 * cannot be. */
struct nbc_verbs_counts {
  uint64_t registered, found, detours;
};
/* What it came to so far; nothing of plans for other targets. As all functions of a plan, by one
 * thread at a time. */
void nbc_verbs_query(const nbc_plan *, struct nbc_verbs_counts *);

/* --- what the runtime asks of the device --- */

struct nbc_verbs;

/* What the adapter can do. */
struct nbc_verbs_facts {
  uint32_t gather;       /* data segments of a send, or receive, at most */
  uint32_t queue;        /* work requests of a queue, at most */
  uint32_t completions;  /* entries of a completion queue, at most */
  uint32_t inline_bytes; /* of a send, at most; 0: none */
  uint32_t reads;        /* RDMA reads of a queue pair under way, at most; 0: it cannot read, or be
                            read */
  uint64_t longest;      /* bytes of a message, at most; at most 2^31 */
  uint32_t rails;        /* ports, of which a queue pair has one; the rest holds for each. 0: one */
  enum nbc_verbs_rendezvous rendezvous; /* as the options have it; likewise: */
  enum nbc_transfer transfer;           /* of all plans; auto: each says */
  enum nbc_verbs_offers offers;
  uint32_t patience; /* nanoseconds */
  /* Code of min_rnr_timer, of receives that come late; 0: as many peers as there are make it */
  uint32_t rnr_timer;
  /* Whether memory may be registered with IBV_ACCESS_ON_DEMAND: then it need not be watched */
  uint32_t on_demand;
  enum nbc_verbs_memory memory; /* as the options have it */
};

/* A reliable connected queue pair to be. Sends are signalled one by one (sq_sig_all is 0). */
struct nbc_verbs_queue_wish {
  void *cq;                 /* of both queues */
  uint32_t sends, receives; /* work requests; the adapter may give more */
  uint32_t gather;          /* data segments of a send */
  uint32_t inline_bytes;    /* of a send; at most what the facts say */
  uint32_t rail;            /* which port, from 0 */
  uint32_t scatter;         /* data segments of a receive; 0: one */
  uint32_t rnr_timer;       /* code of min_rnr_timer; 0: the device's, where receives are there */
};

/* Where others find a queue pair; the device's. */
struct nbc_verbs_address {
  uint64_t opaque[6];
};

/* Memory is about to be unmapped. */
typedef void nbc_verbs_gone(void *context, const void *begin, size_t bytes);

struct nbc_verbs_ops {
  const char *name; /* for people; static */
  void (*facts)(struct nbc_verbs *, struct nbc_verbs_facts *);
  /* Handles are the device's. Functions return 0 or a negative nbc_status. */
  int (*create_cq)(struct nbc_verbs *, uint32_t entries, void **cq);
  /* The queue takes receives from now on, sends once it is connected. */
  int (*create_qp)(struct nbc_verbs *, const struct nbc_verbs_queue_wish *, void **qp,
                   uint32_t *number);
  int (*address)(struct nbc_verbs *, void *qp, struct nbc_verbs_address *);
  /* To the peer's; and ready to send. RNR is retried for ever. Only this peer may use it: writes
   * and reads by it reach only memory that was registered for that. */
  int (*connect)(struct nbc_verbs *, void *qp, const struct nbc_verbs_address *);
  /* Chains, with one doorbell. As ibv_post_send and ibv_post_recv; used are IBV_WR_SEND_WITH_IMM,
   * IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED,
   * IBV_SEND_FENCE and IBV_SEND_INLINE (of which the bytes are read at once). The caller keeps
   * within the queue. */
  int (*post_send)(struct nbc_verbs *, void *qp, struct ibv_send_wr *);
  int (*post_receive)(struct nbc_verbs *, void *qp, struct ibv_recv_wr *);
  /* As ibv_poll_cq: at most `count`; returns how many, or a negative nbc_status (the adapter is
   * gone, or the queue has overrun). Of wc used: wr_id, status, opcode, byte_len, imm_data, qp_num.
   */
  int (*poll)(struct nbc_verbs *, void *cq, int count, struct ibv_wc *);
  /* Sleeps until the queue may have an entry, or `nanoseconds` have passed. May return early. Never
   * misses an entry: one that came after the last poll ends it. */
  void (*sleep)(struct nbc_verbs *, void *cq, int64_t nanoseconds);
  /* A descriptor that becomes readable when the queue gets its next entry; not for what is there
   * already, so whoever sleeps on it polls once more before. Until `arm` or `sleep` is called again
   * it tells once. The same descriptor each time; negative: there is none. Null is fine, and means
   * the same. */
  int (*arm)(struct nbc_verbs *, void *cq);
  /* Whether this queue pair, or the adapter, has failed without a completion to tell of it (an
   * asynchronous event): 0 or a negative nbc_status. Cheap. */
  int (*failed)(struct nbc_verbs *, void *qp);
  /* The adapter touches nothing through it any more. Null is fine. */
  void (*destroy_qp)(struct nbc_verbs *, void *qp);
  void (*destroy_cq)(struct nbc_verbs *, void *cq);
  /* `access`: of enum ibv_access_flags. The memory stays the caller's. Keys are those for queue
   * pairs of rail 0, at this end. */
  int (*register_memory)(struct nbc_verbs *, void *begin, size_t bytes, int access, void **region,
                         uint32_t *lkey, uint32_t *rkey);
  void (*deregister_memory)(struct nbc_verbs *, void *region);
  /* The same region's for queue pairs of another rail. Null is fine where there is one. */
  void (*keys)(struct nbc_verbs *, void *region, uint32_t rail, uint32_t *lkey, uint32_t *rkey);
  /* Has `gone` called before memory of this process is unmapped, by whichever thread does that; it
   * neither locks nor allocates. Null: not any more. Once at a time. NBC_ERROR_UNSUPPORTED: the
   * device sees no such thing. Null is fine, and means the same. */
  int (*watch)(struct nbc_verbs *, nbc_verbs_gone *gone, void *context);
};

/* Every implementation's state begins with this. Functions may be called by several threads, for
 * different queues; those for one plan come from one thread at a time. */
struct nbc_verbs {
  struct nbc_device device; /* of NBC_VERBS_TARGET */
  const struct nbc_verbs_ops *ops;
};

#ifdef __cplusplus
}
#endif
#endif
