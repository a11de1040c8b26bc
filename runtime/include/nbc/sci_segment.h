/* SPDX-License-Identifier: BSD-3-Clause
 * sci_segment.h - what the segment holds that a plan of target sci exports.
 *
 *   area of peer 0    control words | flags | slots      the peer maps it, and alone writes there
 *   area of peer 1    ...
 *   staging           slots, of each peer that is sent to; the rank's own, for DMA to read
 *
 * An area begins on a page, so that it can be mapped alone, and so do its slots, which DMA writes.
 * A word is 8 bytes and one store, so it arrives as a whole. Slots are counted on and on; slot
 * number n is in place n modulo their number, a power of two.
 *
 *   taken   how many slots of the other direction's the peer has emptied: its credit to us
 *   left    not 0: the peer has taken its plan down, and all it had to say stands here
 *   asleep  a number that grows: the peer sleeps, and wants one interrupt when something was stored
 *   flag    of each slot: number << 32 | bytes + 1, so never 0; behind the data
 */
#ifndef NBC_SCI_SEGMENT_H
#define NBC_SCI_SEGMENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  NBC_SCI_PAGE = 4096,
  NBC_SCI_LINE = 64,
  NBC_SCI_SLOT_BYTES = 8192,      /* where nbc_plan_options leave it open */
  NBC_SCI_SLOT_MEMORY = 16 << 20, /* likewise */
  NBC_SCI_DEPTH = 2,              /* likewise */
  NBC_SCI_FEW_SLOTS = 2,          /* of a lane, at least: half are always the sender's */
  NBC_SCI_MANY_SLOTS = 64, /* without need, and a long message has so many pieces under way */
  NBC_SCI_MOST_SLOTS = 1 << 15,
  NBC_SCI_DMA_QUEUES = 4 /* of a plan, at most */
};

static inline uint64_t nbc_sci_round(uint64_t bytes, uint64_t to) {
  return (bytes + to - 1) / to * to;
}

/* Slots for what one rank sends to another: two for each message that may be under way, or many,
 * and not more than `limit`, a power of two. */
static inline uint32_t nbc_sci_slots(uint64_t messages, uint32_t limit) {
  uint64_t wanted = NBC_SCI_MANY_SLOTS;
  uint32_t slots = NBC_SCI_FEW_SLOTS;
  if (wanted < 2 * messages) wanted = 2 * messages;
  if (messages == 0) return 0;
  while (slots < wanted && 2 * slots <= limit) slots *= 2;
  return slots;
}

/* Of an area, from its beginning. */
struct nbc_sci_area {
  uint64_t flags, slots, bytes;
};
enum {
  NBC_SCI_TAKEN = 0,
  NBC_SCI_LEFT = 8,
  NBC_SCI_ASLEEP = 16
}; /* likewise, of the control words */

static inline struct nbc_sci_area nbc_sci_area_of(uint32_t slots, uint64_t slot_bytes) {
  struct nbc_sci_area a;
  a.flags = NBC_SCI_LINE;
  a.slots = nbc_sci_round(a.flags + slots * UINT64_C(8), NBC_SCI_PAGE);
  a.bytes = nbc_sci_round(a.slots + slots * slot_bytes, NBC_SCI_PAGE);
  return a;
}

/* Messages with one peer under way at once. */
struct nbc_sci_traffic {
  uint64_t sends, receives;
};

/* Bytes of the segment: areas, then staging. */
static inline uint64_t nbc_sci_segment_bytes(const struct nbc_sci_traffic *peers, uint32_t count,
                                             uint64_t slot_bytes, uint32_t limit) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    bytes += nbc_sci_area_of(nbc_sci_slots(peers[i].receives, limit), slot_bytes).bytes;
    bytes += nbc_sci_slots(peers[i].sends, limit) * slot_bytes;
  }
  return nbc_sci_round(bytes, NBC_SCI_PAGE);
}

/* The most slots of a lane with which the segment has at most `memory` bytes; all ranks need not
 * find the same. */
static inline uint32_t nbc_sci_limit(const struct nbc_sci_traffic *peers, uint32_t count,
                                     uint64_t slot_bytes, uint64_t memory) {
  uint32_t limit = NBC_SCI_MOST_SLOTS;
  while (limit > NBC_SCI_FEW_SLOTS &&
         nbc_sci_segment_bytes(peers, count, slot_bytes, limit) > memory)
    limit /= 2;
  return limit;
}

#ifdef __cplusplus
}
#endif
#endif
