/* SPDX-License-Identifier: BSD-3-Clause
 * verbs_exp.h - the experimental verbs that ConnectX adapters' cross-channel work queues were
 * programmed by, over the software HCA.
 *
 *     ctx = ibv_open_device(*ibv_get_device_list(NULL));
 *     struct ibv_exp_qp_init_attr init = {..., .comp_mask = IBV_EXP_QP_INIT_ATTR_PD |
 *         IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS, .exp_create_flags = IBV_EXP_QP_CREATE_CROSS_CHANNEL};
 *     master = ibv_exp_create_qp(ctx, &init);
 *     ...
 *     wait.exp_opcode = IBV_EXP_WR_CQE_WAIT;      // once the CQ has one entry more ...
 *     wait.task.cqe_wait.cq = recv_cq;
 *     wait.task.cqe_wait.cq_count = 1;
 *     wait.next = &enable;
 *     enable.exp_opcode = IBV_EXP_WR_SEND_ENABLE; // ... a send that was posted before may start
 *     enable.task.wqe_enable.qp = managed;
 *     enable.task.wqe_enable.wqe_count = 1;
 *     ibv_exp_post_send(master, &wait, &bad);
 *
 * Names and meanings are those of the vendor's libraries up to 4.x, values and layouts are not:
 * programs are compiled with this folder first (-I), and linked with lib/software/libibverbs.so.
 * <infiniband/verbs.h> is rdma-core's, and brings this one, as the vendor's does.
 *
 * What of verbs the software HCA has not, devices/verbs_exp/engine.h lists.
 */
#ifndef INFINIBAND_VERBS_EXP_H
#define INFINIBAND_VERBS_EXP_H

#include <infiniband/verbs.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where what is experimental begins, above what is standard. */
#define IBV_EXP_START_ENUM 0x40
#define IBV_EXP_START_FLAG_LOC 20
#define IBV_EXP_START_FLAG (1 << IBV_EXP_START_FLAG_LOC)

/* --- what the device can do --- */

enum ibv_exp_device_cap_flags {
  IBV_EXP_DEVICE_RC_RNR_NAK_GEN = IBV_DEVICE_RC_RNR_NAK_GEN,
  IBV_EXP_DEVICE_CROSS_CHANNEL = 1 << 27
};

enum ibv_exp_device_attr_comp_mask {
  IBV_EXP_DEVICE_ATTR_CALC_CAP = 1 << 0,
  IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS = 1 << 1,
  IBV_EXP_DEVICE_ATTR_RESERVED = 1 << 2 /* all that are known: this one, less 1 */
};

/* Bits (1 << enum ibv_exp_calc_...); MAXLOC is not among them, as with the vendor's. */
struct ibv_exp_device_calc_cap {
  uint64_t data_types; /* ibv_exp_calc_data_type */
  uint64_t data_sizes; /* ibv_exp_calc_data_size */
  uint64_t int_ops;    /* ibv_exp_calc_op, on signed integers */
  uint64_t uint_ops;
  uint64_t fp_ops;
};

struct ibv_exp_device_attr {
  char fw_ver[64];
  uint64_t node_guid;
  uint64_t sys_image_guid;
  uint64_t max_mr_size;
  uint64_t page_size_cap;
  uint32_t vendor_id;
  uint32_t vendor_part_id;
  uint32_t hw_ver;
  int max_qp;
  int max_qp_wr;
  int device_cap_flags;
  int max_sge;
  int max_sge_rd;
  int max_cq;
  int max_cqe;
  int max_mr;
  int max_pd;
  int max_qp_rd_atom;
  int max_ee_rd_atom;
  int max_res_rd_atom;
  int max_qp_init_rd_atom;
  int max_ee_init_rd_atom;
  enum ibv_atomic_cap exp_atomic_cap;
  int max_ee;
  int max_rdd;
  int max_mw;
  int max_raw_ipv6_qp;
  int max_raw_ethy_qp;
  int max_mcast_grp;
  int max_mcast_qp_attach;
  int max_total_mcast_qp_attach;
  int max_ah;
  int max_fmr;
  int max_map_per_fmr;
  int max_srq;
  int max_srq_wr;
  int max_srq_sge;
  uint16_t max_pkeys;
  uint8_t local_ca_ack_delay;
  uint8_t phys_port_cnt;
  uint32_t comp_mask; /* in: what the program knows; out: what is said */
  struct ibv_exp_device_calc_cap calc_cap;
  uint64_t exp_device_cap_flags;
};

