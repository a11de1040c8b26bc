// SPDX-License-Identifier: BSD-3-Clause
// comm.c - a communicator: its bootstrap, and its devices.
//
// A template names its target, and its plan runs on the device of that target; what
// is peculiar to one kind of device, such as memory that must be registered, its target
// keeps (attach, in targets.h).

#define _GNU_SOURCE  // MAP_ANONYMOUS
#include "runtime/src/comm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/src/progress.h"

const struct attachment *comm_device(const nbc_comm *comm, const struct target *target) {
  for (size_t i = 0; i < comm->device_count; ++i)
    if (comm->devices[i].target == target) return &comm->devices[i];
  return NULL;
}

struct nbc_device *comm_device_for(const nbc_comm *comm, const char *target) {
  const struct attachment *on = comm_device(comm, find_target(target));
  return on ? on->device : NULL;
}

uint8_t *map_scratch(size_t bytes) {
  void *memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : (uint8_t *)memory;
}

struct scratch *turns_scratch(struct turns *t, size_t bytes) {
  if (t->scratch && t->scratch->bytes >= bytes) return t->scratch;
  struct scratch *more = (struct scratch *)calloc(1, sizeof *more);
  uint8_t *memory = more ? map_scratch(bytes) : NULL;
  if (!memory) {
    free(more);
    return NULL;
  }
  *more = (struct scratch){.next = t->scratch, .memory = memory, .bytes = bytes};
  t->scratch = more;
  return more;
}

static void free_scratch(struct scratch *all) {
  for (struct scratch *s = all, *next; s; s = next) {
    next = s->next;
    if (!s->in_use) munmap(s->memory, s->bytes);
    free(s);
  }
}

static void destroy(nbc_comm *comm) {
  for (size_t i = 0; i < comm->device_count; ++i)
    if (comm->devices[i].shared) comm->devices[i].target->detach(comm->devices[i].shared);
  free_scratch(comm->turns.scratch);
  pthread_mutex_destroy(&comm->turns.lock);
  pthread_mutex_destroy(&comm->mutex);
  free(comm);
}

static int attach(nbc_comm *comm, struct nbc_device *device) {
  struct attachment a = {.device = device};
  if (!device || !device->target) return NBC_ERROR_ARGUMENT;
  a.target = find_target(device->target);
  if (!a.target || comm_device(comm, a.target)) return NBC_ERROR_ARGUMENT;
  int status = a.target->attach ? a.target->attach(device, &a.shared) : 0;
  if (status) return status;
  comm->devices[comm->device_count++] = a;
  return 0;
}

int nbc_comm_progress(nbc_comm *comm, enum nbc_progress how) {
  if (!comm || (how != NBC_PROGRESS_CALLS && how != NBC_PROGRESS_THREAD)) return NBC_ERROR_ARGUMENT;
  if (atomic_load(&comm->plans_alive)) return NBC_ERROR_BUSY;
  if (how == NBC_PROGRESS_THREAD) return progress_start(comm);
  progress_stop(comm);
  return 0;
}

// What the user of a program wants who has not said it itself.
static int ask_environment(nbc_comm *comm) {
  const char *said = getenv("NBC_PROGRESS");
  if (!said || !*said || strcmp(said, "none") == 0) return 0;
  return strcmp(said, "thread") == 0 ? progress_start(comm) : NBC_ERROR_ARGUMENT;
}

int nbc_comm_create(const struct nbc_bootstrap *bootstrap, struct nbc_device *const devices[],
                    size_t count, nbc_comm **result) {
  if (!bootstrap || !result || bootstrap->ranks < 1 || bootstrap->rank < 0 ||
      bootstrap->rank >= bootstrap->ranks || (count && !devices) || count > NBC_MOST_DEVICES)
    return NBC_ERROR_ARGUMENT;
  if (bootstrap->ranks > 1 && (!count || !bootstrap->put || !bootstrap->get))
    return NBC_ERROR_ARGUMENT;
  nbc_comm *comm = (nbc_comm *)calloc(1, sizeof *comm + count * sizeof *comm->devices);
  if (!comm) return NBC_ERROR_MEMORY;
  comm->bootstrap = *bootstrap;
  if (pthread_mutex_init(&comm->mutex, NULL)) {
    free(comm);
    return NBC_ERROR_MEMORY;
  }
  pthread_mutex_init(&comm->turns.lock, NULL);  // cannot fail on Linux
  int status = 0;
  for (size_t i = 0; i < count && !status; ++i) status = attach(comm, devices[i]);
  if (!status) status = ask_environment(comm);
  if (status) {
    destroy(comm);
    return status;
  }
  *result = comm;
  return 0;
}

int nbc_comm_free(nbc_comm *comm) {
  if (!comm) return 0;
  if (atomic_load(&comm->plans_alive)) return NBC_ERROR_BUSY;
  close_algorithms(comm);
  progress_stop(comm);
  struct nbc_device *devices[NBC_MOST_DEVICES];
  size_t count = comm->device_count;
  for (size_t i = 0; i < count; ++i) devices[i] = comm->devices[i].device;
  destroy(comm);
  for (size_t i = 0; i < count; ++i)
    if (devices[i]->close) devices[i]->close(devices[i]);
  return 0;
}

int nbc_register(nbc_comm *comm, void *begin, size_t bytes) {
  if (!comm || !begin || bytes == 0 || (uintptr_t)begin + bytes < bytes) return NBC_ERROR_ARGUMENT;
  int status = 0;
  for (size_t i = 0; i < comm->device_count && !status; ++i)
    if (comm->devices[i].target->make_known)
      status = comm->devices[i].target->make_known(comm->devices[i].shared, begin, bytes);
  return status;
}

int nbc_deregister(nbc_comm *comm, void *begin, size_t bytes) {
  if (!comm || (uintptr_t)begin + bytes < bytes) return NBC_ERROR_ARGUMENT;
  int status = 0;
  for (size_t i = 0; i < comm->device_count; ++i) {
    const struct attachment *a = &comm->devices[i];
    int busy = a->target->forget ? a->target->forget(a->shared, begin, bytes) : 0;
    if (busy) status = busy;
  }
  return status;
}
