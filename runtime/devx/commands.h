// SPDX-License-Identifier: BSD-3-Clause
// commands.h - commands to the adapter's firmware that make queues and move queue pairs from state
// to state: what they say, and as bytes. Nothing is sent here.

#pragma once

#include <stdbool.h>
#include <stdint.h>

uint64_t devx_bits(const uint8_t *from, uint32_t place, uint32_t width);
void devx_set_bits(uint8_t *to, uint32_t place, uint32_t width, uint64_t value);

// All commands that make or move something are so long, and so are their answers.
enum { DEVX_COMMAND_BYTES = 272, DEVX_REPLY_BYTES = 16 };

// A place in memory that the adapter knows.
struct devx_place {
  uint32_t memory;  // umem
  uint64_t offset;
};

struct devx_cq_wish {
  uint32_t log_entries, page, event_queue;  // page: of doorbells
  bool overruns;
  struct devx_place ring, record;
};
void devx_put_create_cq(uint8_t command[DEVX_COMMAND_BYTES], const struct devx_cq_wish *);

// Receives of one queue pair that are no part of it (RMP): entries in a list, which leads round.
struct devx_receives_wish {
  uint32_t log_entries, log_stride, domain;
  struct devx_place ring, record;
};
void devx_put_create_receives(uint8_t command[DEVX_COMMAND_BYTES],
                              const struct devx_receives_wish *);

struct devx_qp_wish {
  uint32_t domain, page, send_cq, recv_cq;
  uint32_t log_sq;                 // WQEBBs
  uint32_t log_rq, log_stride;     // log_rq UINT32_MAX: receives are of `receives`
  uint32_t receives;               // number of the RMP; 0: there are none
  bool master, slave;              // may hold WAIT and SEND_EN; is started by SEND_EN alone
  struct devx_place ring, record;  // receives first, then sends
};
void devx_put_create_qp(uint8_t command[DEVX_COMMAND_BYTES], const struct devx_qp_wish *);

void devx_put_init(uint8_t command[DEVX_COMMAND_BYTES], uint32_t number, uint8_t port);

// From a port to a peer's.
struct devx_way {
  uint8_t port, service_level, traffic_class;
  uint16_t lid;       // InfiniBand
  bool global, roce;  // with a GRH; by Ethernet, which always has one
  uint8_t gid_index, hops;
  uint8_t gid[16], mac[6];  // the peer's
  uint16_t udp_port;        // one's own
};
struct devx_peer {
  uint32_t number, first_packet, mtu;  // enum ibv_mtu
  uint32_t log_reads;                  // of our memory, under way at once
  uint32_t rnr_timer;                  // a code: when it is to come again that finds no receive
  struct devx_way way;
};
void devx_put_receive_ready(uint8_t command[DEVX_COMMAND_BYTES], uint32_t number,
                            const struct devx_peer *);
void devx_put_send_ready(uint8_t command[DEVX_COMMAND_BYTES], uint32_t number,
                         uint32_t first_packet, uint32_t log_reads);

// The number of what a command has made.
uint32_t devx_number(const uint8_t reply[DEVX_REPLY_BYTES]);