/* --- completion queues --- */

enum ibv_exp_cq_cap_flags { IBV_EXP_CQ_IGNORE_OVERRUN = 1 << 0 };

enum ibv_exp_cq_attr_mask { IBV_EXP_CQ_MODERATION = 1 << 0, IBV_EXP_CQ_CAP_FLAGS = 1 << 1 };

enum ibv_exp_cq_attr_comp_mask {
  IBV_EXP_CQ_ATTR_MODERATION = 1 << 0,
  IBV_EXP_CQ_ATTR_CQ_CAP_FLAGS = 1 << 1,
  IBV_EXP_CQ_ATTR_RESERVED = 1 << 2
};

struct ibv_exp_cq_attr {
  uint32_t comp_mask;
  struct {
    uint16_t cq_count;
    uint16_t cq_period;
  } moderation;
  uint32_t cq_cap_flags;
};

/* --- queue pairs --- */

enum ibv_exp_qp_init_attr_comp_mask {
  IBV_EXP_QP_INIT_ATTR_PD = 1 << 0,
  IBV_EXP_QP_INIT_ATTR_XRCD = 1 << 1,
  IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS = 1 << 2,
  IBV_EXP_QP_INIT_ATTR_RESERVED = 1 << 3
};

enum ibv_exp_qp_create_flags {
  IBV_EXP_QP_CREATE_CROSS_CHANNEL = 1 << 2,      /* may hold WAIT, SEND_ENABLE, calc */
  IBV_EXP_QP_CREATE_MANAGED_SEND = 1 << 3,       /* what it sends is started by SEND_ENABLE */
  IBV_EXP_QP_CREATE_MANAGED_RECV = 1 << 4,       /* what it receives into, by RECV_ENABLE */
  IBV_EXP_QP_CREATE_IGNORE_SQ_OVERFLOW = 1 << 6, /* who posts too much is not told */
  IBV_EXP_QP_CREATE_IGNORE_RQ_OVERFLOW = 1 << 7
};

struct ibv_exp_qp_init_attr {
  void *qp_context;
  struct ibv_cq *send_cq;
  struct ibv_cq *recv_cq;
  struct ibv_srq *srq;
  struct ibv_qp_cap cap;
  enum ibv_qp_type qp_type;
  int sq_sig_all;
  uint32_t comp_mask;
  struct ibv_pd *pd;
  struct ibv_xrcd *xrcd;
  uint32_t exp_create_flags;
};

/* --- work requests --- */

/* Of an operation that reduces the slots it gathers to one: 8 bytes of value, big-endian, and 8
 * that say where it is from, which MAXLOC keeps. On 16 bytes' boundaries. */
enum ibv_exp_calc_op {
  IBV_EXP_CALC_OP_ADD = 0,
  IBV_EXP_CALC_OP_MAXLOC, /* of unsigned integers alone */
  IBV_EXP_CALC_OP_BAND,
  IBV_EXP_CALC_OP_BXOR,
  IBV_EXP_CALC_OP_BOR,
  IBV_EXP_CALC_OP_NUMBER
};
enum ibv_exp_calc_data_type {
  IBV_EXP_CALC_DATA_TYPE_INT = 0,
  IBV_EXP_CALC_DATA_TYPE_UINT,
  IBV_EXP_CALC_DATA_TYPE_FLOAT,
  IBV_EXP_CALC_DATA_TYPE_NUMBER
};
enum ibv_exp_calc_data_size { IBV_EXP_CALC_DATA_SIZE_64_BIT = 0, IBV_EXP_CALC_DATA_SIZE_NUMBER };

