// SPDX-License-Identifier: BSD-3-Clause
// messages_create.c - a plan of messages: relocations sorted out, peers met, and all taken down.
//
// Linear in records and relocations. Memory: for each call that may be under way, 48 bytes a
// record; and as much again for all variants.

#include <stdio.h>
#include <stdlib.h>

#include "runtime/src/messages.h"

static const struct nbc_segment *segment_of(const nbc_plan *plan, const struct nbc_variant *v) {
  return records_of_variant(&plan->tables, v);
}

// --- variants ---

// What is known of a record while relocations are sorted.
enum { NAMED = 1, HAS_MEMORY = 2 };

static void sort_relocs(const nbc_plan *plan, const struct nbc_variant *from, struct records *v,
                        uint8_t *known) {
  const struct nbc_segment *g = segment_of(plan, from);
  uint32_t runs = 0;
  for (uint32_t i = from->relocs.begin; i < from->relocs.begin + from->relocs.count; ++i) {
    const struct nbc_reloc *r = &plan->tables.relocs[i];
    if (!is_in(g, r)) continue;
    uint32_t record = (uint32_t)((r->at - g->offset) / sizeof(struct nbc_message_record));
    struct place_patch place;
    bool whole = place_of(plan, r, &place);
    place.at = record;
    if (known[record] & HAS_MEMORY) continue;
    known[record] |= HAS_MEMORY;
    if (r->rule == NBC_RELOC_PIECES) {
      v->scattered[v->scattered_count++] = (struct scattered){record, i, runs};
      runs += r->extra + 1;
    } else if (r->rule == NBC_RELOC_SLOT) {
      place.count = SLOT_BYTES / sizeof(uint64_t);  // for each block of such elements
      v->places[v->place_count++] = place;
    } else if (whole) {
      v->places[v->place_count++] = place;
    } else {
      v->slow[v->slow_count++] = (struct slow_piece){record, i};
    }
  }
}

static void copy_records(const struct nbc_message_record *from, struct records *v) {
  for (uint32_t i = 0; i < v->count; ++i)
    v->steps[i] = (struct step){
        .op = from[i].op, .other = from[i].op == NBC_MESSAGE_WAIT ? from[i].record : from[i].peer};
}

static void find_steps(struct records *v) {
  for (uint32_t i = 0; i < v->place_count; ++i) v->steps[v->places[i].at].place = i;
  for (uint32_t i = 0; i < v->slow_count; ++i) {
    struct step *step = &v->steps[v->slow[i].record];
    step->place = i;
    step->slow = true;
  }
}

static void sort_records(const nbc_plan *plan, const struct nbc_variant *from, struct records *v,
                         uint8_t *known) {
  sort_relocs(plan, from, v, known);
  for (uint32_t i = 0; i < v->count; ++i)
    if (v->steps[i].op == NBC_MESSAGE_WAIT) known[v->steps[i].other] |= NAMED;
  for (uint32_t i = 0; i < v->count; ++i) {
    if (v->steps[i].op != NBC_MESSAGE_WAIT) {
      if (!(known[i] & NAMED)) v->unwaited[v->unwaited_count++] = i;
      // Of no bytes, in this variant: instances are used by all.
      if (!(known[i] & HAS_MEMORY)) v->places[v->place_count++] = (struct place_patch){.at = i};
    }
    known[i] = 0;
  }
}

// What variants need together, or the longest of them.
struct needs {
  size_t records, scattered, runs, most_runs;
};

static struct needs count_needs(const nbc_plan *plan) {
  struct messages *s = messages_of(plan);
  struct needs n = {0};
  for (uint32_t i = 0; i < plan->tables.header->variants.count; ++i) {
    const struct nbc_variant *v = &plan->tables.variants[i];
    const struct nbc_segment *g = segment_of(plan, v);
    if (!g) continue;
    n.records += g->entries;
    if (g->entries > s->most) s->most = g->entries;
    size_t runs = 0;
    for (uint32_t k = v->relocs.begin; k < v->relocs.begin + v->relocs.count; ++k) {
      const struct nbc_reloc *r = &plan->tables.relocs[k];
      if (r->rule != NBC_RELOC_PIECES || !is_in(g, r)) continue;
      ++n.scattered;
      runs += (size_t)r->extra + 1;
    }
    if (runs > n.most_runs) n.most_runs = runs;
  }
  return n;
}

