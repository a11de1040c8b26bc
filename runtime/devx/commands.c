// SPDX-License-Identifier: BSD-3-Clause
// commands.c - commands to the adapter's firmware that make queues and move queue pairs from state
// to state, bit by bit.
//
// Fields are those of mlx5_ifc.h (Linux, include/linux/mlx5) and of the vendor's programming
// manual; where they stand is counted in bits from the beginning of what they are of, the highest
// bit of a byte first. All that is not named is 0.
//
//     command         0x000 opcode 16; a reply: status 8, 0x20 syndrome 32, 0x48 number 24
//     CREATE_CQ       0x080 CQ context; 0x280 ring's offset 64, 0x2c0 umem 32, 0x2e0 valid 1
//     CREATE_RMP      0x100 RMP context
//     CREATE_QP       0x0c0 queue pair context; 0x800 ring, as a CQ's
//     RST2INIT, ...   0x048 queue pair 24, 0x080 what is optional 32, 0x0c0 queue pair context
//
// Scattering of short messages into completions is off (cs_req, cs_res 0), and so is compression of
// completions (cqe_comp_en 0): data land in memory, and every completion counts.

#include "runtime/devx/commands.h"

#include <string.h>

enum {
  CREATE_CQ = 0x400,
  CREATE_QP = 0x500,
  RST2INIT = 0x502,
  INIT2RTR = 0x503,
  RTR2RTS = 0x504,
  CREATE_RMP = 0x90c
};

// --- bits ---

uint64_t devx_bits(const uint8_t *from, uint32_t place, uint32_t width) {
  uint64_t value = 0;
  for (uint32_t bit = place; bit < place + width; ++bit)
    value = value << 1 | (from[bit / 8] >> (7 - bit % 8) & 1u);
  return value;
}

void devx_set_bits(uint8_t *to, uint32_t place, uint32_t width, uint64_t value) {
  for (uint32_t bit = place + width; bit-- > place; value >>= 1) {
    const uint8_t mask = (uint8_t)(1u << (7 - bit % 8));
    to[bit / 8] = (uint8_t)(value & 1 ? to[bit / 8] | mask : to[bit / 8] & ~mask);
  }
}

// A context within a command.
struct context {
  uint8_t *command;
  uint32_t begin;  // bits
};

struct field {
  uint16_t place, width;
};

static void set(struct context c, struct field f, uint64_t value) {
  devx_set_bits(c.command, c.begin + f.place, f.width, value);
}

static const struct field opcode = {0x000, 16}, numbered = {0x048, 24}, optional = {0x080, 32};

static struct context begin(uint8_t command[DEVX_COMMAND_BYTES], uint32_t code, uint32_t at) {
  memset(command, 0, DEVX_COMMAND_BYTES);
  set((struct context){command, 0}, opcode, code);
  return (struct context){command, at};
}

uint32_t devx_number(const uint8_t reply[DEVX_REPLY_BYTES]) {
  return (uint32_t)devx_bits(reply, numbered.place, numbered.width);
}

// --- completion queues ---

static const struct field cq_record_valid = {0x006, 1}, cq_collapsed = {0x00b, 1},
                          cq_overruns = {0x00e, 1}, cq_record_memory = {0x020, 32},
                          cq_log_entries = {0x063, 5}, cq_page = {0x068, 24},
                          cq_event_queue = {0x0a0, 32}, cq_record = {0x1c0, 64};

static void put_ring(uint8_t *command, uint32_t at, const struct devx_place *ring) {
  devx_set_bits(command, at, 64, ring->offset);
  devx_set_bits(command, at + 0x40, 32, ring->memory);
  devx_set_bits(command, at + 0x60, 1, 1);  // valid
}

// One entry: each takes the place of the one before (collapsed).
void devx_put_create_cq(uint8_t command[DEVX_COMMAND_BYTES], const struct devx_cq_wish *wish) {
  const struct context c = begin(command, CREATE_CQ, 0x080);
  set(c, cq_collapsed, wish->log_entries == 0);
  set(c, cq_overruns, wish->overruns);
  set(c, cq_log_entries, wish->log_entries);
  set(c, cq_page, wish->page);
  set(c, cq_event_queue, wish->event_queue);
  set(c, cq_record, wish->record.offset);
  set(c, cq_record_memory, wish->record.memory);
  set(c, cq_record_valid, 1);
  put_ring(command, 0x280, &wish->ring);
}

