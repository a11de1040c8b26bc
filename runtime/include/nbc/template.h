/* SPDX-License-Identifier: BSD-3-Clause
 * template.h - what the compiler hands to the runtime: a schedule in the bytes
 * of a target, all but what is known only at the call.
 *
 * A template is one block of memory without pointers: a header, then tables of
 * the structs below at the offsets that the header names, in the byte order and
 * alignment of the machine that made it. It is for one rank of one collective on
 * P ranks. nbc_template_check() refuses what is damaged; after it every index
 * and offset below is inside its table, so the runtime looks at none twice.
 *
 * How the five targets use it
 *   coredirect  queues are mlx5 work queues, segments their work queue entries; what stays within
 *               the node, records beside them
 *   mpi         one queue, a segment of send, receive and wait records (message_record.h)
 *   shm, sci    the same, where a message may lie in several places
 *   verbs       likewise, if it is sent
 * What is common (buffers, peers, host operations, stages, relocations by
 * address, length and key) is read by common code; what the bytes of a segment
 * mean, only by runtime/src/<target>.c.
 *
 * Where a relocation will write, the bytes hold what a first call on fresh queues
 * would need (indices from 0) and, for numbers of queues and CQs, the queue's
 * index in its table: so that bytes can be read without a plan.
 *
 * No function here allocates, blocks or prints; all are thread safe.
 */
#ifndef NBC_TEMPLATE_H
#define NBC_TEMPLATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NBC_TEMPLATE_MAGIC 0x3163626eu /* "nbc1" */
#define NBC_TEMPLATE_VERSION 4u

/* Tables follow in this order; each entry is {offset in bytes, entries}. */
struct nbc_table {
  uint32_t offset, count;
};

/* Entries [begin, begin + count) of a table. */
struct nbc_range {
  uint32_t begin, count;
};

struct nbc_template {
  uint32_t magic, version;
  uint64_t bytes;    /* of the whole template */
  uint64_t checksum; /* nbc_template_checksum() */
  char target[16];   /* "coredirect", zero-filled */
  char algorithm[64];
  char device[16]; /* "connectx5": the facts it was made for */
  uint32_t kind;   /* enum nbc_kind */
  uint32_t ranks, rank, root;
  uint32_t lengths;          /* enum nbc_lengths */
  uint32_t chaining;         /* coredirect: enum nbc_chaining; else 0 */
  struct nbc_table buffers;  /* struct nbc_buffer */
  struct nbc_table peers;    /* uint32_t rank of the peer; shm: with NBC_PEER_REMOTE or without;
                                coredirect: with NBC_PEER_NEAR or without */
  struct nbc_table queues;   /* struct nbc_queue */
  struct nbc_table variants; /* struct nbc_variant */
  struct nbc_table pieces;   /* struct nbc_piece */
  struct nbc_table hosts;    /* struct nbc_host */
  struct nbc_table stages;   /* struct nbc_stage */
  struct nbc_table segments; /* struct nbc_segment */
  struct nbc_table relocs;   /* struct nbc_reloc */
  struct nbc_table code;     /* bytes: what segments point into */
  /* Receives posted ahead of the call, the same for all eager variants: RECV
   * segments of EAGER queues (entries may be 0), and their relocations. */
  struct nbc_range ahead_segments, ahead_relocs;
};

/* Target shm: this peer is on another node, as the topology said that the template was made
 * for. Messages to it and from it are one run of memory each. */
#define NBC_PEER_REMOTE 0x80000000u

/* Target coredirect: this peer is on the same node. What goes to it and comes from it are records
 * of the queue MESSAGES, and it has no queue pairs. Such peers are the first of the table. */
#define NBC_PEER_NEAR 0x40000000u