static int make_variants(nbc_plan *plan) {
  struct messages *s = messages_of(plan);
  uint32_t variants = plan->tables.header->variants.count;
  const struct needs n = count_needs(plan);
  if (n.most_runs > UINT32_MAX) return NBC_ERROR_MEMORY;
  s->most_runs = (uint32_t)n.most_runs;
  struct arena *a = &plan->arena;
  const size_t instances = (size_t)plan->depth * s->most;
  s->variants = (struct records *)arena_take(a, variants * sizeof *s->variants);
  // At most one place, one slow piece and one message that nobody waits for, for each record.
  struct step *steps = (struct step *)arena_take(a, n.records * sizeof *steps);
  struct place_patch *places = (struct place_patch *)arena_take(a, n.records * sizeof *places);
  s->messages = (struct message *)arena_take(a, instances * sizeof *s->messages);
  s->runs = (struct iovec *)arena_take(a, plan->depth * n.most_runs * sizeof *s->runs);
  struct slow_piece *slow = (struct slow_piece *)arena_take(a, n.records * sizeof *slow);
  uint32_t *unwaited = (uint32_t *)arena_take(a, n.records * sizeof *unwaited);
  struct scattered *scattered = (struct scattered *)arena_take(a, n.scattered * sizeof *scattered);
  uint8_t *known = (uint8_t *)calloc((size_t)s->most + 1, 1);
  bool all = s->variants && steps && places && s->messages && s->runs && slow && unwaited &&
             scattered && known;
  int status = all ? 0 : NBC_ERROR_MEMORY;
  for (uint32_t i = 0; i < variants && !status; ++i) {
    const struct nbc_variant *from = &plan->tables.variants[i];
    const struct nbc_segment *g = segment_of(plan, from);
    struct records *v = &s->variants[i];
    *v = (struct records){.steps = steps,
                          .places = places,
                          .slow = slow,
                          .scattered = scattered,
                          .unwaited = unwaited};
    plan->variants[i].records = v;
    if (!g) continue;
    v->count = g->entries;
    copy_records((const struct nbc_message_record *)(plan->code + g->offset), v);
    sort_records(plan, from, v, known);
    find_steps(v);
    steps += v->count, places += v->count, slow += v->count, unwaited += v->count,
        scattered += v->scattered_count;
  }
  plan->queue_bytes +=
      instances * sizeof *s->messages + plan->depth * n.most_runs * sizeof *s->runs +
      n.records * (sizeof *steps + sizeof *places + sizeof *slow + sizeof *unwaited) +
      n.scattered * sizeof *scattered;
  free(known);
  return status;
}

// --- peers ---

// What a rank puts for each peer: both ends must agree.
struct pledge {
  uint64_t identity;
  uint32_t sends, receives;
};
// Of the card there is as much as the lane needs.
struct greeting {
  struct pledge pledge;
  uint8_t card[MOST_CARD];
};

struct traffic *messages_traffic(const nbc_plan *plan) {
  const struct messages *s = messages_of(plan);
  const uint32_t peers = s->peers;
  struct traffic *most = (struct traffic *)calloc(2 * (size_t)peers + 1, sizeof *most);
  struct traffic *of = most + peers;
  for (uint32_t i = 0; most && i < plan->tables.header->variants.count; ++i) {
    const struct records *v = &s->variants[i];
    for (uint32_t p = 0; p < peers; ++p) of[p] = (struct traffic){0};
    for (uint32_t k = 0; k < v->count; ++k) {
      if (v->steps[k].op == NBC_MESSAGE_WAIT) continue;
      struct traffic *peer = &of[v->steps[k].other];
      ++*(v->steps[k].op == NBC_MESSAGE_SEND ? &peer->sends : &peer->receives);
    }
    for (uint32_t p = 0; p < peers; ++p) {
      if (of[p].sends > most[p].sends) most[p].sends = of[p].sends;
      if (of[p].receives > most[p].receives) most[p].receives = of[p].receives;
    }
  }
  return most;
}

