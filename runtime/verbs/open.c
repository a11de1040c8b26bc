// SPDX-License-Identifier: BSD-3-Clause
// open.c - ports are opened, and what they can do found out; registration of memory.
//
// How much a queue takes inline is nowhere to be read: queue pairs are made until one is granted.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/verbs/adapter.h"

enum {
  MOST_INLINE = 512,  // more would make work requests so large that reading them takes long
  MOST_READS = 16,    // of a queue pair under way
  TIMEOUT = 18,       // as UCX and Open MPI wait about a second, or four
  RETRIES = 6
};
#define LONGEST (UINT64_C(1) << 31)

void tell_facts(struct nbc_verbs *base, struct nbc_verbs_facts *facts) {
  *facts = adapter_of(base)->facts;
}

// Registered with each rail.
struct region {
  struct ibv_mr *of[NBC_VERBS_RAILS];
};

void deregister_memory(struct nbc_verbs *base, void *region) {
  struct region *r = (struct region *)region;
  if (!r) return;
  for (uint32_t i = 0; i < adapter_of(base)->rail_count; ++i)
    if (r->of[i]) ibv_dereg_mr(r->of[i]);
  free(r);
}

void tell_keys(struct nbc_verbs *base, void *region, uint32_t rail, uint32_t *lkey,
               uint32_t *rkey) {
  const struct ibv_mr *mr = ((const struct region *)region)->of[rail];
  (void)base;
  *lkey = mr->lkey;
  *rkey = mr->rkey;
}

int register_memory(struct nbc_verbs *base, void *begin, size_t bytes, int access, void **region,
                    uint32_t *lkey, uint32_t *rkey) {
  struct adapter *a = adapter_of(base);
  struct region *r = (struct region *)calloc(1, sizeof *r);
  if (!r) return NBC_ERROR_MEMORY;
  for (uint32_t i = 0; i < a->rail_count; ++i) {
    r->of[i] = ibv_reg_mr(a->rails[i].domain, begin, bytes, access);
    if (r->of[i]) continue;
    const int status = status_of(errno);
    deregister_memory(base, r);
    return status;
  }
  *region = r;
  tell_keys(base, r, 0, lkey, rkey);
  return 0;
}

// False: no queue pair at all can be made.
static bool find_inline(const struct rail *rail, struct nbc_verbs_facts *facts) {
  bool made = false;
  struct ibv_cq *cq = ibv_create_cq(rail->place.context, 2, NULL, NULL, 0);
  if (!cq) return false;
  for (uint32_t wish = MOST_INLINE; !made; wish = wish > 32 ? wish / 2 : 0) {
    struct ibv_qp_init_attr attributes = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .cap = {1, 1, facts->gather, 1, wish},
    };
    struct ibv_qp *qp = ibv_create_qp(rail->domain, &attributes);
    made = qp != NULL;
    if (made) facts->inline_bytes = attributes.cap.max_inline_data;
    if (qp) ibv_destroy_qp(qp);
    if (!wish) break;
  }
  if (facts->inline_bytes > MOST_INLINE) facts->inline_bytes = MOST_INLINE;
  int error = errno;
  ibv_destroy_cq(cq);
  errno = error;
  return made;
}

// Of all that is done with a call's memory.
static bool can_page(struct ibv_context *context, bool reads) {
  struct ibv_device_attr_ex attributes;
  if (ibv_query_device_ex(context, NULL, &attributes)) return false;
  const uint32_t needed = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
                          (reads ? (uint32_t)IBV_ODP_SUPPORT_READ : 0);
  const struct ibv_odp_caps *odp = &attributes.odp_caps;
  return odp->general_caps & IBV_ODP_SUPPORT &&
         (odp->per_transport_caps.rc_odp_caps & needed) == needed;
}

static uint8_t at_most(int value, int most) {
  return (uint8_t)(value < 0 ? 0 : value < most ? value : most);
}

// Of one rail.
static int find_facts(struct rail *rail, struct nbc_verbs_facts *facts, const char **why) {
  const char *name = ibv_get_device_name(rail->place.context->device);
  struct ibv_device_attr attributes;
  int error = ibv_query_device(rail->place.context, &attributes);
  if (error) {
    *why = say("%s does not say what it can do: %s", name, strerror(error));
    return NBC_ERROR_DEVICE;
  }
  rail->own_reads = at_most(attributes.max_qp_init_rd_atom, MOST_READS);
  rail->served_reads = at_most(attributes.max_qp_rd_atom, MOST_READS);
  *facts = (struct nbc_verbs_facts){.gather = (uint32_t)attributes.max_sge,
                                    .queue = (uint32_t)attributes.max_qp_wr,
                                    .completions = (uint32_t)attributes.max_cqe,
                                    .reads = rail->served_reads ? rail->own_reads : 0,
                                    .longest = rail->place.attributes.max_msg_sz};
  facts->on_demand = can_page(rail->place.context, facts->reads);
  if (find_inline(rail, facts)) return 0;
  *why = say("%s makes no queue pair: %s", name, strerror(errno));
  return status_of(errno);
}

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

