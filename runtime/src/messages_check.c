// SPDX-License-Identifier: BSD-3-Clause
// messages_check.c - are the bytes of segments records that the runtime can carry out?
//
// An MPI looks at no address that it is given, unlike an adapter with its keys. So what a
// message names must be one run of memory, whatever the lengths of a call: pieces behind one
// another, which each for itself lie inside their buffers (template.c, piece_address).

#include <string.h>

#include "runtime/src/messages.h"

static int check_header(const struct tables *s, const char **why) {
  const struct nbc_template *t = s->header;
  for (uint32_t i = 0; i < t->queues.count; ++i)  // common checks know that there is but one
    if (s->queues[i].kind != NBC_QUEUE_MESSAGES)
      return damaged(why, "queue %u: kind %u, which holds no messages", i, s->queues[i].kind);
  if (t->ahead_segments.count || t->ahead_relocs.count)
    return damaged(why, "%u receives are posted ahead, of messages", t->ahead_segments.count);
  for (uint32_t i = 0; i < t->variants.count; ++i) {
    const struct nbc_variant *v = &s->variants[i];
    if (v->protocol != NBC_RENDEZVOUS || v->flags & ~(uint32_t)NBC_VARIANT_IN_PLACE)
      return damaged(why, "variant %u: protocol %u, flags %u, of messages", i, v->protocol,
                     v->flags);
    if (v->segments.count > 1 || v->bind.count)
      return damaged(why, "variant %u: %u segments, %u relocations before a call, of messages", i,
                     v->segments.count, v->bind.count);
  }
  return 0;
}

static const struct nbc_message_record *records(const struct tables *s,
                                                const struct nbc_segment *g) {
  return (const struct nbc_message_record *)(s->code + g->offset);
}

static int check_records(const struct tables *s, const struct nbc_segment *g, uint32_t segment,
                         const char **why) {
  const struct nbc_message_record *all = records(s, g);
  for (uint32_t i = 0; i < g->entries; ++i) {
    const struct nbc_message_record *r = &all[i];
    if (r->op > NBC_MESSAGE_WAIT || r->port > NBC_MOST_PORT || r->address || r->bytes)
      return damaged(why, "segment %u, record %u: op %u, or more than a template knows", segment, i,
                     r->op);
    if (r->op == NBC_MESSAGE_WAIT) {
      if (r->peer || r->port || r->record >= i || all[r->record].op == NBC_MESSAGE_WAIT)
        return damaged(why, "segment %u, record %u: waits for record %u", segment, i, r->record);
    } else if (r->peer >= s->header->peers.count || r->record) {
      return damaged(why, "segment %u, record %u: peer %u of %u, record %u", segment, i, r->peer,
                     s->header->peers.count, r->record);
    }
  }
  return 0;
}

// Whether piece `next` begins where the one before it in the table ends, for any lengths.
static bool continues(const struct tables *s, uint32_t next) {
  __extension__ typedef unsigned __int128 wide;
  const struct nbc_piece *p = &s->pieces[next - 1], *q = &s->pieces[next];
  if (p->buffer != q->buffer) return false;
  if (s->buffers[p->buffer].role < CALLER_ROLES)
    return (wide)(p->first + p->count) * q->parts == (wide)q->first * p->parts;
  uint32_t last = q->before.begin + q->before.count - 1;
  return p->room == q->room && q->before.count == p->before.count + 1 && last == next - 1 &&
         (p->before.count == 0 || p->before.begin == q->before.begin);
}

static int check_relocs(const struct tables *s, const struct nbc_variant *v,
                        const struct nbc_segment *g, const char **why) {
  for (uint32_t i = v->relocs.begin; i < v->relocs.begin + v->relocs.count; ++i) {
    const struct nbc_reloc *r = &s->relocs[i];
    if (!is_in(g, r)) continue;  // coredirect has others
    uint32_t at = r->at - g->offset;
    // Several pieces anywhere, slots: common checks know who may.
    bool anywhere = r->rule == NBC_RELOC_PIECES, slot = r->rule == NBC_RELOC_SLOT;
    if ((r->rule != NBC_RELOC_SGE && !anywhere && !slot) ||
        at % sizeof(struct nbc_message_record) != NBC_MESSAGE_RECORD_SGE)
      return damaged(why, "relocation %u: rule %u at %u, which is no such field", i, r->rule,
                     r->at);
    const struct nbc_message_record *record =
        &records(s, g)[at / sizeof(struct nbc_message_record)];
    if (record->op == NBC_MESSAGE_WAIT)
      return damaged(why, "relocation %u: at %u nothing is sent or received", i, r->at);
    if (anywhere && s->peers[record->peer] & NBC_PEER_REMOTE)
      return damaged(why, "relocation %u: pieces that lie anywhere, to another node", i);
    if (anywhere && record->op == NBC_MESSAGE_RECV && strcmp(s->header->target, "verbs") == 0)
      return damaged(why, "relocation %u: pieces that lie anywhere, for an adapter to write", i);
    for (uint32_t k = 1; k <= r->extra && !anywhere && !slot; ++k)
      if (!continues(s, r->what + k))
        return damaged(why, "relocation %u: piece %u is not behind piece %u", i, r->what + k,
                       r->what + k - 1);
  }
  return 0;
}

int messages_check_segment(const struct tables *s, const struct nbc_variant *v, uint32_t segment,
                           const char **why) {
  const struct nbc_segment *g = &s->segments[segment];
  int status = check_records(s, g, segment, why);
  return status ? status : check_relocs(s, v, g, why);
}

int messages_check(const struct tables *s, const char **why) {
  int status = check_header(s, why);
  for (uint32_t i = 0; i < s->header->variants.count && !status; ++i) {
    const struct nbc_variant *v = &s->variants[i];
    if (v->segments.count == 0) continue;  // then common checks have found no relocation
    status = messages_check_segment(s, v, v->segments.begin, why);
  }
  return status;
}
