// SPDX-License-Identifier: BSD-3-Clause
// process.c - peers' processes: one descriptor for each, however many devices have it for a peer.
//
// A program may have hundreds of communicators and few descriptors. Linear in the processes that
// are watched.

#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/shm/shm.h"

struct watched {
  struct watched *next;
  int64_t pid;
  int file;
  unsigned users;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct watched *all;  // under the lock

bool process_died(int file) {
  struct pollfd died = {.fd = file, .events = POLLIN};
  return file >= 0 && poll(&died, 1, 0) > 0;
}

// The number of a process that has died may be another's by now.
static struct watched *find(int64_t pid) {
  for (struct watched *w = all; w; w = w->next)
    if (w->pid == pid && !process_died(w->file)) return w;
  return NULL;
}

static struct watched *add(int64_t pid) {
  struct watched *w = (struct watched *)malloc(sizeof *w);
  if (!w) return NULL;
  *w = (struct watched){all, pid, (int)syscall(SYS_pidfd_open, (pid_t)pid, 0), 0};
  if (w->file < 0) {
    free(w);
    return NULL;
  }
  return all = w;
}

int process_watch(int64_t pid) {
  pthread_mutex_lock(&lock);
  struct watched *w = find(pid);
  if (!w) w = add(pid);
  if (w) ++w->users;
  int file = w ? w->file : -1;
  pthread_mutex_unlock(&lock);
  return file;
}

void process_leave(int file) {
  if (file < 0) return;
  pthread_mutex_lock(&lock);
  struct watched **at = &all;
  while (*at && (*at)->file != file) at = &(*at)->next;
  struct watched *w = *at;
  if (w && --w->users == 0) {
    *at = w->next;
    close(w->file);
    free(w);
  }
  pthread_mutex_unlock(&lock);
}
