// SPDX-License-Identifier: BSD-3-Clause
// template.c - refuse what is damaged, so that nothing later looks twice.
//
// Table by table, then what each variant uses. One pass, but for relocations, whose
// segment is searched (log n). Looks at no byte outside [data, data + bytes). What
// only the target knows (the bytes of segments) its own check looks at: targets.h.

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "nbc/message_record.h"
#include "runtime/src/tables.h"
#include "runtime/src/targets.h"

// More than any communicator has; so few that products with parts fit.
enum { MOST_BLOCKS = INT32_MAX };

__attribute__((format(printf, 2, 0))) static void say(const char **why, const char *format,
                                                      va_list values) {
  static _Thread_local char text[256];
  vsnprintf(text, sizeof text, format, values);
  if (why) *why = text;
}

int damaged(const char **why, const char *format, ...) {
  va_list values;
  va_start(values, format);
  say(why, format, values);
  va_end(values);
  return NBC_ERROR_TEMPLATE;
}

int lacking(const char **why, const char *format, ...) {
  va_list values;
  va_start(values, format);
  say(why, format, values);
  va_end(values);
  return NBC_ERROR_RESOURCES;
}

struct tables tables_of(const void *data) {
  const struct nbc_template *t = (const struct nbc_template *)data;
  const char *begin = (const char *)data;
  struct tables s = {
      .header = t,
      .buffers = (const struct nbc_buffer *)(begin + t->buffers.offset),
      .peers = (const uint32_t *)(begin + t->peers.offset),
      .queues = (const struct nbc_queue *)(begin + t->queues.offset),
      .variants = (const struct nbc_variant *)(begin + t->variants.offset),
      .pieces = (const struct nbc_piece *)(begin + t->pieces.offset),
      .hosts = (const struct nbc_host *)(begin + t->hosts.offset),
      .stages = (const struct nbc_stage *)(begin + t->stages.offset),
      .segments = (const struct nbc_segment *)(begin + t->segments.offset),
      .relocs = (const struct nbc_reloc *)(begin + t->relocs.offset),
      .code = (const uint8_t *)begin + t->code.offset,
  };
  for (uint32_t i = 0; i < t->buffers.count; ++i)
    if (s.buffers[i].role < CALLER_ROLES) s.caller[s.buffers[i].role] = &s.buffers[i];
  return s;
}

static bool inside(struct nbc_range r, uint32_t count) {
  return r.begin <= count && r.count <= count - r.begin;
}

static int check_header(const void *data, size_t bytes, const char **why) {
  const struct nbc_template *t = (const struct nbc_template *)data;
  if (!data || (uintptr_t)data % 8) return damaged(why, "the template is not aligned to 8 bytes");
  if (bytes < sizeof *t)
    return damaged(why, "%zu bytes are less than a header of %zu", bytes, sizeof *t);
  if (t->magic != NBC_TEMPLATE_MAGIC)
    return damaged(why, "magic %#x where %#x was expected", t->magic, NBC_TEMPLATE_MAGIC);
  if (t->version != NBC_TEMPLATE_VERSION)
    return damaged(why, "version %u; this runtime reads %u", t->version, NBC_TEMPLATE_VERSION);
  if (t->bytes != bytes || bytes % 8)
    return damaged(why, "%zu bytes given, the header says %llu", bytes,
                   (unsigned long long)t->bytes);
  uint64_t sum = nbc_template_checksum(data, bytes);
  if (sum != t->checksum)
    return damaged(why, "checksum %#llx where %#llx was stored", (unsigned long long)sum,
                   (unsigned long long)t->checksum);
  if (memchr(t->target, 0, sizeof t->target) == NULL ||
      memchr(t->algorithm, 0, sizeof t->algorithm) == NULL ||
      memchr(t->device, 0, sizeof t->device) == NULL)
    return damaged(why, "a name does not end");
  if (t->kind >= NBC_KINDS) return damaged(why, "kind %u of %d", t->kind, NBC_KINDS);
  if (t->ranks == 0 || t->ranks > INT32_MAX) return damaged(why, "%u ranks", t->ranks);
  if (t->rank >= t->ranks) return damaged(why, "rank %u of %u", t->rank, t->ranks);
  if (t->root >= t->ranks) return damaged(why, "root %u of %u ranks", t->root, t->ranks);
  if (t->chaining >= NBC_CHAININGS || (t->chaining && strcmp(t->target, "coredirect") != 0))
    return damaged(why, "queues chained in way %u, on target %s", t->chaining, t->target);
  if (t->lengths >= NBC_LENGTHS ||
      (t->lengths == NBC_LENGTHS_EACH && !kind_has_own_lengths(t->kind)))
    return damaged(why, "lengths %u of kind %u", t->lengths, t->kind);
  return 0;
}

