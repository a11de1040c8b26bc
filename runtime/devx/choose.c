// SPDX-License-Identifier: BSD-3-Clause
// choose.c - which adapter, port and GID; in words, where there is none that will do.
//
// An adapter has to be one of mlx5 that DevX opens, wait for completions or words, and have an
// active port.

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/devx/adapter.h"
#include "runtime/verbs/rate.h"

struct wish {
  char device[64];  // "": any
  uint32_t port;    // 0: any
};

static bool read_wish(const char *text, struct wish *wish) {
  *wish = (struct wish){"", 0};
  if (!text || !*text || !strcmp(text, "any")) return true;
  const char *colon = strchr(text, ':');
  const size_t name = colon ? (size_t)(colon - text) : strlen(text);
  if (name == 0 || name >= sizeof wish->device) return false;
  memcpy(wish->device, text, name);
  if (!colon) return true;
  char *end;
  errno = 0;
  const unsigned long port = strtoul(colon + 1, &end, 10);
  if (errno || end == colon + 1 || *end || colon[1] == '-' || port < 1 || port > 255) return false;
  wish->port = (uint32_t)port;
  return true;
}

// --- the GID ---

static bool choose_gid(const struct devx_libraries *l, struct ibv_context *context, int wanted,
                       struct devx_port *port) {
  const bool roce = is_roce(&port->attributes);
  int best = 0;
  for (int i = 0; i < port->attributes.gid_tbl_len && i <= 255; ++i) {
    struct ibv_gid_entry entry = {.gid_index = (uint32_t)i};
    if (l->query_gid(context, port->number, (uint32_t)i, &entry, 0, sizeof entry)) continue;
    int rating = rate_gid(&entry, roce);
    if (wanted) rating = i == (wanted < 0 ? 0 : wanted);
    if (!rating || rating < best) continue;
    best = rating;
    port->gid = entry.gid;
    port->gid_index = (uint8_t)i;
  }
  return best != 0;
}

// --- the adapter ---

// What was looked at, and why it will not do: as far as there is room.
static void add(struct devx_why *why, const char *name, const char *text) {
  const size_t used = strlen(why->text);
  struct devx_why more;
  devx_refuse(&more, "%s%s: %s", used ? "; " : "", name, text);
  strncat(why->text, more.text, sizeof why->text - used - 1);
}

struct candidate {
  struct ibv_context *context;
  struct nbc_hca_facts facts;
  struct devx_port port;
};

// The best of an adapter's ports that the wish allows.
static bool choose_port(const struct devx_libraries *l, struct candidate *c,
                        const struct wish *wish, int gid_index, struct devx_why *why) {
  struct ibv_device_attr attributes;
  const uint32_t ports = l->query_device(c->context, &attributes) ? 0 : attributes.phys_port_cnt;
  for (uint32_t number = 1; number <= ports; ++number) {
    // Of a struct that has grown the library fills what it had at first, which is all looked at.
    struct devx_port port = {.number = (uint8_t)number};
    if (wish->port && wish->port != number) continue;
    if (l->query_port(c->context, (uint8_t)number,
                      (struct _compat_ibv_port_attr *)(void *)&port.attributes))
      continue;
    if (rate_port(&port.attributes) > rate_port(&c->port.attributes)) c->port = port;
  }
  if (!c->port.number)
    return devx_refuse(why, "has no active port%s", wish->port ? " of that number" : "");
  if (choose_gid(l, c->context, gid_index, &c->port)) return true;
  return devx_refuse(why, "port %u has no GID %s", c->port.number,
                     gid_index ? "of that index" : "of RoCE v2");
}

static bool look_at(const struct devx_libraries *l, struct ibv_device *device,
                    const struct wish *wish, int gid_index, struct candidate *c,
                    struct devx_why *why) {
  c->context = devx_open(l, device, why);
  if (!c->context || !devx_query(l, c->context, &c->facts, why)) return false;
  if (!c->facts.waits) return devx_refuse(why, "waits for neither completions nor words");
  return choose_port(l, c, wish, gid_index, why);
}

int devx_choose(const struct devx_libraries *l, const struct nbc_devx_options *options,
                struct devx_adapter *a, struct devx_why *why) {
  struct wish wish;
  if (!read_wish(options->device, &wish)) {
    devx_refuse(why, "the device is '%.64s'; it is to be an adapter, adapter:port, or any",
                options->device);
    return NBC_ERROR_ARGUMENT;
  }
  int count = 0;
  struct devx_why there = {""};
  struct ibv_device **list = l->list(&count);
  struct candidate best = {0};
  for (int i = 0; list && i < count; ++i) {
    struct candidate c = {0};
    struct devx_why reason = {""};
    const char *name = l->name(list[i]);
    if (*wish.device && strcmp(wish.device, name) != 0) {
      add(&there, name, "is not the one");
      continue;
    }
    if (!look_at(l, list[i], &wish, options->gid_index, &c, &reason))
      add(&there, name, reason.text);
    else if (rate_port(&c.port.attributes) > rate_port(&best.port.attributes)) {
      const struct candidate worse = best;
      best = c;
      c = worse;
    }
    if (c.context) l->close(c.context);
  }
  if (list) l->free_list(list);
  if (!best.context) {
    devx_refuse(why, "no adapter will do%s%s%s: %s", *wish.device ? " (" : "", wish.device,
                *wish.device ? " is wanted)" : "",
                *there.text ? there.text : "libibverbs finds no RDMA device");
    return NBC_ERROR_DEVICE;
  }
  a->context = best.context;
  a->facts = best.facts;
  a->port = best.port;
  return 0;
}
