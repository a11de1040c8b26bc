// SPDX-License-Identifier: BSD-3-Clause
// verbs_lane.c - the protocol of target verbs: send, receive, test, and what comes in.
//
//   send, receive   short ones are done at once where they can be; else into a list
//   move on         the lists, as far as credits, offers and the ring allow
//   arrive          what the peer says, checked, and what follows from it
//
// Costs: a short message is copied once at each end; a long one is not, nor looked at but where it
// is cut into work requests.

#include <arpa/inet.h>
#include <string.h>

#include "runtime/src/verbs.h"

static struct verbs_lane *lane_of(const struct lane *lane) {
  return (struct verbs_lane *)lane->device;
}

static struct verbs_message *begin(const struct verbs_lane *l, const struct message *m,
                                   uint64_t moved) {
  struct verbs_message *x = &l->of->under_way[m - messages_of(l->of->plan)->messages];
  *x = (struct verbs_message){.of = m, .moved = moved};
  return x;
}

// --- short messages ---

static uint64_t next_part(const struct verbs_lane *l, uint64_t left) {
  return left < l->of->part_bytes ? left : l->of->part_bytes;
}

// Bytes of the message from `moved` on.
static void gather(uint8_t *to, const struct message *m, uint64_t moved, uint64_t bytes) {
  const struct iovec one = {(void *)(uintptr_t)m->address, m->bytes};
  const struct iovec *run = m->runs ? (const struct iovec *)(uintptr_t)m->address : &one;
  for (; bytes; ++run) {
    if (moved >= run->iov_len) {
      moved -= run->iov_len;
      continue;
    }
    const uint64_t rest = run->iov_len - moved, n = rest < bytes ? rest : bytes;
    memcpy(to, (const uint8_t *)run->iov_base + moved, n);
    to += n, bytes -= n, moved = 0;
  }
}

// Parts from *moved on, as far as there are credits and room. True: that was the last.
static bool send_short(struct verbs_lane *l, const struct message *m, uint64_t *moved) {
  for (bool last = false; !last;) {
    struct ibv_send_wr *wr = l->credits ? verbs_request(l) : NULL;
    if (!wr) return false;
    const uint64_t bytes = next_part(l, m->bytes - *moved);
    gather(verbs_slot(l, wr), m, *moved, bytes);
    verbs_say(l, wr, VERBS_EAGER, l->eager_sent++, bytes);
    --l->credits;
    verbs_mark_busy(l);
    *moved += bytes;
    last = *moved == m->bytes;
  }
  return true;
}

// The part of the message from *moved on, out of a slot, which is free then. 1: that was the last.
static int take_part(struct verbs_lane *l, struct held from, const struct message *m,
                     uint64_t *moved) {
  if (from.bytes != next_part(l, m->bytes - *moved)) return verbs_fail(l->of, NBC_ERROR_DEVICE);
  if (from.bytes)
    memcpy((uint8_t *)(uintptr_t)m->address + *moved,
           l->arrivals + (size_t)from.receive * l->of->slot_bytes, from.bytes);
  ++l->given;
  verbs_receive_again(l, from.receive);
  *moved += from.bytes;
  return *moved == m->bytes;
}

// As many parts as have come. 1: all.
static int take_held(struct verbs_lane *l, const struct message *m, uint64_t *moved) {
  int how = 0;
  while (!how && l->held_count) {
    const struct held from = l->held[l->first_held];
    if (++l->first_held == l->slot_count) l->first_held = 0;
    --l->held_count;
    how = take_part(l, from, m, moved);
  }
  return how;
}

// --- long messages ---

struct keys {
  uintptr_t end;
  uint32_t lkey, rkey;
};

// The lane's keys of what begins here, and how far they go: `bytes` at most. Fails where nobody has
// registered it.
static struct keys keys_at(const struct verbs_lane *l, const struct message *m, uintptr_t at,
                           uint64_t bytes) {
  struct verbs *v = l->of;
  const struct messages *s = messages_of(v->plan);
  const struct verbs_keys *keys = v->keys + (size_t)(m - s->messages) / s->most * KEYS;
  uint32_t k = 0;
  while (k < KEYS && (at < keys[k].begin || at >= keys[k].end)) ++k;
  if (k == KEYS) {
    verbs_fail(v, NBC_ERROR_DEVICE);
    return (struct keys){at + bytes, 0, 0};
  }
  const uintptr_t end = bytes < keys[k].end - at ? at + bytes : keys[k].end;
  return (struct keys){end, keys[k].lkey[l->rail], keys[k].rkey[l->rail]};
}

