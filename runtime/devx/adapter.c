// SPDX-License-Identifier: BSD-3-Clause
// adapter.c - nbc_devx_open: an adapter with all that its queues share; registration of memory.
//
// A communicator opens its adapter for itself: one context, one protection domain. So what a plan
// registers is out of reach for all but the communicator's own queue pairs. An adapter has one port
// here: each port of mlx5 is an adapter of its own.

#include "runtime/devx/adapter.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/devx/rest.h"

enum { MOST_LOG_READS = 4, MOST_GID = 255 };
enum { PATIENCE = 4, MOST_PATIENCE = 1000000 };  // microseconds

static void tell_facts(struct nbc_hca *hca, struct nbc_hca_facts *facts) {
  *facts = devx_adapter_of(hca)->facts;
}

// --- memory ---

static int register_memory(struct nbc_hca *hca, void *begin, size_t bytes, uint32_t access,
                           uint32_t *lkey, uint32_t *rkey) {
  struct devx_adapter *a = devx_adapter_of(hca);
  int flags = access & NBC_HCA_READ_ONLY ? 0 : IBV_ACCESS_LOCAL_WRITE;
  if (access & NBC_HCA_REMOTE_WRITE) flags |= IBV_ACCESS_REMOTE_WRITE;
  if (access & NBC_HCA_REMOTE_READ) flags |= IBV_ACCESS_REMOTE_READ;
  if (access & NBC_HCA_REMOTE_ATOMIC) flags |= IBV_ACCESS_REMOTE_ATOMIC;
  struct devx_region *r = (struct devx_region *)calloc(1, sizeof *r);
  if (!r) return NBC_ERROR_MEMORY;
  errno = 0;
  r->mr = a->libraries.register_memory(a->domain, begin, bytes, flags);
  if (!r->mr) {
    free(r);
    return devx_status_of(errno);
  }
  *lkey = r->mr->lkey;
  *rkey = r->mr->rkey;
  pthread_mutex_lock(&a->mutex);
  r->next = a->regions;
  a->regions = r;
  pthread_mutex_unlock(&a->mutex);
  return 0;
}

static int deregister_memory(struct nbc_hca *hca, uint32_t lkey) {
  struct devx_adapter *a = devx_adapter_of(hca);
  pthread_mutex_lock(&a->mutex);
  struct devx_region **place = &a->regions;
  while (*place && (*place)->mr->lkey != lkey) place = &(*place)->next;
  struct devx_region *r = *place;
  if (r) *place = r->next;
  pthread_mutex_unlock(&a->mutex);
  if (!r) return NBC_ERROR_ARGUMENT;
  a->libraries.deregister_memory(r->mr);
  free(r);
  return 0;
}

// --- waiting ---

static int64_t clock_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void rest(struct nbc_hca *hca, int64_t nanoseconds) {
  static _Thread_local struct devx_rests rests;
  (void)hca;
  const struct timespec time = {0, devx_rest_from(&rests, clock_now(), nanoseconds)};
  if (time.tv_nsec <= 0)
    sched_yield();
  else
    nanosleep(&time, NULL);
  rests.ended = clock_now();
}

static const struct nbc_hca_ops adapter_ops = {
    .name = "DevX",
    .facts = tell_facts,
    .create_cq = devx_create_cq,
    .create_qp = devx_create_qp,
    .address = devx_address,
    .connect_qp = devx_connect_qp,
    .destroy_qp = devx_destroy_qp,
    .destroy_cq = devx_destroy_cq,
    .register_memory = register_memory,
    .deregister_memory = deregister_memory,
    .doorbell = devx_doorbell,
    .failed = devx_failed,
    .sleep = rest,
};

// --- opened and closed ---

static void close_adapter(struct nbc_device *device) {
  struct devx_adapter *a = (struct devx_adapter *)device;
  const struct devx_libraries *l = &a->libraries;
  devx_destroy_queues(a);
  while (a->regions) deregister_memory(&a->base, a->regions->mr->lkey);
  devx_watch_no_more(a);
  if (a->page) l->free_page(a->page);
  if (a->domain) l->free_domain(a->domain);
  if (a->context) l->close(a->context);
  pthread_mutex_destroy(&a->mutex);
  free(a);
}

static uint8_t log_of_reads(int reads) {
  uint8_t log = 0;
  while (log < MOST_LOG_READS && 2 << log <= reads) ++log;
  return log;
}

