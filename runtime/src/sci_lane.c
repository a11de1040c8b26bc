// SPDX-License-Identifier: BSD-3-Clause
// sci_lane.c - the protocol of target sci: send, receive, test, and what comes in.
//
//   send, receive   into a list; what has come already is copied out at once
//   cut             messages into slots, as far as there are credits
//   look            credits, then slots of the peer's; each copied out, if somebody waits for it
//
// Costs: a test reads two words of the own memory that only the peer writes, so they stay in the
// cache until it does. A byte is copied twice by PIO, and by DMA three times, of which the adapter
// does one.

#include <string.h>

#include "runtime/src/sci.h"

static struct sci_lane *lane_of(const struct lane *lane) {
  return (struct sci_lane *)lane->device;
}

static struct sci_message *begin(const struct sci_lane *l, const struct message *m) {
  struct sci_message *x = &l->of->under_way[m - messages_of(l->of->plan)->messages];
  *x = (struct sci_message){.of = m};
  return x;
}

static uint64_t load(const uint8_t *at) {
  return __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
}

static void hear(struct sci_lane *l) {
  struct sci *v = l->of;
  l->heard = v->heard = true;
  l->asked = false;
  v->idle = 0;
  sci_needs_arming(v);
}

// --- what is sent ---

static bool by_dma(const struct sci *v, const struct message *m) {
  return v->queue_count && m->bytes && m->bytes >= v->dma_bytes;
}

// The next piece of the message that is cut. What is longer than a transfer is stored by hand.
static void cut(struct sci_lane *l, struct sci_message *x) {
  const struct sci *v = l->of;
  const struct nbc_sci_facts *f = &v->device->facts;
  const uint64_t left = x->of->bytes - x->cut;
  const uint32_t bytes = left < v->slot_bytes ? (uint32_t)left : v->slot_bytes;
  const uint32_t place = (uint32_t)(l->made & (l->slots_out - 1));
  const bool dma = by_dma(v, x->of) && nbc_sci_round(bytes, f->align) <= f->longest;
  l->out[place] = (struct sci_slot){x, x->within, x->run, bytes, dma};
  if (dma) {
    // All its lengths are multiples of what DMA can do: the rest is nobody's.
    uint8_t *to = v->memory + l->staging_at + (uint64_t)place * v->slot_bytes;
    sci_gather(to, x->of, &x->run, &x->within, bytes);
    memset(to + bytes, 0, nbc_sci_round(bytes, f->align) - bytes);
  } else {
    sci_skip(x->of, &x->run, &x->within, bytes);
  }
  x->cut += bytes;
  ++l->made;
  if (x->cut < x->of->bytes) return;
  x->all_cut = true;
  x->end = l->made;
  l->cutting = x->next;
}

static void cut_all(struct sci_lane *l) {
  while (l->cutting && l->made - l->credited < l->slots_out) cut(l, l->cutting);
}

// What the peer has taken has come, even where nobody could check it any more.
static void finish_sent(struct sci_lane *l) {
  const uint64_t there = l->flagged > l->credited ? l->flagged : l->credited;
  while (l->sending.first && l->sending.first->all_cut && l->sending.first->end <= there)
    sci_list_take(&l->sending)->done = l->of->ended = true;
}

// --- what comes in ---

static bool take_credits(struct sci_lane *l) {
  if (l->slots_out == 0) return true;
  const uint64_t taken = load(l->of->memory + l->area_at + NBC_SCI_TAKEN);
  if (taken == l->credited) return true;
  if (taken < l->credited || taken > l->moved) return false;
  l->credited = taken;
  hear(l);
  return true;
}

// What is in the next slot, for the first message that is expected. False: it is not what it is to
// be.
static bool take_slot(struct sci_lane *l, uint64_t flag) {
  struct sci *v = l->of;
  struct sci_message *x = l->expected.first;
  const uint64_t left = x->of->bytes - x->cut;
  const uint64_t bytes = left < v->slot_bytes ? left : v->slot_bytes;
  const uint64_t place = l->taken & (l->slots_in - 1);
  if ((uint32_t)flag != bytes + 1) return false;
  sci_scatter(v->memory + l->area_at + l->area.slots + place * v->slot_bytes, x->of, &x->run,
              &x->within, bytes);
  x->cut += bytes;
  ++l->taken;
  if (x->cut == x->of->bytes) sci_list_take(&l->expected)->done = v->ended = true;
  return true;
}