enum nbc_kind { /* in the order of dsl/collectives.def */
                NBC_ALLGATHER,
                NBC_ALLTOALL,
                NBC_ALLREDUCE,
                NBC_REDUCE,
                NBC_BCAST,
                NBC_GATHER,
                NBC_SCATTER,
                NBC_BARRIER,
                NBC_REDUCE_SCATTER,
                NBC_REDUCE_SCATTER_BLOCK,
                NBC_SCAN,
                NBC_EXSCAN,
                NBC_NEIGHBOR_ALLGATHER, /* of these two the buffers' entries say how */
                NBC_NEIGHBOR_ALLTOALL,  /* many neighbours there are: `blocks` of OUT, IN */
                NBC_OWN, /* declared by a user: its buffers say how many blocks they have */
                NBC_KINDS
};

/* How long the blocks of the caller's buffers are: all alike and one behind the other, or
 * each as the call says, wherever it says. With EACH a piece lies inside one block of its
 * shape, and no data segment names more than one piece of a caller's buffer. Only those
 * kinds have it whose blocks MPI lets differ (allgather, alltoall, gather, scatter,
 * reduce_scatter, neighbor_allgather, neighbor_alltoall); eager is only where all ranks know all
 * lengths, for they must choose the same protocol: of allgather and reduce_scatter. reduce_scatter
 * has no variant in place then: what MPI gives is not a row of P blocks whose first could hold the
 * result. */
enum nbc_lengths { NBC_LENGTHS_EQUAL, NBC_LENGTHS_EACH, NBC_LENGTHS };

/* How one entry of an adapter's queues comes after another.
 *   COUNTS  by WAIT on a CQ and SEND_EN, which stand in the management queue; all other queues are
 *           managed
 *   WORDS   by WAIT on data, in any queue, for words of memory. There are MANAGEMENT, LOOPBACK and
 *           CHAIN queues, all ordinary, and rendezvous variants only.
 *
 * Words have 8 bytes. A rank has a row of them for each of its queues, `depth` times: the n-th call
 * of a plan, from 1, uses the rows (n - 1) mod depth, and a word says that it has happened in call
 * n by being n. In the row of a CHAIN queue are first those that its peer writes. Who writes is
 * told where the row is. */
enum nbc_chaining { NBC_CHAINED_BY_COUNTS, NBC_CHAINED_BY_WORDS, NBC_CHAININGS };

/* Where a piece of memory lies.
 *   IN, OUT, DATA  the pointers given to nbc_start; a row of blocks, each as
 *                  long as the call says
 *   STAGING        memory of the instance, registered: owned by the plan
 *   SLOTS          registered memory that receives are posted into ahead of the
 *                  call; set e mod S serves the e-th call of the eager protocol
 * STAGING and SLOTS buffers of a variant lie one behind the other, in the order
 * of the table. Each of their blocks is given `stride` bytes, fixed when the
 * plan is made, one value for all eager variants and one for all rendezvous
 * ones: the largest block they will carry, rounded up to 16, and not 0. The
 * memory of two variants may overlap: slots of all eager variants are the same
 * memory. In a CALC variant the elements of a vector take 16 bytes each, from the beginning of its
 * block on. */
enum nbc_role { NBC_ROLE_IN, NBC_ROLE_OUT, NBC_ROLE_DATA, NBC_ROLE_STAGING, NBC_ROLE_SLOTS };

struct nbc_buffer {
  uint32_t role;
  uint32_t significant; /* 0: the caller's pointer is not looked at on this rank */
  uint64_t blocks;      /* STAGING, SLOTS: blocks of room; IN, OUT, DATA: of the caller */
  uint64_t first;       /* STAGING, SLOTS: blocks of room of its role before it */
  char name[24];
};

