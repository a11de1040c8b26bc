// SPDX-License-Identifier: BSD-3-Clause
// query.cpp - what the device says of itself, and the names of values.
//
// One port, which is the process: LID, and a GID that the LID can be told from. The vendor's ids
// are nobody's.

#include <endian.h>

#include <algorithm>
#include <cstring>

#include "devices/verbs_exp/engine.h"

namespace verbs_exp {

namespace {

constexpr uint64_t subnetPrefix = 0xfe80'0000'0000'0000;
constexpr uint64_t guid = 0x026e'6263'0000'0000;  // locally administered; of a port: and its LID

/// Blocks are counted modulo 2^16, and which of two counts is ahead is seen by their difference.
constexpr uint32_t mostBlocks = (1u << 15) - 1;

/// As the vendor's library reports them: of MAXLOC, which it carries out, it says nothing, and its
/// tests compare all bits.
uint64_t calcOperations(const Context &context, ibv_exp_calc_data_type type) {
  uint64_t bits = 0;
  for (uint32_t op = 0; op < IBV_EXP_CALC_OP_NUMBER; ++op)
    if (op != IBV_EXP_CALC_OP_MAXLOC &&
        context.facts.calc & calcOf(op, type, IBV_EXP_CALC_DATA_SIZE_64_BIT))
      bits |= uint64_t{1} << op;
  return bits;
}

const char *known(const char *const names[], size_t count, uint32_t value, const char *otherwise) {
  return value < count && names[value] ? names[value] : otherwise;
}

struct Rate {
  ibv_rate rate;
  int multiple;  // of 2.5 Gbit/s
  int megabits;
};
constexpr Rate rates[] = {
    {IBV_RATE_2_5_GBPS, 1, 2500},  {IBV_RATE_5_GBPS, 2, 5000},    {IBV_RATE_10_GBPS, 4, 10000},
    {IBV_RATE_20_GBPS, 8, 20000},  {IBV_RATE_30_GBPS, 12, 30000}, {IBV_RATE_40_GBPS, 16, 40000},
    {IBV_RATE_60_GBPS, 24, 60000}, {IBV_RATE_80_GBPS, 32, 80000}, {IBV_RATE_120_GBPS, 48, 120000},
};

}  // namespace

ibv_gid gidOfLid(uint16_t lid) {
  ibv_gid gid;
  gid.global.subnet_prefix = htobe64(subnetPrefix);
  gid.global.interface_id = htobe64(guid | lid);
  return gid;
}

uint16_t lidOfGid(const ibv_gid &gid) {
  uint64_t id = be64toh(gid.global.interface_id);
  bool ours = gid.global.subnet_prefix == htobe64(subnetPrefix) && (id & ~uint64_t{0xffff}) == guid;
  return ours ? static_cast<uint16_t>(id) : 0;
}

uint32_t calcOf(uint32_t operation, uint32_t type, uint32_t size) {
  if (size != IBV_EXP_CALC_DATA_SIZE_64_BIT || type >= IBV_EXP_CALC_DATA_TYPE_NUMBER) return 0;
  switch (operation) {
    case IBV_EXP_CALC_OP_ADD:
      return 1u << (type == IBV_EXP_CALC_DATA_TYPE_FLOAT ? MLX5_CALC_ADD_F64 : MLX5_CALC_ADD_U64);
    case IBV_EXP_CALC_OP_MAXLOC:
      return type == IBV_EXP_CALC_DATA_TYPE_UINT ? 1u << MLX5_CALC_MAX_U64 : 0;
    case IBV_EXP_CALC_OP_BAND:
      return 1u << MLX5_CALC_AND;
    case IBV_EXP_CALC_OP_BXOR:
      return 1u << MLX5_CALC_XOR;
    case IBV_EXP_CALC_OP_BOR:
      return 1u << MLX5_CALC_OR;
    default:
      return 0;
  }
}

bool crosses(const Context &context) {
  return context.facts.waits & NBC_HCA_WAITS_CQ;
}

uint32_t mostRequests(const Context &context, uint32_t blocks) {
  return std::min(1u << context.facts.max_log_sq, mostBlocks) / blocks;
}

}  // namespace verbs_exp

using namespace verbs_exp;

__be64 ibv_get_device_guid(struct ibv_device *) {
  return htobe64(guid);
}