enum ibv_exp_wr_opcode {
  IBV_EXP_WR_RDMA_WRITE = IBV_WR_RDMA_WRITE,
  IBV_EXP_WR_RDMA_WRITE_WITH_IMM = IBV_WR_RDMA_WRITE_WITH_IMM,
  IBV_EXP_WR_SEND = IBV_WR_SEND,
  IBV_EXP_WR_SEND_WITH_IMM = IBV_WR_SEND_WITH_IMM,
  IBV_EXP_WR_RDMA_READ = IBV_WR_RDMA_READ,
  IBV_EXP_WR_ATOMIC_CMP_AND_SWP = IBV_WR_ATOMIC_CMP_AND_SWP,
  IBV_EXP_WR_ATOMIC_FETCH_AND_ADD = IBV_WR_ATOMIC_FETCH_AND_ADD,
  IBV_EXP_WR_SEND_WITH_INV = IBV_EXP_START_ENUM + 8, /* this and the next two: EINVAL */
  IBV_EXP_WR_LOCAL_INV = IBV_EXP_START_ENUM + 10,
  IBV_EXP_WR_BIND_MW = IBV_EXP_START_ENUM + 14,
  IBV_EXP_WR_SEND_ENABLE = IBV_EXP_START_ENUM + 0x20,
  IBV_EXP_WR_RECV_ENABLE,
  IBV_EXP_WR_CQE_WAIT,
  IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP, /* this and the next: EINVAL */
  IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD,
  IBV_EXP_WR_NOP,
  IBV_EXP_WR_UMR_FILL, /* this and the next: EINVAL */
  IBV_EXP_WR_UMR_INVALIDATE
};

enum ibv_exp_send_flags {
  IBV_EXP_SEND_FENCE = IBV_SEND_FENCE,
  IBV_EXP_SEND_SIGNALED = IBV_SEND_SIGNALED,
  IBV_EXP_SEND_SOLICITED = IBV_SEND_SOLICITED,
  IBV_EXP_SEND_INLINE = IBV_SEND_INLINE,
  IBV_EXP_SEND_WITH_CALC = IBV_EXP_START_FLAG << 1,
  IBV_EXP_SEND_WAIT_EN_LAST = IBV_EXP_START_FLAG
                              << 2 /* later counts begin where this group's end */
};

struct ibv_exp_send_wr {
  uint64_t wr_id;
  struct ibv_exp_send_wr *next;
  struct ibv_sge *sg_list;
  int num_sge;
  enum ibv_exp_wr_opcode exp_opcode;
  int reserved;
  union {
    __be32 imm_data;
    uint32_t invalidate_rkey;
  } ex;
  union {
    struct {
      uint64_t remote_addr;
      uint32_t rkey;
    } rdma;
    struct {
      uint64_t remote_addr;
      uint64_t compare_add;
      uint64_t swap;
      uint32_t rkey;
    } atomic;
    struct {
      struct ibv_ah *ah;
      uint32_t remote_qpn;
      uint32_t remote_qkey;
    } ud;
  } wr;
  union {
    struct {
      uint32_t remote_srqn;
    } xrc;
  } qp_type;
  union {
    /* Until the CQ has had so many entries more than at the end of the group before. */
    struct {
      struct ibv_cq *cq;
      int32_t cq_count;
    } cqe_wait;
    /* So many work requests more than at the end of the group before may start, or receives be
     * filled; 0: all that are posted. */
    struct {
      struct ibv_qp *qp;
      int32_t wqe_count;
    } wqe_enable;
  } task;
  union {
    struct {
      enum ibv_exp_calc_op calc_op;
      enum ibv_exp_calc_data_type data_type;
      enum ibv_exp_calc_data_size data_size;
    } calc;
  } op;
  uint64_t exp_send_flags; /* enum ibv_exp_send_flags */
  uint32_t comp_mask;      /* not looked at */
};

enum ibv_exp_task_type { IBV_EXP_TASK_SEND = 0, IBV_EXP_TASK_RECV = 1 };

/* Work for several queue pairs, posted one after the other. */
struct ibv_exp_task {
  struct {
    struct ibv_qp *qp;
    union {
      struct ibv_exp_send_wr *send_wr;
      struct ibv_recv_wr *recv_wr;
    };
  } item;
  enum ibv_exp_task_type task_type;
  struct ibv_exp_task *next;
  uint32_t comp_mask; /* 0 */
};