/* A piece of memory: how long, and where.
 *
 * How long: from position first/parts up to (first + count)/parts of `shape`, a
 * caller's buffer, in blocks. Position x of blocks of N elements is element
 * floor(N * x); so length = element size * (floor(N * (first + count) / parts) -
 * floor(N * first / parts)). N * first may need 128 bits. NBC_LENGTHS_EACH: the same within
 * block first / parts, of its own N and element size; of a buffer that is absent on this rank,
 * where N is not known, nothing: no step may name it.
 *
 * Where: `buffer` == `shape`: at that position, base + element size *
 * floor(N * first / parts). Else in STAGING or SLOTS: at block `room`, behind
 * the pieces in `before` (only their lengths count). A message of a length
 * known only at the call lies packed in its room; that is why. What is packed
 * into a room must fit for every N: ceil(count / parts) blocks for each run of
 * pieces that do not continue one another is always enough. */
struct nbc_piece {
  uint32_t shape, parts;
  uint64_t first, count;
  uint32_t buffer, pad;
  uint64_t room;
  struct nbc_range before;
};

/* A copy or reduction by the host. reduce: to = from op with, in this order. In a
 * CALC variant values lie in rooms as the adapter's 16-byte slots: a copy from
 * the caller's memory to a room makes one, from a room to the caller's reads it; a reduction there
 * is of rooms. */
enum nbc_host_op { NBC_HOST_COPY, NBC_HOST_REDUCE };

struct nbc_host {
  uint32_t op;
  struct nbc_range from, with, to; /* pieces; the lengths of the sections agree in total */
};

/* A stage, one thing behind the other: the host does `hosts`; records of the queue MESSAGES up to
 * `records` are carried out; the doorbell is rung for the management queue up to entry `enabled`.
 * Both are cumulative and count from the variant's first, records and WQEBBs. The stage is over
 * when its last record was carried out and its last entry has completed, which is signalled, and no
 * other entry of the management queue is; one that adds nothing to either is over at once. The call
 * is complete after the last stage, which has all of both, when all messages are done. The first
 * stage's hosts run in nbc_start (where there is no management queue, if they have little to do),
 * the others in nbc_test. */
struct nbc_stage {
  uint32_t hosts_begin, hosts_count;
  uint32_t enabled, records;
};

/* What a queue is for; its meaning to the target. */
enum nbc_queue_kind {
  NBC_QUEUE_MANAGEMENT, /* MQ: WAIT and SEND_EN; started by the doorbell */
  NBC_QUEUE_LOOPBACK,   /* to oneself: copies and calc; managed */
  NBC_QUEUE_EAGER,      /* per peer: into posted slots; managed */
  NBC_QUEUE_CTS,        /* per peer: clear-to-send and credits, no bytes; managed */
  NBC_QUEUE_DATA,       /* per peer: rendezvous data; managed */
  NBC_QUEUE_MESSAGES,   /* to and from all peers, of coredirect the near ones: records
                           (message_record.h) */
  NBC_QUEUE_DIRECT,     /* per peer, both ways: tokens, and data to their final place; managed */
  NBC_QUEUE_CHAIN,      /* per peer, both ways: WAITs, rendezvous data, words */
  NBC_QUEUE_KINDS
};

/* Whom a queue pair serves: data both ways, or only what goes to the peer, or only
 * what comes from it (what goes back, credits and clear-to-send, belongs to it). A
 * pair TO a peer is connected to the pair FROM this rank there. */
enum nbc_direction { NBC_BOTH_WAYS, NBC_TO_PEER, NBC_FROM_PEER, NBC_DIRECTIONS };

struct nbc_queue {
  uint32_t kind;
  uint32_t peer;      /* index into peers; UINT32_MAX: none */
  uint32_t direction; /* enum nbc_direction */
  uint32_t port;      /* virtual, of what goes to the peer: dealt over those that the adapter has */
};

/* DIRECT: for one call only, whose buffers the peers were told when the plan was made
 * (nbc_plan_options.call). If there is a variant of it all are, and peers have DIRECT queues. */
enum nbc_protocol { NBC_EAGER, NBC_RENDEZVOUS, NBC_DIRECT, NBC_PROTOCOLS };

enum { NBC_MOST_SCALARS = 8 };

