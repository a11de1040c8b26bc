// SPDX-License-Identifier: BSD-3-Clause
// move.c - messages through the cells of a lane.
//
//   send   a cell is free: what is short is copied, of what is long it is said where it lies
//   move   what fits into a slot is copied there; what is there is taken; long messages that cannot
//          be read go through the window
//
// To copy a few KiB takes longer than a start may, and to read them from another process as long
// again, of long messages longer still. So who sends says where they lie, and copies them when it
// next comes by, into the slot, or when it waits, part by part through the window; the receiver
// gives it a moment, and then reads. With the slot both may happen: what the sender gives back, it
// has found that nobody is reading (or taken, which says that it has been read). Which of them has
// a long message the cell's kind says, and it changes once.
//
// The messages of a lane are received in the order in which they are sent. A long one keeps its
// cell until its bytes are where they belong, so `taken` is the acknowledgement; those behind it
// may have their cells already, since what goes through the window needs no further ones. Of the
// window there is one a lane: it belongs to the oldest message that was posted and not taken.

#define _GNU_SOURCE  // MADV_POPULATE_WRITE
#include <string.h>
#include <time.h>

#include "runtime/common/pages.h"
#include "runtime/shm/shm.h"

enum {
  SOON = NBC_SHM_SHORT,   // bytes that are copied at once
  LEAST_PATIENCE = 1000,  // ns
  COPIED_IN_NS = 4,       // bytes, at least, while it waits
  READ_IN_NS = 16         // likewise: it waits as long as it would read, at most
};

#ifdef NBC_SHM_TOLD
char lanes_order;
#endif

static void append(struct queue *q, struct nbc_shm_message *m) {
  m->next = NULL;
  if (q->first)
    q->last->next = m;
  else
    q->first = m;
  q->last = m;
}

static void finish_first(struct nbc_shm_lanes *lanes, struct queue *q) {
  struct nbc_shm_message *m = q->first;
  q->first = m->next;
  m->open = 0;
  lanes->idle = 0;
}

// --- bytes ---

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

// Calls memcpy for each run that [offset, offset + bytes) of the message touches.
static void copy_runs(const struct nbc_shm_message *m, uint64_t offset, unsigned char *flat,
                      uint64_t bytes, bool scatter) {
  for (const struct iovec *run = m->runs; bytes; ++run) {
    if (offset >= run->iov_len) {
      offset -= run->iov_len;
      continue;
    }
    uint64_t n = least(run->iov_len - offset, bytes);
    unsigned char *at = (unsigned char *)run->iov_base + offset;
    if (m->layout && scatter)
      m->layout->scatter(m->layout, (uint64_t)(at - NBC_SHM_LAID_OUT), flat, n);
    else if (m->layout)
      m->layout->gather(m->layout, (uint64_t)(at - NBC_SHM_LAID_OUT), flat, n);
    else if (scatter)
      memcpy(at, flat, n);
    else
      memcpy(flat, at, n);
    flat += n, bytes -= n, offset = 0;
  }
}

static inline bool is_memory(const struct nbc_shm_message *m) {
  return m->run_count == 1 && !m->layout;
}

void gather_runs(const struct nbc_shm_message *m, uint64_t offset, void *to, uint64_t bytes) {
  if (is_memory(m) && bytes)
    memcpy(to, (const unsigned char *)m->runs->iov_base + offset, bytes);
  else
    copy_runs(m, offset, (unsigned char *)to, bytes, false);
}

void scatter_runs(const struct nbc_shm_message *m, uint64_t offset, const void *from,
                  uint64_t bytes) {
  if (is_memory(m) && bytes)
    memcpy((unsigned char *)m->runs->iov_base + offset, from, bytes);
  else
    copy_runs(m, offset, (unsigned char *)from, bytes, true);
}

