// SPDX-License-Identifier: BSD-3-Clause
// coredirect_check.c - are the bytes of segments work queue entries that the runtime
// can put into rings and that complete as the template says?
//
// What an entry asks of the adapter (keys, addresses, lengths) is not looked at: the
// adapter checks every access.

#include "runtime/src/coredirect.h"

// A queue's row has three for each message at most, and a queue holds no more entries than this.
enum { MOST_WORDS = 3 << 15 };

// An entry for a word: nothing in it says how many bytes but this.
static bool is_word(const uint8_t *wqe) {
  const uint8_t *second = wqe + MLX5_SEGMENT;
  if ((wqe[MLX5_CTRL_DS] & 0x3f) != 3) return false;
  if (wqe[MLX5_CTRL_OPCODE] == MLX5_WAIT) return wqe[MLX5_CTRL_OPMOD] == MLX5_WAIT_DATA;
  const uint32_t count = mlx5_get32(second + MLX5_SEGMENT);
  return count == (wqe[MLX5_CTRL_OPCODE] == MLX5_READ ? 8 : MLX5_INLINE | 8);
}

static bool may_stand_by_words(uint32_t kind, const uint8_t *wqe) {
  switch (wqe[MLX5_CTRL_OPCODE]) {
    case MLX5_WAIT:
    case MLX5_READ:
      return is_word(wqe);
    case MLX5_WRITE:
      return kind != NBC_QUEUE_MANAGEMENT || is_word(wqe);
    case MLX5_SEND:
      return kind != NBC_QUEUE_MANAGEMENT;
    case MLX5_NOP:
      return true;
  }
  return false;
}

static bool may_stand(uint32_t kind, uint8_t opcode) {
  if (kind == NBC_QUEUE_MANAGEMENT)
    return opcode == MLX5_WAIT || opcode == MLX5_SEND_EN || opcode == MLX5_NOP;
  return opcode == MLX5_SEND || opcode == MLX5_SEND_IMM || opcode == MLX5_WRITE ||
         opcode == MLX5_WRITE_IMM || opcode == MLX5_NOP;
}

// Whether some stage ends with entry `end` of the management queue.
static bool ends_stage(const struct tables *s, const struct nbc_variant *v, uint32_t end) {
  if (v->flags & NBC_VARIANT_CREDIT) return false;
  uint32_t low = 0, high = v->stages.count;  // they ascend
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->stages[v->stages.begin + middle].enabled < end)
      low = middle + 1;
    else
      high = middle;
  }
  return low < v->stages.count && s->stages[v->stages.begin + low].enabled == end;
}

static int check_send(const struct tables *s, const struct nbc_variant *v, uint32_t index,
                      const char **why) {
  const struct nbc_segment *g = &s->segments[index];
  uint32_t kind = s->queues[g->queue].kind;
  uint32_t signalled = 0;
  for (uint32_t entry = 0, blocks; entry < g->entries; entry += blocks) {
    const uint8_t *wqe = s->code + g->offset + (size_t)entry * MLX5_WQEBB;
    uint32_t segments = wqe[MLX5_CTRL_DS] & 0x3f;
    uint8_t opcode = wqe[MLX5_CTRL_OPCODE];
    bool marked = (wqe[MLX5_CTRL_FLAGS] & MLX5_CE_MASK) == MLX5_CE_ALWAYS;
    blocks = (segments + 3) / 4;
    bool writes = opcode == MLX5_WRITE || opcode == MLX5_WRITE_IMM;
    bool stands =
        blocks <= g->entries - entry &&
        (is_chained_by_words(s) ? may_stand_by_words(kind, wqe) : may_stand(kind, opcode));
    if (segments < (writes ? 2u : 1u) || !stands)
      return damaged(why, "segment %u, entry %u: opcode %#x of %u segments", index, entry, opcode,
                     segments);
    if (kind == NBC_QUEUE_MANAGEMENT && (blocks != 1 || marked != ends_stage(s, v, entry + 1)))
      return damaged(why, "segment %u, entry %u: signalled where no stage ends, or the reverse",
                     index, entry);
    signalled += marked;
  }
  if (signalled != g->send_cqes)
    return damaged(why, "segment %u: %u entries are signalled, not %u", index, signalled,
                   g->send_cqes);
  return 0;
}

