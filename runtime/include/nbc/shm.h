/* SPDX-License-Identifier: BSD-3-Clause
 * shm.h - ranks of one node over POSIX shared memory: the device of target shm.
 *
 *     struct nbc_device *devices[1];
 *     nbc_shm_open(&bootstrap, NULL, &devices[0]);             // collective
 *     nbc_comm_create(&bootstrap, devices, 1, &comm);
 *     ...
 *     nbc_comm_free(comm);                                     // closes the device
 *
 * Library: libnbc-shm. Its ranks may be processes or threads of one.
 *
 * How bytes travel. Each plan has a lane for each pair of ranks and direction: up to 64 cells and a
 * ring of bytes, in memory that the receiver owns. Plans that take turns (nbc_plan_options.in_turn)
 * have theirs together.
 *
 *   to 48 bytes        in the cell itself, one cache line with its flag
 *   to 2 KiB           in the ring; like the above, the sender is done when it has posted
 *   to eager_bytes     likewise, but copied there only when the sender next tests or waits. Until
 *                      then the cell says where the bytes lie, as of longer ones: who waits for
 *                      them gives the sender some us, and then reads them
 *   longer             where both ends wait, and the sender has none for another peer: part by part
 *                      through a window of the lane, both copying at once. Else the receiver reads
 *                      them straight from the sender's memory to where they belong
 *                      (process_vm_readv; within one process memcpy). It gives the sender as long
 *                      to come by as reading takes, some 60 us for 1 MiB
 *
 * Where the system lets no process read another's memory (a seccomp filter, another user or pid
 * namespace), all long messages go through the window, while either rank tests or waits. That is
 * found out when the device is opened, and again should it fail later. (Where Yama restricts
 * ptrace, a program may allow it by prctl(PR_SET_PTRACER) before.) A message may consist of several
 * runs of memory on either side; nothing is packed. What has a layout (nbc_call.in_layout) is
 * gathered into the cell, the ring or the window, and scattered from there.
 *
 * Memory. All is reserved when plans are made: there is no SIGBUS later, but NBC_ERROR_MEMORY from
 * nbc_plan_create when /dev/shm is full. nbc_plan_options.slot_memory bounds what a plan takes
 * of it; of plans that take turns, all of them together, or up to four times as much where they
 * talk to more than 16 ranks of their node. A process has one file for all its plans, or a few if
 * they need more than 16 MiB; of what freed plans had it keeps 4 MiB for the next ones, as long as
 * it has a device. Names are random, for their user only, and gone as soon as all the processes
 * that are peers in a device here have mapped the file: of the first one in nbc_shm_open, of others
 * in nbc_plan_connect. What processes that were killed before that have left, the next device that
 * the same user opens takes away.
 *
 * Waiting. nbc_wait spins a while if all ranks of the node have a core of their own, else
 * it yields at once; later it sleeps, at most half a millisecond at a time. When a peer has died,
 * or has given up the plan, calls that wait for it end with NBC_ERROR_DEVICE, within about a second
 * of nbc_wait or nbc_test. (Of processes in another pid namespace only the second is seen.)
 *
 * Trust. Ranks of one user trust each other as threads of a process do; but what a rank reads from
 * shared memory is checked so far that a wrong number makes the plan fail and writes nowhere.
 */
#ifndef NBC_SHM_H
#define NBC_SHM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "nbc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The target of templates that run on such a device. */
#define NBC_SHM_TARGET "shm"

/* How a device is made. Zero: the default. */
struct nbc_shm_options {
  /* A number for each rank, the same for ranks of one node, and the same array on all ranks. Null:
   * by host name, boot and /dev/shm. It need not be all ranks of a machine. */
  const uint32_t *nodes;
  int never_pull; /* sends all that is long through the window */
};

/* Makes a device. Collective over all ranks of the bootstrap, whose keys begin with "nbc.shm."
 * here, and which is not used afterwards. The options may be null, and need not stay. The device is
 * the communicator's: nbc_comm_free closes it.
 *
 * Errors, after which there is none: NBC_ERROR_ARGUMENT for a null pointer, or a bootstrap that
 * cannot be; NBC_ERROR_BOOTSTRAP where `put`, `get` or `fence` fails; NBC_ERROR_MEMORY. Who fails
 * enters the fence all the same. Thread safe, as far as the bootstrap is. */
int nbc_shm_open(const struct nbc_bootstrap *, const struct nbc_shm_options *,
                 struct nbc_device **);

/* What others have to know of a rank: what nbc_shm_open puts. Any bytes between ranks may carry it.
 */
struct nbc_shm_facts {
  uint64_t opaque[44]; /* the device's */
};
/* The same in two steps, for whoever cannot wait for other ranks. The first makes a device, which
 * can only be closed, and says what all ranks have to be given of this one; the second takes all
 * ranks' facts, in their order, and the device is ready. Both are local. No rank may close its
 * device before all have done the second step: it reads from the others' memory.
 *
 * NBC_ERROR_ARGUMENT for a null pointer, a rank that is none, facts that are none of this machine's
 * kind; NBC_ERROR_MEMORY. After an error in the second, the device is to be closed. Thread safe. */
int nbc_shm_begin(int rank, int ranks, struct nbc_shm_facts *, struct nbc_device **);
int nbc_shm_finish(struct nbc_device *, const struct nbc_shm_facts *,
                   const struct nbc_shm_options *); /* as said with nbc_shm_begin */
