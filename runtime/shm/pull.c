// SPDX-License-Identifier: BSD-3-Clause
// pull.c - a long message straight from the sender's memory to where it belongs.
//
// process_vm_readv between processes, memcpy between threads of one. Before it begins the
// receiver says so, and then looks whether the sender has given up meanwhile, or copied; who does
// says so first, and then waits while the receiver reads (close, in lanes.c; finish_owed, in
// move.c). One of them sees the other.

#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "runtime/shm/shm.h"

enum {
  PART = 1 << 22,  // bytes; this rank's own messages wait meanwhile
  ROOM = 1 << 16   // likewise, which stay in the cache until they are scattered
};

// What of a list of runs lies behind `offset`, so much of it at most, as a list of at most
// MOST_RUNS.
static unsigned long rest_of(const struct iovec *runs, uint32_t count, uint64_t offset,
                             uint64_t left, struct iovec rest[MOST_RUNS]) {
  unsigned long n = 0;
  for (uint32_t i = 0; i < count && n < MOST_RUNS && left; ++i) {
    if (offset >= runs[i].iov_len) {
      offset -= runs[i].iov_len;
      continue;
    }
    rest[n].iov_base = (char *)runs[i].iov_base + offset;
    uint64_t bytes = runs[i].iov_len - offset;
    rest[n].iov_len = bytes < left ? bytes : left;
    left -= rest[n++].iov_len;
    offset = 0;
  }
  return n;
}

static int copy(const struct iovec *from, struct nbc_shm_message *m) {
  for (; m->moved < m->bytes; ++from) {
    scatter_runs(m, m->moved, from->iov_base, from->iov_len);
    m->moved += from->iov_len;
  }
  return 1;
}

// Into as many runs. Bytes, or none, and *status is to be returned.
static uint64_t read_part(const struct peer *peer, const struct iovec *from, uint32_t runs,
                          uint64_t offset, uint64_t bytes, const struct iovec *to,
                          unsigned long count, int *status) {
  struct iovec remote[MOST_RUNS];
  const unsigned long remotes = rest_of(from, runs, offset, bytes, remote);
  errno = 0;
  const ssize_t n = process_vm_readv((pid_t)peer->pid, to, count, remote, remotes, 0);
  *status = n < 0 && errno == ESRCH ? NBC_ERROR_DEVICE : 0;
  return n > 0 ? (uint64_t)n : 0;
}

static int read_memory(const struct peer *peer, const struct iovec *from, uint32_t runs,
                       struct nbc_shm_message *m) {
  struct iovec to[MOST_RUNS];
  const unsigned long count = rest_of(m->runs, m->run_count, m->moved, PART, to);
  int status;
  const uint64_t n = read_part(peer, from, runs, m->moved, PART, to, count, &status);
  m->moved += n;
  return n == 0 ? status : m->moved == m->bytes ? 1 : PART_OF_IT;
}

static int read_to_layout(const struct peer *peer, const struct iovec *from, uint32_t runs,
                          struct nbc_shm_message *m) {
  unsigned char room[ROOM];
  const struct iovec to = {room, sizeof room};
  for (const uint64_t begin = m->moved; m->moved - begin < PART && m->moved < m->bytes;) {
    int status;
    const uint64_t n = read_part(peer, from, runs, m->moved, sizeof room, &to, 1, &status);
    if (n == 0) return status;
    scatter_runs(m, m->moved, room, n);
    m->moved += n;
  }
  return m->moved == m->bytes ? 1 : PART_OF_IT;
}

// The list of runs, as one that nobody else can change; it must be as long as the message.
static bool copy_list(const struct cell *cell, const void *slot, uint32_t slot_bytes,
                      uint64_t bytes, struct iovec from[MOST_RUNS], uint32_t *runs) {
  *runs = cell->runs;
  if (*runs == 0 || *runs > MOST_RUNS || (*runs > 1 && *runs * sizeof *from > slot_bytes))
    return false;
  memcpy(from, *runs == 1 ? (const void *)&cell->from : slot, *runs * sizeof *from);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < *runs; ++i)
    if (__builtin_add_overflow(sum, from[i].iov_len, &sum)) return false;
  return sum == bytes;
}

int pull_message(struct lane *l, const struct cell *cell, const void *slot,
                 struct nbc_shm_message *m) {
  struct iovec from[MOST_RUNS];
  uint32_t runs;
  if (!copy_list(cell, slot, l->in.sizes.slot, m->bytes, from, &runs)) return NBC_ERROR_DEVICE;
  if (!l->pulls) return 0;
  atomic_store(&l->in.note->reading, l->taken + 1);
  int status = NBC_ERROR_DEVICE;
  uint16_t kind = atomic_load(&cell->kind);
  told_acquire();
  if (kind == KIND_SLOT && m->bytes <= l->in.sizes.slot) {  // meanwhile
    scatter_runs(m, 0, slot, m->bytes);
    status = 1;
  } else if (kind == KIND_MEMORY || kind == KIND_READ) {
    status = l->peer->same ? copy(from, m)
             : m->layout   ? read_to_layout(l->peer, from, runs, m)
                           : read_memory(l->peer, from, runs, m);
  }
  atomic_store_explicit(&l->in.note->reading, 0, memory_order_release);
  if (status) return status;
  m->moved = 0;  // all of it through the window
  if (errno == EPERM || errno == ENOSYS || errno == EACCES) {
    l->pulls = false;
    atomic_store_explicit(&l->in.note->never, 1, memory_order_relaxed);
  }
  return 0;
}