static int check_managed(const struct tables *s, const char **why) {
  const bool direct = is_direct(s), words = is_chained_by_words(s);
  bool managed = false;
  uint32_t queues = 0;
  for (uint32_t i = 0; i < s->header->queues.count; ++i) {
    const uint32_t kind = s->queues[i].kind;
    const bool records = kind == NBC_QUEUE_MESSAGES;
    if (words ? kind > NBC_QUEUE_LOOPBACK && kind != NBC_QUEUE_CHAIN
              : !records && (kind > NBC_QUEUE_DIRECT ||
                             (kind >= NBC_QUEUE_EAGER && (kind == NBC_QUEUE_DIRECT) != direct)))
      return damaged(why, "queue %u: kind %u, which is no work queue of its variants", i, kind);
    const uint32_t peer = s->queues[i].peer;
    if (peer != UINT32_MAX && s->peers[peer] & NBC_PEER_NEAR)
      return damaged(why, "queue %u: of peer %u, which is on the same node", i, peer);
    managed |= kind == NBC_QUEUE_MANAGEMENT;
    queues += !records;
  }
  return managed || !queues ? 0 : damaged(why, "no management queue among %u queues", queues);
}

// Who is not on the node has queue pairs.
static int check_near(const struct tables *s, uint32_t segment, const char **why) {
  const struct nbc_segment *g = &s->segments[segment];
  const struct nbc_message_record *all = (const struct nbc_message_record *)(s->code + g->offset);
  for (uint32_t i = 0; i < g->entries; ++i)
    if (all[i].op != NBC_MESSAGE_WAIT && !(s->peers[all[i].peer] & NBC_PEER_NEAR))
      return damaged(why, "segment %u, record %u: peer %u is on another node", segment, i,
                     all[i].peer);
  return 0;
}

// Whether an entry of a send queue begins with the segment at this byte of the code. The queue's
// entries are known to be whole.
static bool begins_entry(const struct tables *s, struct nbc_range segments, uint32_t at) {
  const struct nbc_segment *g = segment_at(s, segments, at, MLX5_SEGMENT);
  if (!g || g->ring != NBC_RING_SEND || (at - g->offset) % MLX5_WQEBB) return false;
  uint32_t entry = g->offset;
  while (entry < at) entry += ((s->code[entry + MLX5_CTRL_DS] & 0x3f) + 3) / 4 * MLX5_WQEBB;
  return entry == at;
}

// What is no field of a control segment: it would overwrite there how long the entry is.
static bool is_behind_control(uint32_t rule) {
  return rule != NBC_RELOC_INDEX && rule != NBC_RELOC_QPN && rule != NBC_RELOC_OPMOD;
}

// The second segment of a WRITE to a peer, which all of its data segments follow.
static bool says_where_to(const struct tables *s, struct nbc_range segments, uint32_t at) {
  return at >= MLX5_SEGMENT && begins_entry(s, segments, at - MLX5_SEGMENT) &&
         s->code[at - MLX5_SEGMENT + MLX5_CTRL_OPCODE] == MLX5_WRITE_IMM;
}