// To each peer. Kept, as who connects may have no memory left.
static int make_pledges(nbc_plan *plan) {
  struct messages *s = messages_of(plan);
  struct traffic *t = messages_traffic(plan);
  s->pledges = (struct pledge *)arena_take(&plan->arena, s->peers * sizeof *s->pledges);
  for (uint32_t i = 0; s->pledges && t && i < s->peers; ++i)
    s->pledges[i] =
        (struct pledge){plan_identity(plan), (uint32_t)t[i].sends, (uint32_t)t[i].receives};
  const int status = s->pledges && t ? 0 : NBC_ERROR_MEMORY;
  free(t);
  return status;
}

int messages_publish(nbc_plan *plan) {
  const struct nbc_bootstrap *b = &plan->comm->bootstrap;
  const struct lane *lanes = messages_of(plan)->lanes;
  int status = make_pledges(plan);
  for (uint32_t i = 0; i < messages_of(plan)->peers && !status; ++i) {
    struct greeting all = {.pledge = messages_of(plan)->pledges[i]};
    size_t card = lanes[i].ops->describe ? lanes[i].ops->describe(&lanes[i], all.card) : 0;
    char key[48];
    snprintf(key, sizeof key, "nbc.%u.%u", plan->number, lanes[i].rank);
    if (b->put(b->context, key, &all, sizeof all.pledge + card)) status = NBC_ERROR_BOOTSTRAP;
  }
  return status;
}

static int meet(nbc_plan *plan, const struct lane *lane, const struct pledge *mine) {
  const struct nbc_bootstrap *b = &plan->comm->bootstrap;
  struct greeting theirs;
  size_t bytes = 0;
  char key[48];
  snprintf(key, sizeof key, "nbc.%u.%u", plan->number, (uint32_t)b->rank);
  if (b->get(b->context, (int)lane->rank, key, &theirs, sizeof theirs, &bytes) ||
      bytes < sizeof theirs.pledge || bytes > sizeof theirs)
    return NBC_ERROR_BOOTSTRAP;
  const struct pledge *p = &theirs.pledge;
  if (p->identity != mine->identity) return NBC_ERROR_ARGUMENT;
  if (p->sends != mine->receives || p->receives != mine->sends) return NBC_ERROR_TEMPLATE;
  size_t card = bytes - sizeof *p;
  return lane->ops->connect ? lane->ops->connect(lane, theirs.card, card) : 0;
}

int messages_connect(nbc_plan *plan) {
  const struct messages *s = messages_of(plan);
  int status = 0;
  for (uint32_t i = 0; i < s->peers && !status; ++i)
    status = meet(plan, &s->lanes[i], &s->pledges[i]);
  return status;
}

int messages_create(nbc_plan *plan, uint32_t peers) {
  struct messages *s = (struct messages *)arena_take(&plan->arena, sizeof *s);
  if (!s) return NBC_ERROR_MEMORY;
  plan->messages = s;
  s->peers = peers;
  s->lanes = (struct lane *)arena_take(&plan->arena, peers * sizeof *s->lanes);
  return s->lanes ? make_variants(plan) : NBC_ERROR_MEMORY;
}

void messages_destroy(nbc_plan *plan) {
  struct messages *s = messages_of(plan);
  if (!s) return;
  for (size_t i = 0; s->messages && i < (size_t)plan->depth * s->most; ++i) {
    struct message *m = &s->messages[i];
    const struct lane *lane = &s->lanes[m->peer];
    if (m->open && lane->ops->forget(lane, m)) plan->memory_in_use = true;
  }
  plan->messages = NULL;
}
