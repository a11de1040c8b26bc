// SPDX-License-Identifier: BSD-3-Clause
// calc.c - sends that reduce: operations, types, operands, and what cannot be.

#include "bed.h"

enum { SLOT = 16 };

static const struct wish crossing = {.flags = IBV_EXP_QP_CREATE_CROSS_CHANNEL};

struct operand {
  uint64_t value, place;
};

static void put(struct bed *bed, int slot, uint64_t value, uint64_t place) {
  uint64_t net[2] = {htonll(value), htonll(place)};
  memcpy(bed->memory + slot * SLOT, net, SLOT);
}

// From slots of the lower half of the memory to its upper half, by a write to itself.
static struct ibv_exp_send_wr request(struct bed *bed, struct ibv_sge *sge, int segments, int each,
                                      enum ibv_exp_calc_op op, enum ibv_exp_calc_data_type type) {
  struct ibv_exp_send_wr wr;
  for (int i = 0; i < segments; ++i)
    sge[i] = (struct ibv_sge){(uintptr_t)bed->memory + (uintptr_t)(i * each * SLOT),
                              (uint32_t)(each * SLOT), bed->mr->lkey};
  memset(&wr, 0, sizeof wr);
  wr.exp_opcode = IBV_EXP_WR_RDMA_WRITE;
  wr.exp_send_flags = IBV_EXP_SEND_SIGNALED | IBV_EXP_SEND_WITH_CALC;
  wr.sg_list = sge;
  wr.num_sge = segments;
  wr.wr.rdma.remote_addr = (uintptr_t)bed->memory + BYTES / 2;
  wr.wr.rdma.rkey = bed->mr->rkey;
  wr.op.calc.calc_op = op;
  wr.op.calc.data_type = type;
  wr.op.calc.data_size = IBV_EXP_CALC_DATA_SIZE_64_BIT;
  return wr;
}

static struct operand result(struct bed *bed) {
  uint64_t net[2];
  memcpy(net, bed->memory + BYTES / 2, SLOT);
  return (struct operand){ntohll(net[0]), ntohll(net[1])};
}

static struct operand reduce(struct bed *bed, int segments, int each, enum ibv_exp_calc_op op,
                             enum ibv_exp_calc_data_type type) {
  struct ibv_sge sge[16];
  struct ibv_exp_send_wr wr = request(bed, sge, segments, each, op, type);
  memset(bed->memory + BYTES / 2, 0xee, 2 * SLOT);
  DEMAND(ibv_exp_post_send(bed->qp, &wr, NULL) == 0);
  await_entries(bed, bed->send_cq, 1);
  DEMAND(bed->wc[0].status == IBV_WC_SUCCESS && bed->wc[0].opcode == IBV_WC_RDMA_WRITE);
  DEMAND(bed->memory[BYTES / 2 + SLOT] == 0xee);  // one slot came, whatever was gathered
  return result(bed);
}

static uint64_t bits(double d) {
  uint64_t u;
  memcpy(&u, &d, sizeof u);
  return u;
}

// Each operation on each type it is for, of operands in one segment or in many.
static void operations(void) {
  static const uint64_t a[] = {0x123456789abcdef0, 0xfffffffffffffff7, 0x0f0f0f0f00000001};
  static const enum ibv_exp_calc_data_type types[] = {
      IBV_EXP_CALC_DATA_TYPE_INT, IBV_EXP_CALC_DATA_TYPE_UINT, IBV_EXP_CALC_DATA_TYPE_FLOAT};
  struct bed bed = make_bed(&crossing);
  for (int spread = 0; spread < 2; ++spread)
    for (int t = 0; t < 3; ++t) {
      int segments = spread ? 3 : 1, each = spread ? 1 : 3;
      for (int i = 0; i < 3; ++i) put(&bed, i, a[i], 70 + (uint64_t)i);
      DEMAND(reduce(&bed, segments, each, IBV_EXP_CALC_OP_BAND, types[t]).value ==
             (a[0] & a[1] & a[2]));
      DEMAND(reduce(&bed, segments, each, IBV_EXP_CALC_OP_BOR, types[t]).value ==
             (a[0] | a[1] | a[2]));
      DEMAND(reduce(&bed, segments, each, IBV_EXP_CALC_OP_BXOR, types[t]).value ==
             (a[0] ^ a[1] ^ a[2]));
      if (types[t] == IBV_EXP_CALC_DATA_TYPE_FLOAT) continue;
      DEMAND(reduce(&bed, segments, each, IBV_EXP_CALC_OP_ADD, types[t]).value ==
             a[0] + a[1] + a[2]);
    }
  const double d[] = {1.5e300, -2.25, 3.0e-7};
  for (int i = 0; i < 3; ++i) put(&bed, i, bits(d[i]), 0);
  DEMAND(reduce(&bed, 3, 1, IBV_EXP_CALC_OP_ADD, IBV_EXP_CALC_DATA_TYPE_FLOAT).value ==
         bits(d[0] + d[1] + d[2]));
  end_bed(&bed);
}

