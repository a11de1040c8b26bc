// SPDX-License-Identifier: BSD-3-Clause
// process.c - peers' processes: one descriptor for each, however many devices have it for a peer.
//
// A program may have hundreds of communicators and few descriptors. Linear in the processes that
// are watched.

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/shm/shm.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct process *all;  // under the lock, as is
static size_t count;         //   how many they are

bool process_died(const struct process *p) {
  struct pollfd died = {.fd = p ? p->file : -1, .events = POLLIN};
  return p && (p->gone || (p->file >= 0 && poll(&died, 1, 0) > 0));
}

static struct process *find(uint64_t token) {
  struct process *p = all;
  while (p && p->token != token) p = p->next;
  return p;
}

static struct process *add(uint64_t token, int64_t pid) {
  struct process *p = (struct process *)malloc(sizeof *p);
  if (!p) return NULL;
  const int file = pid ? (int)syscall(SYS_pidfd_open, (pid_t)pid, 0) : -1;
  *p = (struct process){.next = all, .token = token, .file = file};
  p->gone = pid && file < 0 && errno == ESRCH;
  pool_await(++count);
  return all = p;
}

struct process *process_watch(uint64_t token, int64_t pid) {
  pthread_mutex_lock(&lock);
  struct process *p = find(token);
  if (!p) p = add(token, pid);
  if (p) ++p->users;
  pthread_mutex_unlock(&lock);
  return p;
}

void process_leave(struct process *p) {
  if (!p) return;
  pthread_mutex_lock(&lock);
  if (--p->users == 0) {
    struct process **at = &all;
    while (*at != p) at = &(*at)->next;
    *at = p->next;
    pool_forget(p->token);
    pool_await(--count);
    if (p->file >= 0) close(p->file);
    free(p);
  }
  pthread_mutex_unlock(&lock);
}