// As many as fit behind one another in the window from position `at` on, and no more than a
// quarter of it, so that both ends work at once.
static uint64_t part_of(uint32_t window, uint64_t at, uint64_t bytes) {
  uint64_t to_end = window - (at & (window - 1));
  return least(least(bytes, window / 4), to_end);
}

// --- sending ---

// How many messages the peer has taken.
static int look(struct lane *l) {
  uint32_t taken = atomic_load_explicit(&l->out.note->taken, memory_order_acquire);
  told_acquire();
  if (taken - l->seen > l->sent - l->seen) return NBC_ERROR_DEVICE;
  if (l->seen != taken) l->free = l->ends[(taken - 1) & (l->out.sizes.cells - 1)];
  l->seen = taken;
  l->never = atomic_load_explicit(&l->out.note->never, memory_order_relaxed);
  lane_heed(l);
  return 0;
}

// Where a long message lies, into its cell and slot. False: it has too many runs, or a layout.
static bool say_where(const struct lane *l, struct cell *cell, unsigned char *slot,
                      const struct nbc_shm_message *m) {
  size_t list = m->run_count * sizeof *m->runs;
  if (m->layout) return false;
  if (m->run_count == 1)
    cell->from = m->runs[0];
  else if (m->run_count <= MOST_RUNS && list <= l->out.sizes.slot)
    memcpy(slot, m->runs, list);
  else
    return false;
  cell->runs = (uint16_t)m->run_count;
  return true;
}

// Whether a message that fits into a slot is copied there later. Where memory cannot be read, the
// receiver would have to wait for that.
static bool may_wait(const struct lane *l, const struct nbc_shm_message *m) {
  return m->bytes > SOON && is_memory(m) && !l->never;
}

// --- the ring: positions in it are counted on from round to round ---

// Bytes of a message's slot: itself, or the list of its runs.
static uint32_t slot_bytes(const struct sizes *z, uint64_t bytes) {
  if (bytes <= INLINE) return 0;
  const uint32_t list = MOST_RUNS * sizeof(struct iovec);
  if (bytes > z->slot) return z->slot < list ? z->slot : list;
  return ((uint32_t)bytes + LINE - 1) / LINE * LINE;
}

// Where one begins, if the one before ends at `end`: it is in one piece.
static uint32_t slot_begin(const struct sizes *z, uint32_t end, uint32_t bytes) {
  const uint32_t rest = z->ring - (end & (z->ring - 1));
  return bytes <= rest ? end : end + rest;
}

static unsigned char *slot_at(const struct inbox *in, uint32_t place) {
  return in->ring + (place & (in->sizes.ring - 1));
}

// To be written to soon: the line comes while this message is on its way. A store would wait for
// it, and so would all stores behind that.
static void own(const void *line) {
#if defined __x86_64__
  __asm__ volatile("prefetchw %0"
                   :
                   : "m"(*(const char *)line));  // nothing, to processors without it
#else
  __builtin_prefetch(line, 1);
#endif
}

// Where the next message goes, if it is as long as this one.
static void own_next(const struct lane *l, uint32_t slot) {
  enum { ENOUGH = 8 };  // lines: behind those the processor sees where it goes on
  own(cell_of(&l->out, l->sent));
  const uint32_t place = slot_begin(&l->out.sizes, l->end, slot);
  for (uint32_t i = 0; i < slot && i < ENOUGH * LINE; i += LINE) own(slot_at(&l->out, place) + i);
}

// Whether the next message finds a free cell, and room for its slot.
static bool has_room(const struct lane *l, const struct nbc_shm_message *m) {
  const struct sizes *z = &l->out.sizes;
  if (l->sent - l->seen >= z->cells) return false;
  const uint32_t bytes = slot_bytes(z, m->bytes);
  return slot_begin(z, l->end, bytes) + bytes - l->free <= z->ring;
}