enum nbc_variant_flags {
  NBC_VARIANT_IN_PLACE = 1, /* for MPI_IN_PLACE: `in` is not read */
  NBC_VARIANT_CALC =
      2,                 /* reduces on the adapter: some 64-bit elements. To be taken only if every
                            rank's template has one of as many: a template knows its own rank alone (in
                            Rabenseifner's allreduce some ranks see whole vectors, others parts) */
  NBC_VARIANT_CREDIT = 4 /* not a call: goes before an eager one that opens a credit window.
                            One stage, nothing in it signalled; there is one CREDIT variant
                            wherever there is an eager one with a peer, and it is the last */
};

/* CREDIT holds a SEND segment on the CTS queue of each peer that is told, and a RECV
 * segment, `entries` 1, on that of each peer that is waited for: the credit that comes
 * from there in this window; NBC_RELOC_CREDIT names that of the window before.
 *
 * Receives of EAGER queues stand in ahead_segments only. Those of CTS queues have no
 * bytes; they are counted, and posted ahead. Those of DATA and LOOPBACK are posted in
 * nbc_start. Sends on CTS queues are never signalled.
 *
 * Of queues chained by words receives of CHAIN and LOOPBACK are posted in nbc_start, and the
 * doorbells of both are rung there; nothing but the ends of stages is signalled.
 *
 * Of a DIRECT queue a RECV segment's entries are 16 bytes, a data segment each. What is posted,
 * ahead of the calls, has no bytes: the data segments say where messages are to be written, in
 * their order, which the peer is told. The first has none where the peer's token comes first; its
 * SEND segment has a token in front where it receives. */

/* One way to carry out the call. nbc_start takes the first that fits. */
struct nbc_variant {
  uint32_t protocol, flags;
  struct nbc_range stages, segments;
  struct nbc_range bind; /* relocs filled once, when the plan is connected: QPN, CQN, ENABLE_QPN */
  struct nbc_range relocs; /* relocs filled at each call */
  uint32_t calc;           /* NBC_VARIANT_CALC: bit (1 << enum mlx5_calc) for each it serves */
  uint32_t rounds, sends;  /* of this rank, for reports */
  uint32_t scalars;        /* NBC_VARIANT_CALC: 1, 2, 4 or 8 (NBC_MOST_SCALARS): vectors of so many
                              elements at most; all of them are sent and reduced. Else 0 */
};

/* Bytes for one ring. At most one segment a queue and ring in a variant; those of
 * a variant ascend in `offset`, do not overlap, and begin on a multiple of 16.
 * Relocations of a variant point into its own segments, those of ahead_relocs
 * (ROOM only) into ahead_segments.
 * SEND: bytes = 64 * entries, of the queue MESSAGES 32 * entries. Every entry of the
 * management queue is one WQEBB.
 * RECV: a receive takes bytes / entries, a power of two and at least 16, the same
 * in all segments of that queue that have bytes; unused data segments of it are
 * ended by one with MLX5_INVALID_LKEY. Receives without bytes (CTS) are all
 * alike: the runtime may post them ahead of the call, and should, since the
 * peer may be ahead. */
enum nbc_ring { NBC_RING_SEND, NBC_RING_RECV };

struct nbc_segment {
  uint32_t queue;
  uint32_t ring;
  uint32_t offset, bytes; /* in code; bytes 0: `entries` receives of no bytes */
  uint32_t entries;       /* SEND: WQEBBs or records. RECV: receives */
  uint32_t send_cqes;     /* SEND: completions this call adds to the queue's send CQ */
};

/* A place and the rule that fills it. `at` counts from the beginning of code. Bytes are those
 * that an adapter reads; what SGE writes into a record message_record.h says. */
