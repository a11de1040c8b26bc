/* SPDX-License-Identifier: BSD-3-Clause
 * mlx5_wqe.h - the bytes of mlx5 work queue and completion queue entries.
 *
 * All fields of more than one byte are big-endian. A work queue entry begins on
 * a basic block (WQEBB) of 64 bytes and is made of 16-byte segments; its length
 * in segments stands in the control segment. Every send queue, its producer
 * index, and SEND_EN count in basic blocks; receive queues, and RECV_EN, count
 * in receives.
 *
 *   SEND      ctrl, n data segments              WRITE   ctrl, remote address, data
 *   inline    ctrl, one inline segment           WAIT, enables   ctrl, cross-channel segment
 *   WAIT on data   ctrl, two segments that say on what
 *   NOP       ctrl
 *
 * Read and written by the compiler (emit, disassemble), the runtime (relocate)
 * and the software HCA, so that the layout stands in one place. With rdma-core's
 * infiniband/mlx5dv.h, which is to be included first, some names are that one's.
 */
#ifndef NBC_MLX5_WQE_H
#define NBC_MLX5_WQE_H

#include <stdint.h>

enum {
  MLX5_WQEBB = 64,
  MLX5_SEGMENT = 16,
  MLX5_CQE = 64,

  /* control segment: byte offsets */
  MLX5_CTRL_OPMOD = 0,
  MLX5_CTRL_INDEX = 1, /* be16, in WQEBBs */
  MLX5_CTRL_OPCODE = 3,
  MLX5_CTRL_QPN = 4, /* be24 */
  MLX5_CTRL_DS = 7,  /* low 6 bits: segments, this one included */
  MLX5_CTRL_FLAGS = 11,
  MLX5_CTRL_IMM = 12,

  /* control segment: flags */
  MLX5_CE_ON_ERROR = 0x00, /* completion only on error */
  MLX5_SOLICITED = 0x02,
  MLX5_CE_ALWAYS = 0x08,
  MLX5_CE_MASK = 0x0c,
  MLX5_FENCE_MASK = 0xe0,
  MLX5_FENCE_SMALL = 0x80, /* after earlier reads and atomics */

  /* data segment */
  MLX5_DATA_COUNT = 0,
  MLX5_DATA_LKEY = 4,
  MLX5_DATA_ADDR = 8,

  /* remote address segment */
  MLX5_RADDR_ADDR = 0,
  MLX5_RADDR_RKEY = 8,

  /* cross-channel segment */
  MLX5_CD_INDEX = 8,
  MLX5_CD_NUMBER = 12, /* WAIT: CQ; enables: queue pair */

  /* what a WAIT on data waits for: 32 bytes. The word and the mask of 8 bytes are compared byte by
   * byte, so whoever writes the word as the entry has it need not know how an adapter reads it */
  MLX5_WORD_CONDITION = 0, /* be32, enum mlx5_condition */
  MLX5_WORD_LKEY = 4,
  MLX5_WORD_ADDR = 8, /* be64; its low 3 bits say what to do while it does not hold */
  MLX5_WORD_VALUE = 16,
  MLX5_WORD_MASK = 24,
  MLX5_WORD_OPERAND = 32,
  MLX5_WORD_FAIL = 1, /* an error, at once; else it waits */

  /* completion queue entry */
  MLX5_CQE_IMM = 36,
  MLX5_CQE_BYTES = 44,
  MLX5_CQE_SOP_QPN = 56, /* requester: opcode << 24 | qpn */
  MLX5_CQE_COUNTER = 60, /* be16 */
  MLX5_CQE_VENDOR = 54,  /* error entries */
  MLX5_CQE_SYNDROME = 55,
  MLX5_CQE_OP_OWN = 63 /* opcode << 4 | solicited << 1 | owner; 0xf1 before the first lap */
};
#define MLX5_INLINE 0x80000000u