// Where there is room. Returns whether the message is done.
static int post(const struct nbc_shm_lanes *lanes, struct lane *l, struct nbc_shm_message *m) {
  const uint32_t bytes = slot_bytes(&l->out.sizes, m->bytes);
  struct cell *cell = cell_of(&l->out, l->sent);
  m->place = slot_begin(&l->out.sizes, l->end, bytes);
  l->ends[cell - l->out.cells] = l->end = m->place + bytes;
  if (l->end > l->out_pages) ring_fetch(&l->out, &l->out_pages, l->end);
  unsigned char *slot = slot_at(&l->out, m->place);
  enum kind kind = KIND_CELL;
  if (m->bytes <= INLINE) {
    gather_runs(m, 0, cell->data, m->bytes);
  } else if (m->bytes <= l->out.sizes.slot && !may_wait(l, m)) {
    gather_runs(m, 0, slot, m->bytes);
    kind = KIND_SLOT;
  } else {
    const bool others = lanes->longs > (l->posted.first != NULL);
    kind = l->never || !say_where(l, cell, slot, m) ? KIND_WINDOW
           : m->bytes > l->out.sizes.slot && others ? KIND_READ
                                                    : KIND_MEMORY;
  }
  cell->bytes = m->bytes;
  atomic_store_explicit(&cell->kind, (uint16_t)kind, memory_order_relaxed);
  m->kind = (uint32_t)kind;
  m->number = l->sent++;
  told_release();
  atomic_store_explicit(&cell->flag, l->sent, memory_order_release);
  own_next(l, kind == KIND_SLOT ? bytes : 0);
  return kind <= KIND_SLOT;
}

// Whether who waits at either end has a processor to copy with.
static bool may_copy(const struct nbc_shm_lanes *lanes, const struct lane *l) {
  return lanes->shm->own_cores && !l->peer->same;
}

// Too long for a slot.
static bool is_long(const struct lane *l, uint64_t bytes) {
  return bytes > l->in.sizes.slot;
}

// What of lengths is quicker read, of all long messages.
static struct ways *ways_of(const struct nbc_shm_lanes *lanes, const struct lane *l,
                            enum direction d) {
  struct process *p = l->peer->process;
  return p && l->pulls && may_copy(lanes, l) ? &p->ways[d] : NULL;
}

// Whether this end's times tell which way a message goes: the receiver's. Where there is one each
// way, those of one end tell it of both: while it reads, it fills no window for the other.
static bool decides(const struct lane *l, enum direction d, bool receives) {
  return d == BOTH_WAYS ? *pool_token() > l->peer->token : receives;
}

static bool is_to_be_read(const struct nbc_shm_lanes *lanes, const struct lane *l, enum direction d,
                          bool receives, uint64_t bytes) {
  if (!is_long(l, bytes)) return false;
  if (!decides(l, d, receives)) return l->reads[d] & ways_bit(bytes);
  const struct ways *own = ways_of(lanes, l, d);
  return own && ways_read(own) & ways_bit(bytes);
}

// How a long message goes whose sender waits before it is read. Through the window both ends copy
// at once, which is quicker where the receiver does not say otherwise; but who has some for several
// peers has them read, by as many processors, who only tests may be gone for long, and where ranks
// share a processor each part would wait for a turn of it.
static void choose_way(const struct nbc_shm_lanes *lanes, const struct lane *l,
                       struct nbc_shm_message *m) {
  struct cell *cell = cell_of(&l->out, m->number);
  bool window = lanes->longs == 1 && may_copy(lanes, l) && l->out.sizes.window >= WORTH_IT &&
                !is_to_be_read(lanes, l, l->goes, false, m->bytes);
  uint16_t kind = KIND_MEMORY;
  bool ours = atomic_compare_exchange_strong(&cell->kind, &kind,
                                             (uint16_t)(window ? KIND_WINDOW : KIND_READ));
  m->kind = ours && window ? KIND_WINDOW : KIND_READ;
}

