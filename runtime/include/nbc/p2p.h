/* SPDX-License-Identifier: BSD-3-Clause
 * p2p.h - the few things target mpi asks of whatever carries messages between ranks.
 *
 * One struct of functions per kind of device: an MPI library, through runtime/mpi, and
 * the software device (devices/p2p). The runtime itself knows no MPI's types; what it keeps
 * of a message under way is as large as an MPI_Request may be.
 *
 * As in MPI: messages between two ranks with the same tag meet in the order in which they
 * were posted on either side. They may end in any order, and a send may or may not end before
 * its receive is posted. A receive is as long as its message.
 *
 * Functions may be called by several threads, for different messages. None of them waits for
 * another rank, but `sleep`, and `forget` for a moment. The runtime allocates and locks nothing
 * between nbc_start and nbc_test; what a device does in there is its own matter.
 */
#ifndef NBC_P2P_H
#define NBC_P2P_H

#include <stddef.h>
#include <stdint.h>

#include "nbc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The target of templates that run on such a device. */
#define NBC_P2P_TARGET "mpi"

/* A message under way. The device's; an MPI_Request is an int or a pointer. */
union nbc_p2p_message {
  void *pointer;   /* either of them, */
  uint64_t number; /* as the device likes */
};

struct nbc_p2p;

/* What a device does. A rank number is that of the communicator, and never one's own. */
struct nbc_p2p_ops {
  const char *name; /* for people; static */
  /* To and from another rank. 0: under way, until `test` or `forget` has ended it; 1: done already,
   * and there is no message; or a negative nbc_status, likewise. Of 0 bytes, memory may be null. */
  int (*send)(struct nbc_p2p *, const void *from, uint64_t bytes, uint32_t rank, uint32_t tag,
              union nbc_p2p_message *);
  /* Likewise. `to` holds the message once it is done, and may hold anything before. */
  int (*receive)(struct nbc_p2p *, void *to, uint64_t bytes, uint32_t rank, uint32_t tag,
                 union nbc_p2p_message *);
  /* 1: done, and the message is gone. 0: not yet. A negative nbc_status: it failed, and is gone. */
  int (*test)(struct nbc_p2p *, union nbc_p2p_message *);
  /* Gives a message up; `sent`: it is a send. 0: its memory is not touched any more. 1: it may be,
   * since the device cannot take it back (a send that nobody has received yet, with most MPIs). */
  int (*forget)(struct nbc_p2p *, union nbc_p2p_message *, int sent);
  /* Sleeps until something may have changed for this rank, or `nanoseconds` have passed. May
   * return early. For nbc_wait. */
  void (*sleep)(struct nbc_p2p *, int64_t nanoseconds);
  /* Lets messages move on that are not tested, of other plans and of the program's own: other ranks
   * may wait for them while this one waits for a call that another device carries, in nbc_test or
   * nbc_wait. Does nothing in a thread that may not call the device. Null: they move by themselves.
   */
  void (*move)(struct nbc_p2p *);
};

/* Every implementation's state begins with this. */
struct nbc_p2p {
  struct nbc_device device;      /* of NBC_P2P_TARGET */
  const struct nbc_p2p_ops *ops; /* static */
  uint32_t largest_tag;          /* tags from 0 to this one are the runtime's, one for each plan */
  uint64_t longest;              /* bytes of a message, at most */
};

#ifdef __cplusplus
}
#endif
#endif
