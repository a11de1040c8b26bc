// SPDX-License-Identifier: BSD-3-Clause
// capability.c - QUERY_HCA_CAP, and what its answer says to target coredirect.
//
//     bits   field             of
//     0x00   opcode 16         the command: 0x100
//     0x30   op_mod 16         2 * kind + 1: what is in force now; the kind 0 is general
//     0x00   status 8          the answer; 0 is success
//     0x20   syndrome 32
//     0x80   capabilities      4096 bytes; below, from here on
//     0x080  log_max_srq_sz 8  receives of a list
//     0x088  log_max_qp_sz 8   entries of a queue
//     0x0c8  log_max_cq_sz 8
//     0x220  cq_oi 1           CQs may overrun
//     0x22c  cd 1              cross-channel queue pairs: WAIT on a CQ, SEND_EN
//     0x290  max_wqe_sz_sq 16  bytes
//     0x2b0  max_wqe_sz_rq 16
//     0x68b  wait_on_data 1
//
// Whether scalars are reduced no field that is known says, so none are.

#include <errno.h>
#include <string.h>

#include "runtime/devx/commands.h"
#include "runtime/devx/devx.h"

enum {
  QUERY_HCA_CAP = 0x100,
  GENERAL_NOW = 1,
  LOG_MAX_SRQ = 0x080,
  LOG_MAX_QP = 0x088,
  LOG_MAX_CQ = 0x0c8,
  CQ_OI = 0x220,
  CD = 0x22c,
  MAX_WQE_SEND = 0x290,
  MAX_WQE_RECEIVE = 0x2b0,
  WAIT_ON_DATA = 0x68b,

  SEGMENT = 16,        // bytes
  MOST_SEGMENTS = 63,  // of an entry: 6 bits
  MOST_LOG_QUEUE = 15  // indices have 16 bits, and compare in half of what these count
};

void devx_put_query(uint8_t command[DEVX_QUERY_BYTES]) {
  memset(command, 0, DEVX_QUERY_BYTES);
  command[0] = QUERY_HCA_CAP >> 8;
  command[1] = QUERY_HCA_CAP & 0xff;
  command[7] = GENERAL_NOW;
}

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

static uint32_t field(const uint8_t *c, uint32_t place, uint32_t width) {
  return (uint32_t)devx_bits(c, place, width);
}

void devx_read_facts(const uint8_t c[DEVX_CAPABILITY_BYTES], struct nbc_hca_facts *facts) {
  const uint32_t send = least(field(c, MAX_WQE_SEND, 16) / SEGMENT, MOST_SEGMENTS);
  const uint32_t receive = field(c, MAX_WQE_RECEIVE, 16) / SEGMENT;
  const uint32_t log = least(field(c, LOG_MAX_QP, 8), MOST_LOG_QUEUE);
  const uint32_t list = field(c, LOG_MAX_SRQ, 8);
  uint32_t waits = 0;
  if (field(c, CD, 1)) waits |= NBC_HCA_WAITS_CQ;
  if (field(c, WAIT_ON_DATA, 1)) waits |= NBC_HCA_WAITS_DATA;
  *facts = (struct nbc_hca_facts){
      .max_gather = send > 2 ? send - 2 : 0,         // control and remote address are not data
      .max_scatter = receive > 1 ? receive - 1 : 0,  // in a list its place in it stands before them
      .max_log_sq = log,
      .max_log_rq = least(log, list > 1 ? list - 1 : 0),  // one of a list's is not used
      .max_log_cq = field(c, LOG_MAX_CQ, 8),
      .calc = 0,
      .waits = field(c, CQ_OI, 1) ? waits : 0};
}

bool devx_query(const struct devx_libraries *l, struct ibv_context *context,
                struct nbc_hca_facts *facts, struct devx_why *why) {
  uint8_t command[DEVX_QUERY_BYTES], answer[DEVX_ANSWER_BYTES] = {0};
  devx_put_query(command);
  const int error = l->command(context, command, sizeof command, answer, sizeof answer);
  const uint32_t status = field(answer, 0, 8);
  if (error || status)
    return devx_refuse(why, "does not say what it can do: %s (status %#x, syndrome %#x)",
                       error ? strerror(error < 0 ? errno : error) : "its firmware refuses", status,
                       field(answer, 0x20, 32));
  devx_read_facts(answer + DEVX_CAPABILITY, facts);
  return true;
}
