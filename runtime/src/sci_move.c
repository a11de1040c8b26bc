// SPDX-License-Identifier: BSD-3-Clause
// sci_move.c - slots go to the peer: stores, transfers, flags and credits, and all of them again.
//
//   slots by PIO   store all that are made; barrier; check             OK: moved
//   slots by DMA   a vector of as many as go into a transfer           done: moved
//   words          flags of what is moved, slots taken; barrier; check OK: flagged, told
//
// Words go behind the bytes of their slots, after these are known to have arrived: of stores that
// are lost, any may be lost. What is stored twice is the same both times.
//
// Costs: two checks for what is posted together to one peer, however many messages that is, and one
// for credits. Slots that are full and follow each other are one element of a vector.

#include <string.h>

#include "runtime/src/sci.h"

// --- runs of memory ---

static const struct iovec *runs_of(const struct message *m, struct iovec *one) {
  *one = (struct iovec){(void *)(uintptr_t)m->address, m->bytes};
  return m->runs ? (const struct iovec *)(uintptr_t)m->address : one;
}

// What is left of the run, but `n` at most; the place moves on.
static uint64_t step_over(const struct iovec *runs, uint32_t *run, uint64_t *within, uint64_t n) {
  const uint64_t left = runs[*run].iov_len - *within;
  if (n < left) {
    *within += n;
    return n;
  }
  ++*run;
  *within = 0;
  return left;
}

void sci_skip(const struct message *m, uint32_t *run, uint64_t *within, uint64_t n) {
  struct iovec one;
  const struct iovec *runs = runs_of(m, &one);
  while (n) n -= step_over(runs, run, within, n);
}

void sci_gather(uint8_t *to, const struct message *m, uint32_t *run, uint64_t *within, uint64_t n) {
  struct iovec one;
  const struct iovec *runs = runs_of(m, &one);
  while (n) {
    const uint8_t *from = (const uint8_t *)runs[*run].iov_base + *within;
    const uint64_t bytes = step_over(runs, run, within, n);
    memcpy(to, from, bytes);
    to += bytes;
    n -= bytes;
  }
}

void sci_scatter(const uint8_t *from, const struct message *m, uint32_t *run, uint64_t *within,
                 uint64_t n) {
  struct iovec one;
  const struct iovec *runs = runs_of(m, &one);
  while (n) {
    uint8_t *to = (uint8_t *)runs[*run].iov_base + *within;
    const uint64_t bytes = step_over(runs, run, within, n);
    memcpy(to, from, bytes);
    from += bytes;
    n -= bytes;
  }
}

// --- the connection ---

static void breaks(struct sci_lane *l) {
  if (!l->broken) l->since = 0;
  l->broken = true;
}

// Whether it has been so for too long; `since` is when it was first asked.
static bool too_long(const struct sci_lane *l, int64_t *since) {
  const int64_t now = sci_now();
  if (!*since) *since = now;
  return now - *since > l->of->device->facts.timeout * INT64_C(1000000);
}

bool sci_holds(struct sci_lane *l) {
  sci_error_t error = SCI_ERR_OK;
  if (!l->broken) return true;
  if (l->of->api->SCIStartSequence(l->sequence, 0, &error) == SCI_SEQ_OK && error == SCI_ERR_OK) {
    l->broken = false;
    return true;
  }
  if (too_long(l, &l->since)) sci_fail(l->of, NBC_ERROR_DEVICE);
  return false;
}

// Whether all that was stored since it was OK last has arrived.
static bool arrived(struct sci_lane *l) {
  sci_error_t error = SCI_ERR_OK;
  l->of->api->SCIStoreBarrier(l->sequence, 0);
  if (l->of->api->SCICheckSequence(l->sequence, 0, &error) == SCI_SEQ_OK && error == SCI_ERR_OK)
    return true;
  breaks(l);
  return false;
}

// --- words ---

static void store_word(const struct sci_lane *l, uint64_t at, uint64_t value) {
  __atomic_store_n((uint64_t *)(l->there + at), value, __ATOMIC_RELAXED);
}

static uint64_t place_in(const struct sci_lane *l, uint64_t slot) {
  return slot & (l->slots_out - 1);
}

bool sci_tell(struct sci_lane *l, uint64_t at, uint64_t value) {
  if (!sci_holds(l)) return false;
  store_word(l, at, value);
  return arrived(l);
}

static bool words_are_due(const struct sci_lane *l) {
  return l->flagged != l->moved || sci_owes_credit(l);
}