enum nbc_reloc_rule {
  NBC_RELOC_SGE,    /* what: a piece. be32 length, be32 lkey, be64 address: 16 bytes. The length is
                       that of the piece and of the `extra` pieces after it in the table, which
                       lie directly behind it in memory */
  NBC_RELOC_INDEX,  /* be, width 2: producer index of the queue + addend (WQEBBs, mod 2^16) */
  NBC_RELOC_ENABLE, /* be32: producer index of the queue + addend, mod 2^16 */
  NBC_RELOC_WAIT,   /* be32: completions of the CQ before this call + addend, mod 2^24 */
  NBC_RELOC_QPN,    /* be32 at bits 31:8: number of the queue pair, low byte kept */
  NBC_RELOC_CQN,    /* be32: number of the CQ */
  NBC_RELOC_ENABLE_QPN, /* be32: number of the queue pair */
  NBC_RELOC_RADDR,      /* what: a piece of own memory. be64 address, be32 rkey: 12 bytes */
  NBC_RELOC_ROOM,   /* what: a SLOTS buffer; be32 length, be32 lkey, be64 address of `extra` whole
                       blocks of room from block `addend` on: 16 bytes */
  NBC_RELOC_CREDIT, /* be32: index of the latest credit expected on the CQ, mod 2^24 */
  NBC_RELOC_OPMOD,  /* calc: 1 byte, the enum mlx5_calc of the call's op and type */
  NBC_RELOC_SLOT,   /* calc: what: a piece, a vector in slots. be32 length, be32 lkey, be64 address:
                       16   bytes, of its slot `addend` and `extra` more, 16 bytes each; in a record
                       address and length, of the slots of the call's elements */
  NBC_RELOC_PIECES, /* shm, sci, what verbs sends: what: a piece. 16 bytes, as message_record.h
                      says, of it and of the `extra` pieces after it in the table, wherever each
                      lies */
  NBC_RELOC_TOLD, /* what: a DIRECT queue. be64 address, be32 rkey: 12 bytes, of the place that the
                     peer has told for its receive `addend`, tokens not counted */
  /* Chained by words; `addend` is a word of the row of the queue `what`. */
  NBC_RELOC_WORD_WAIT,  /* what a WAIT on data waits for, 32 bytes; lkey, address and value are
                           written */
  NBC_RELOC_WORD_TOLD,  /* of a CHAIN queue, in the peer's row: be64 address, be32 rkey: 12 bytes */
  NBC_RELOC_WORD_OWN,   /* in this rank's: likewise */
  NBC_RELOC_WORD_INTO,  /* be32 8, be32 lkey, be64 address: 16 bytes */
  NBC_RELOC_WORD_VALUE, /* be64: the number of the call; no word */
  NBC_RELOC_RULES
};

/* A CQ is named by its queue and side: one CQ per peer and purpose. */
enum nbc_side { NBC_SIDE_SEND, NBC_SIDE_RECV };

struct nbc_reloc {
  uint32_t at;
  uint8_t rule, side;
  uint16_t pad;
  uint32_t what;   /* if not said above: a queue */
  uint32_t addend; /* INDEX, ENABLE, WAIT, ROOM, TOLD, WORD_ */
  uint32_t extra;  /* SGE, ROOM, PIECES */
};

/* FNV-1a, 64 bit, over the template in words of 8 bytes (its length is a multiple
 * of 8), the field `checksum` taken as 0. */
static inline uint64_t nbc_template_checksum(const void *data, size_t bytes) {
  const unsigned char *p = (const unsigned char *)data;
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t word = 0;
    if (i != offsetof(struct nbc_template, checksum)) __builtin_memcpy(&word, p + i, 8);
    hash = (hash ^ word) * 0x100000001b3u;
  }
  return hash;
}

/* 0 if `bytes` bytes at `data` (aligned to 8) are a template that fits this
 * runtime and is whole; else a negative nbc_status, and *why says what is wrong
 * ("checksum 0x.. where 0x.. was stored"), in static or thread-local memory. */
int nbc_template_check(const void *data, size_t bytes, const char **why);

#ifdef __cplusplus
}
#endif
#endif
