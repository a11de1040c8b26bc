// SPDX-License-Identifier: BSD-3-Clause
// coredirect_needs.c - how long queues must be, so that they suffice in whatever order adapters
// carry out what may be in any order; and whether an adapter has queues so long.
//
// With D calls under way at once:
//
//   send queue        D times the most entries of a variant, and three windows' credits
//   eager receives    3 D sets
//   clear-to-send     D + 1 times the most of a variant, and 3 credits; ring room for one more
//   data, loopback    D times the most of a variant
//   direct            the most of a variant, and one; there D is 1
//   chain             D times the most of a variant: nobody sends before it is clear to
//   CQs               one entry: only the adapter counts, and the last entry shows an error. But
//                     that of the management queue, which is polled: D times the most stages, and
//                     some for errors of queues that signal nothing
//
// Why that is enough. Two facts. A host puts call n into the rings when it has seen the end of call
// n - D, and until then has posted nothing again that this or a later call has used. And a
// management queue goes through calls one behind the other: when it begins call n, all that call n
// - 1 waits for has happened.
//
// Send queues. What a call enables is over when it is; so D calls' entries are in a ring, and what
// no call waits for: credits. A peer sends eager data of window w + 1 when it has the credit of
// window w, so that one is over when the first eager call of w + 1 is, which the host has seen
// before it opens w + 2. So two are under way; a third is spare.
//
// Eager receives. In window w a peer is behind the credit of w - 1. That went out when call (w - 1)
// D of this rank was in its rings, so (w - 2) D was over and its set posted again. Used since, at
// most, are all up to call (w + 1) D - 1: 3 D - 1 sets; one is spare.
//
// Clear-to-sends. A peer sends those of call n when its management queue is behind the last call
// before in which it receives from this rank; so this rank has put that one into its rings, and
// posted again what the D-th call before it has used. Between are D calls, and n itself. Credits
// are never more than two, and not on top of that; the three are for plans that go eager only, and
// one of them is spare. The first window waits for no credit that came, and has a receive posted
// for it all the same: one more in the ring.
//
// Direct. One call at a time, so a rank has seen the end of call n - 1 and posted again what that
// one used when it begins n. Data of n wait for its token of n. A peer's token of n may come as
// soon as that one has what this rank has sent in n - 1: before the end of n - 1 is seen here, one
// more than the call's own. Who gets no token has one to spare.
//
// Data. Nobody sends data before this rank's clear-to-send, which it sends behind its receive.
//
// Indices. WQEs are counted in 16 bits, and a limit is compared with what was executed in a half
// window: fewer than 2^15 entries are enabled at once. Completions are counted in 24; what a WAIT
// names is of entries and receives that are in rings, less than 2^17 before or behind the latest. A
// credit may be older than any number of clear-to-sends, so put_credit() names a later one then.
// So no WAIT comes near 2^23.
//
// test/runtime/any_order.cpp goes through every order that two ranks may choose, and finds these
// numbers; test/runs/resources.cpp takes receives away, of adapters and hosts that are as late as
// they may be, and finds what is spare.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/src/coredirect.h"

// Half of what 16 bits count, in which indices compare.
enum { HALF_WINDOW = 1 << 15 };

static int add_segment(const struct tables *s, const struct nbc_segment *g, bool credit,
                       struct need *needs) {
  if (s->queues[g->queue].kind == NBC_QUEUE_MESSAGES) return 0;  // of no adapter
  struct need *n = &needs[g->queue];
  uint32_t *most;
  if (g->ring == NBC_RING_SEND)
    most = credit ? &n->credit_posted : &n->posted;
  else
    most = credit ? &n->credit_received : &n->received;
  if (g->entries > *most) *most = g->entries;
  n->completes[g->ring == NBC_RING_SEND ? NBC_SIDE_SEND : NBC_SIDE_RECV] |=
      g->ring == NBC_RING_SEND ? g->send_cqes != 0 : g->entries != 0;
  if (g->ring == NBC_RING_SEND || g->bytes == 0) return 0;
  if (s->queues[g->queue].kind == NBC_QUEUE_DIRECT) return 0;  // its bytes are for the peer
  uint32_t stride = g->bytes / g->entries;
  if (n->stride && n->stride != stride) return NBC_ERROR_TEMPLATE;
  n->stride = stride;
  return 0;
}