int ibv_query_device(struct ibv_context *c, struct ibv_device_attr *a) {
  const nbc_hca_facts &facts = self(c).facts;
  *a = {};
  strcpy(a->fw_ver, "software");
  a->node_guid = a->sys_image_guid = htobe64(guid);
  a->max_mr_size = UINT64_MAX;
  a->page_size_cap = 4096;
  a->max_qp = a->max_cq = a->max_mr = (1 << 24) - 1024;
  a->max_pd = 1 << 20;
  a->max_qp_wr = static_cast<int>(std::min(mostRequests(self(c), 1), 1u << facts.max_log_rq));
  a->device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN;
  a->max_sge = static_cast<int>(std::min(facts.max_gather, facts.max_scatter));
  a->max_sge_rd = a->max_sge;
  a->max_cqe = (1 << facts.max_log_cq) - 1;
  a->max_qp_rd_atom = a->max_qp_init_rd_atom = mostReads;
  a->max_res_rd_atom = a->max_qp * a->max_qp_rd_atom;
  a->atomic_cap = IBV_ATOMIC_GLOB;  // they are done by the processor
  a->max_pkeys = 1;
  a->local_ca_ack_delay = 15;
  a->phys_port_cnt = 1;
  return 0;
}

int ibv_exp_query_device(struct ibv_context *c, struct ibv_exp_device_attr *a) {
  uint32_t asked = a->comp_mask;
  if (asked & ~uint32_t{IBV_EXP_DEVICE_ATTR_RESERVED - 1}) return errno = EINVAL;
  ibv_device_attr plain;
  ibv_query_device(c, &plain);
  *a = {};
  memcpy(a->fw_ver, plain.fw_ver, sizeof a->fw_ver);
#define SAME(field) a->field = plain.field
  SAME(node_guid), SAME(sys_image_guid), SAME(max_mr_size), SAME(page_size_cap);
  SAME(max_qp), SAME(max_qp_wr), SAME(max_sge), SAME(max_sge_rd), SAME(max_cq), SAME(max_cqe);
  SAME(max_mr), SAME(max_pd), SAME(max_qp_rd_atom), SAME(max_res_rd_atom);
  SAME(max_qp_init_rd_atom), SAME(max_pkeys), SAME(local_ca_ack_delay), SAME(phys_port_cnt);
#undef SAME
  a->device_cap_flags = static_cast<int>(plain.device_cap_flags);
  a->exp_atomic_cap = plain.atomic_cap;
  a->exp_device_cap_flags =
      plain.device_cap_flags | (crosses(self(c)) ? uint64_t{IBV_EXP_DEVICE_CROSS_CHANNEL} : 0);
  a->comp_mask = IBV_EXP_DEVICE_ATTR_CALC_CAP | IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS;
  ibv_exp_device_calc_cap &calc = a->calc_cap;
  calc.int_ops = calcOperations(self(c), IBV_EXP_CALC_DATA_TYPE_INT);
  calc.uint_ops = calcOperations(self(c), IBV_EXP_CALC_DATA_TYPE_UINT);
  calc.fp_ops = calcOperations(self(c), IBV_EXP_CALC_DATA_TYPE_FLOAT);
  if (calc.int_ops) calc.data_types |= 1 << IBV_EXP_CALC_DATA_TYPE_INT;
  if (calc.uint_ops) calc.data_types |= 1 << IBV_EXP_CALC_DATA_TYPE_UINT;
  if (calc.fp_ops) calc.data_types |= 1 << IBV_EXP_CALC_DATA_TYPE_FLOAT;
  if (calc.data_types) calc.data_sizes = 1 << IBV_EXP_CALC_DATA_SIZE_64_BIT;
  return 0;
}

/// What is behind `flags` in struct ibv_port_attr the inline function of verbs.h has cleared.
int ibv_query_port(struct ibv_context *, uint8_t port, struct _compat_ibv_port_attr *out) {
  if (port != 1) return errno = EINVAL;
  auto *a = reinterpret_cast<ibv_port_attr *>(out);
  a->state = IBV_PORT_ACTIVE;
  a->max_mtu = a->active_mtu = IBV_MTU_4096;
  a->gid_tbl_len = 1;
  a->max_msg_sz = longestMessage;
  a->pkey_tbl_len = 1;
  a->lid = a->sm_lid = process().lid;
  a->max_vl_num = 1;
  a->active_width = 2;  // 4 lanes ...
  a->active_speed = 4;  // ... of 10 Gbit/s
  a->phys_state = 5;    // link up
  a->link_layer = IBV_LINK_LAYER_INFINIBAND;
  return 0;
}