// There is one more, which goes or comes. What is posted while there is one the other way is both
// ends' work, as in an alltoall between two, whichever of the two ends first.
static void find_directions(struct lane *l, enum direction *of) {
  const struct nbc_shm_message *m = l->receives.first;
  *of = ONE_WAY;
  if (l->posted.first && m && is_long(l, m->bytes)) l->goes = l->comes = BOTH_WAYS;
}

static void append_posted(struct nbc_shm_lanes *lanes, struct lane *l, struct nbc_shm_message *m) {
  if (m->kind == KIND_MEMORY && m->bytes <= l->out.sizes.slot && m->run_count == 1) {
    append(&l->owed, m);
    ++lanes->owed;
    return;
  }
  const bool behind = l->posted.first;
  append(&l->posted, m);
  find_directions(l, &l->goes);
  if (behind) return;
  if (++lanes->longs == 1) lanes->only = l;
  // No longer the only one: whoever is to read it need not wait for that.
  struct nbc_shm_message *first = lanes->longs == 2 ? lanes->only->posted.first : NULL;
  if (first && first->kind == KIND_MEMORY) choose_way(lanes, lanes->only, first);
}

int lane_send(struct nbc_shm_lanes *lanes, uint32_t lane, struct nbc_shm_message *m) {
  struct lane *l = &lanes->lanes[lane];
  m->moved = 0;
  lanes->looks = 0;
  bool room = has_room(l, m);
  if (!room) {
    int status = look(l);
    if (status) return status;
    room = has_room(l, m);
  }
  bool waits = l->waiting.first || !room;
  if (!waits && post(lanes, l, m)) return 1;
  m->open = 1;
  if (waits)
    append(&l->waiting, m);
  else
    append_posted(lanes, l, m);
  return 0;
}

// A message whose bytes are elsewhere once it is posted, or here once it is taken.
static struct nbc_shm_message passing(void *at, uint64_t bytes) {
  return (struct nbc_shm_message){.run = {at, bytes}, .bytes = bytes, .run_count = 1};
}

static bool fits(const struct sizes *z, uint64_t bytes) {
  return bytes <= INLINE || bytes <= least(z->slot, SOON);
}

int lane_send_now(struct nbc_shm_lanes *lanes, uint32_t lane, const void *from, uint64_t bytes) {
  struct lane *l = &lanes->lanes[lane];
  struct nbc_shm_message m = passing((void *)from, bytes);
  m.runs = &m.run;
  if (l->waiting.first || !fits(&l->out.sizes, bytes)) return 0;
  lanes->looks = 0;
  if (!has_room(l, &m)) {
    int status = look(l);
    if (status || !has_room(l, &m)) return status;
  }
  return post(lanes, l, &m);
}

// Those whose bytes are in their slots, or taken, and which nobody reads where they were.
static void finish_owed(struct nbc_shm_lanes *lanes, struct lane *l) {
  for (struct nbc_shm_message *m; (m = l->owed.first) && m->kind == KIND_SLOT;) {
    bool taken = (int32_t)(l->seen - m->number) > 0;
    if (!taken && atomic_load(&l->out.note->reading) == m->number + 1) return;
    told_acquire();
    finish_first(lanes, &l->owed);
  }
}

static int copy_owed(struct nbc_shm_lanes *lanes, struct lane *l) {
  int status = look(l);
  if (status) return status;
  for (struct nbc_shm_message *m = l->owed.first; m; m = m->next) {
    if (m->kind == KIND_SLOT) continue;
    // What has been taken has left its cell and slot to others.
    if ((int32_t)(l->seen - m->number) <= 0) {
      gather_runs(m, 0, slot_at(&l->out, m->place), m->bytes);
      told_release();
      atomic_store(&cell_of(&l->out, m->number)->kind, KIND_SLOT);
    }
    m->kind = KIND_SLOT;
    --lanes->owed;
  }
  finish_owed(lanes, l);
  return 0;
}

