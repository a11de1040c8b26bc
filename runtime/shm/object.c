// SPDX-License-Identifier: BSD-3-Clause
// object.c - one piece of POSIX shared memory: made, found, and gone again.
//
// Its size is reserved when it is made (posix_fallocate), so that a full /dev/shm is an error then
// and no signal later. The last peer that maps it takes its name away. Until then the maker holds a
// lock on it, which ends with the maker whatever happens to it: an object of this user's with
// such a name and without a lock was left by processes that were killed.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/shm/shm.h"

enum { TRIES = 100 };
#define PREFIX "nbc-"
#define FOLDER "/dev/shm"

static int refuse(size_t bytes, int error, const char **why) {
  static _Thread_local char text[160];
  snprintf(text, sizeof text, "no %zu bytes of " FOLDER " for its messages: %s", bytes,
           strerror(error));
  *why = text;
  return NBC_ERROR_MEMORY;
}

static int name_it(char name[NAME]) {
  uint64_t random[2];
  if (getrandom(random, sizeof random, 0) != sizeof random) return NBC_ERROR_MEMORY;
  snprintf(name, NAME, "/" PREFIX "%016llx%016llx", (unsigned long long)random[0],
           (unsigned long long)random[1]);
  return 0;
}

// Made by nobody else, and locked before anybody took it for one that was left behind. 0, or an
// error number.
static int make_file(struct object *o) {
  int error = EEXIST;
  for (int i = 0; i < TRIES; ++i) {
    struct stat now;
    if (name_it(o->name)) {
      error = errno;
      break;
    }
    o->file = shm_open(o->name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (o->file < 0) {
      error = errno;
      if (error != EEXIST && error != EINTR) break;
      continue;
    }
    if (flock(o->file, LOCK_EX | LOCK_NB) == 0 && fstat(o->file, &now) == 0 && now.st_nlink)
      return 0;
    object_forget(o);
  }
  o->name[0] = 0;
  return error;
}

int object_make(struct object *o, size_t bytes, void *topology, const char **why) {
  *o = (struct object){.file = -1};
  int failed = make_file(o);
  if (failed) return refuse(bytes, failed, why);
  void *memory = MAP_FAILED;
  if (ftruncate(o->file, (off_t)bytes) == 0)
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, o->file, 0);
  if (memory == MAP_FAILED) {
    failed = errno;
  } else {
    o->memory = (unsigned char *)memory;
    o->bytes = bytes;
    numa_near(topology, memory, bytes);
    do failed = posix_fallocate(o->file, 0, (off_t)bytes);
    while (failed == EINTR);
  }
  if (!failed) return 0;
  object_close(o);
  return refuse(bytes, failed, why);
}

int object_find(const struct nbc_shm_address *address, void **memory, size_t *bytes) {
  struct stat now;
  if (!memchr(address->name, 0, NAME) || strncmp(address->name, "/" PREFIX, 5) ||
      strchr(address->name + 1, '/'))
    return NBC_ERROR_BOOTSTRAP;
  int file = shm_open(address->name, O_RDWR, 0);
  if (file < 0) return NBC_ERROR_BOOTSTRAP;
  void *found = MAP_FAILED;
  if (fstat(file, &now) == 0 && now.st_uid == geteuid() && (uint64_t)now.st_size == address->bytes)
    found = mmap(NULL, address->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (found == MAP_FAILED) return NBC_ERROR_BOOTSTRAP;
  *memory = found;
  *bytes = address->bytes;
  return 0;
}

void object_forget(struct object *o) {
  if (o->name[0]) shm_unlink(o->name);
  o->name[0] = 0;
  if (o->file >= 0) close(o->file);
  o->file = -1;
}

void object_settle(struct object *o, uint32_t peers) {
  if (o->file < 0 || atomic_load(&((struct head *)o->memory)->mapped) < peers) return;
  o->name[0] = 0;  // it was taken away
  close(o->file);
  o->file = -1;
}

void object_close(struct object *o) {
  object_forget(o);
  if (o->memory) munmap(o->memory, o->bytes);
  o->memory = NULL;
}

// Devices come by hundreds, and what the killed have left does not.
void objects_clean_seldom(void) {
  static _Atomic int64_t last;  // s, of this process; 0: never
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  const int64_t now = t.tv_sec + 1;
  if (atomic_exchange_explicit(&last, now, memory_order_relaxed) != now) objects_clean();
}

void objects_clean(void) {
  DIR *folder = opendir(FOLDER);
  if (!folder) return;
  for (const struct dirent *entry; (entry = readdir(folder));) {
    struct stat now;
    if (strncmp(entry->d_name, PREFIX, strlen(PREFIX))) continue;
    int file = openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    if (fstat(file, &now) == 0 && S_ISREG(now.st_mode) && now.st_uid == geteuid() &&
        flock(file, LOCK_EX | LOCK_NB) == 0)
      unlinkat(dirfd(folder), entry->d_name, 0);
    close(file);
  }
  closedir(folder);
}