static int check_places(const struct nbc_template *t, const char **why) {
  const struct {
    const char *name;
    struct nbc_table table;
    size_t entry;
  } tables[] = {
      {"buffers", t->buffers, sizeof(struct nbc_buffer)},
      {"peers", t->peers, sizeof(uint32_t)},
      {"queues", t->queues, sizeof(struct nbc_queue)},
      {"variants", t->variants, sizeof(struct nbc_variant)},
      {"pieces", t->pieces, sizeof(struct nbc_piece)},
      {"hosts", t->hosts, sizeof(struct nbc_host)},
      {"stages", t->stages, sizeof(struct nbc_stage)},
      {"segments", t->segments, sizeof(struct nbc_segment)},
      {"relocs", t->relocs, sizeof(struct nbc_reloc)},
      {"code", t->code, 1},
  };
  uint64_t end = sizeof *t;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i) {
    uint64_t begin = tables[i].table.offset,
             room = (uint64_t)tables[i].table.count * tables[i].entry;
    if (begin < end || begin % 8 || begin > t->bytes || room > t->bytes - begin)
      return damaged(why,
                     "table of %s: %llu bytes at %llu do not lie behind the %llu before, in %llu",
                     tables[i].name, (unsigned long long)room, (unsigned long long)begin,
                     (unsigned long long)end, (unsigned long long)t->bytes);
    end = begin + room;
  }
  return 0;
}

static int check_buffers(const struct tables *s, const char **why) {
  const struct nbc_template *t = s->header;
  unsigned seen = 0;
  for (uint32_t i = 0; i < t->buffers.count; ++i) {
    const struct nbc_buffer *b = &s->buffers[i];
    if (b->role >= ROLES) return damaged(why, "buffer %u: role %u", i, b->role);
    if (b->role < CALLER_ROLES) {
      if (seen & 1u << b->role) return damaged(why, "buffer %u: role %u comes twice", i, b->role);
      enum shape shape = shape_of(t->kind, b->role);
      if (shape == NONE)
        return damaged(why, "buffer %u: kind %u has no role %u", i, t->kind, b->role);
      if (shape == LISTED && b->blocks > MOST_BLOCKS)
        return damaged(why, "buffer %u: %llu blocks", i, (unsigned long long)b->blocks);
      seen |= 1u << b->role;
    } else if (b->blocks > UINT32_MAX || b->first > UINT32_MAX) {
      return damaged(why, "buffer %u: %llu blocks of room after %llu", i,
                     (unsigned long long)b->blocks, (unsigned long long)b->first);
    }
  }
  return 0;
}

// A queue of a rank rather than of a peer: there is one of its kind.
static bool is_alone(uint32_t kind) {
  return kind <= NBC_QUEUE_LOOPBACK || kind == NBC_QUEUE_MESSAGES;
}

static bool is_for(const struct tables *s, const char *target) {
  return strcmp(s->header->target, target) == 0;
}

