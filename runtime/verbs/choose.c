// SPDX-License-Identifier: BSD-3-Clause
// choose.c - which device, port and GID; in words, where there is none.
//
// Considered are devices of InfiniBand and RoCE: iWARP makes connections in a way of its own.

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nbc/transfer.h"
#include "runtime/verbs/adapter.h"

enum { LONGEST_TEXT = 1024, PATIENCE = 4, MOST_PATIENCE = 1000000 /* microseconds */ };

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

// --- what is asked for ---

static bool read_number(const char *text, long most, long *number) {
  char *end;
  errno = 0;
  *number = strtol(text, &end, 10);
  return !errno && end != text && !*end && *number >= 0 && *number <= most;
}

static bool read_device(const char *text, struct nbc_verbs_options *o, char device[64]) {
  const char *colon = strchr(text, ':');
  size_t length = colon ? (size_t)(colon - text) : strlen(text);
  long port = 0;
  if (!length || length >= 64) return false;
  if (colon && (!read_number(colon + 1, 255, &port) || !port)) return false;
  memcpy(device, text, length);
  device[length] = 0;
  o->device = device;
  if (!o->port) o->port = (uint32_t)port;
  return true;
}

static bool is_way(unsigned transfer) {
  return transfer == NBC_TRANSFER_AUTO ||
         (transfer >= NBC_TRANSFER_EAGER && transfer <= NBC_TRANSFER_READ);
}

static bool read_transfer(const char *text, struct nbc_verbs_options *o) {
  for (unsigned way = NBC_TRANSFER_AUTO; way < NBC_TRANSFERS; ++way) {
    if (!is_way(way) || strcmp(text, nbc_transfer_name((enum nbc_transfer)way)) != 0) continue;
    o->transfer = (enum nbc_transfer)way;
    return true;
  }
  return false;
}

static bool possible(const struct nbc_verbs_options *o) {
  return (!o->device || strlen(o->device) < 64) && o->port <= 255 && o->gid_index >= -1 &&
         o->gid_index <= 255 && (unsigned)o->mtu <= IBV_MTU_4096 && o->service_level <= 15 &&
         o->traffic_class <= 255 && o->retry_count <= 7 &&
         (unsigned)o->rendezvous <= NBC_VERBS_READ && is_way((unsigned)o->transfer) &&
         (unsigned)o->offers <= NBC_VERBS_ANEW && o->patience >= -1 && o->patience <= MOST_PATIENCE;
}

bool complete_options(const struct nbc_verbs_options *given, struct nbc_verbs_options *o,
                      char device[64], const char **why) {
  static const struct nbc_verbs_options none = {0};
  const char *text;
  long number;
  *o = given ? *given : none;
  *why = "nbc_verbs_options are out of range";
  if (!possible(o)) return false;
  if (!o->device && (text = getenv("NBC_VERBS_DEVICE")) && !read_device(text, o, device)) {
    *why = say("NBC_VERBS_DEVICE is '%.64s'; it is to be a device, or device:port", text);
    return false;
  }
  if (!o->gid_index && (text = getenv("NBC_VERBS_GID"))) {
    if (!read_number(text, 255, &number)) {
      *why = say("NBC_VERBS_GID is '%.64s'; it is to be an index, 0 to 255", text);
      return false;
    }
    o->gid_index = number ? (int)number : -1;
  }
  if (o->rendezvous == NBC_VERBS_WRITE && (text = getenv("NBC_VERBS_RENDEZVOUS"))) {
    if (strcmp(text, "read") && strcmp(text, "write")) {
      *why = say("NBC_VERBS_RENDEZVOUS is '%.64s'; it is to be read or write", text);
      return false;
    }
    if (!strcmp(text, "read")) o->rendezvous = NBC_VERBS_READ;
  }
  if (o->transfer == NBC_TRANSFER_AUTO && (text = getenv("NBC_VERBS_TRANSFER")) &&
      !read_transfer(text, o)) {
    *why = say("NBC_VERBS_TRANSFER is '%.64s'; it is to be eager, write, read or auto", text);
    return false;
  }
  if (o->offers == NBC_VERBS_KEPT && (text = getenv("NBC_VERBS_DIRECT"))) {
    if (strcmp(text, "yes") && strcmp(text, "no")) {
      *why = say("NBC_VERBS_DIRECT is '%.64s'; it is to be yes or no", text);
      return false;
    }
    if (!strcmp(text, "no")) o->offers = NBC_VERBS_ANEW;
  }
  if (!o->patience && (text = getenv("NBC_VERBS_PATIENCE"))) {
    if (!read_number(text, MOST_PATIENCE, &number)) {
      *why = say("NBC_VERBS_PATIENCE is '%.64s'; it is to be microseconds, 0 to 1000000", text);
      return false;
    }
    o->patience = number ? (int)number : -1;
  }
  if (!o->patience) o->patience = PATIENCE;
  *why = "";
  return true;
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

static bool holds_ipv4(const union ibv_gid *gid) {
  static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return memcmp(gid->raw, mapped, sizeof mapped) == 0;
}

// How well one does: 0 not at all.
static int rate_gid(const struct ibv_gid_entry *entry, bool roce) {
  if (!roce) return entry->gid_index == 0;
  if (entry->gid_type != IBV_GID_TYPE_ROCE_V2) return 0;
  return holds_ipv4(&entry->gid) ? 2 : 1;
}

static int choose_gid(const struct nbc_verbs_options *o, const char *device, struct place *p,
                      const char **why) {
  bool roce = p->attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
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

static int rate_port(const struct ibv_port_attr *port) {
  if (port->state != IBV_PORT_ACTIVE) return 0;
  return port->link_layer == IBV_LINK_LAYER_ETHERNET ? 1 : 2;
}

// Looks at one device; keeps it open in *best if a port of it is better than that.
static void look_at(struct ibv_device *device, const struct nbc_verbs_options *o,
                    struct place *best, struct list *there) {
  const char *name = ibv_get_device_name(device);
  struct ibv_device_attr attributes;
  bool kept = false, named = !o->device || !strcmp(o->device, name);
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
    add(there, "%s port %u (%s, %s)", name, number,
        port.link_layer == IBV_LINK_LAYER_ETHERNET ? "RoCE" : "InfiniBand",
        ibv_port_state_str(port.state));
    if (!named || (o->port && o->port != number) || rate_port(&port) <= rating) continue;
    rating = rate_port(&port);
    if (best->context && !kept) ibv_close_device(best->context);
    *best = (struct place){.context = context, .port = (uint8_t)number, .attributes = port};
    kept = true;
  }
  if (!kept) ibv_close_device(context);
}

int choose_place(const struct nbc_verbs_options *o, struct place *place, const char **why) {
  int count = 0;
  struct list there = {0};
  struct ibv_device **devices = ibv_get_device_list(&count);
  *place = (struct place){0};
  for (int i = 0; devices && i < count; ++i) look_at(devices[i], o, place, &there);
  if (devices) ibv_free_device_list(devices);
  if (place->context) return choose_gid(o, ibv_get_device_name(place->context->device), place, why);
  char port[24] = "";
  if (o->port) snprintf(port, sizeof port, ", port %u", o->port);
  if (!there.used)
    *why = "libibverbs finds no RDMA device";
  else
    *why = say("no active port of %s%s; there are: %s", o->device ? o->device : "any device", port,
               there.text);
  return NBC_ERROR_DEVICE;
}