// --- receives of their own ---

enum { LIST = 0, READY = 1 };

static const struct field rmp_state = {0x008, 4}, rmp_kind = {0x180, 4}, rmp_domain = {0x1c8, 24},
                          rmp_record = {0x200, 64}, rmp_log_stride = {0x28c, 4},
                          rmp_log_entries = {0x29b, 5}, rmp_record_valid = {0x2a0, 1},
                          rmp_ring_valid = {0x2a1, 1}, rmp_record_memory = {0x2c0, 32},
                          rmp_ring_memory = {0x2e0, 32}, rmp_ring = {0x300, 64};

void devx_put_create_receives(uint8_t command[DEVX_COMMAND_BYTES],
                              const struct devx_receives_wish *wish) {
  const struct context c = begin(command, CREATE_RMP, 0x100);
  set(c, rmp_state, READY);
  set(c, rmp_kind, LIST);
  set(c, rmp_domain, wish->domain);
  set(c, rmp_log_stride, wish->log_stride);
  set(c, rmp_log_entries, wish->log_entries);
  set(c, rmp_record, wish->record.offset);
  set(c, rmp_record_memory, wish->record.memory);
  set(c, rmp_record_valid, 1);
  set(c, rmp_ring, wish->ring.offset);
  set(c, rmp_ring_memory, wish->ring.memory);
  set(c, rmp_ring_valid, 1);
}

// --- queue pairs ---

enum {
  RELIABLE_CONNECTED = 0,
  MIGRATED = 3,  // the state of a path that has no other
  RECEIVES_OWN = 0,
  RECEIVES_SHARED = 1,
  RECEIVES_NONE = 3,
  TIME_AS_ADAPTER = 1,  // of completions; nobody looks at it
  NOBODY = 0xffffff,    // what a queue pair is called in completions: by its number
  LEAST_STRIDE = 4,     // of receives, log2; strides are counted from there
  LOG_LONGEST = 30,     // bytes of a message
  LOG_ACK_EVERY = 8,    // packets
  RNR_FOR_EVER = 7,     // retries
  RETRIES = 7,
  TIMEOUT = 18,  // 4.096 us * 2^18 = 1.07 s, as target verbs has it
  MAY_READ = 1 << 1,
  MAY_WRITE = 1 << 3  // bits of what is optional
};

static const struct field qp_service = {0x008, 8}, qp_path_state = {0x013, 2},
                          qp_domain = {0x028, 24}, qp_mtu = {0x040, 3}, qp_log_longest = {0x043, 5},
                          qp_log_rq = {0x049, 4}, qp_log_stride = {0x04d, 3},
                          qp_log_sq = {0x051, 4}, qp_time = {0x058, 2}, qp_page = {0x068, 24},
                          qp_called = {0x088, 24}, qp_peer = {0x0a8, 24}, qp_log_ack = {0x380, 4},
                          qp_log_own_reads = {0x388, 3}, qp_retries = {0x38d, 3},
                          qp_rnr_retries = {0x390, 3}, qp_next_send = {0x3c8, 24},
                          qp_send_cq = {0x3e8, 24}, qp_log_reads = {0x488, 3},
                          qp_may_read = {0x490, 1}, qp_may_write = {0x491, 1},
                          qp_slave_send = {0x49e, 1}, qp_master = {0x49f, 1},
                          qp_rnr_timer = {0x4a3, 5}, qp_next_receive = {0x4a8, 24},
                          qp_recv_cq = {0x4e8, 24}, qp_record = {0x500, 64},
                          qp_receives_kind = {0x565, 3}, qp_receives = {0x568, 24},
                          qp_record_valid = {0x683, 1}, qp_record_memory = {0x720, 32};