static int check_queues(const struct tables *s, const char **why) {
  const struct nbc_template *t = s->header;
  for (uint32_t i = 0; i < t->peers.count; ++i) {
    uint32_t mark = is_for(s, "shm")          ? NBC_PEER_REMOTE
                    : is_for(s, "coredirect") ? NBC_PEER_NEAR
                                              : 0;
    uint32_t rank = s->peers[i] & ~mark;
    if (rank >= t->ranks || rank == t->rank)
      return damaged(why, "peer %u: rank %u of %u, the own one is %u", i, rank, t->ranks, t->rank);
    if (i && s->peers[i] & mark & NBC_PEER_NEAR && !(s->peers[i - 1] & NBC_PEER_NEAR))
      return damaged(why, "peer %u: on the same node, behind one that is not", i);
  }
  uint32_t alone[NBC_QUEUE_KINDS] = {0};
  for (uint32_t i = 0; i < t->queues.count; ++i) {
    const struct nbc_queue *q = &s->queues[i];
    if (q->kind >= NBC_QUEUE_KINDS) return damaged(why, "queue %u: kind %u", i, q->kind);
    if (is_alone(q->kind) ? q->peer != UINT32_MAX || alone[q->kind]++ : q->peer >= t->peers.count)
      return damaged(why, "queue %u: peer %u of %u, or a second of kind %u", i, q->peer,
                     t->peers.count, q->kind);
    if (q->port > NBC_MOST_PORT || (q->port && q->kind < NBC_QUEUE_EAGER))
      return damaged(why, "queue %u: port %u", i, q->port);
    if (q->direction >= NBC_DIRECTIONS || (is_alone(q->kind) && q->direction))
      return damaged(why, "queue %u: direction %u", i, q->direction);
  }
  return 0;
}

static int check_pieces(const struct tables *s, const char **why) {
  const struct nbc_template *t = s->header;
  for (uint32_t i = 0; i < t->pieces.count; ++i) {
    const struct nbc_piece *p = &s->pieces[i];
    if (p->shape >= t->buffers.count || s->buffers[p->shape].role >= CALLER_ROLES)
      return damaged(why, "piece %u: shape %u is no caller's buffer", i, p->shape);
    if (p->parts == 0 || p->parts > INT32_MAX)
      return damaged(why, "piece %u: %u parts", i, p->parts);
    // The most of any variant; allowed() looks at each. Both factors are below 2^31.
    bool placed = t->lengths != NBC_LENGTHS_EACH;  // then no variant has more in place
    uint64_t end = blocks_of(s, s->buffers[p->shape].role, placed) * p->parts;
    if (p->first > end || p->count > end - p->first)
      return damaged(why, "piece %u: %llu parts from %llu on, of %llu", i,
                     (unsigned long long)p->count, (unsigned long long)p->first,
                     (unsigned long long)end);
    // Not of more than one block; those at the end of the row are of none.
    if (t->lengths == NBC_LENGTHS_EACH &&
        (p->first == end || p->first % p->parts + p->count > p->parts))
      return damaged(why, "piece %u: %llu parts of %u from %llu on, where blocks may differ", i,
                     (unsigned long long)p->count, p->parts, (unsigned long long)p->first);
    if (p->buffer >= t->buffers.count || !inside(p->before, t->pieces.count))
      return damaged(why, "piece %u: buffer %u, behind pieces %u to %u", i, p->buffer,
                     p->before.begin, p->before.count);
    const struct nbc_buffer *b = &s->buffers[p->buffer];
    if (b->role < CALLER_ROLES) {
      if (p->buffer != p->shape || !b->significant)
        return damaged(why, "piece %u: buffer %u, shape %u", i, p->buffer, p->shape);
    } else if (p->room >= b->blocks) {
      return damaged(why, "piece %u: room %llu of %llu", i, (unsigned long long)p->room,
                     (unsigned long long)b->blocks);
    } else {
      // Whole blocks, as all before it: known to fit. Else nbc_start looks.
      uint64_t blocks = p->count;
      bool whole = p->parts == 1;
      for (uint32_t k = 0; k < p->before.count && whole; ++k) {
        const struct nbc_piece *before = &s->pieces[p->before.begin + k];
        whole = before->parts == 1 && before->count <= INT32_MAX;
        blocks += before->count;
      }
      if (whole && blocks > b->blocks - p->room)
        return damaged(why, "piece %u: %llu blocks in room %llu of %llu", i,
                       (unsigned long long)blocks, (unsigned long long)p->room,
                       (unsigned long long)b->blocks);
    }
  }
  return 0;
}