static uint32_t runs_of(const struct message *m, const struct iovec **runs, struct iovec *one) {
  *one = (struct iovec){(void *)(uintptr_t)m->address, m->bytes};
  *runs = m->runs ? (const struct iovec *)(uintptr_t)m->address : one;
  return m->runs ? m->runs : 1;
}

// Whether the peer keeps just the place where the message lies, with a key that holds; and under
// which number.
static bool is_known_there(struct verbs_lane *l, const struct message *m, uint8_t *number) {
  if (m->runs || l->known_count == 0) return false;
  const struct keys keys = keys_at(l, m, m->address, m->bytes);
  const struct offered_run run = {m->address, keys.end - m->address, keys.rkey, 0};
  return run.bytes == m->bytes && verbs_find_known(l, &run, number);
}

// Tells the peer where the message lies: runs, cut where memory was registered apart. False: there
// is no room.
static bool offer(struct verbs_lane *l, struct verbs_message *x) {
  struct ibv_send_wr *wr = verbs_request(l);
  if (!wr) return false;
  struct offer *o = (struct offer *)verbs_slot(l, wr);
  const struct iovec *run;
  struct iovec one;
  uint32_t runs = runs_of(x->of, &run, &one);
  o->number = l->offers_made;
  l->skipped = false;
  o->bytes = x->of->bytes;
  o->runs = 0;
  for (uint32_t i = 0; i < runs; ++i) {
    uintptr_t at = (uintptr_t)run[i].iov_base, end = at + run[i].iov_len;
    while (at < end && o->runs < MOST_OFFERED) {
      struct keys keys = keys_at(l, x->of, at, end - at);
      o->run[o->runs++] = (struct offered_run){at, keys.end - at, keys.rkey, 0};
      at = keys.end;
    }
  }
  o->kept = o->runs == 1 && o->run[0].bytes == o->bytes ? verbs_keep_there(l, &o->run[0]) : 0;
  verbs_say(l, wr, VERBS_OFFER, l->offers_made++, offer_bytes(o->runs));
  return true;
}

// Offers what comes first, as far as it was offered before. False: nothing of it was, or there is
// no room, or the peer has to be told of which message it is.
static bool offer_again(struct verbs_lane *l) {
  if (l->skipped) return false;
  struct ibv_send_wr *wr = NULL;
  uint32_t n = 0;
  uint8_t number;
  for (const uint32_t room = WINDOW - (l->offers_made - l->offers_answered); n < room; ++n) {
    const struct verbs_message *x = l->unoffered.first;
    if (!x || !is_known_there(l, x->of, &number) || (!wr && !(wr = verbs_request(l)))) break;
    verbs_slot(l, wr)[n] = number;
    list_put(&l->offered, list_take(&l->unoffered));
  }
  if (n == 0) return false;
  l->offers_made += n;
  verbs_say(l, wr, VERBS_AGAIN, l->offers_made, n);
  return true;
}

// How many messages offers are ahead of; with direct also behind.
static int32_t ahead(const struct verbs_lane *l) {
  return (int32_t)(l->offers_came - l->offers_taken);
}

const struct offer *verbs_next_offer(const struct verbs_lane *l) {
  if (ahead(l) <= 0) return NULL;
  return (const struct offer *)(l->offers + (size_t)(l->offers_taken % WINDOW) * l->offers_room);
}

// Where byte `moved` of the message is at the peer's, and how many follow it there.
static struct offered_run place_of_byte(const struct offer *o, uint64_t moved) {
  uint32_t i = 0;
  while (moved >= o->run[i].bytes) moved -= o->run[i++].bytes;
  return (struct offered_run){o->run[i].address + moved, o->run[i].bytes - moved, o->run[i].rkey,
                              0};
}