static bool take_slots(struct sci_lane *l) {
  const struct sci *v = l->of;
  while (l->expected.first) {
    const uint64_t place = l->taken & (l->slots_in - 1);
    const uint64_t flag = load(v->memory + l->area_at + l->area.flags + place * 8);
    if (flag >> 32 != (uint32_t)(v->first + l->taken)) return true;
    if (flag == 0) return true;  // of the number 0 nobody has been here yet
    if (!take_slot(l, flag)) return false;
    hear(l);
  }
  return true;
}

bool sci_owes_credit(const struct sci_lane *l) {
  return l->slots_in && l->taken - l->told >= (l->slots_in + 1) / 2;
}

bool sci_waits(const struct sci_lane *l) {
  return l->expected.first || l->sending.first;
}

// Who has gone has said all it had to say before.
static bool has_gone(struct sci_lane *l) {
  if (atomic_load_explicit(&l->gone, memory_order_acquire)) return true;
  if (!load(l->of->memory + l->area_at + NBC_SCI_LEFT)) return false;
  atomic_store_explicit(&l->gone, 1, memory_order_release);
  return true;
}

void sci_look(struct sci_lane *l) {
  struct sci *v = l->of;
  const bool gone = has_gone(l);
  if (v->status) return;
  if (!take_credits(l) || !take_slots(l)) {
    sci_fail(v, NBC_ERROR_DEVICE);
    return;
  }
  if (!gone) {
    cut_all(l);
    sci_move(l);
  }
  finish_sent(l);
  if (gone && sci_waits(l)) sci_fail(v, NBC_ERROR_DEVICE);
}

int sci_settle(struct messages *s) {
  struct sci *v = (struct sci *)s->own;
  while (v->busy && !v->status) {
    struct sci_lane *l = v->busy;
    v->busy = l->next_busy;
    l->busy = false;
    sci_look(l);
  }
  const bool ended = v->ended;
  v->ended = false;
  return v->status ? v->status : ended;
}

int sci_others(struct messages *s) {
  enum { SOME = 16 };
  struct sci *v = (struct sci *)s->own;
  for (uint32_t i = 0; i < SOME && i < v->lane_count && !v->status; ++i) {
    if (++v->turn >= v->lane_count) v->turn = 0;
    struct sci_lane *l = &v->lanes[v->turn];
    if (sci_waits(l) || sci_owes_credit(l)) sci_look(l);
  }
  return v->status;
}

// --- what messages.c asks for ---

static int send_message(const struct lane *lane, struct message *m) {
  struct sci_lane *l = lane_of(lane);
  struct sci_message *x = begin(l, m);
  sci_list_put(&l->sending, x);
  if (!l->cutting) l->cutting = x;
  sci_mark_busy(l);
  sci_needs_arming(l->of);
  return 0;
}

static int receive_message(const struct lane *lane, struct message *m) {
  struct sci_lane *l = lane_of(lane);
  sci_list_put(&l->expected, begin(l, m));
  sci_mark_busy(l);
  sci_needs_arming(l->of);
  return 0;
}

// A receive that has its bytes, and whose peer cannot go on, is not done: nobody would tell it.
static int test_message(const struct lane *lane, struct message *m) {
  struct sci_lane *l = lane_of(lane);
  struct sci *v = l->of;
  const struct sci_message *x = &v->under_way[m - messages_of(v->plan)->messages];
  if (!x->done || sci_owes_credit(l)) sci_look(l);
  if (v->status) return v->status;
  return x->done && (!sci_owes_credit(l) || atomic_load(&l->gone));
}

// The lanes are gone before: see sci_destroy.
static int forget_message(const struct lane *lane, struct message *m) {
  (void)lane, (void)m;
  return 0;
}

const struct lane_ops sci_lane_ops = {
    .send = send_message,
    .receive = receive_message,
    .test = test_message,
    .forget = forget_message,
    .describe = sci_describe,
    .connect = sci_connect,
};
