// SPDX-License-Identifier: BSD-3-Clause
// object.c - one file of POSIX shared memory: made, found, and gone again.
//
// What is used of it is reserved before (posix_fallocate), so that a full /dev/shm is an error then
// and no signal later. Its maker holds a lock on it, which ends with the maker whatever happens to
// it: an object of this user's with such a name and without a lock was left by processes that were
// killed.

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
    object_unname(o->name);
    close(o->file);
    o->file = -1;
  }
  return error;
}

int object_make(struct object *o, size_t bytes) {
  *o = (struct object){.file = -1};
  int failed = make_file(o);
  if (failed) return failed;
  void *memory = MAP_FAILED;
  if (ftruncate(o->file, (off_t)bytes) == 0)
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, o->file, 0);
  if (memory == MAP_FAILED) {
    failed = errno;
    object_unname(o->name);
    object_close(o);
    return failed;
  }
  o->memory = (unsigned char *)memory;
  o->bytes = bytes;
  return 0;
}

int object_reserve(const struct object *o, size_t offset, size_t bytes, void *topology) {
  int failed;
  numa_near(topology, o->memory + offset, bytes);
  do failed = posix_fallocate(o->file, (off_t)offset, (off_t)bytes);
  while (failed == EINTR);
  if (failed) object_release(o, offset, bytes);
  return failed;
}

void object_release(const struct object *o, size_t offset, size_t bytes) {
  (void)madvise(o->memory + offset, bytes, MADV_REMOVE);
}

// Not found, or not to be had.
static int status_of(int error) {
  const bool full = error == EMFILE || error == ENFILE || error == ENOMEM;
  return full ? NBC_ERROR_MEMORY : NBC_ERROR_BOOTSTRAP;
}

int object_find(const char name[NAME], size_t bytes, void **memory) {
  struct stat now;
  if (!memchr(name, 0, NAME) || strncmp(name, "/" PREFIX, 5) || strchr(name + 1, '/'))
    return NBC_ERROR_BOOTSTRAP;
  int file = shm_open(name, O_RDWR, 0);
  if (file < 0) return status_of(errno);
  void *found = MAP_FAILED;
  errno = 0;
  if (fstat(file, &now) == 0 && now.st_uid == geteuid() && (uint64_t)now.st_size == bytes)
    found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int error = errno;
  close(file);
  if (found == MAP_FAILED) return status_of(error);
  *memory = found;
  return 0;
}

void object_unname(const char name[NAME]) {
  shm_unlink(name);
}

void object_close(struct object *o) {
  if (o->file >= 0) close(o->file);
  if (o->memory) munmap(o->memory, o->bytes);
  *o = (struct object){.file = -1};
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