uint64_t verbs_segments(const struct verbs_lane *l, const struct message *m, uint64_t moved,
                        uint64_t most, struct ibv_sge *to, int *count) {
  const struct iovec *run;
  struct iovec one;
  uint64_t bytes = 0;
  runs_of(m, &run, &one);
  for (; moved >= run->iov_len; ++run) moved -= run->iov_len;
  while (bytes < most && (uint32_t)*count < l->of->gather) {
    uint64_t n = run->iov_len - moved;
    if (n > most - bytes) n = most - bytes;
    uintptr_t at = (uintptr_t)run->iov_base + moved;
    struct keys keys = keys_at(l, m, at, n);
    n = keys.end - at;
    to[(*count)++] = (struct ibv_sge){at, (uint32_t)n, keys.lkey};
    bytes += n, moved += n;
    if (moved == run->iov_len) ++run, moved = 0;
  }
  return bytes;
}

// Work requests of a message that the peer has offered memory for. False: some are missing.
static bool move(struct verbs_lane *l, struct verbs_message *x) {
  const struct verbs *v = l->of;
  const struct offer *o = verbs_next_offer(l);
  if (!o) return false;
  if (o->bytes != x->of->bytes) {
    verbs_fail(l->of, NBC_ERROR_DEVICE);
    return false;
  }
  while (x->moved < o->bytes && !v->status) {
    struct ibv_send_wr *wr =
        v->way == NBC_VERBS_READ && l->reads == v->adapter->facts.reads ? NULL : verbs_request(l);
    if (!wr) return false;
    struct offered_run there = place_of_byte(o, x->moved);
    uint64_t most = there.bytes < l->longest ? there.bytes : l->longest;
    x->moved += verbs_segments(l, x->of, x->moved, most, wr->sg_list, &wr->num_sge);
    wr->wr.rdma.remote_addr = there.address;
    wr->wr.rdma.rkey = there.rkey;
    bool last = x->moved == o->bytes;
    struct purpose *p = verbs_purpose(l, wr);
    if (v->way == NBC_VERBS_READ)
      wr->opcode = IBV_WR_RDMA_READ, ++l->reads;
    else if (last)
      verbs_say(l, wr, VERBS_DATA, l->offers_taken, 0);
    else
      wr->opcode = IBV_WR_RDMA_WRITE;
    p->reads = v->way == NBC_VERBS_READ;
    p->ends = last ? x : NULL;
    if (last || v->way == NBC_VERBS_READ) verbs_signal(l, wr);
  }
  return !v->status;
}

static bool say_finished(struct verbs_lane *l, struct verbs_message *x) {
  struct ibv_send_wr *wr = verbs_request(l);
  if (!wr) return false;
  verbs_say(l, wr, VERBS_FINISHED, l->offers_finished++, 0);
  return x->done = l->of->ended = true;
}

void verbs_move_on(struct verbs_lane *l) {
  if (is_second(l)) {
    verbs_move_places(l);
    return;
  }
  while (l->unfinished.first && say_finished(l, l->unfinished.first)) list_take(&l->unfinished);
  while (l->unoffered.first && l->offers_made - l->offers_answered < WINDOW) {
    if (offer_again(l)) continue;
    if (!offer(l, l->unoffered.first)) break;
    list_put(&l->offered, list_take(&l->unoffered));
  }
  while (l->unsent.first && send_short(l, l->unsent.first->of, &l->unsent.first->moved))
    list_take(&l->unsent)->done = l->of->ended = true;
  while (l->unmoved.first && move(l, l->unmoved.first)) {
    list_take(&l->unmoved);
    ++l->offers_taken;
    --l->of->stalled;
  }
}

// --- what messages.c asks for ---

// The way of a message that goes round; null: it does not.
static const struct verbs_detour *detour_of(const struct verbs *v, const struct message *m) {
  const struct verbs_detour *d =
      v->detours ? &v->detours[m - messages_of(v->plan)->messages] : NULL;
  return d && d->address ? d : NULL;
}

// Where messages of such a length go.
static struct verbs_lane *queue_for(struct verbs_lane *l, bool brief) {
  return brief || !l->second ? l : l->second;
}