static void sum_up(uint32_t kind, uint64_t depth, struct need *n) {
  n->sends = depth * n->posted + 3 * (uint64_t)n->credit_posted;
  n->receives = kind == NBC_QUEUE_EAGER    ? 3 * depth * n->received
                : kind == NBC_QUEUE_CTS    ? (depth + 1) * n->received + 3
                : kind == NBC_QUEUE_DIRECT ? (uint64_t)n->received + 1
                                           : depth * n->received;
  if (!n->completes[NBC_SIDE_RECV]) n->receives = 0;
  n->room = n->receives ? n->receives + (kind == NBC_QUEUE_CTS) : 0;
}

int coredirect_needs(const struct tables *s, uint32_t depth, uint32_t scalars, struct need *needs,
                     uint64_t *polled) {
  const struct nbc_range ahead = s->header->ahead_segments;
  uint64_t stages = 1;
  if (is_direct(s)) depth = 1;
  int status = 0;
  for (uint32_t i = 0; i < ahead.count && !status; ++i)
    status = add_segment(s, &s->segments[ahead.begin + i], false, needs);
  for (uint32_t i = 0; i < s->header->variants.count; ++i) {
    const struct nbc_variant *v = &s->variants[i];
    bool credit = v->flags & NBC_VARIANT_CREDIT;
    if (v->scalars > scalars) continue;
    if (v->stages.count > stages) stages = v->stages.count;
    for (uint32_t g = 0; g < v->segments.count && !status; ++g)
      status = add_segment(s, &s->segments[v->segments.begin + g], credit, needs);
    for (uint32_t r = 0; r < v->bind.count; ++r) {
      const struct nbc_reloc *reloc = &s->relocs[v->bind.begin + r];
      if (reloc->rule == NBC_RELOC_CQN) needs[reloc->what].completes[reloc->side] = true;
    }
  }
  for (uint32_t i = 0; i < s->header->queues.count; ++i)
    sum_up(s->queues[i].kind, depth, &needs[i]);
  *polled = depth * stages + 8;
  return status;
}

// --- whether an adapter has them ---

static const char *name_of(const struct tables *s, uint32_t queue, char text[64]) {
  static const char *const names[] = {
      [NBC_QUEUE_MANAGEMENT] = "management",
      [NBC_QUEUE_LOOPBACK] = "loopback",
      [NBC_QUEUE_EAGER] = "eager",
      [NBC_QUEUE_CTS] = "clear-to-send",
      [NBC_QUEUE_DATA] = "data",
      [NBC_QUEUE_DIRECT] = "direct",
      [NBC_QUEUE_CHAIN] = "chain",
  };
  static const char *const ways[] = {
      [NBC_BOTH_WAYS] = "with", [NBC_TO_PEER] = "to", [NBC_FROM_PEER] = "from"};
  const struct nbc_queue *q = &s->queues[queue];
  if (q->peer == UINT32_MAX)
    snprintf(text, 64, "the %s queue", names[q->kind]);
  else
    snprintf(text, 64, "the %s queue %s rank %u", names[q->kind], ways[q->direction],
             s->peers[q->peer]);
  return text;
}

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

static int fits_queue(const struct tables *s, uint32_t queue, const struct need *n, uint32_t depth,
                      const struct nbc_hca_facts *facts, const char **why) {
  const uint64_t sends = least(UINT64_C(1) << facts->max_log_sq, HALF_WINDOW - 1);
  const uint64_t room = least(UINT64_C(1) << facts->max_log_rq, HALF_WINDOW);
  char name[64];
  if (n->sends > sends)
    return lacking(why,
                   "%s holds %llu entries, and needs %llu: %u for a call, %u calls under way, "
                   "%llu for credits",
                   name_of(s, queue, name), (unsigned long long)sends, (unsigned long long)n->sends,
                   n->posted, depth, 3ull * n->credit_posted);
  if (n->room > room)
    return lacking(why, "%s holds %llu receives, and needs %llu: %u for a call, %u calls under way",
                   name_of(s, queue, name), (unsigned long long)room, (unsigned long long)n->room,
                   n->received, depth);
  return 0;
}

// Data segments of a receive, of those that there may be in `stride` bytes.
static uint32_t scattered(const uint8_t *receive, uint32_t stride) {
  uint32_t count = 0;
  while (count < stride / MLX5_SEGMENT &&
         mlx5_get32(receive + count * MLX5_SEGMENT + MLX5_DATA_LKEY) != MLX5_INVALID_LKEY)
    ++count;
  return count;
}

