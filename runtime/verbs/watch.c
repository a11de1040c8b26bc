// SPDX-License-Identifier: BSD-3-Clause
// watch.c - memory that is about to be unmapped, told by UCX's libucm.
//
// A registration holds pages, not addresses: when memory is unmapped and something else mapped
// there, the adapter would go on reading what was there before. The kernel tells nobody, so someone
// has to see munmap, mremap, madvise, shmdt, brk, and those calls that the C library makes itself.
// libucm does, for UCX, by patching their code; MPICH loads it anyway. It is loaded when the first
// communicator asks, and asked whether it sees an munmap at all: it does not under sanitizers,
// which have functions of their own, nor where UCX_MEM_EVENTS=n says so.

#define _GNU_SOURCE  // MAP_ANONYMOUS
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucm/api/ucm.h>
#include <unistd.h>

#include "runtime/verbs/adapter.h"

enum { BEFORE = -1 };  // the call that unmaps

static struct {
  __typeof__(&ucm_set_event_handler) set;
  __typeof__(&ucm_unset_event_handler) unset;
} ucm;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// Never closed: there is no way back from patched code.
static void load(void) {
  const int how = RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE;
  void *library =
      dlopen("libucs.so.0", how) ? dlopen("libucm.so.0", how) : NULL;  // needs the first
  if (!library) return;
  void *set = dlsym(library, "ucm_set_event_handler");
  void *unset = dlsym(library, "ucm_unset_event_handler");
  if (!set || !unset) return;
  memcpy(&ucm.set, &set, sizeof set);
  memcpy(&ucm.unset, &unset, sizeof unset);
}

static void tell(ucm_event_type_t type, ucm_event_t *event, void *context) {
  struct watch *w = (struct watch *)context;
  (void)type;
  w->gone(w->context, event->vm_unmapped.address, event->vm_unmapped.size);
}

static void note(void *context, const void *begin, size_t bytes) {
  (void)begin, (void)bytes;
  *(volatile bool *)context = true;
}

// Whether an munmap is seen.
static bool sees(void) {
  bool seen = false;
  struct watch own = {note, &seen};
  long page = sysconf(_SC_PAGESIZE);
  if (ucm.set(UCM_EVENT_VM_UNMAPPED, BEFORE, tell, &own)) return false;
  void *memory =
      mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) munmap(memory, (size_t)page);
  ucm.unset(UCM_EVENT_VM_UNMAPPED, tell, &own);
  return *(volatile bool *)&seen;
}

int watch_memory(struct nbc_verbs *base, nbc_verbs_gone *gone, void *context) {
  struct watch *w = &adapter_of(base)->watch;
  if (w->gone) ucm.unset(UCM_EVENT_VM_UNMAPPED, tell, w);
  *w = (struct watch){0};
  if (!gone) return 0;
  const char *wanted = getenv("NBC_VERBS_WATCH");
  if (wanted && strcmp(wanted, "no") == 0) return NBC_ERROR_UNSUPPORTED;
  pthread_once(&once, load);
  if (!ucm.set || !ucm.unset || !sees()) return NBC_ERROR_UNSUPPORTED;
  *w = (struct watch){gone, context};
  if (!ucm.set(UCM_EVENT_VM_UNMAPPED, BEFORE, tell, w)) return 0;
  *w = (struct watch){0};
  return NBC_ERROR_UNSUPPORTED;
}