static bool refuse(struct devx_adapter *a, const char *what, struct devx_why *why) {
  return devx_refuse(why, "%s has no %s for queues: %s (errno %d)",
                     a->libraries.name(a->context->device), what, strerror(errno), errno);
}

// What all queues share.
static bool set_up(struct devx_adapter *a, struct devx_why *why) {
  const struct devx_libraries *l = &a->libraries;
  struct ibv_device_attr attributes;
  struct mlx5dv_pd inside = {0};
  errno = l->query_device(a->context, &attributes);
  if (errno) return refuse(a, "limits", why);
  a->log_reads = log_of_reads(attributes.max_qp_rd_atom);
  a->log_own_reads = log_of_reads(attributes.max_qp_init_rd_atom);
  a->domain = l->make_domain(a->context);
  if (!a->domain) return refuse(a, "protection domain", why);
  struct mlx5dv_obj object = {.pd = {.in = a->domain, .out = &inside}};
  errno = l->look_into(&object, MLX5DV_OBJ_PD);
  if (errno) return refuse(a, "protection domain with a number", why);
  a->domain_number = inside.pdn;
  a->page = l->make_page(a->context, MLX5DV_UAR_ALLOC_TYPE_NC);
  if (!a->page) return refuse(a, "uncached page of doorbells", why);
  errno = l->event_queue(a->context, 0, &a->event_queue);
  if (errno) return refuse(a, "event queue", why);
  return devx_watch(a, why);
}

static int open_adapter(const struct nbc_devx_options *o, struct nbc_device **result,
                        struct devx_why *why) {
  struct devx_adapter *a = (struct devx_adapter *)calloc(1, sizeof *a);
  devx_refuse(why, "no memory is left");
  if (!a) return NBC_ERROR_MEMORY;
  if (pthread_mutex_init(&a->mutex, NULL)) {
    free(a);
    return NBC_ERROR_MEMORY;
  }
  a->base = (struct nbc_hca){{NBC_HCA_TARGET, close_adapter}, &adapter_ops};
  a->service_level = (uint8_t)o->service_level;
  a->traffic_class = (uint8_t)o->traffic_class;
  int status =
      devx_load(&a->libraries, why) ? devx_choose(&a->libraries, o, a, why) : NBC_ERROR_DEVICE;
  if (!status && !set_up(a, why)) status = NBC_ERROR_DEVICE;
  if (o->patience > 0) a->facts.patience = 1000 * (uint32_t)o->patience;
  if (status)
    close_adapter(&a->base.device);
  else
    *result = &a->base.device;
  return status;
}

// What the environment says, if it does: 0 as -1, since 0 is whatever is usual.
static bool read_number(const char *variable, long most, int *number, struct devx_why *why) {
  const char *text = getenv(variable);
  if (!text) return true;
  char *end;
  errno = 0;
  const long said = strtol(text, &end, 10);
  if (errno || end == text || *end || said < 0 || said > most)
    return devx_refuse(why, "%s is '%.64s'; it is to be 0 to %ld", variable, text, most);
  *number = said ? (int)said : -1;
  return true;
}

// What is not said by the program, by its user. False: it cannot be.
static bool complete(const struct nbc_devx_options *given, struct nbc_devx_options *o,
                     struct devx_why *why) {
  *o = given ? *given : (struct nbc_devx_options){0};
  if (!o->device) o->device = getenv("NBC_DEVX_DEVICE");
  if (!o->gid_index && !read_number("NBC_DEVX_GID", MOST_GID, &o->gid_index, why)) return false;
  if (!o->patience && !read_number("NBC_DEVX_PATIENCE", MOST_PATIENCE, &o->patience, why))
    return false;
  if (!o->patience) o->patience = PATIENCE;
  if (o->patience >= -1 && o->patience <= MOST_PATIENCE && o->gid_index >= -1 &&
      o->gid_index <= MOST_GID && o->service_level <= 15 && o->traffic_class <= 255)
    return true;
  return devx_refuse(why, "nbc_devx_options are out of range");
}

int nbc_devx_open(const struct nbc_devx_options *given, struct nbc_device **result,
                  const char **why) {
  static _Thread_local struct devx_why said;
  struct nbc_devx_options options;
  if (why) *why = said.text;
  devx_refuse(&said, "there is no place for the device");
  if (!result || !complete(given, &options, &said)) return NBC_ERROR_ARGUMENT;
  return open_adapter(&options, result, &said);
}
