/* SPDX-License-Identifier: BSD-3-Clause
 * message_record.h - what targets mpi, sci, shm and verbs do, one record after the other; and
 * coredirect within a node.
 *
 *     RECV peer 1   out[1]
 *     SEND peer 0   out[0]
 *     WAIT 0                    until the first record's message is there
 *     SEND peer 0   out[1]
 *
 * A template of any of them has one queue, NBC_QUEUE_MESSAGES, where it sends or receives
 * anything; a variant has one SEND segment on it, of records. Native byte order, as all of
 * a template; 32 bytes, so that an address is aligned.
 *
 * SEND and RECV are posted and never wait. WAIT holds up whatever is behind it, records and
 * stages, until one message is done. Messages to one peer are sent in the order of their
 * records, those from one peer received in that order; the k-th sent to a rank is the k-th
 * that it receives from here.
 */
#ifndef NBC_MESSAGE_RECORD_H
#define NBC_MESSAGE_RECORD_H

#include <stddef.h>
#include <stdint.h>

enum { NBC_MOST_PORT = 32767 };
enum nbc_message_op { NBC_MESSAGE_SEND, NBC_MESSAGE_RECV, NBC_MESSAGE_WAIT };

struct nbc_message_record {
  uint32_t op;     /* enum nbc_message_op */
  uint32_t peer;   /* SEND, RECV: index into the template's peers; WAIT: 0 */
  uint32_t record; /* WAIT: an earlier SEND or RECV of the segment, by its index; else 0 */
  uint32_t port;   /* SEND, RECV: by which of several ports, from 0, at most NBC_MOST_PORT: a wish
                      (`on port e`); WAIT: 0 */
  /* Filled at the call, in native byte order, by an NBC_RELOC_SGE at `address`, which writes
   * both: one run of memory. By an NBC_RELOC_PIECES (shm, sci, and sends of verbs): `bytes` is the
   * sum of all its pieces, which lie anywhere, and `address` stays 0. Without either: a message of
   * no bytes. */
  uint64_t address, bytes;
};

/* Where such a relocation points to, from the record's beginning. */
#define NBC_MESSAGE_RECORD_SGE offsetof(struct nbc_message_record, address)

#ifdef __cplusplus
static_assert(sizeof(nbc_message_record) == 32, "a segment's bytes are 32 * entries");
#else
_Static_assert(sizeof(struct nbc_message_record) == 32, "a segment's bytes are 32 * entries");
#endif
#endif
