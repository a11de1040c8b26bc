// SPDX-License-Identifier: BSD-3-Clause
// open.c - an adapter is opened, and what it can do found out; registration of memory.
//
// How much a queue takes inline is nowhere to be read: queue pairs are made until one is granted.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/verbs/adapter.h"

enum {
  MOST_INLINE = 512,  // more would make work requests so large that reading them takes long
  MOST_READS = 16,    // of a queue pair under way
  RETRIES = 6
};
#define LONGEST (UINT64_C(1) << 31)

void tell_facts(struct nbc_verbs *base, struct nbc_verbs_facts *facts) {
  *facts = adapter_of(base)->facts;
}

int register_memory(struct nbc_verbs *base, void *begin, size_t bytes, int access, void **region,
                    uint32_t *lkey, uint32_t *rkey) {
  struct ibv_mr *mr = ibv_reg_mr(adapter_of(base)->domain, begin, bytes, access);
  if (!mr) return status_of(errno);
  *region = mr;
  *lkey = mr->lkey;
  *rkey = mr->rkey;
  return 0;
}

void deregister_memory(struct nbc_verbs *base, void *region) {
  (void)base;
  if (region) ibv_dereg_mr((struct ibv_mr *)region);
}

// False: no queue pair at all can be made.
static bool find_inline(struct adapter *a) {
  bool made = false;
  struct ibv_cq *cq = ibv_create_cq(a->place.context, 2, NULL, NULL, 0);
  if (!cq) return false;
  for (uint32_t wish = MOST_INLINE; !made; wish = wish > 32 ? wish / 2 : 0) {
    struct ibv_qp_init_attr attributes = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .cap = {1, 1, a->facts.gather, 1, wish},
    };
    struct ibv_qp *qp = ibv_create_qp(a->domain, &attributes);
    made = qp != NULL;
    if (made) a->facts.inline_bytes = attributes.cap.max_inline_data;
    if (qp) ibv_destroy_qp(qp);
    if (!wish) break;
  }
  if (a->facts.inline_bytes > MOST_INLINE) a->facts.inline_bytes = MOST_INLINE;
  int error = errno;
  ibv_destroy_cq(cq);
  errno = error;
  return made;
}

static uint8_t at_most(int value, int most) {
  return (uint8_t)(value < 0 ? 0 : value < most ? value : most);
}

static int find_facts(struct adapter *a, const struct nbc_verbs_options *o, const char **why) {
  const char *name = ibv_get_device_name(a->place.context->device);
  struct ibv_device_attr attributes;
  int error = ibv_query_device(a->place.context, &attributes);
  if (error) {
    *why = say("%s does not say what it can do: %s", name, strerror(error));
    return NBC_ERROR_DEVICE;
  }
  uint64_t longest = a->place.attributes.max_msg_sz;
  a->own_reads = at_most(attributes.max_qp_init_rd_atom, MOST_READS);
  a->served_reads = at_most(attributes.max_qp_rd_atom, MOST_READS);
  a->facts =
      (struct nbc_verbs_facts){.gather = (uint32_t)attributes.max_sge,
                               .queue = (uint32_t)attributes.max_qp_wr,
                               .completions = (uint32_t)attributes.max_cqe,
                               .reads = a->served_reads ? a->own_reads : 0,
                               .longest = longest < LONGEST ? longest : LONGEST,
                               .rendezvous = o->rendezvous,
                               .transfer = o->transfer,
                               .offers = o->offers,
                               .patience = o->patience > 0 ? 1000 * (uint32_t)o->patience : 0};
  const bool reads = o->rendezvous == NBC_VERBS_READ || o->transfer == NBC_TRANSFER_READ;
  if (reads && a->facts.reads == 0) {
    *why = say("%s cannot read: the rendezvous has to be by writes", name);
    return NBC_ERROR_DEVICE;
  }
  if (find_inline(a)) return 0;
  *why = say("%s makes no queue pair: %s", name, strerror(errno));
  return status_of(errno);
}

static void close_adapter(struct nbc_device *device) {
  struct adapter *a = (struct adapter *)device;
  watch_memory(&a->base, NULL, NULL);
  if (a->domain) ibv_dealloc_pd(a->domain);
  if (a->place.context) ibv_close_device(a->place.context);
  free(a);
}

static int set_up(struct adapter *a, const struct nbc_verbs_options *o, const char **why) {
  enum ibv_mtu active = a->place.attributes.active_mtu;
  const char *name = ibv_get_device_name(a->place.context->device);
  a->mtu = o->mtu && o->mtu < active ? o->mtu : active;
  a->service_level = (uint8_t)o->service_level;
  a->traffic_class = (uint8_t)o->traffic_class;
  a->retry_count = (uint8_t)(o->retry_count ? o->retry_count : RETRIES);
  a->domain = ibv_alloc_pd(a->place.context);
  int status = a->domain ? watch_events(a) : status_of(errno);
  if (status) {
    *why = say("%s cannot be used: %s", name, strerror(errno));
    return status;
  }
  return find_facts(a, o, why);
}

int nbc_verbs_open(const struct nbc_verbs_options *given, struct nbc_device **result,
                   const char **why) {
  struct nbc_verbs_options options;
  char device[64];
  const char *nobody_asks;
  if (!why) why = &nobody_asks;
  *why = "";
  if (!result) {
    *why = "there is no place for the device";
    return NBC_ERROR_ARGUMENT;
  }
  if (!complete_options(given, &options, device, why)) return NBC_ERROR_ARGUMENT;
  struct adapter *a = (struct adapter *)calloc(1, sizeof *a);
  if (!a) {
    *why = "there is no more memory";
    return NBC_ERROR_MEMORY;
  }
  a->base = (struct nbc_verbs){.device = {NBC_VERBS_TARGET, close_adapter}, .ops = &adapter_ops};
  int status = choose_place(&options, &a->place, why);
  if (!status) status = set_up(a, &options, why);
  if (status)
    close_adapter(&a->base.device);
  else
    *result = &a->base.device;
  return status;
}