/* --- work completions --- */

enum ibv_exp_wc_opcode {
  IBV_EXP_WC_SEND = IBV_WC_SEND,
  IBV_EXP_WC_RDMA_WRITE = IBV_WC_RDMA_WRITE,
  IBV_EXP_WC_RDMA_READ = IBV_WC_RDMA_READ,
  IBV_EXP_WC_COMP_SWAP = IBV_WC_COMP_SWAP,
  IBV_EXP_WC_FETCH_ADD = IBV_WC_FETCH_ADD,
  IBV_EXP_WC_RECV = IBV_WC_RECV,
  IBV_EXP_WC_RECV_RDMA_WITH_IMM = IBV_WC_RECV_RDMA_WITH_IMM,
  IBV_EXP_WC_NOP = IBV_WC_DRIVER1 /* of WAIT and ENABLE, too, as in struct ibv_wc */
};

enum ibv_exp_wc_flags {
  IBV_EXP_WC_GRH = IBV_WC_GRH,
  IBV_EXP_WC_WITH_IMM = IBV_WC_WITH_IMM,
  IBV_EXP_WC_QP = 1 << 8 /* `qp` is valid */
};

struct ibv_exp_wc {
  uint64_t wr_id;
  enum ibv_wc_status status;
  enum ibv_exp_wc_opcode exp_opcode;
  uint32_t vendor_err;
  uint32_t byte_len;
  __be32 imm_data;
  uint32_t qp_num;
  uint32_t src_qp;
  int reserved;
  uint16_t pkey_index;
  uint16_t slid;
  uint8_t sl;
  uint8_t dlid_path_bits;
  uint64_t timestamp;
  struct ibv_qp *qp;
  struct ibv_srq *srq;
  uint64_t exp_wc_flags;
};

/* --- memory --- */

enum ibv_exp_access_flags {
  IBV_EXP_ACCESS_LOCAL_WRITE = IBV_ACCESS_LOCAL_WRITE,
  IBV_EXP_ACCESS_REMOTE_WRITE = IBV_ACCESS_REMOTE_WRITE,
  IBV_EXP_ACCESS_REMOTE_READ = IBV_ACCESS_REMOTE_READ,
  IBV_EXP_ACCESS_REMOTE_ATOMIC = IBV_ACCESS_REMOTE_ATOMIC
};

struct ibv_exp_reg_mr_in {
  struct ibv_pd *pd;
  void *addr;
  size_t length;
  uint64_t exp_access; /* enum ibv_exp_access_flags */
  uint32_t comp_mask;  /* 0 */
};

/* --- the calls --- */

/* All return 0 or a value of errno, and those that return a pointer null, with errno set. */
int ibv_exp_query_device(struct ibv_context *, struct ibv_exp_device_attr *);
struct ibv_qp *ibv_exp_create_qp(struct ibv_context *, struct ibv_exp_qp_init_attr *);
int ibv_exp_modify_cq(struct ibv_cq *, struct ibv_exp_cq_attr *, int mask);
struct ibv_mr *ibv_exp_reg_mr(const struct ibv_exp_reg_mr_in *);

/* EINVAL: no such operation, or none for this queue pair; an enable of more than is posted, or of a
 * queue that is not managed. ENOMEM: the queue is full. What is before *bad is posted;
 * `bad` may be null. */
int ibv_exp_post_send(struct ibv_qp *, struct ibv_exp_send_wr *, struct ibv_exp_send_wr **bad);

/* Ends at the first task that cannot be; work requests before the bad one are posted. */
int ibv_exp_post_task(struct ibv_context *, struct ibv_exp_task *, struct ibv_exp_task **bad);

/* As ibv_poll_cq. Of each completion as much as wc_size says there is room for. */
int ibv_exp_poll_cq(struct ibv_cq *, int count, struct ibv_exp_wc *, uint32_t wc_size);

#ifdef __cplusplus
}
#endif
#endif