static int fits_segment(const struct tables *s, const struct nbc_segment *g,
                        const struct nbc_hca_facts *facts, const char **why) {
  const uint8_t *at = s->code + g->offset;
  const uint32_t stride = g->entries ? g->bytes / g->entries : 0;
  char name[64];
  const uint32_t kind = s->queues[g->queue].kind;
  if (kind == NBC_QUEUE_MANAGEMENT || kind == NBC_QUEUE_MESSAGES) return 0;
  for (uint32_t entry = 0, blocks = 1; entry < g->entries && g->bytes; entry += blocks) {
    const bool sends = g->ring == NBC_RING_SEND;
    const uint8_t opcode = at[MLX5_CTRL_OPCODE];
    const bool writes = opcode == MLX5_WRITE || opcode == MLX5_WRITE_IMM;
    const uint32_t segments =
        sends ? (at[MLX5_CTRL_DS] & 0x3fu) - 1 - writes : scattered(at, stride);
    const uint32_t most = sends ? facts->max_gather : facts->max_scatter;
    if (segments > most)
      return lacking(why, "%s has a %s of %u data segments, of an adapter's %u",
                     name_of(s, g->queue, name), sends ? "send" : "receive", segments, most);
    if (sends) blocks = ((at[MLX5_CTRL_DS] & 0x3fu) + 3) / 4;
    at += sends ? blocks * MLX5_WQEBB : stride;
  }
  return 0;
}

static int fits_segments(const struct tables *s, struct nbc_range range,
                         const struct nbc_hca_facts *facts, const char **why) {
  int status = 0;
  for (uint32_t i = range.begin; i < range.begin + range.count && !status; ++i)
    status = fits_segment(s, &s->segments[i], facts, why);
  return status;
}

int coredirect_fits(const struct tables *s, uint32_t depth, const struct need *needs,
                    uint64_t polled, const struct nbc_hca_facts *facts, const char **why) {
  const bool words = is_chained_by_words(s);
  if (s->header->queues.count && !(facts->waits & (words ? NBC_HCA_WAITS_DATA : NBC_HCA_WAITS_CQ)))
    return lacking(why, "its entries wait for %s, which an adapter cannot that waits for %s",
                   words ? "words of memory" : "completions",
                   facts->waits == 0 ? "nothing"
                   : words           ? "completions"
                                     : "words of memory");
  if (polled > UINT64_C(1) << facts->max_log_cq)
    return lacking(why,
                   "the completion queue that is polled holds %llu entries, and needs %llu for the "
                   "stages of %u calls under way",
                   1ull << facts->max_log_cq, (unsigned long long)polled, depth);
  int status = 0;
  for (uint32_t i = 0; i < s->header->queues.count && !status; ++i)
    status = fits_queue(s, i, &needs[i], depth, facts, why);
  if (!status) status = fits_segments(s, s->header->ahead_segments, facts, why);
  for (uint32_t i = 0; i < s->header->variants.count && !status; ++i)
    status = fits_segments(s, s->variants[i].segments, facts, why);
  return status;
}

int nbc_hca_fits(const void *data, size_t bytes, uint32_t depth, const struct nbc_hca_facts *facts,
                 const char **why) {
  int status = nbc_template_check(data, bytes, why);
  if (status) return status;
  const struct tables s = tables_of(data);
  if (strcmp(s.header->target, NBC_HCA_TARGET) != 0)
    return damaged(why, "a template for target %s, where %s is meant", s.header->target,
                   NBC_HCA_TARGET);
  if (!facts || depth == 0) {
    if (why) *why = "no facts, or no calls under way";
    return NBC_ERROR_ARGUMENT;
  }
  struct need *needs = (struct need *)calloc((size_t)s.header->queues.count + 1, sizeof *needs);
  if (!needs) {
    if (why) *why = nbc_status_text(NBC_ERROR_MEMORY);
    return NBC_ERROR_MEMORY;
  }
  uint64_t polled;
  status = coredirect_needs(&s, depth, 1, needs, &polled);
  if (status && why) *why = "receives of a queue differ in length";
  if (!status) status = coredirect_fits(&s, depth, needs, polled, facts, why);
  free(needs);
  return status;
}