static int send_message(const struct lane *lane, struct message *m) {
  struct verbs_lane *l = lane_of(lane);
  bool brief = m->bytes <= l->of->eager_bytes;
  uint64_t moved = 0;
  if (brief && !l->unsent.first && send_short(l, m, &moved)) return 1;
  const struct verbs_detour *d = detour_of(l->of, m);
  if (d) {
    const struct message there = {.address = d->address, .bytes = m->bytes, .runs = d->runs};
    gather((uint8_t *)(uintptr_t)m->address, &there, 0, m->bytes);
  }
  const enum nbc_verbs_rendezvous way = l->of->way;
  struct verbs_lane *queue = queue_for(l, brief);
  if (!brief && verbs_writes(way)) ++l->of->stalled;
  list_put(brief                   ? &l->unsent
           : way == NBC_VERBS_READ ? &queue->unoffered
                                   : &queue->unmoved,
           begin(l, m, moved));
  verbs_mark_busy(queue);
  return 0;
}

static int receive_message(const struct lane *lane, struct message *m) {
  struct verbs_lane *l = lane_of(lane);
  bool brief = m->bytes <= l->of->eager_bytes;
  uint64_t moved = 0;
  const int how = brief ? take_held(l, m, &moved) : 0;
  if (how) return how;
  const enum nbc_verbs_rendezvous way = l->of->way;
  struct verbs_lane *queue = queue_for(l, brief);
  if (!brief && way == NBC_VERBS_READ) ++l->of->stalled;
  list_put(brief                   ? &l->expected
           : way == NBC_VERBS_READ ? &queue->unmoved
                                   : &queue->unoffered,
           begin(l, m, moved));
  if (!brief) verbs_mark_busy(queue);
  return 0;
}

static int test_message(const struct lane *lane, struct message *m) {
  struct verbs *v = lane_of(lane)->of;
  const struct verbs_message *x = &v->under_way[m - messages_of(v->plan)->messages];
  int status = x->done ? v->status : verbs_take_in(v);
  if (status || !x->done) return status;
  const struct verbs_detour *d = m->sent ? NULL : detour_of(v, m);
  if (d) memcpy((void *)(uintptr_t)d->address, (const void *)(uintptr_t)m->address, m->bytes);
  return 1;
}

// The queues are gone before: see verbs_destroy.
static int forget_message(const struct lane *lane, struct message *m) {
  (void)lane, (void)m;
  return 0;
}

bool verbs_waits(const struct verbs_lane *l) {
  return l->unsent.first || l->expected.first || l->unoffered.first || l->offered.first ||
         l->unmoved.first || l->unfinished.first || l->reads || l->placed_came != l->placed_count;
}

// --- what comes in ---

bool verbs_in_order(uint32_t immediate, uint32_t number) {
  return (immediate >> NUMBER_SHIFT & NUMBER_MASK) == (number & NUMBER_MASK);
}

static bool eager_came(struct verbs_lane *l, uint32_t immediate, struct held in) {
  if (!verbs_in_order(immediate, l->eager_came++) || l->held_count == l->slot_count) return false;
  struct verbs_message *x = l->expected.first;
  if (x) {
    const int how = take_part(l, in, x->of, &x->moved);
    if (how) list_take(&l->expected)->done = how == 1;
    return how >= 0;
  }
  uint32_t at = l->first_held + l->held_count++;
  l->held[at < l->slot_count ? at : at - l->slot_count] = in;
  return true;
}

// Whether it is the number of the next offer. Direct: those of messages that have gone without are
// not made.
static bool is_next(const struct verbs_lane *l, uint32_t number) {
  const uint32_t left_out = number - l->offers_came;
  return left_out == 0 || (l->of->way == NBC_VERBS_DIRECT && ahead(l) < 0 &&
                           left_out <= l->offers_taken - l->offers_came);
}

static bool is_offer(const struct verbs_lane *l, const struct offer *o, uint32_t bytes) {
  uint64_t sum = 0;
  if (l->of->way == NBC_VERBS_SEND || bytes < offer_bytes(1) || o->runs == 0 ||
      o->runs > (l->of->way == NBC_VERBS_READ ? MOST_OFFERED : 1) ||
      bytes != offer_bytes(o->runs) || !is_next(l, o->number) || o->kept > l->kept_count ||
      (o->kept && o->runs != 1) || ahead(l) >= WINDOW)
    return false;
  for (uint32_t i = 0; i < o->runs; ++i)
    if (o->run[i].bytes == 0 || __builtin_add_overflow(sum, o->run[i].bytes, &sum)) return false;
  return sum == o->bytes;
}