static int check_hosts(const struct tables *s, const char **why) {
  const struct nbc_template *t = s->header;
  for (uint32_t i = 0; i < t->hosts.count; ++i) {
    const struct nbc_host *h = &s->hosts[i];
    if (h->op > NBC_HOST_REDUCE || !inside(h->from, t->pieces.count) ||
        !inside(h->with, t->pieces.count) || !inside(h->to, t->pieces.count))
      return damaged(why, "host operation %u: a piece beyond %u, or op %u", i, t->pieces.count,
                     h->op);
  }
  for (uint32_t i = 0; i < t->stages.count; ++i)
    if (!inside((struct nbc_range){s->stages[i].hosts_begin, s->stages[i].hosts_count},
                t->hosts.count))
      return damaged(why, "stage %u: a host operation beyond %u", i, t->hosts.count);
  return 0;
}

static int check_segments(const struct tables *s, struct nbc_range range, bool ahead,
                          const char **why) {
  uint64_t end = 0;
  for (uint32_t i = range.begin; i < range.begin + range.count; ++i) {
    const struct nbc_segment *g = &s->segments[i];
    if (g->queue >= s->header->queues.count || g->ring > NBC_RING_RECV)
      return damaged(why, "segment %u: queue %u, ring %u", i, g->queue, g->ring);
    uint32_t kind = s->queues[g->queue].kind;
    if (g->bytes) {
      if (g->offset < end || g->offset % 16 || g->offset > s->header->code.count ||
          g->bytes > s->header->code.count - g->offset)
        return damaged(why, "segment %u: %u bytes at %u, behind %llu, of %u", i, g->bytes,
                       g->offset, (unsigned long long)end, s->header->code.count);
      end = (uint64_t)g->offset + g->bytes;
    }
    if (g->ring == NBC_RING_SEND) {
      uint64_t entry = kind == NBC_QUEUE_MESSAGES ? sizeof(struct nbc_message_record) : 64;
      bool silent = kind == NBC_QUEUE_CTS || kind == NBC_QUEUE_MESSAGES;
      if (ahead || g->bytes != entry * g->entries || g->send_cqes > g->entries ||
          (silent && g->send_cqes))
        return damaged(why, "segment %u: %u bytes of %u entries, %u signalled", i, g->bytes,
                       g->entries, g->send_cqes);
    } else {
      uint32_t stride = g->entries ? g->bytes / g->entries : 0;
      // A direct queue's tell of places, one each.
      bool direct = kind == NBC_QUEUE_DIRECT;
      if (direct && stride != 16)
        return damaged(why, "segment %u: %u bytes of %u places", i, g->bytes, g->entries);
      bool fits = g->bytes == 0 || (g->entries && g->bytes % g->entries == 0 && stride >= 16 &&
                                    (stride & (stride - 1)) == 0 && kind != NBC_QUEUE_CTS);
      if (!fits || ahead != (kind == NBC_QUEUE_EAGER) || kind == NBC_QUEUE_MANAGEMENT ||
          kind == NBC_QUEUE_MESSAGES)
        return damaged(why, "segment %u: %u bytes of %u receives, queue of kind %u", i, g->bytes,
                       g->entries, kind);
    }
  }
  return 0;
}

const struct nbc_segment *segment_at(const struct tables *s, struct nbc_range range, uint32_t at,
                                     uint32_t width) {
  uint32_t low = range.begin, high = range.begin + range.count;
  while (low < high) {  // the first that ends behind `at`; empty ones are 0 bytes at the end of one
    uint32_t middle = low + (high - low) / 2;
    uint32_t m = middle;
    while (m < high && s->segments[m].bytes == 0) ++m;
    if (m < high && (uint64_t)s->segments[m].offset + s->segments[m].bytes <= at)
      low = m + 1;
    else
      high = middle;
  }
  while (low < range.begin + range.count && s->segments[low].bytes == 0) ++low;
  if (low == range.begin + range.count) return NULL;
  const struct nbc_segment *g = &s->segments[low];
  bool inside = at >= g->offset && (uint64_t)at + width <= (uint64_t)g->offset + g->bytes;
  return inside ? g : NULL;
}

