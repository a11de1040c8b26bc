// SPDX-License-Identifier: BSD-3-Clause
// connect.c - where peers find each other, and how a queue pair gets there.
//
//   INIT --connect--> RTR -> RTS
//
// What travels is where the port is and what its side can do; the weaker of two decides, so both
// ends set up the same. Packet numbers begin where the sender's number says: both ends know it.

#include <errno.h>
#include <string.h>

#include "runtime/devx/adapter.h"
#include "runtime/verbs/rate.h"

enum {
  HOPS = 64,               // between subnets
  VERSION = 1,             // of struct card
  UDP_PORTS = 0xc000,      // of RoCE v2's senders, from here on
  PACKETS = (1 << 24) - 1  // packet sequence numbers have 24 bits
};

struct card {
  uint8_t gid[16];
  uint16_t lid;
  uint8_t version, link_layer, mtu, log_reads, active;
};
_Static_assert(sizeof(struct card) <= 32, "what travels");

int devx_address(struct nbc_hca *hca, uint8_t address[32]) {
  const struct devx_adapter *a = devx_adapter_of(hca);
  const struct ibv_port_attr *port = &a->port.attributes;
  struct card card = {.lid = port->lid,
                      .version = VERSION,
                      .link_layer = port->link_layer,
                      .mtu = (uint8_t)port->active_mtu,
                      .log_reads = a->log_reads,
                      .active = port->state == IBV_PORT_ACTIVE};
  memcpy(card.gid, a->port.gid.raw, sizeof card.gid);
  memset(address, 0, 32);
  memcpy(address, &card, sizeof card);
  return 0;
}

// What comes from a peer is looked at before it gets anywhere.
static bool believable(const struct devx_adapter *a, const struct card *peer, uint32_t number) {
  return peer->version == VERSION && peer->active &&
         peer->link_layer == a->port.attributes.link_layer && peer->mtu >= IBV_MTU_256 &&
         peer->mtu <= IBV_MTU_4096 && peer->log_reads <= 7 && number <= PACKETS;
}

static uint32_t first_packet(uint32_t number) {
  return number * UINT32_C(0x9e3779b1) >> 8;
}

// The peer's address on Ethernet, which the kernel finds out.
static bool find_mac(struct devx_adapter *a, struct devx_way *way) {
  struct ibv_ah_attr attributes = {.is_global = 1, .port_num = way->port, .sl = way->service_level};
  attributes.grh.sgid_index = way->gid_index;
  attributes.grh.hop_limit = way->hops;
  memcpy(attributes.grh.dgid.raw, way->gid, sizeof way->gid);
  errno = 0;
  struct ibv_ah *ah = a->libraries.make_way(a->domain, &attributes);
  if (!ah) return false;
  struct mlx5dv_ah inside = {0};
  struct mlx5dv_obj object = {.ah = {.in = ah, .out = &inside}};
  const int error = a->libraries.look_into(&object, MLX5DV_OBJ_AH);
  if (!error) memcpy(way->mac, inside.av->rmac, sizeof way->mac);
  a->libraries.free_way(ah);
  errno = error;
  return error == 0;
}

static bool find_way(struct devx_adapter *a, const struct card *peer, uint32_t number,
                     struct devx_way *way) {
  *way = (struct devx_way){.port = a->port.number,
                           .service_level = a->service_level,
                           .traffic_class = a->traffic_class,
                           .lid = peer->lid,
                           .global = memcmp(peer->gid, a->port.gid.raw, 8) != 0,  // subnets
                           .roce = is_roce(&a->port.attributes),
                           .gid_index = a->port.gid_index,
                           .hops = HOPS,
                           .udp_port = (uint16_t)(UDP_PORTS | (number & ~UDP_PORTS & 0xffff))};
  memcpy(way->gid, peer->gid, sizeof way->gid);
  return !way->roce || find_mac(a, way);
}

int devx_connect_qp(struct nbc_hca *hca, uint32_t number, const uint8_t address[32],
                    uint32_t peer_number) {
  struct devx_adapter *a = devx_adapter_of(hca);
  const struct devx_qp *qp = (const struct devx_qp *)devx_find(&a->qps, number);
  struct card card;
  memcpy(&card, address, sizeof card);
  if (!qp) return NBC_ERROR_ARGUMENT;
  if (!believable(a, &card, peer_number)) return NBC_ERROR_DEVICE;
  const uint8_t mtu = (uint8_t)a->port.attributes.active_mtu;
  struct devx_peer peer = {.number = peer_number,
                           .first_packet = first_packet(peer_number),
                           .mtu = card.mtu < mtu ? card.mtu : mtu,
                           .log_reads = a->log_reads,
                           .rnr_timer = qp->rnr_timer};
  if (!find_way(a, &card, number, &peer.way)) return devx_status_of(errno);
  uint8_t command[DEVX_COMMAND_BYTES];
  devx_put_receive_ready(command, number, &peer);
  if (!devx_modify(a, qp, command)) return devx_status_of(errno);
  devx_put_send_ready(command, number, first_packet(number),
                      card.log_reads < a->log_own_reads ? card.log_reads : a->log_own_reads);
  return devx_modify(a, qp, command) ? 0 : devx_status_of(errno);
}