// What holds for any rail.
static void agree(struct nbc_verbs_facts *all, const struct nbc_verbs_facts *one) {
  all->gather = least(all->gather, one->gather);
  all->queue = least(all->queue, one->queue);
  all->completions = least(all->completions, one->completions);
  all->inline_bytes = least(all->inline_bytes, one->inline_bytes);
  all->reads = least(all->reads, one->reads);
  if (one->longest < all->longest) all->longest = one->longest;
  all->on_demand &= one->on_demand;
}

static void close_adapter(struct nbc_device *device) {
  struct adapter *a = (struct adapter *)device;
  watch_memory(&a->base, NULL, NULL);
  for (uint32_t i = 0; i < NBC_VERBS_RAILS; ++i) {
    if (a->rails[i].domain) ibv_dealloc_pd(a->rails[i].domain);
    if (a->rails[i].place.context) ibv_close_device(a->rails[i].place.context);
  }
  free(a);
}

static int open_rail(struct adapter *a, const struct nbc_verbs_options *o, const struct wish *wish,
                     const char **why) {
  struct rail *rail = &a->rails[a->rail_count];
  struct nbc_verbs_facts facts;
  int status = choose_place(o, wish, &rail->place, why);
  if (status) return status;
  enum ibv_mtu active = rail->place.attributes.active_mtu;
  const char *name = ibv_get_device_name(rail->place.context->device);
  rail->mtu = o->mtu && o->mtu < active ? o->mtu : active;
  rail->domain = ibv_alloc_pd(rail->place.context);
  status = rail->domain ? watch_events(rail) : status_of(errno);
  if (status) {
    *why = say("%s cannot be used: %s", name, strerror(errno));
    return status;
  }
  status = find_facts(rail, &facts, why);
  if (status) return status;
  agree(&a->facts, &facts);
  ++a->rail_count;
  if (o->memory == NBC_VERBS_ON_DEMAND && !facts.on_demand) {
    *why = say("%s has no on-demand paging of reliable connections", name);
    return NBC_ERROR_DEVICE;
  }
  // A send makes sure by a read that its receive is there.
  const bool reads = o->rendezvous != NBC_VERBS_WRITE || o->transfer >= NBC_TRANSFER_READ;
  if (!reads || facts.reads) return 0;
  *why = say("%s cannot read: the rendezvous has to be by writes", name);
  return NBC_ERROR_DEVICE;
}

static int set_up(struct adapter *a, const struct nbc_verbs_options *o, struct wish *wishes,
                  uint32_t count, const char **why) {
  a->service_level = (uint8_t)o->service_level;
  a->traffic_class = (uint8_t)o->traffic_class;
  a->timeout = (uint8_t)(o->timeout ? o->timeout : TIMEOUT);
  a->retry_count = (uint8_t)(o->retry_count ? o->retry_count : RETRIES);
  a->facts = (struct nbc_verbs_facts){.gather = UINT32_MAX,
                                      .queue = UINT32_MAX,
                                      .completions = UINT32_MAX,
                                      .inline_bytes = UINT32_MAX,
                                      .reads = UINT32_MAX,
                                      .longest = LONGEST,
                                      .rails = count,
                                      .rendezvous = o->rendezvous,
                                      .transfer = o->transfer,
                                      .offers = o->offers,
                                      .rnr_timer = o->rnr_timer,
                                      .on_demand = o->memory != NBC_VERBS_PINNED,
                                      .memory = o->memory};
  if (o->patience > 0) a->facts.patience = 1000 * (uint32_t)o->patience;
  int status = 0;
  for (uint32_t i = 0; i < count && !status; ++i) status = open_rail(a, o, &wishes[i], why);
  return status;
}

int nbc_verbs_open(const struct nbc_verbs_options *given, struct nbc_device **result,
                   const char **why) {
  struct nbc_verbs_options options;
  struct wish wishes[NBC_VERBS_RAILS];
  uint32_t count;
  const char *nobody_asks;
  if (!why) why = &nobody_asks;
  *why = "";
  if (!result) {
    *why = "there is no place for the device";
    return NBC_ERROR_ARGUMENT;
  }
  if (!complete_options(given, &options, wishes, &count, why)) return NBC_ERROR_ARGUMENT;
  int status = count ? 0 : list_places(wishes, &count, why);
  if (status) return status;
  struct adapter *a = (struct adapter *)calloc(1, sizeof *a);
  if (!a) {
    *why = "there is no more memory";
    return NBC_ERROR_MEMORY;
  }
  a->base = (struct nbc_verbs){.device = {NBC_VERBS_TARGET, close_adapter}, .ops = &adapter_ops};
  status = set_up(a, &options, wishes, count, why);
  if (status)
    close_adapter(&a->base.device);
  else
    *result = &a->base.device;
  return status;
}