static bool offer_came(struct verbs_lane *l, const void *slot, uint32_t bytes) {
  const struct offer *o = (const struct offer *)slot;
  if (!is_offer(l, o, bytes)) return false;
  l->offers_came = o->number;
  memcpy(l->offers + (size_t)(l->offers_came++ % WINDOW) * l->offers_room, slot, bytes);
  if (o->kept) l->kept[o->kept - 1] = o->run[0];
  return true;
}

// So many bytes, each of which stands for an offer that came before.
static bool again_came(struct verbs_lane *l, uint32_t immediate, const uint8_t *slot,
                       uint32_t count) {
  if (count == 0 || count > WINDOW || (int32_t)count > WINDOW - ahead(l) ||
      !verbs_in_order(immediate, l->offers_came + count))
    return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (slot[i] >= l->kept_count || l->kept[slot[i]].bytes == 0) return false;
    const struct offered_run *kept = &l->kept[slot[i]];
    struct offer *o =
        (struct offer *)(l->offers + (size_t)(l->offers_came++ % WINDOW) * l->offers_room);
    o->runs = 1;
    o->bytes = kept->bytes;
    o->run[0] = *kept;
  }
  return true;
}

// The message that was offered first has been moved.
static bool answer_came(struct verbs_lane *l, uint32_t immediate) {
  if (!l->offered.first || !verbs_in_order(immediate, l->offers_answered++)) return false;
  list_take(&l->offered)->done = true;
  return true;
}

// Credits that it brings. False: more than there are.
static bool take_credits(struct verbs_lane *l, uint16_t given) {
  uint16_t more = (uint16_t)(given - l->given_by_peer);
  if (more > l->peer_slots - l->credits) return false;
  l->given_by_peer = given;
  l->credits += more;
  return true;
}

static bool take_arrival(struct verbs_lane *l, uint32_t receive, const struct ibv_wc *wc) {
  uint32_t immediate = ntohl(wc->imm_data);
  const bool written = wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM;
  if ((!written && wc->opcode != IBV_WC_RECV) || !take_credits(l, (uint16_t)immediate))
    return false;
  switch ((enum verbs_kind)(immediate >> KIND_SHIFT)) {
    case VERBS_EAGER:
      return !written && wc->byte_len <= l->of->part_bytes &&
             eager_came(l, immediate, (struct held){receive, wc->byte_len});
    case VERBS_OFFER:
      return !written &&
             offer_came(l, l->arrivals + (size_t)receive * l->of->slot_bytes, wc->byte_len);
    case VERBS_DATA:
      return written && l->of->way == NBC_VERBS_WRITE && answer_came(l, immediate);
    case VERBS_FINISHED:
      return !written && l->of->way == NBC_VERBS_READ && wc->byte_len == 0 &&
             answer_came(l, immediate);
    case VERBS_CREDIT:
      return !written && wc->byte_len == 0;
    case VERBS_PLACED:
      return false;  // here: it has a queue pair of its own
    case VERBS_AGAIN:
      return !written && again_came(l, immediate, l->arrivals + (size_t)receive * l->of->slot_bytes,
                                    wc->byte_len);
  }
  return false;
}

void verbs_arrive(struct verbs_lane *l, uint32_t receive, const struct ibv_wc *wc) {
  const bool second = is_second(l);
  verbs_mark_busy(l);
  if (l->second) verbs_mark_busy(l->second);  // what was offered is moved there
  if (!(second ? verbs_place_came : take_arrival)(l, receive, wc))
    verbs_fail(l->of, NBC_ERROR_DEVICE);
  else if (!second && ntohl(wc->imm_data) >> KIND_SHIFT != VERBS_EAGER)
    verbs_receive_again(l, receive);
}

// --- what the peer has to know ---

struct card {
  uint64_t longest, eager_bytes;
  uint32_t way, slots, keeps, known, rails, rail;
  struct nbc_verbs_address address[NBC_VERBS_RAILS];  // as many as there are
};
// Behind it, of the second queue pair.
struct second_card {
  uint64_t word;
  uint32_t word_rkey[NBC_VERBS_RAILS];
  struct nbc_verbs_address address[NBC_VERBS_RAILS];  // likewise
};
_Static_assert(sizeof(struct card) + sizeof(struct second_card) <= MOST_CARD, "a card holds it");