void devx_put_create_qp(uint8_t command[DEVX_COMMAND_BYTES], const struct devx_qp_wish *wish) {
  const struct context c = begin(command, CREATE_QP, 0x0c0);
  const bool own = wish->log_rq != UINT32_MAX;
  set(c, qp_service, RELIABLE_CONNECTED);
  set(c, qp_path_state, MIGRATED);
  set(c, qp_domain, wish->domain);
  if (own) {
    set(c, qp_log_rq, wish->log_rq);
    set(c, qp_log_stride, wish->log_stride - LEAST_STRIDE);
  }
  set(c, qp_log_sq, wish->log_sq);
  set(c, qp_time, TIME_AS_ADAPTER);
  set(c, qp_page, wish->page);
  set(c, qp_called, NOBODY);
  set(c, qp_send_cq, wish->send_cq);
  set(c, qp_recv_cq, wish->recv_cq);
  set(c, qp_slave_send, wish->slave);
  set(c, qp_master, wish->master);
  set(c, qp_receives_kind, own ? RECEIVES_OWN : wish->receives ? RECEIVES_SHARED : RECEIVES_NONE);
  set(c, qp_receives, wish->receives);
  set(c, qp_record, wish->record.offset);
  set(c, qp_record_memory, wish->record.memory);
  set(c, qp_record_valid, 1);
  put_ring(command, 0x800, &wish->ring);
}

// The way there, within a queue pair's context (primary_address_path).
enum { WAY = 0x0c0 };
static const struct field way_global = {WAY + 0x028, 1}, way_lid = {WAY + 0x030, 16},
                          way_timeout = {WAY + 0x040, 5}, way_gid_index = {WAY + 0x048, 8},
                          way_hops = {WAY + 0x058, 8}, way_traffic_class = {WAY + 0x064, 8},
                          way_gid = {WAY + 0x080, 128}, way_dscp = {WAY + 0x10a, 6},
                          way_udp_port = {WAY + 0x110, 16}, way_ethernet_level = {WAY + 0x121, 3},
                          way_level = {WAY + 0x124, 4}, way_port = {WAY + 0x128, 8},
                          way_mac = {WAY + 0x130, 48};

static struct context move(uint8_t command[DEVX_COMMAND_BYTES], uint32_t code, uint32_t number) {
  const struct context c = begin(command, code, 0x0c0);
  set((struct context){command, 0}, numbered, number);
  return c;
}

void devx_put_init(uint8_t command[DEVX_COMMAND_BYTES], uint32_t number, uint8_t port) {
  const struct context c = move(command, RST2INIT, number);
  set(c, qp_path_state, MIGRATED);
  set(c, qp_may_read, 1);
  set(c, qp_may_write, 1);
  set(c, way_port, port);
}

static void put_bytes(struct context c, struct field f, const uint8_t *bytes) {
  for (uint32_t i = 0; i < f.width / 8u; ++i)
    devx_set_bits(c.command, c.begin + f.place + 8 * i, 8, bytes[i]);
}

static void put_way(struct context c, const struct devx_way *way) {
  set(c, way_port, way->port);
  if (way->roce) {
    put_bytes(c, way_mac, way->mac);
    set(c, way_udp_port, way->udp_port);
    set(c, way_ethernet_level, way->service_level);
    set(c, way_dscp, way->traffic_class >> 2);
  } else {
    set(c, way_lid, way->lid);
    set(c, way_level, way->service_level);
    set(c, way_global, way->global);
  }
  if (!way->roce && !way->global) return;
  set(c, way_gid_index, way->gid_index);
  set(c, way_hops, way->hops);
  set(c, way_traffic_class, way->traffic_class);
  put_bytes(c, way_gid, way->gid);
}

void devx_put_receive_ready(uint8_t command[DEVX_COMMAND_BYTES], uint32_t number,
                            const struct devx_peer *peer) {
  const struct context c = move(command, INIT2RTR, number);
  set((struct context){command, 0}, optional, MAY_READ | MAY_WRITE);
  set(c, qp_mtu, peer->mtu);
  set(c, qp_log_longest, LOG_LONGEST);
  set(c, qp_peer, peer->number);
  set(c, qp_log_reads, peer->log_reads);
  set(c, qp_may_read, 1);
  set(c, qp_may_write, 1);
  set(c, qp_rnr_timer, peer->rnr_timer);
  set(c, qp_next_receive, peer->first_packet);
  put_way(c, &peer->way);
}

void devx_put_send_ready(uint8_t command[DEVX_COMMAND_BYTES], uint32_t number,
                         uint32_t first_packet, uint32_t log_reads) {
  const struct context c = move(command, RTR2RTS, number);
  set(c, qp_log_ack, LOG_ACK_EVERY);
  set(c, qp_log_own_reads, log_reads);
  set(c, qp_retries, RETRIES);
  set(c, qp_rnr_retries, RNR_FOR_EVER);
  set(c, qp_next_send, first_packet);
  set(c, way_timeout, TIMEOUT);
}