// The greatest, unsigned, and where it is from; of equals the first.
static void maxloc(void) {
  struct bed bed = make_bed(&crossing);
  put(&bed, 0, 5, 100);
  put(&bed, 1, UINT64_MAX - 3, 101);
  put(&bed, 2, UINT64_MAX - 3, 102);
  put(&bed, 3, 7, 103);
  struct operand r = reduce(&bed, 2, 2, IBV_EXP_CALC_OP_MAXLOC, IBV_EXP_CALC_DATA_TYPE_UINT);
  DEMAND(r.value == UINT64_MAX - 3 && r.place == 101);
  // Least: of complements.
  for (int i = 0; i < 4; ++i) put(&bed, i, ~(uint64_t)(40 - 3 * i), (uint64_t)i);
  r = reduce(&bed, 4, 1, IBV_EXP_CALC_OP_MAXLOC, IBV_EXP_CALC_DATA_TYPE_UINT);
  DEMAND(~r.value == 31 && r.place == 3);
  end_bed(&bed);
}

// By a send and by a write with immediate data, too; a receive gets the one slot.
static void carriers(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_sge sge[16];
  put(&bed, 0, 40, 0);
  put(&bed, 1, 2, 0);
  struct ibv_exp_send_wr wr =
      request(&bed, sge, 1, 2, IBV_EXP_CALC_OP_ADD, IBV_EXP_CALC_DATA_TYPE_UINT);
  wr.exp_opcode = IBV_EXP_WR_SEND;
  DEMAND(ibv_exp_post_send(bed.qp, &wr, NULL) == 0);
  await_entries(&bed, bed.recv_cq, 1);
  DEMAND(bed.wc[0].byte_len == SLOT && result(&bed).value == 42);
  put(&bed, 0, 50, 0);
  wr.exp_opcode = IBV_EXP_WR_RDMA_WRITE_WITH_IMM;
  wr.ex.imm_data = htonl(7);
  DEMAND(ibv_exp_post_send(bed.qp, &wr, NULL) == 0);
  await_entries(&bed, bed.recv_cq, 1);
  DEMAND(bed.wc[0].byte_len == SLOT && bed.wc[0].opcode == IBV_WC_RECV_RDMA_WITH_IMM &&
         bed.wc[0].imm_data == htonl(7) && result(&bed).value == 52);
  end_bed(&bed);
}