// Of all lanes: nobody else may come by for a while.
__attribute__((noinline)) static int copy_all_owed(struct nbc_shm_lanes *lanes) {
  int status = 0;
  for (uint32_t i = 0; i < lanes->count && lanes->owed && !status; ++i)
    if (lanes->lanes[i].owed.first) status = copy_owed(lanes, &lanes->lanes[i]);
  return status;
}

static int fill_window(struct nbc_shm_lanes *lanes, struct lane *l, struct nbc_shm_message *m) {
  uint64_t drawn = atomic_load_explicit(&l->out.note->drawn, memory_order_acquire);
  told_acquire();
  uint32_t window = l->out.sizes.window;
  if (l->filled == 0) fetch_pages(l->out.window, window);
  if (l->filled - drawn > window) return NBC_ERROR_DEVICE;
  uint64_t room = least(window - (l->filled - drawn), m->bytes - m->moved);
  while (room) {
    uint64_t n = part_of(window, l->filled, room);
    gather_runs(m, m->moved, l->out.window + (l->filled & (window - 1)), n);
    m->moved += n, l->filled += n, room -= n;
    told_release();
    atomic_store_explicit(&l->out.supply->filled, l->filled, memory_order_release);
    lanes->idle = 0;
  }
  return 0;
}

static int move_sends(struct nbc_shm_lanes *lanes, struct lane *l) {
  if (!l->posted.first && !l->owed.first && !l->waiting.first) return 0;
  int status = look(l);
  if (!status) finish_owed(lanes, l);
  while (!status && l->posted.first && (int32_t)(l->seen - l->posted.first->number) > 0) {
    finish_first(lanes, &l->posted);
    if (!l->posted.first) --lanes->longs;
  }
  struct nbc_shm_message *m = l->posted.first;
  if (m && !status) {
    if (m->kind == KIND_MEMORY && lanes->looks++ >= WAITS) choose_way(lanes, l, m);
    uint32_t asked = atomic_load_explicit(&l->out.note->asked, memory_order_acquire);
    told_acquire();
    if (m->kind == KIND_WINDOW || asked == m->number + 1) status = fill_window(lanes, l, m);
  }
  while (!status && (m = l->waiting.first) && has_room(l, m)) {
    l->waiting.first = m->next;
    lanes->idle = 0;
    if (post(lanes, l, m))
      m->open = 0;
    else
      append_posted(lanes, l, m);
  }
  return status;
}

// --- receiving ---

int lane_receive(struct nbc_shm_lanes *lanes, uint32_t lane, struct nbc_shm_message *m) {
  struct lane *l = &lanes->lanes[lane];
  m->moved = 0;
  m->open = 1;
  append(&l->receives, m);
  if (is_long(l, m->bytes)) find_directions(l, &l->comes);
  return 0;
}