const struct nbc_segment *records_of_variant(const struct tables *s, const struct nbc_variant *v) {
  for (uint32_t i = v->segments.begin; i < v->segments.begin + v->segments.count; ++i)
    if (s->queues[s->segments[i].queue].kind == NBC_QUEUE_MESSAGES) return &s->segments[i];
  return NULL;
}

// Whether a variant may touch a piece: slots are of eager ones, in place there is no
// buffer to read, and only in place is `out` of reduce_scatter longer than the result.
static bool allowed(const struct tables *s, const struct nbc_variant *v, uint32_t piece) {
  const struct nbc_piece *p = &s->pieces[piece];
  uint32_t role = s->buffers[p->buffer].role;
  if (role == NBC_ROLE_SLOTS) return v->protocol == NBC_EAGER;
  if (role >= CALLER_ROLES) return true;
  if (v->flags & NBC_VARIANT_IN_PLACE) return role != in_place_role(s->header);
  return p->first + p->count <= blocks_of(s, role, false) * p->parts;
}

enum list { BIND, CALL, AHEAD };

// A vector in slots, from the beginning of its block on.
static bool is_slots(const struct tables *s, uint32_t piece) {
  const struct nbc_piece *p = &s->pieces[piece];
  return s->buffers[p->buffer].role >= CALLER_ROLES && p->parts == 1 && p->count == 1 &&
         p->before.count == 0;
}

static int check_reloc(const struct tables *s, uint32_t index, enum list list,
                       const struct nbc_variant *v, struct nbc_range segments, const char **why) {
  // What each rule names, how many bytes it writes, and where it may stand.
  enum { QUEUE, PIECE, BUFFER };
  static const struct {
    uint8_t what, width, list;
  } rules[] = {
      [NBC_RELOC_SGE] = {PIECE, 16, CALL},       [NBC_RELOC_INDEX] = {QUEUE, 2, CALL},
      [NBC_RELOC_ENABLE] = {QUEUE, 4, CALL},     [NBC_RELOC_WAIT] = {QUEUE, 4, CALL},
      [NBC_RELOC_QPN] = {QUEUE, 4, BIND},        [NBC_RELOC_CQN] = {QUEUE, 4, BIND},
      [NBC_RELOC_ENABLE_QPN] = {QUEUE, 4, BIND}, [NBC_RELOC_RADDR] = {PIECE, 12, CALL},
      [NBC_RELOC_ROOM] = {BUFFER, 16, AHEAD},    [NBC_RELOC_CREDIT] = {QUEUE, 4, CALL},
      [NBC_RELOC_OPMOD] = {QUEUE, 1, CALL},      [NBC_RELOC_SLOT] = {PIECE, 16, CALL},
      [NBC_RELOC_PIECES] = {PIECE, 16, CALL},    [NBC_RELOC_TOLD] = {QUEUE, 12, CALL},
      [NBC_RELOC_WORD_WAIT] = {QUEUE, 32, CALL}, [NBC_RELOC_WORD_TOLD] = {QUEUE, 12, CALL},
      [NBC_RELOC_WORD_OWN] = {QUEUE, 12, CALL},  [NBC_RELOC_WORD_INTO] = {QUEUE, 16, CALL},
      [NBC_RELOC_WORD_VALUE] = {QUEUE, 8, CALL},
  };
  const struct nbc_reloc *r = &s->relocs[index];
  if (r->rule >= NBC_RELOC_RULES || rules[r->rule].list != list || r->side > NBC_SIDE_RECV)
    return damaged(why, "relocation %u: rule %u, side %u", index, r->rule, r->side);
  if (!segment_at(s, segments, r->at, rules[r->rule].width))
    return damaged(why, "relocation %u: %u bytes at %u lie in no segment of its variant", index,
                   rules[r->rule].width, r->at);
  uint32_t flags = v ? v->flags : 0;
  if (((r->rule == NBC_RELOC_OPMOD || r->rule == NBC_RELOC_SLOT) && !(flags & NBC_VARIANT_CALC)) ||
      (r->rule == NBC_RELOC_CREDIT && !(flags & NBC_VARIANT_CREDIT)))
    return damaged(why, "relocation %u: rule %u in a variant with flags %u", index, r->rule, flags);
  if (r->rule == NBC_RELOC_PIECES && !is_for(s, "sci") && !is_for(s, "shm") &&
      !is_for(s, "verbs") && !is_for(s, "coredirect"))
    return damaged(why, "relocation %u: a message of several places, on target %s", index,
                   s->header->target);
  if (r->rule == NBC_RELOC_OPMOD) return 0;
  switch (rules[r->rule].what) {
    case QUEUE:
      if (r->what >= s->header->queues.count ||
          (r->rule == NBC_RELOC_TOLD) > (s->queues[r->what].kind == NBC_QUEUE_DIRECT) ||
          (r->rule == NBC_RELOC_WORD_TOLD) > (s->queues[r->what].kind == NBC_QUEUE_CHAIN))
        break;
      return 0;
    case BUFFER:
      if (r->what >= s->header->buffers.count || s->buffers[r->what].role != NBC_ROLE_SLOTS ||
          (uint64_t)r->addend + r->extra > s->buffers[r->what].blocks)
        break;
      return 0;
    case PIECE: {
      bool lonely = s->header->lengths == NBC_LENGTHS_EACH;  // blocks are no neighbours
      bool one_run = r->rule == NBC_RELOC_SGE;
      uint64_t extra = one_run || r->rule == NBC_RELOC_PIECES ? r->extra : 0;
      if (r->what + extra >= s->header->pieces.count) break;
      if (lonely && one_run && extra && s->buffers[s->pieces[r->what].buffer].role < CALLER_ROLES)
        break;
      uint64_t last = r->what;
      while (last <= r->what + extra && allowed(s, v, (uint32_t)last)) ++last;
      if (last <= r->what + extra) break;
      if (r->rule == NBC_RELOC_SLOT &&
          (!is_slots(s, r->what) || r->addend >= v->scalars || r->extra >= v->scalars - r->addend))
        break;
      return 0;
    }
  }
  return damaged(why, "relocation %u: rule %u names %u, and %u more", index, r->rule, r->what,
                 r->extra);
}