// The master's loop: a managed sum is started, waited for, and its result is in the next sum.
static void chained(void) {
  struct wish wish = crossing;
  wish.flags |= IBV_EXP_QP_CREATE_MANAGED_SEND;
  struct bed bed = make_bed(&wish);
  struct ibv_sge sge[2][16];
  for (int i = 0; i < 3; ++i) put(&bed, i, 1u << i, 0);
  struct ibv_exp_send_wr first =
      request(&bed, sge[0], 1, 2, IBV_EXP_CALC_OP_ADD, IBV_EXP_CALC_DATA_TYPE_UINT);
  struct ibv_exp_send_wr second =
      request(&bed, sge[1], 1, 2, IBV_EXP_CALC_OP_ADD, IBV_EXP_CALC_DATA_TYPE_UINT);
  first.wr.rdma.remote_addr = (uintptr_t)bed.memory + 3 * SLOT;
  sge[1][0].addr = (uintptr_t)bed.memory + 2 * SLOT;
  first.next = &second;
  DEMAND(ibv_exp_post_send(bed.qp, &first, NULL) == 0);
  uint64_t last = IBV_EXP_SEND_WAIT_EN_LAST;
  struct ibv_exp_send_wr steps[4] = {enable(bed.qp, 1, 0, last), wait_for(bed.send_cq, 1, 1, last),
                                     enable(bed.qp, 1, 2, last),
                                     wait_for(bed.send_cq, 1, 3, last | IBV_EXP_SEND_SIGNALED)};
  for (int i = 0; i < 3; ++i) steps[i].next = &steps[i + 1];
  DEMAND(ibv_exp_post_send(bed.master, steps, NULL) == 0);
  await_entries(&bed, bed.master_cq, 1);
  DEMAND(result(&bed).value == 7);
  end_bed(&bed);
}

// What no device can: refused when it is posted. What cannot be seen then: a failed completion.
static void impossible(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_sge sge[16];
  struct ibv_exp_send_wr good = request(&bed, sge, 1, 2, IBV_EXP_CALC_OP_ADD,
                                        IBV_EXP_CALC_DATA_TYPE_UINT),
                         wr;
#define REFUSED(change) \
  wr = good;            \
  change;               \
  DEMAND(ibv_exp_post_send(bed.qp, &wr, NULL) == EINVAL)
  REFUSED(wr.op.calc.calc_op = IBV_EXP_CALC_OP_NUMBER);
  REFUSED(wr.op.calc.data_type = IBV_EXP_CALC_DATA_TYPE_NUMBER);
  REFUSED(wr.op.calc.data_size = IBV_EXP_CALC_DATA_SIZE_NUMBER);
  REFUSED(wr.op.calc.calc_op = IBV_EXP_CALC_OP_MAXLOC;
          wr.op.calc.data_type = IBV_EXP_CALC_DATA_TYPE_INT);
  REFUSED(wr.exp_opcode = IBV_EXP_WR_RDMA_READ);
  REFUSED(wr.exp_opcode = IBV_EXP_WR_NOP);
  REFUSED(wr.num_sge = 0);
#undef REFUSED
  sge[0].addr += 8;
  DEMAND(ibv_exp_post_send(bed.qp, &good, NULL) == 0);
  await_entries(&bed, bed.send_cq, 1);
  DEMAND(bed.wc[0].status == IBV_WC_LOC_QP_OP_ERR);
  end_bed(&bed);
}

// The device says what it can, of which type.
static void capabilities(void) {
  struct bed bed = make_bed(&crossing);
  struct ibv_exp_device_attr a;
  memset(&a, 0, sizeof a);
  a.comp_mask = IBV_EXP_DEVICE_ATTR_RESERVED - 1;
  DEMAND(ibv_exp_query_device(bed.context, &a) == 0);
  DEMAND(a.exp_device_cap_flags & IBV_EXP_DEVICE_CROSS_CHANNEL);
  uint64_t all = 1 << IBV_EXP_CALC_OP_ADD | 1 << IBV_EXP_CALC_OP_BAND | 1 << IBV_EXP_CALC_OP_BOR |
                 1 << IBV_EXP_CALC_OP_BXOR;
  DEMAND(a.calc_cap.int_ops == all);
  DEMAND(a.calc_cap.uint_ops == all && a.calc_cap.fp_ops == all);
  DEMAND(a.calc_cap.data_types == 7 && a.calc_cap.data_sizes == 1);
  a.comp_mask = IBV_EXP_DEVICE_ATTR_RESERVED;
  DEMAND(ibv_exp_query_device(bed.context, &a) == EINVAL);
  end_bed(&bed);
}

const struct rule calc_rules[] = {{"calc-operations", operations},
                                  {"calc-maxloc", maxloc},
                                  {"calc-carriers", carriers},
                                  {"calc-chained", chained},
                                  {"calc-impossible", impossible},
                                  {"calc-capabilities", capabilities},
                                  {NULL, NULL}};
