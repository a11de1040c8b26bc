// SPDX-License-Identifier: BSD-3-Clause
// coredirect_words.c - words of memory that adapters wait for, where they do not count completions
// (enum nbc_chaining).
//
// create   a row of words for each queue, `depth` times, known to the adapter and all 0
// connect  each peer is told where the row of the queue to it is, and tells where its own is
// call     the n-th, from 1: n is what its words will be; its are those of time (n - 1) mod depth
//
// Why a word is seen before it is written again. An adapter waits until a word is n, not until it
// is n or more, so that nobody has to know in which order it reads bytes. The word is written again
// in call n + depth. Its message goes when the receiver has cleared it to send, and a clear-to-send
// when the host has admitted the call, having seen the end of its call n; then its queues have
// passed all WAITs of call n. A peer's clear-to-send of call n + depth comes when it has seen the
// end of its call n, so it had the message that this rank's WAIT was before. This needs both ends
// to have the same depth, which they compare.

#include <stdlib.h>

#include "runtime/src/coredirect.h"

static struct coredirect *state_of(const nbc_plan *plan) {
  return (struct coredirect *)plan->state;
}

static bool names_word(uint32_t rule) {
  return rule >= NBC_RELOC_WORD_WAIT && rule <= NBC_RELOC_WORD_INTO;
}

// How many words the row of each queue has, and the peer's, as relocations of variants name them:
// no others were looked at by nbc_template_check().
static void count_words(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  for (uint32_t v = 0; v < plan->tables.header->variants.count; ++v) {
    const struct nbc_range range = plan->tables.variants[v].relocs;
    for (uint32_t i = range.begin; i < range.begin + range.count; ++i) {
      const struct nbc_reloc *r = &plan->tables.relocs[i];
      if (!names_word(r->rule)) continue;
      struct queue *q = &s->queues[r->what];
      uint32_t *words = r->rule == NBC_RELOC_WORD_TOLD ? &q->named : &q->words;
      if (r->addend >= *words) *words = r->addend + 1;
    }
  }
  for (uint32_t i = 0; i < plan->tables.header->queues.count; ++i) {
    s->queues[i].first_word = s->word_count;
    s->word_count += s->queues[i].words;
  }
}

int coredirect_make_words(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  if (!is_chained_by_words(&plan->tables)) return 0;
  count_words(plan);
  if (s->word_count == 0) return 0;
  s->words = (uint64_t *)calloc(s->word_count * plan->depth, sizeof *s->words);
  if (!s->words) return NBC_ERROR_MEMORY;
  int status = s->hca->ops->register_memory(
      s->hca, s->words, s->word_count * plan->depth * sizeof *s->words,
      NBC_HCA_REMOTE_WRITE | NBC_HCA_REMOTE_READ, &s->words_lkey, &s->words_rkey);
  s->words_known = !status;
  return status;
}

void coredirect_free_words(nbc_plan *plan) {
  struct coredirect *s = state_of(plan);
  if (s->words_known) s->hca->ops->deregister_memory(s->hca, s->words_lkey);
  s->words_known = false;
  free(s->words);
  s->words = NULL;
}

struct row_told coredirect_tell_row(const nbc_plan *plan, uint32_t queue) {
  const struct coredirect *s = state_of(plan);
  const struct queue *q = &s->queues[queue];
  return (struct row_told){.at = (uintptr_t)(s->words + q->first_word),
                           .apart = s->word_count * sizeof *s->words,
                           .rkey = s->words_rkey,
                           .words = q->words,
                           .times = plan->depth,
                           .named = q->named};
}

int coredirect_hear_row(nbc_plan *plan, uint32_t queue, const struct row_told *row) {
  struct queue *q = &state_of(plan)->queues[queue];
  if (row->times != plan->depth) return NBC_ERROR_ARGUMENT;
  // Answers are behind what the peer names.
  if (row->named > q->words || q->named > row->words) return NBC_ERROR_TEMPLATE;
  q->told = row->at;
  q->told_apart = row->apart;
  q->told_rkey = row->rkey;
  return 0;
}

void coredirect_count_call(nbc_plan *plan, const struct patches *v) {
  struct coredirect *s = state_of(plan);
  const uint64_t time = s->calls++ % plan->depth, number = s->calls;
  const uint64_t own = (uintptr_t)(s->words + time * s->word_count);
  for (const struct word_patch *p = v->words, *end = p + v->word_count; p < end; ++p) {
    const struct queue *q = &s->queues[p->queue];
    const uint64_t here = own + (q->first_word + (uint64_t)p->word) * sizeof *s->words;
    uint8_t *at = plan->code + p->at;
    switch (p->rule) {
      case NBC_RELOC_WORD_WAIT:
        mlx5_put32(at + MLX5_WORD_LKEY, s->words_lkey);
        mlx5_put64(at + MLX5_WORD_ADDR, here);
        mlx5_put64(at + MLX5_WORD_VALUE, number);
        break;
      case NBC_RELOC_WORD_TOLD:
        mlx5_put64(at + MLX5_RADDR_ADDR,
                   q->told + time * q->told_apart + p->word * sizeof *s->words);
        mlx5_put32(at + MLX5_RADDR_RKEY, q->told_rkey);
        break;
      case NBC_RELOC_WORD_OWN:
        mlx5_put64(at + MLX5_RADDR_ADDR, here);
        mlx5_put32(at + MLX5_RADDR_RKEY, s->words_rkey);
        break;
      case NBC_RELOC_WORD_INTO:
        mlx5_put32(at + MLX5_DATA_COUNT, sizeof *s->words);
        mlx5_put32(at + MLX5_DATA_LKEY, s->words_lkey);
        mlx5_put64(at + MLX5_DATA_ADDR, here);
        break;
      case NBC_RELOC_WORD_VALUE:
        mlx5_put64(at, number);
        break;
    }
  }
}

// Nothing else starts them. What is in them waits until it may.
void coredirect_ring_chains(nbc_plan *plan, const struct patches *v) {
  struct coredirect *s = state_of(plan);
  for (const struct use *u = v->uses, *end = u + v->use_count; u < end; ++u) {
    if (u->posted == 0 || u->queue == s->mq) continue;
    const struct queue *q = &s->queues[u->queue];
    const uint64_t last = s->counters[COUNTERS * u->queue + POSTED] - 1;
    uint64_t ctrl;
    __builtin_memcpy(&ctrl, q->sq + ((last * MLX5_WQEBB) & q->sq_mask), sizeof ctrl);
    s->hca->ops->doorbell(s->hca, q->number, ctrl);
  }
}