static int draw_window(struct nbc_shm_lanes *lanes, struct lane *l, struct nbc_shm_message *m) {
  uint64_t filled = atomic_load_explicit(&l->in.supply->filled, memory_order_acquire);
  told_acquire();
  uint32_t window = l->in.sizes.window;
  if (filled - l->drawn > window) return NBC_ERROR_DEVICE;
  if (l->drawn == 0 && filled) fetch_pages(l->in.window, window);
  uint64_t there = least(filled - l->drawn, m->bytes - m->moved);
  while (there) {
    uint64_t n = part_of(window, l->drawn, there);
    scatter_runs(m, m->moved, l->in.window + (l->drawn & (window - 1)), n);
    m->moved += n, l->drawn += n, there -= n;
    told_release();
    atomic_store_explicit(&l->in.note->drawn, l->drawn, memory_order_release);
    lanes->idle = 0;
  }
  return m->moved == m->bytes;
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

// Whether the message is seen for the first time; and when that was.
static bool is_new(const struct nbc_shm_lanes *lanes, struct lane *l) {
  if (l->since || !may_copy(lanes, l)) return false;
  l->since = now();
  return true;
}

// Whether the sender may be about to copy the message, which is quicker.
static bool is_patient(const struct nbc_shm_lanes *lanes, const struct lane *l, uint64_t bytes,
                       bool fresh) {
  if (!may_copy(lanes, l) || is_to_be_read(lanes, l, l->comes, true, bytes)) return false;
  uint64_t in_ns = bytes <= l->in.sizes.slot ? COPIED_IN_NS : READ_IN_NS;
  return fresh || now() < l->since + LEAST_PATIENCE + (int64_t)(bytes / in_ns);
}

// That a message has come, of that kind; it is noted what its way took. What it was waited for in
// vain, too: to be asked for the window, the sender may always have too much else to do. Of
// messages each way the whole round from one to the next counts: who reads takes lines from who
// writes them again, and the message's own time does not show that.
static void note_time(const struct nbc_shm_lanes *lanes, struct lane *l, uint16_t kind,
                      uint64_t bytes) {
  struct ways *ways = is_long(l, bytes) ? ways_of(lanes, l, l->comes) : NULL;
  if (ways && !l->asked && decides(l, l->comes, true)) {
    const int64_t end = now();
    int64_t begin = l->since;
    if (l->comes == BOTH_WAYS) {
      const uint32_t length = ways_bit(bytes);
      begin = l->round.length == length ? l->round.begin : end;
      l->round = (struct round){end, length};
    }
    if (begin < end)
      ways_took(ways, bytes, kind != KIND_WINDOW && !l->in_vain, (uint64_t)(end - begin));
    const uint32_t reads = ways_read(ways);
    atomic_uint *told = &l->in.note->reads[l->comes];
    if (reads != atomic_load_explicit(told, memory_order_relaxed))
      atomic_store_explicit(told, reads, memory_order_relaxed);
  }
  l->since = 0;
  l->in_vain = false;
}

// 1: the message in the cell is where it belongs. 0: not all of it yet.
static int take(struct nbc_shm_lanes *lanes, struct lane *l, struct cell *cell, uint32_t place,
                struct nbc_shm_message *m) {
  const unsigned char *slot = slot_at(&l->in, place);
  uint16_t kind = atomic_load_explicit(&cell->kind, memory_order_acquire);
  told_acquire();
  if (cell->bytes != m->bytes) return NBC_ERROR_DEVICE;
  const bool fresh = kind >= KIND_MEMORY && is_new(lanes, l);
  switch (kind) {
    case KIND_CELL:
      if (m->bytes > INLINE) return NBC_ERROR_DEVICE;
      scatter_runs(m, 0, cell->data, m->bytes);
      return 1;
    case KIND_SLOT:
      if (m->bytes > l->in.sizes.slot) return NBC_ERROR_DEVICE;
      scatter_runs(m, 0, slot, m->bytes);
      return 1;
    case KIND_MEMORY:
      if (!l->asked && is_patient(lanes, l, m->bytes, fresh)) return 0;
      // What fits into the slot may be copied there meanwhile; of the window one end has to know.
      if (m->bytes > l->in.sizes.slot &&
          !atomic_compare_exchange_strong(&cell->kind, &kind, (uint16_t)KIND_READ))
        return 0;  // the sender has found a way; the next look sees it
      l->in_vain = l->since && !is_to_be_read(lanes, l, l->comes, true, m->bytes);
      // fall through
    case KIND_READ:
      if (!l->asked) {
        int status = pull_message(l, cell, slot, m);
        if (status == PART_OF_IT) {
          lanes->idle = 0;
          return 0;
        }
        if (status) return status;
        l->asked = true;
        told_release();
        atomic_store_explicit(&l->in.note->asked, l->taken + 1, memory_order_release);
      }
      // One that fits into its slot is copied there; the window may have the next one by then.
      return is_long(l, m->bytes) ? draw_window(lanes, l, m) : 0;
    case KIND_WINDOW:
      return draw_window(lanes, l, m);
  }
  return NBC_ERROR_DEVICE;  // given up, or damaged
}

// The next message, which is there already if its sender is ahead: a look at what has not been
// written costs nothing, since the line is that of a round ago. Inline, or GCC takes it for a
// function without effect.
__attribute__((always_inline)) static inline void look_ahead(const struct lane *l, uint64_t bytes) {
  __builtin_prefetch(cell_of(&l->in, l->taken));
  if (bytes > INLINE && bytes <= l->in.sizes.slot)
    __builtin_prefetch(slot_at(&l->in, l->ring_taken));
}

// Whether the sender has to know that the message in the cell is taken: of a long one, which it
// keeps until then; of others twice a round. A sender that waits for room looks all the time, and
// each word to it would cost both a line. Of the ring the longest slot always finds room once all
// is told but this: it may have to begin anew at the ring's beginning, and so need twice as much.
static bool is_to_be_told(const struct lane *l, const struct cell *cell) {
  const struct sizes *z = &l->in.sizes;
  const uint64_t most = least(z->ring / 2, z->ring - 2 * z->slot);
  return l->taken - l->told >= z->cells / 2 || l->ring_taken - l->ring_told > most ||
         atomic_load_explicit(&cell->kind, memory_order_relaxed) > KIND_SLOT;
}

static void tell(struct lane *l) {
  l->told = l->taken;
  l->ring_told = l->ring_taken;
  told_release();
  atomic_store_explicit(&l->in.note->taken, l->taken, memory_order_release);
}

// 1: the next message of the lane has been taken. 0: not all of it is there yet.
static int take_next(struct nbc_shm_lanes *lanes, struct lane *l, struct nbc_shm_message *m) {
  struct cell *cell = cell_of(&l->in, l->taken);
  const uint32_t bytes = slot_bytes(&l->in.sizes, m->bytes);
  const uint32_t place = slot_begin(&l->in.sizes, l->ring_taken, bytes);
  if (place + bytes > l->in_pages) ring_fetch(&l->in, &l->in_pages, place + bytes);
  int status = take(lanes, l, cell, place, m);
  if (status <= 0) return status;
  if (l->since)
    note_time(lanes, l, atomic_load_explicit(&cell->kind, memory_order_relaxed), m->bytes);
  l->asked = false;
  ++l->taken;
  l->ring_taken = place + bytes;
  if (is_to_be_told(l, cell)) tell(l);
  look_ahead(l, m->bytes);
  return 1;
}

static int move_receives(struct nbc_shm_lanes *lanes, struct lane *l) {
  for (struct nbc_shm_message *m; (m = l->receives.first);) {
    if (!lane_filled(l)) return 0;
    told_acquire();
    int status = take_next(lanes, l, m);
    if (status <= 0) return status;
    finish_first(lanes, &l->receives);
  }
  return 0;
}

int lane_receive_now(struct nbc_shm_lanes *lanes, uint32_t lane, void *to, uint64_t bytes) {
  struct lane *l = &lanes->lanes[lane];
  if (l->receives.first || !fits(&l->in.sizes, bytes) || !lane_filled(l)) return 0;
  told_acquire();
  // A peer that sends something else is found out where it is waited for.
  if (atomic_load_explicit(&cell_of(&l->in, l->taken)->kind, memory_order_relaxed) > KIND_SLOT)
    return 0;
  struct nbc_shm_message m = passing(to, bytes);
  m.runs = &m.run;
  return take_next(lanes, l, &m);
}

int lane_move(struct nbc_shm_lanes *lanes, uint32_t lane) {
  struct lane *l = &lanes->lanes[lane];
  int status = lanes->owed ? copy_all_owed(lanes) : 0;
  if (!status) status = move_receives(lanes, l);
  return status ? status : move_sends(lanes, l);
}