static bool store_words(struct sci_lane *l) {
  for (uint64_t n = l->flagged; n != l->moved; ++n) {
    const uint64_t number = (uint32_t)(l->of->first + n), place = place_in(l, n);
    store_word(l, l->there_area.flags + place * 8, number << 32 | (l->out[place].bytes + 1));
  }
  store_word(l, NBC_SCI_TAKEN, l->taken);
  if (!arrived(l)) return false;
  l->flagged = l->moved;
  l->told = l->taken;
  sci_answer(l);
  return true;
}

// --- slots ---

static bool store_slots(struct sci_lane *l) {
  uint64_t n = l->moved;
  for (; n != l->made && !l->out[place_in(l, n)].dma; ++n) {
    const uint64_t place = place_in(l, n);
    struct sci_slot s = l->out[place];
    sci_gather(l->there + l->there_area.slots + place * l->of->slot_bytes, s.of->of, &s.run,
               &s.within, s.bytes);
  }
  if (!arrived(l)) return false;
  l->moved = n;
  return true;
}

// Elements of as many slots as go into one transfer; of how many that is.
static uint32_t fill_vector(const struct sci_lane *l, dis_dma_vec_t *vector, uint32_t *elements) {
  const struct nbc_sci_facts *f = &l->of->device->facts;
  const uint64_t slot_bytes = l->of->slot_bytes;
  uint32_t slots = 0, count = 0;
  uint64_t bytes = 0;
  for (uint64_t n = l->moved; n != l->made && l->out[place_in(l, n)].dma; ++n, ++slots) {
    const uint64_t at = place_in(l, n) * slot_bytes;
    const uint32_t size = (uint32_t)nbc_sci_round(l->out[place_in(l, n)].bytes, f->align);
    const uint32_t from = (uint32_t)(l->staging_at + at);
    const uint32_t to = (uint32_t)(l->there_at + l->there_area.slots + at);
    dis_dma_vec_t *last = count ? &vector[count - 1] : NULL;
    const bool follows =
        last && last->local_offset + last->size == from && last->remote_offset + last->size == to;
    if (bytes + size > f->longest || (!follows && count == f->vector)) break;
    if (follows)
      last->size += size;
    else
      vector[count++] = (dis_dma_vec_t){size, from, to, 0};
    bytes += size;
  }
  *elements = count;
  return slots;
}

static struct sci_queue *free_queue(struct sci *v) {
  for (uint32_t i = 0; i < v->queue_count; ++i)
    if (!v->queues[i].user) return &v->queues[i];
  return NULL;
}

static void transfer_failed(struct sci_lane *l) {
  breaks(l);
  if (++l->failures > TRIES) sci_fail(l->of, NBC_ERROR_DEVICE);
}

// Queues and tables of the library that are full for now.
static bool is_full(sci_error_t error) {
  return error == SCI_ERR_BUSY || error == SCI_ERR_NOSPC || error == SCI_ERR_API_NOSPC ||
         error == SCI_ERR_HW_NOSPC;
}

static void start_transfer(struct sci_lane *l) {
  struct sci *v = l->of;
  struct sci_queue *q = free_queue(v);
  uint32_t elements;
  sci_error_t error = SCI_ERR_OK;
  if (!q) return;
  const uint32_t slots = fill_vector(l, q->vector, &elements);
  const struct sci_ending e = sci_when_transfer_ends(v);
  v->api->SCIStartDmaTransferVec(q->queue, v->segment, l->remote, elements, q->vector, e.callback,
                                 e.context, v->device->facts.engine | e.flag, &error);
  if (error == SCI_ERR_OK) {
    q->user = l;
    l->queue = q;
    l->moving = slots;
    l->full_since = 0;
  } else if (!is_full(error)) {
    transfer_failed(l);
  } else if (too_long(l, &l->full_since)) {
    sci_fail(v, NBC_ERROR_DEVICE);
  }
}

static void look_at_transfer(struct sci_lane *l) {
  const sci_dma_queue_state_t state = l->of->api->SCIDMAQueueState(l->queue->queue);
  if (state == SCI_DMAQUEUE_POSTED) return;
  l->queue->user = NULL;
  l->queue = NULL;
  if (state != SCI_DMAQUEUE_DONE) {
    transfer_failed(l);
    return;
  }
  l->moved += l->moving;
  l->failures = 0;
}

bool sci_has_work(const struct sci_lane *l) {
  return l->broken || words_are_due(l) || (!l->queue && l->moved != l->made);
}

void sci_move(struct sci_lane *l) {
  struct sci *v = l->of;
  if (l->queue) look_at_transfer(l);
  while (!v->status) {
    const bool words = words_are_due(l);
    if (!words && (l->queue || l->moved == l->made)) return;
    if (!sci_holds(l)) return;
    if (words) {
      if (!store_words(l)) return;
    } else if (l->out[place_in(l, l->moved)].dma) {
      start_transfer(l);
      return;
    } else if (!store_slots(l)) {
      return;
    }
  }
}
