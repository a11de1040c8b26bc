/* SPDX-License-Identifier: BSD-3-Clause
 * hca.h - the few things the coredirect target asks of an adapter.
 *
 *     struct nbc_device *devices[1];
 *     nbc_hca_open(NULL, &devices[0], NULL);                   // libnbc-hca
 *     nbc_comm_create(&bootstrap, devices, 1, &comm);
 *     ...
 *     nbc_comm_free(comm);                                     // closes the device
 *
 * One struct of functions per kind of adapter: the software HCA
 * (devices/hca/hca.h), and mlx5 adapters by DevX (nbc/devx.h). Everything fast goes through memory:
 * rings, doorbell records and completion queues, laid out as in mlx5_wqe.h, are written and read by
 * the runtime itself; only the doorbell is a call.
 *
 * Functions return 0 or a negative nbc_status. All but `doorbell` and `failed`
 * may allocate and lock; these two may not, and may be called by any thread.
 * Everything created belongs to the adapter until destroyed, and is destroyed
 * with it at the latest.
 */
#ifndef NBC_HCA_H
#define NBC_HCA_H

#include <stddef.h>
#include <stdint.h>

#include "nbc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What entries of queues may wait for. */
enum {
  /* Completions: WAIT on a CQ, SEND_EN, and queue pairs that these are for */
  NBC_HCA_WAITS_CQ = 1,
  /* Words of memory, whoever writes them: WAIT on data, on any queue pair */
  NBC_HCA_WAITS_DATA = 2
};

/* What the adapter can do; the same facts the compiler knows by --device. */
struct nbc_hca_facts {
  uint32_t max_gather;  /* data segments of a send */
  uint32_t max_scatter; /* data segments of a receive */
  uint32_t max_log_sq;  /* WQEBBs of a send queue, log2 */
  uint32_t max_log_rq;  /* receives, log2 */
  uint32_t max_log_cq;  /* entries, log2 */
  uint32_t calc;        /* bit (1 << enum mlx5_calc) for each it can do */
  uint32_t waits;       /* bits of NBC_HCA_WAITS_ */
  uint32_t ports;       /* physical ones; 0: one */
  /* Nanoseconds for which nbc_start looks for what ranks of its node have to send before the
   * adapter may go on; 0: it does not */
  uint32_t patience;
};

/* Whether an adapter of these facts can carry out calls of a template of its target, `depth` of
 * them under way at once: whether queues may be so long that they suffice in whatever order
 * adapters carry out what may be in any order, and entries have so many data segments.
 * nbc_plan_create() asks this itself. 0; NBC_ERROR_RESOURCES, and *why says which queue is too
 * short, and the numbers; NBC_ERROR_TEMPLATE, of another target or as nbc_template_check() says;
 * NBC_ERROR_MEMORY; NBC_ERROR_ARGUMENT for no facts or depth 0. *why is good until the thread's
 * next call of this or nbc_template_check(), and may be null. Local; thread safe. */
int nbc_hca_fits(const void *template_data, size_t bytes, uint32_t depth,
                 const struct nbc_hca_facts *, const char **why);

enum {
  NBC_HCA_CQ_OVERRUN_IGNORE = 1,
  /* The host looks at this CQ. An adapter with such CQs ends `sleep`, and tells a
   * simulated host, for their entries only; one without, for all. */
  NBC_HCA_CQ_HOST = 2
};

/* A completion queue of 2^log_entries entries of 64 bytes, all 0xf1 in their
 * last byte at first. The consumer index (be32, 24 bits, at consumer[0]) matters
 * only without OVERRUN_IGNORE. The last byte of an entry is written last, with
 * release order: read it with acquire (__atomic_load_n). */
struct nbc_hca_cq {
  uint32_t number, log_entries;
  const volatile uint8_t *entries;
  volatile uint32_t *consumer;
};

enum {
  NBC_HCA_QP_CROSS_CHANNEL = 1, /* may hold WAIT on a CQ, SEND_EN, calc */
  NBC_HCA_QP_MANAGED_SEND = 2,  /* started by SEND_EN only */
  /* Its receives are a shared receive queue (SRQ) of this pair's own: when the pair fails, those
   * that nothing has come into stay as they are, without a completion. */
  NBC_HCA_QP_SHARED_RECEIVES = 4,
  NBC_HCA_QP_MANAGED_RECEIVES = 8 /* filled only once RECV_EN has enabled them */
};

struct nbc_hca_qp_request {
  uint32_t log_sq;           /* WQEBBs, log2 */
  uint32_t log_rq;           /* receives, log2; UINT32_MAX: none */
  uint32_t log_stride;       /* bytes of a receive, log2, at least 4 */
  uint32_t send_cq, recv_cq; /* numbers */
  uint32_t flags;
  uint32_t port; /* physical, from 0: what it sends leaves there, what it receives comes there */
  uint32_t rnr_timer; /* code of min_rnr_timer; 0: 12 (0.64 ms) */
};

/* A reliable connected queue pair. doorbell[0]: receives posted, be32 of 16 bits,
 * takes effect when stored. doorbell[1]: WQEBBs posted, be32 of 16 bits, read
 * when the doorbell is rung. Both are stored with release order
 * (__atomic_store_n), after the entries they cover.
 *
 * Rings may be longer than was asked for, and a receive wider: `rq` is where data segments of the
 * first begin, as many bytes as were asked for, and the next is 2^log_stride bytes further. */