int ibv_query_gid(struct ibv_context *, uint8_t port, int index, union ibv_gid *gid) {
  if (port != 1 || index != 0) {
    errno = EINVAL;
    return -1;
  }
  *gid = gidOfLid(process().lid);
  return 0;
}

int _ibv_query_gid_ex(struct ibv_context *, uint32_t port, uint32_t index,
                      struct ibv_gid_entry *entry, uint32_t flags, size_t bytes) {
  if (port != 1 || index != 0 || flags || bytes > sizeof *entry) return errno = EINVAL;
  const ibv_gid_entry e = {.gid = gidOfLid(process().lid),
                           .gid_index = 0,
                           .port_num = 1,
                           .gid_type = IBV_GID_TYPE_IB,
                           .ndev_ifindex = 0};
  memcpy(entry, &e, bytes);
  return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *c, struct ibv_gid_entry *entries, size_t most,
                             uint32_t flags, size_t bytes) {
  if (most == 0) return -EINVAL;
  int error = _ibv_query_gid_ex(c, 1, 0, entries, flags, bytes);
  return error ? -error : 1;
}

int ibv_query_pkey(struct ibv_context *, uint8_t port, int index, __be16 *pkey) {
  if (port != 1 || index != 0) {
    errno = EINVAL;
    return -1;
  }
  *pkey = 0xffff;
  return 0;
}

int ibv_get_pkey_index(struct ibv_context *, uint8_t port, __be16 pkey) {
  if (port == 1 && pkey == 0xffff) return 0;
  errno = EINVAL;
  return -1;
}

const char *ibv_wc_status_str(enum ibv_wc_status status) {
  static const char *const names[] = {
      // by enum ibv_wc_status
      "success",
      "local length error",
      "local QP operation error",
      "local EE context operation error",
      "local protection error",
      "Work Request Flushed Error",
      "memory management operation error",
      "bad response error",
      "local access error",
      "remote invalid request error",
      "remote access error",
      "remote operation error",
      "transport retry counter exceeded",
      "RNR retry counter exceeded",
      "local RDD violation error",
      "remote invalid RD request",
      "aborted error",
      "invalid EE context number",
      "invalid EE context state",
      "fatal error",
      "response timeout error",
      "general error",
  };
  return known(names, std::size(names), raw(status), "unknown");
}

const char *ibv_event_type_str(enum ibv_event_type event) {
  static const char *const names[] = {
      // by enum ibv_event_type
      "CQ error",
      "local work queue catastrophic error",
      "invalid request local work queue error",
      "local access violation work queue error",
      "communication established",
      "send queue drained",
      "path migrated",
      "path migration request error",
      "local catastrophic error",
      "port active",
      "port error",
      "LID change",
      "P_Key change",
      "SM change",
      "SRQ catastrophic error",
      "SRQ limit reached",
      "last WQE reached",
      "client reregistration",
      "GID table change",
      "WQ fatal",
  };
  return known(names, std::size(names), raw(event), "unknown");
}

const char *ibv_node_type_str(enum ibv_node_type type) {
  static const char *const names[] = {nullptr,
                                      "InfiniBand channel adapter",
                                      "InfiniBand switch",
                                      "InfiniBand router",
                                      "iWARP NIC",
                                      "usNIC",
                                      "usNIC UDP",
                                      "unspecified"};
  return known(names, std::size(names), raw(type), "unknown");
}

const char *ibv_port_state_str(enum ibv_port_state state) {
  static const char *const names[] = {"no state change (NOP)", "down", "init", "armed", "active",
                                      "active deferred"};
  return known(names, std::size(names), raw(state), "invalid state");
}

int ibv_rate_to_mult(enum ibv_rate rate) {
  for (const Rate &r : rates)
    if (r.rate == rate) return r.multiple;
  return -1;
}

enum ibv_rate mult_to_ibv_rate(int multiple) {
  for (const Rate &r : rates)
    if (r.multiple == multiple) return r.rate;
  return IBV_RATE_MAX;
}

int ibv_rate_to_mbps(enum ibv_rate rate) {
  for (const Rate &r : rates)
    if (r.rate == rate) return r.megabits;
  return -1;
}

enum ibv_rate mbps_to_ibv_rate(int megabits) {
  for (const Rate &r : rates)
    if (r.megabits == megabits) return r.rate;
  return IBV_RATE_MAX;
}
