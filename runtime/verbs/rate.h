// SPDX-License-Identifier: BSD-3-Clause
// rate.h - which of several ports and GIDs is better: for those who open adapters.

#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <string.h>

static inline bool is_roce(const struct ibv_port_attr *port) {
  return port->link_layer == IBV_LINK_LAYER_ETHERNET;
}

// 0: not at all.
static inline int rate_port(const struct ibv_port_attr *port) {
  if (port->state != IBV_PORT_ACTIVE) return 0;
  return is_roce(port) ? 1 : 2;
}

static inline bool holds_ipv4(const union ibv_gid *gid) {
  static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return memcmp(gid->raw, mapped, sizeof mapped) == 0;
}

// Of a port of RoCE, or of InfiniBand. 0: not at all.
static inline int rate_gid(const struct ibv_gid_entry *entry, bool roce) {
  if (!roce) return entry->gid_index == 0;
  if (entry->gid_type != IBV_GID_TYPE_ROCE_V2) return 0;
  return holds_ipv4(&entry->gid) ? 2 : 1;
}