struct nbc_hca_qp {
  uint32_t number;
  uint32_t log_sq, log_rq, log_stride;
  uint8_t *sq, *rq;
  volatile uint32_t *doorbell;
};

enum {
  NBC_HCA_REMOTE_WRITE = 1, /* may be written to through its rkey */
  NBC_HCA_REMOTE_READ = 2,
  NBC_HCA_REMOTE_ATOMIC = 4,
  NBC_HCA_READ_ONLY = 8 /* nothing comes into it: no receives, reads, writes, atomics */
};

struct nbc_hca;

struct nbc_hca_ops {
  const char *name;
  void (*facts)(struct nbc_hca *, struct nbc_hca_facts *);
  int (*create_cq)(struct nbc_hca *, uint32_t log_entries, uint32_t flags, struct nbc_hca_cq *);
  int (*create_qp)(struct nbc_hca *, const struct nbc_hca_qp_request *, struct nbc_hca_qp *);
  /* Address of the adapter for `connect`, at most 32 bytes, as other ranks see it. */
  int (*address)(struct nbc_hca *, uint8_t address[32]);
  /* To the queue pair `peer_number` of the adapter at `address` (one's own included),
   * and ready to send. Receives may be posted before. rnr_retry is 7 (for ever). */
  int (*connect_qp)(struct nbc_hca *, uint32_t number, const uint8_t address[32],
                    uint32_t peer_number);
  int (*destroy_qp)(struct nbc_hca *, uint32_t number);
  int (*destroy_cq)(struct nbc_hca *, uint32_t number);
  /* The memory stays the caller's and must outlive the registration. */
  int (*register_memory)(struct nbc_hca *, void *begin, size_t bytes, uint32_t access,
                         uint32_t *lkey, uint32_t *rkey);
  int (*deregister_memory)(struct nbc_hca *, uint32_t lkey);
  /* Rings the send doorbell: `ctrl` is the first 8 bytes of the last entry posted. */
  void (*doorbell)(struct nbc_hca *, uint32_t number, uint64_t ctrl);
  /* Whether this queue pair has gone into the error state, and why: 0, or the
   * syndrome of the first error (enum mlx5_syndrome). */
  uint32_t (*failed)(struct nbc_hca *, uint32_t number);
  /* Sleeps until some CQ of this adapter has a new entry, or `nanoseconds`
   * have passed. May return early. For nbc_wait. */
  void (*sleep)(struct nbc_hca *, int64_t nanoseconds);
  /* For tests that indices wrap; null where an adapter cannot. Of a queue pair not
   * connected yet: the first entry of its send queue, and of its receive queue, to
   * be executed is this one (receives posted: doorbell[0] begins there too). Of a CQ
   * without entries: its next entry is number `index`. */
  int (*start_queue_at)(struct nbc_hca *, uint32_t number, uint16_t sq_index, uint16_t rq_index);
  int (*start_cq_at)(struct nbc_hca *, uint32_t number, uint32_t index);
};

#define NBC_HCA_TARGET "coredirect"

/* Every implementation's state begins with this. */
struct nbc_hca {
  struct nbc_device device; /* of NBC_HCA_TARGET */
  const struct nbc_hca_ops *ops;
};

/* --- the software HCA, between the processes of one machine: libnbc-hca ---
 *
 * Each process has an adapter, whose queues a thread of its own executes: between nbc_start and
 * nbc_wait the program calls nothing, and the collective ends. The thread sleeps where there is
 * nothing to do. Memory is touched by the process that owns it, through what it has registered.
 * Devices of one process that are opened alike share the thread, which ends with the last.
 *
 * A peer that ends, or is killed, makes the queue pairs that are connected to it fail within a
 * second: calls that wait for it end with NBC_ERROR_DEVICE. Nothing stays in the system, whoever
 * ends in whichever way. Ranks on other machines are not reached: connecting to them fails.
 *
 * For programs that are to be tried without the hardware, and tests; it is a process's thread that
 * carries data, by the kernel's sockets, and not as fast as target shm. */

/* How a device is opened. Zero: the default, in brackets. What is not said here the environment may
 * say: NBC_HCA_DEVICE=connectx5, NBC_HCA_SEED=7, NBC_HCA_PATIENCE=4, and NBC_HCA_PORTS=2, how many
 * ports it has [1]. */
struct nbc_hca_options {
  const char *device; /* whose facts it has, as nbcc's --device names them [soft] */
  /* Not 0: against programs, by this seed. Queues are served in random order, messages and
   * completions held back, receives seen late (devices/hca/hca.h) [0] */
  uint64_t seed;
  /* Microseconds for which nbc_start of a plan whose ranks exchange within the node first
   * (nbc_build_request.within) looks for them, at most 1000000; -1: 0 [4] */
  int patience;
};

/* Opens a software HCA. Local. `options` may be null. The device is the communicator's:
 * nbc_comm_free closes it. *why says in words what was wrong; good until this thread's next call;
 * may be null.
 *
 * NBC_ERROR_ARGUMENT: a null pointer, or options that cannot be; NBC_ERROR_RESOURCES: the system
 * has no thread or socket left; NBC_ERROR_MEMORY. Thread safe. */
int nbc_hca_open(const struct nbc_hca_options *, struct nbc_device **, const char **why);

#ifdef __cplusplus
}
#endif
#endif