// A fixed field of an entry: at this offset in its 16 bytes, or anything.
static int check_fields(const struct tables *s, struct nbc_range segments, struct nbc_range relocs,
                        const struct nbc_segment *records, const char **why) {
  static const uint8_t field[] = {
      [NBC_RELOC_SGE] = 0,         [NBC_RELOC_INDEX] = MLX5_CTRL_INDEX,
      [NBC_RELOC_ENABLE] = 8,      [NBC_RELOC_WAIT] = 8,
      [NBC_RELOC_QPN] = 4,         [NBC_RELOC_CQN] = 12,
      [NBC_RELOC_ENABLE_QPN] = 12, [NBC_RELOC_RADDR] = 0,
      [NBC_RELOC_ROOM] = 0,        [NBC_RELOC_CREDIT] = 8,
      [NBC_RELOC_OPMOD] = 0,       [NBC_RELOC_SLOT] = 0,
      [NBC_RELOC_TOLD] = 0,        [NBC_RELOC_WORD_WAIT] = 0,
      [NBC_RELOC_WORD_TOLD] = 0,   [NBC_RELOC_WORD_OWN] = 0,
      [NBC_RELOC_WORD_INTO] = 0,   [NBC_RELOC_WORD_VALUE] = 4,
  };
  const bool words = is_chained_by_words(s);
  for (uint32_t i = relocs.begin; i < relocs.begin + relocs.count; ++i) {
    uint32_t rule = s->relocs[i].rule, at = s->relocs[i].at;
    if (is_in(records, &s->relocs[i])) continue;  // messages_check.c looks at these
    if ((rule >= NBC_RELOC_WORD_WAIT && (!words || s->relocs[i].addend >= MOST_WORDS)) ||
        (words && (rule == NBC_RELOC_ENABLE || rule == NBC_RELOC_WAIT || rule == NBC_RELOC_CREDIT)))
      return damaged(why, "relocation %u: rule %u of word %u, where queues are chained otherwise",
                     i, rule, s->relocs[i].addend);
    if (rule == NBC_RELOC_PIECES || at % MLX5_SEGMENT != field[rule] ||
        (is_behind_control(rule) && begins_entry(s, segments, at - field[rule])) ||
        (rule == NBC_RELOC_WORD_WAIT && begins_entry(s, segments, at + MLX5_SEGMENT)) ||
        (rule == NBC_RELOC_TOLD && !says_where_to(s, segments, at)))
      return damaged(why, "relocation %u: rule %u at %u, which is no such field", i, rule, at);
  }
  return 0;
}

// Receives without bytes take none of the template: a number alone could say any. No ring holds
// more than indices tell apart.
static int check_lengths(const struct tables *s, const char **why) {
  enum { MOST = 1 << 15 };
  for (uint32_t i = 0; i < s->header->segments.count; ++i)
    if (s->segments[i].entries > MOST)
      return damaged(why, "segment %u: %u entries, of %d that a queue may have", i,
                     s->segments[i].entries, MOST);
  return 0;
}

// What words can do and counts cannot, and the reverse.
static int check_variants(const struct tables *s, const char **why) {
  if (!is_chained_by_words(s)) return 0;
  for (uint32_t i = 0; i < s->header->variants.count; ++i)
    if (s->variants[i].protocol != NBC_RENDEZVOUS ||
        s->variants[i].flags & ~(uint32_t)NBC_VARIANT_IN_PLACE)
      return damaged(why, "variant %u: protocol %u, flags %u, where queues are chained by words", i,
                     s->variants[i].protocol, s->variants[i].flags);
  return 0;
}

int coredirect_check(const struct tables *s, const char **why) {
  int status = check_managed(s, why);
  if (!status) status = check_variants(s, why);
  if (!status) status = check_lengths(s, why);
  if (!status)
    status = check_fields(s, s->header->ahead_segments, s->header->ahead_relocs, NULL, why);
  for (uint32_t i = 0; i < s->header->variants.count && !status; ++i) {
    const struct nbc_variant *v = &s->variants[i];
    for (uint32_t g = v->segments.begin; g < v->segments.begin + v->segments.count && !status; ++g)
      if (s->queues[s->segments[g].queue].kind == NBC_QUEUE_MESSAGES) {
        status = messages_check_segment(s, v, g, why);
        if (!status) status = check_near(s, g, why);
      } else if (s->segments[g].ring == NBC_RING_SEND) {
        status = check_send(s, v, g, why);
      }
    const struct nbc_segment *records = records_of_variant(s, v);
    if (!status) status = check_fields(s, v->segments, v->bind, NULL, why);
    if (!status) status = check_fields(s, v->segments, v->relocs, records, why);
  }
  return status;
}
