// SPDX-License-Identifier: BSD-3-Clause
// coredirect_comm.c - what plans on one adapter share: its facts, and the memory it knows.

#include <stdlib.h>

#include "runtime/src/coredirect.h"

static int add(void *adapter, void *begin, size_t bytes, uint32_t access, struct known_memory *as) {
  struct nbc_hca *hca = (struct nbc_hca *)adapter;
  return hca->ops->register_memory(hca, begin, bytes, access, &as->lkey, &as->rkey);
}

static void remove_known(void *adapter, const struct known_memory *as) {
  struct nbc_hca *hca = (struct nbc_hca *)adapter;
  hca->ops->deregister_memory(hca, as->lkey);
}

int coredirect_attach(struct nbc_device *device, void **shared) {
  struct nbc_hca *hca = (struct nbc_hca *)device;
  struct endpoint *e = (struct endpoint *)calloc(1, sizeof *e);
  if (!e) return NBC_ERROR_MEMORY;
  e->hca = hca;
  hca->ops->facts(hca, &e->facts);
  int status = hca->ops->address(hca, e->address);
  if (!status) status = registrations_open(&e->memory, (struct registrar){hca, add, remove_known});
  if (status)
    free(e);
  else
    *shared = e;
  return status;
}

void coredirect_detach(void *shared) {
  struct endpoint *e = (struct endpoint *)shared;
  registrations_close(&e->memory);
  free(e);
}

int coredirect_make_known(void *shared, void *begin, size_t bytes) {
  struct endpoint *e = (struct endpoint *)shared;
  return registrations_declare(&e->memory, begin, bytes, NBC_HCA_REMOTE_WRITE);
}

int coredirect_forget(void *shared, const void *begin, size_t bytes) {
  return registrations_forget(&((struct endpoint *)shared)->memory, begin, bytes);
}

int coredirect_acquire(nbc_plan *plan, struct call *c) {
  struct coredirect *s = (struct coredirect *)plan->state;
  for (uint32_t role = 0; role < CALLER_ROLES; ++role) c->registration[role] = -1;
  for (uint32_t role = 0; role < CALLER_ROLES; ++role) {
    const void *begin;
    uint64_t bytes = touched_bytes(plan, c, role, &begin);
    if (bytes == 0) continue;
    bool made;
    int r = registrations_acquire(&endpoint_of(plan)->memory, begin, bytes, s->access[role],
                                  s->hint[role], &made);
    if (r < 0) {
      coredirect_release(plan, c);
      return r;
    }
    c->registration[role] = s->hint[role] = r;
  }
  return 0;
}

void coredirect_release(nbc_plan *plan, struct call *c) {
  for (uint32_t role = 0; role < CALLER_ROLES; ++role)
    if (c->registration[role] >= 0)
      registrations_release(&endpoint_of(plan)->memory, c->registration[role]);
}