static int check_relocs(const struct tables *s, struct nbc_range range, enum list list,
                        const struct nbc_variant *v, struct nbc_range segments, const char **why) {
  for (uint32_t i = range.begin; i < range.begin + range.count; ++i) {
    int status = check_reloc(s, i, list, v, segments, why);
    if (status) return status;
  }
  return 0;
}

static int check_variant_pieces(const struct tables *s, const struct nbc_variant *v, uint32_t host,
                                const char **why) {
  const struct nbc_host *h = &s->hosts[host];
  const bool calc = v->flags & NBC_VARIANT_CALC, reduces = h->op == NBC_HOST_REDUCE;
  const struct nbc_range ranges[] = {h->from, h->with, h->to};
  for (int k = 0; k < 3; ++k)
    for (uint32_t i = ranges[k].begin; i < ranges[k].begin + ranges[k].count; ++i) {
      if (!allowed(s, v, i))
        return damaged(why, "host operation %u: piece %u is not of this variant", host, i);
      const bool callers = s->buffers[s->pieces[i].buffer].role < CALLER_ROLES;
      if (calc && (reduces || !callers) && !is_slots(s, i))
        return damaged(why, "host operation %u: piece %u is no slot, where slots are meant", host,
                       i);
    }
  return 0;
}

static int check_variant(const struct tables *s, uint32_t index, const char **why) {
  const struct nbc_template *t = s->header;
  const struct nbc_variant *v = &s->variants[index];
  if (v->protocol >= NBC_PROTOCOLS || v->flags > 7 || !inside(v->stages, t->stages.count) ||
      !inside(v->segments, t->segments.count) || !inside(v->bind, t->relocs.count) ||
      !inside(v->relocs, t->relocs.count) || v->stages.count == 0)
    return damaged(why, "variant %u: a range beyond its table, or flags %u", index, v->flags);
  const bool calc = v->flags & NBC_VARIANT_CALC, two = (v->scalars & (v->scalars - 1)) == 0;
  if (calc != (v->scalars != 0) || v->scalars > NBC_MOST_SCALARS || !two)
    return damaged(why, "variant %u: flags %u, vectors of %u scalars", index, v->flags, v->scalars);
  if (t->lengths == NBC_LENGTHS_EACH) {
    bool all_know = t->kind == NBC_ALLGATHER || t->kind == NBC_REDUCE_SCATTER;
    bool in_place = v->flags & NBC_VARIANT_IN_PLACE;
    if (calc || (v->protocol == NBC_EAGER && !all_know) ||
        (in_place && t->kind == NBC_REDUCE_SCATTER))
      return damaged(why, "variant %u: protocol %u, flags %u, where blocks may differ", index,
                     v->protocol, v->flags);
  }
  if ((v->protocol == NBC_DIRECT) != is_direct(s) ||
      (v->protocol == NBC_DIRECT &&
       (t->lengths == NBC_LENGTHS_EACH || v->flags & ~(uint32_t)NBC_VARIANT_IN_PLACE)))
    return damaged(why, "variant %u: protocol %u, flags %u, of blocks of lengths %u", index,
                   v->protocol, v->flags, t->lengths);
  if (v->flags & NBC_VARIANT_CREDIT && (v->protocol != NBC_EAGER || index + 1 != t->variants.count))
    return damaged(why, "variant %u: credits, but not the last or not eager", index);
  int status = check_segments(s, v->segments, false, why);
  if (!status) status = check_relocs(s, v->bind, BIND, v, v->segments, why);
  if (!status) status = check_relocs(s, v->relocs, CALL, v, v->segments, why);
  if (status) return status;

  uint32_t managed = 0, enabled = 0, all = 0, carried = 0;  // what stages count
  for (uint32_t i = v->segments.begin; i < v->segments.begin + v->segments.count; ++i) {
    uint32_t kind = s->queues[s->segments[i].queue].kind;
    if (kind == NBC_QUEUE_MANAGEMENT) managed += s->segments[i].entries;
    if (kind == NBC_QUEUE_MESSAGES) all += s->segments[i].entries;
  }
  for (uint32_t i = v->stages.begin; i < v->stages.begin + v->stages.count; ++i) {
    const struct nbc_stage *stage = &s->stages[i];
    if (stage->enabled < enabled || stage->enabled > managed)
      return damaged(why, "stage %u: enables %u after %u, of %u", i, stage->enabled, enabled,
                     managed);
    if (stage->records < carried || stage->records > all)
      return damaged(why, "stage %u: %u records after %u, of %u", i, stage->records, carried, all);
    enabled = stage->enabled;
    carried = stage->records;
    for (uint32_t h = stage->hosts_begin; h < stage->hosts_begin + stage->hosts_count; ++h)
      if ((status = check_variant_pieces(s, v, h, why))) return status;
  }
  if (enabled != managed)
    return damaged(why, "variant %u: the last stage enables %u of %u", index, enabled, managed);
  if (carried != all)
    return damaged(why, "variant %u: the last stage has %u of %u records", index, carried, all);
  return 0;
}

int nbc_template_check(const void *data, size_t bytes, const char **why) {
  const char *unused;
  if (!why) why = &unused;
  *why = "";
  int status = check_header(data, bytes, why);
  if (!status) status = check_places((const struct nbc_template *)data, why);
  if (status) return status;

  struct tables s = tables_of(data);
  const struct nbc_template *t = s.header;
  if (!status) status = check_buffers(&s, why);
  if (!status) status = check_queues(&s, why);
  if (!status) status = check_pieces(&s, why);
  if (!status) status = check_hosts(&s, why);
  if (status) return status;
  if (!inside(t->ahead_segments, t->segments.count) || !inside(t->ahead_relocs, t->relocs.count))
    return damaged(why, "what is posted ahead lies beyond its table");
  status = check_segments(&s, t->ahead_segments, true, why);
  if (!status) status = check_relocs(&s, t->ahead_relocs, AHEAD, NULL, t->ahead_segments, why);
  for (uint32_t i = 0; i < t->variants.count && !status; ++i) status = check_variant(&s, i, why);
  if (status) return status;

  const struct target *target = find_target(t->target);
  if (!target) return damaged(why, "no target is called %s", t->target);
  return target->check(&s, why);
}
