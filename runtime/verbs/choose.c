// SPDX-License-Identifier: BSD-3-Clause
// choose.c - which devices, ports and GIDs; in words, where there is none.
//
// Considered are devices of InfiniBand and RoCE: iWARP makes connections in a way of its own.

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/verbs/adapter.h"
#include "runtime/verbs/rate.h"

enum { LONGEST_TEXT = 1024 };

static _Thread_local char said[LONGEST_TEXT];

const char *say(const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(said, sizeof said, format, values);
  va_end(values);
  return said;
}

// A list in words, as far as there is room.
struct list {
  char text[LONGEST_TEXT / 2];
  size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct list *l, const char *format, ...) {
  va_list values;
  size_t room = sizeof l->text - l->used;
  int wrote = snprintf(l->text + l->used, room, "%s", l->used ? ", " : "");
  va_start(values, format);
  wrote += vsnprintf(l->text + l->used + wrote, room - (size_t)wrote, format, values);
  va_end(values);
  l->used = (size_t)wrote < room ? l->used + (size_t)wrote : sizeof l->text - 3;
}

// --- the GID ---

static const char *name_gid_type(uint32_t type) {
  switch (type) {
    case IBV_GID_TYPE_IB:
      return "InfiniBand";
    case IBV_GID_TYPE_ROCE_V1:
      return "RoCE v1";
    case IBV_GID_TYPE_ROCE_V2:
      return "RoCE v2";
    default:
      return "unknown";
  }
}

static int choose_gid(const struct nbc_verbs_options *o, const char *device, struct place *p,
                      const char **why) {
  bool roce = is_roce(&p->attributes);
  struct list there = {0};
  int best = 0;
  for (int i = 0; i < p->attributes.gid_tbl_len && i <= 255; ++i) {
    struct ibv_gid_entry entry;
    char text[INET6_ADDRSTRLEN];
    if (ibv_query_gid_ex(p->context, p->port, (uint32_t)i, &entry, 0)) continue;
    inet_ntop(AF_INET6, entry.gid.raw, text, sizeof text);
    add(&there, "%d (%s, %s)", i, name_gid_type(entry.gid_type), text);
    int rating = rate_gid(&entry, roce);
    if (o->gid_index) rating = i == (o->gid_index < 0 ? 0 : o->gid_index);
    if (!rating || rating < best) continue;
    best = rating;
    p->gid = entry.gid;
    p->gid_index = (uint8_t)i;
  }
  if (best) return 0;
  const char *list = there.used ? there.text : "none";
  if (o->gid_index)
    *why = say("%s port %u has no GID %d; there are: %s", device, p->port,
               o->gid_index < 0 ? 0 : o->gid_index, list);
  else
    *why = say("%s port %u has no GID of RoCE v2; there are: %s", device, p->port, list);
  return NBC_ERROR_DEVICE;
}

// --- the device and its port ---

// Looks at one device; keeps it open in *best if a port of it is better than that.
static void look_at(struct ibv_device *device, const struct wish *wish, struct place *best,
                    struct list *there) {
  const char *name = ibv_get_device_name(device);
  struct ibv_device_attr attributes;
  bool kept = false, named = !*wish->device || !strcmp(wish->device, name);
  if (device->transport_type != IBV_TRANSPORT_IB) {
    add(there, "%s (neither InfiniBand nor RoCE)", name);
    return;
  }
  struct ibv_context *context = ibv_open_device(device);
  if (!context || ibv_query_device(context, &attributes)) {
    add(there, "%s (cannot be opened: %s)", name, strerror(errno));
    if (context) ibv_close_device(context);
    return;
  }
  int rating = best->context ? rate_port(&best->attributes) : 0;
  for (uint32_t number = 1; number <= attributes.phys_port_cnt; ++number) {
    struct ibv_port_attr port;
    if (ibv_query_port(context, (uint8_t)number, &port)) continue;
    add(there, "%s port %u (%s, %s)", name, number, is_roce(&port) ? "RoCE" : "InfiniBand",
        ibv_port_state_str(port.state));
    if (!named || (wish->port && wish->port != number) || rate_port(&port) <= rating) continue;
    rating = rate_port(&port);
    if (best->context && !kept) ibv_close_device(best->context);
    *best = (struct place){.context = context, .port = (uint8_t)number, .attributes = port};
    kept = true;
  }
  if (!kept) ibv_close_device(context);
}

int choose_place(const struct nbc_verbs_options *o, const struct wish *wish, struct place *place,
                 const char **why) {
  int count = 0;
  struct list there = {0};
  struct ibv_device **devices = ibv_get_device_list(&count);
  *place = (struct place){0};
  for (int i = 0; devices && i < count; ++i) look_at(devices[i], wish, place, &there);
  if (devices) ibv_free_device_list(devices);
  if (place->context) return choose_gid(o, ibv_get_device_name(place->context->device), place, why);
  char port[24] = "";
  if (wish->port) snprintf(port, sizeof port, ", port %u", wish->port);
  if (!there.used)
    *why = "libibverbs finds no RDMA device";
  else
    *why = say("no active port of %s%s; there are: %s", *wish->device ? wish->device : "any device",
               port, there.text);
  return NBC_ERROR_DEVICE;
}

// Active ports of a device, with this rating at least; better ones put the worse out of the list.
static void list_ports(struct ibv_device *device, int *rating, struct wish wishes[NBC_VERBS_RAILS],
                       uint32_t *count) {
  struct ibv_device_attr attributes;
  struct ibv_port_attr port;
  struct ibv_context *context =
      device->transport_type == IBV_TRANSPORT_IB ? ibv_open_device(device) : NULL;
  if (!context) return;
  const uint32_t ports = ibv_query_device(context, &attributes) ? 0 : attributes.phys_port_cnt;
  for (uint32_t number = 1; number <= ports; ++number) {
    if (ibv_query_port(context, (uint8_t)number, &port) || rate_port(&port) < *rating) continue;
    if (rate_port(&port) > *rating) *count = 0;
    *rating = rate_port(&port);
    if ((*count)++ >= NBC_VERBS_RAILS) continue;
    struct wish *w = &wishes[*count - 1];
    w->port = number;
    snprintf(w->device, sizeof w->device, "%s", ibv_get_device_name(device));
  }
  ibv_close_device(context);
}

static int by_name(const void *a, const void *b) {
  const struct wish *x = (const struct wish *)a, *y = (const struct wish *)b;
  const int names = strcmp(x->device, y->device);
  return names ? names : (int)x->port - (int)y->port;
}

int list_places(struct wish wishes[NBC_VERBS_RAILS], uint32_t *count, const char **why) {
  int devices = 0, rating = 1;
  struct ibv_device **all = ibv_get_device_list(&devices);
  *count = 0;
  for (int i = 0; all && i < devices; ++i) list_ports(all[i], &rating, wishes, count);
  if (all) ibv_free_device_list(all);
  // Not as libibverbs has it: that is in the order in which they came.
  if (*count <= NBC_VERBS_RAILS) qsort(wishes, *count, sizeof *wishes, by_name);
  if (*count == 0)
    *why = "no device has an active port";
  else if (*count > NBC_VERBS_RAILS)
    *why = say("%u ports are active, of which %d may be used: they have to be named", *count,
               NBC_VERBS_RAILS);
  return *count && *count <= NBC_VERBS_RAILS ? 0 : NBC_ERROR_DEVICE;
}