enum mlx5_opcode {
  MLX5_NOP = 0x00,
  MLX5_WRITE = 0x08,
  MLX5_WRITE_IMM = 0x09,
  MLX5_SEND = 0x0a,
  MLX5_SEND_IMM = 0x0b,
  MLX5_WAIT = 0x0f,
  MLX5_READ = 0x10,
  MLX5_ATOMIC_CS = 0x11,
  MLX5_ATOMIC_FA = 0x12,
  MLX5_RECV_EN = 0x16,
  MLX5_SEND_EN = 0x17
};

#ifndef _MLX5DV_H_
enum { MLX5_INVALID_LKEY = 0x100 /* in a data segment: ends a receive's list */ };

enum mlx5_cqe_opcode {
  MLX5_CQE_REQ = 0,
  MLX5_CQE_RESP_WR_IMM = 1,
  MLX5_CQE_RESP_SEND = 2,
  MLX5_CQE_RESP_SEND_IMM = 3,
  MLX5_CQE_REQ_ERR = 13,
  MLX5_CQE_RESP_ERR = 14,
  MLX5_CQE_INVALID = 15
};
#endif

enum mlx5_syndrome {
  MLX5_LOCAL_LENGTH = 0x01,
  MLX5_LOCAL_QP_OP = 0x02,
  MLX5_LOCAL_PROT = 0x04,
  MLX5_FLUSHED = 0x05,
  MLX5_LOCAL_ACCESS = 0x11,
  MLX5_REMOTE_INVALID = 0x12,
  MLX5_REMOTE_ACCESS = 0x13,
  MLX5_REMOTE_OP = 0x14,
  MLX5_RETRY_EXCEEDED = 0x15,
  MLX5_RNR_EXCEEDED = 0x16
};

/* opmod of WAIT */
enum mlx5_wait { MLX5_WAIT_CQ = 0, MLX5_WAIT_DATA = 1, MLX5_WAIT_TIME = 2 };

/* Those that compare for more than being equal are left out: how an adapter reads the word then
 * nobody says. */
enum mlx5_condition {
  MLX5_CONDITION_ALWAYS = 0,
  MLX5_CONDITION_EQUAL = 1,
  MLX5_CONDITION_NOT = 0x10 /* added to one of them */
};

/* opmod of SEND and WRITE on a cross-channel queue pair: reduce the gathered
 * 16-byte slots (8 bytes of value, big-endian, 8 of location) to one. */
enum mlx5_calc {
  MLX5_CALC_NONE = 0,
  MLX5_CALC_ADD_U64 = 1,
  MLX5_CALC_ADD_F64 = 2,
  MLX5_CALC_MAX_U64 = 3,
  MLX5_CALC_AND = 4,
  MLX5_CALC_OR = 5,
  MLX5_CALC_XOR = 6
};

/* Index arithmetic. WAIT(m) passes once entry m (from 0) of the CQ is written;
 * indices are compared in a half window, mod 2^24 for a CQ and 2^16 for a queue. */
enum { MLX5_CQ_INDEX_MASK = 0xffffff };

static inline int mlx5_wait_satisfied(uint32_t producer, uint32_t index) {
  return ((producer - 1u - index) & MLX5_CQ_INDEX_MASK) < (1u << 23);
}

static inline void mlx5_put16(void *p, uint16_t v) {
  uint8_t *b = (uint8_t *)p;
  b[0] = (uint8_t)(v >> 8), b[1] = (uint8_t)v;
}
static inline void mlx5_put32(void *p, uint32_t v) {
  v = __builtin_bswap32(v);
  __builtin_memcpy(p, &v, 4);
}
static inline void mlx5_put64(void *p, uint64_t v) {
  v = __builtin_bswap64(v);
  __builtin_memcpy(p, &v, 8);
}
static inline uint16_t mlx5_get16(const void *p) {
  const uint8_t *b = (const uint8_t *)p;
  return (uint16_t)(b[0] << 8 | b[1]);
}
static inline uint32_t mlx5_get32(const void *p) {
  uint32_t v;
  __builtin_memcpy(&v, p, 4);
  return __builtin_bswap32(v);
}
static inline uint64_t mlx5_get64(const void *p) {
  uint64_t v;
  __builtin_memcpy(&v, p, 8);
  return __builtin_bswap64(v);
}

#endif