/* Whether two ranks' facts are of one node: 0 or 1. */
int nbc_shm_same_node(const struct nbc_shm_facts *, const struct nbc_shm_facts *);

/* --- what the runtime asks of the device --- */

struct nbc_shm;
struct nbc_shm_lanes; /* those of one plan, or of all that take turns */

/* Stands for the beginning of a layout where there are addresses else. */
#define NBC_SHM_LAID_OUT ((unsigned char *)4096)

/* A message under way: whose memory, and where in it. Does not move while it is. */
struct nbc_shm_message {
  const struct iovec *runs; /* as many as `run_count`, of `bytes` in all; `run`, if that is 1 */
  struct iovec run;
  const struct nbc_layout *layout; /* what runs lie in, from NBC_SHM_LAID_OUT on; null: memory */
  uint64_t bytes;
  uint32_t run_count;
  uint32_t open; /* the device's from here on. 1: under way */
  uint32_t number, place, kind;
  uint64_t moved;
  struct nbc_shm_message *next;
};

/* What a plan wants: a lane to and from each of these ranks. */
struct nbc_shm_wish {
  const uint32_t *ranks;
  uint32_t count, cells; /* cells: messages that a rank may be ahead of its peer, half of which
                            it may not have heard of yet */
  uint64_t eager_bytes, memory;
  int grows; /* 1: others will be added */
};

/* Where a peer finds the memory of a lane. */
struct nbc_shm_address {
  char name[56];
  uint64_t bytes, offset; /* of the file; where in it the lane is */
  uint32_t cells, ring, slot, window;
  uint32_t ticket; /* which plan's memory that is */
};

enum { NBC_SHM_SHORT = 2048 }; /* bytes that are copied at once, at most */

struct nbc_shm_ops {
  /* 1: done. 0: under way. Or a negative status. The k-th to be sent is the k-th received. Both
   * cost little, whatever the length: they copy NBC_SHM_SHORT bytes at most. */
  int (*send)(struct nbc_shm_lanes *, uint32_t lane, struct nbc_shm_message *);
  int (*receive)(struct nbc_shm_lanes *, uint32_t lane, struct nbc_shm_message *);
  /* The same of one run that is no longer than that, where it can be done at once: then nothing is
   * kept of the message. 0: it cannot, and nothing has happened. Null: never. */
  int (*send_now)(struct nbc_shm_lanes *, uint32_t lane, const void *, uint64_t bytes);
  int (*receive_now)(struct nbc_shm_lanes *, uint32_t lane, void *, uint64_t bytes);
  /* Whether a rank is on this node. */
  int (*near)(const struct nbc_shm *, uint32_t rank);
  /* Reserves the memory for all that is received; then `connect`, lane by lane. */
  /* *why: set to what was missing, in words, if that can be said; good until the thread's next call
   * of it. */
  int (*make)(struct nbc_shm *, const struct nbc_shm_wish *, struct nbc_shm_lanes **,
              const char **why);
  /* Likewise for further ranks, whose lanes are numbered on; of lanes that grow. After an error
   * there are none of them. Null: they never grow, and each plan has its own. */
  int (*add)(struct nbc_shm_lanes *, const uint32_t *ranks, uint32_t count, const char **why);
  void (*describe)(const struct nbc_shm_lanes *, uint32_t lane, struct nbc_shm_address *);
  /* Of one that is connected already: NBC_ERROR_BOOTSTRAP, if the peer says something else now. */
  int (*connect)(struct nbc_shm_lanes *, uint32_t lane, const struct nbc_shm_address *);
  /* Whether all peers have the memory mapped, so that they cannot fail to connect. Null: it is not
   * known. */
  int (*reachable)(const struct nbc_shm_lanes *);
  /* What becomes of messages with layouts. Null: there are none. */
  enum nbc_layouts (*layouts)(const struct nbc_shm_lanes *);
  /* Of a lane, what sending and receiving looks at: where it begins, and its bytes. */
  const void *(*hot)(const struct nbc_shm_lanes *, uint32_t lane, size_t *bytes);
  /* Bytes that were reserved. */
  size_t (*memory)(const struct nbc_shm_lanes *);
  /* Moves what can be moved; 0, or a negative status. */
  int (*move)(struct nbc_shm_lanes *, uint32_t lane);
  /* For a moment, and longer the longer nothing has moved. 1 if others may have had the processor,
   * 0 if it has only spun. */
  int (*rest)(struct nbc_shm_lanes *);
  /* A negative status: somebody who is waited for is gone. Looks only now and then. */
  int (*lost)(struct nbc_shm_lanes *);
  /* Peers are told. 0: no message's memory is touched by anybody any more. 1: a peer does not get
   * to the end of reading it. The lanes can only be closed. There if `add` is. */
  int (*give_up)(struct nbc_shm_lanes *);
  /* The same, if that was not done yet; and then there are none. Null is fine. */
  int (*close)(struct nbc_shm_lanes *);
};

/* Every implementation's state begins with this. */
struct nbc_shm {
  struct nbc_device device; /* of NBC_SHM_TARGET */
  const struct nbc_shm_ops *ops;
};

#ifdef __cplusplus
}
#endif
#endif