static size_t addresses_bytes(uint32_t rails) {
  return rails * sizeof(struct nbc_verbs_address);
}
static size_t card_bytes(uint32_t rails) {
  return offsetof(struct card, address) + addresses_bytes(rails);
}
static size_t second_bytes(uint32_t way, uint32_t rails) {
  if (!verbs_places(way)) return 0;
  return offsetof(struct second_card, address) + addresses_bytes(rails);
}

static void describe_second(const struct verbs_lane *l, void *card) {
  const struct verbs *v = l->of;
  struct second_card mine = {.word = (uintptr_t)v->words};
  struct verbs_keys keys;
  verbs_put_keys(v, &keys, v->words, sizeof *v->words, &v->word);
  memcpy(mine.word_rkey, keys.rkey, sizeof keys.rkey);
  memcpy(mine.address, l->second->address, sizeof mine.address);
  memcpy(card, &mine, second_bytes(v->way, v->rails));
}

static size_t describe_lane(const struct lane *lane, void *card) {
  const struct verbs_lane *l = lane_of(lane);
  const struct verbs *v = l->of;
  struct card mine = {.longest = l->longest,
                      .eager_bytes = v->eager_bytes,
                      .way = v->way,
                      .slots = l->slot_count,
                      .keeps = l->kept_count,
                      .known = l->known_count,
                      .rails = v->rails,
                      .rail = l->rail};
  memcpy(mine.address, l->address, sizeof mine.address);
  memcpy(card, &mine, card_bytes(v->rails));
  if (l->second) describe_second(l, (uint8_t *)card + card_bytes(v->rails));
  return card_bytes(v->rails) + second_bytes(mine.way, v->rails);
}

static int connect_second(const struct verbs_lane *l, const void *card) {
  const struct verbs *v = l->of;
  struct verbs_lane *s = l->second;
  struct second_card theirs;
  memcpy(&theirs, card, second_bytes(v->way, v->rails));
  s->rail = l->rail;
  s->longest = l->longest;
  s->word = theirs.word;
  s->word_rkey = theirs.word_rkey[s->rail];
  verbs_choose_rail(s);
  return v->ops->connect(v->adapter->device, s->qp, &theirs.address[s->rail]);
}

static int connect_lane(const struct lane *lane, const void *card, size_t bytes) {
  struct verbs_lane *l = lane_of(lane);
  const uint32_t rails = l->of->rails;
  struct card theirs = {0};
  if (bytes < card_bytes(1)) return NBC_ERROR_BOOTSTRAP;
  memcpy(&theirs, card, bytes < sizeof theirs ? bytes : sizeof theirs);
  if (theirs.rails > NBC_VERBS_RAILS || theirs.rail >= theirs.rails ||
      bytes != card_bytes(theirs.rails) + second_bytes(theirs.way, theirs.rails) ||
      theirs.slots > INT16_MAX || theirs.longest == 0)
    return NBC_ERROR_BOOTSTRAP;
  if (theirs.way != l->of->way || theirs.eager_bytes != l->of->eager_bytes || theirs.rails != rails)
    return NBC_ERROR_ARGUMENT;
  // Who keeps nothing is told nothing to keep.
  if (theirs.keeps != l->known_count) l->known_count = 0;
  if (theirs.known != l->kept_count) l->kept_count = 0;
  l->peer_slots = l->credits = theirs.slots;
  if (theirs.longest < l->longest) l->longest = theirs.longest;
  if (lane->rank < l->of->plan->tables.header->rank) l->rail = theirs.rail;
  verbs_choose_rail(l);
  const int status = l->of->ops->connect(l->of->adapter->device, l->qp, &theirs.address[l->rail]);
  return status || !l->second ? status
                              : connect_second(l, (const uint8_t *)card + card_bytes(rails));
}

const struct lane_ops verbs_lane_ops = {
    .send = send_message,
    .receive = receive_message,
    .test = test_message,
    .forget = forget_message,
    .describe = describe_lane,
    .connect = connect_lane,
};
