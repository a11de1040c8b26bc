/* SPDX-License-Identifier: BSD-3-Clause
 * arch.h - byte order of 64 bits, and barriers, as programs for verbs took them from the library
 * before rdma-core left them out.
 */
#ifndef INFINIBAND_ARCH_H
#define INFINIBAND_ARCH_H

#include <endian.h>
#include <stdint.h>

#ifndef htonll
static inline uint64_t htonll(uint64_t x) {
  return htobe64(x);
}
#define htonll htonll
#endif
#ifndef ntohll
static inline uint64_t ntohll(uint64_t x) {
  return be64toh(x);
}
#define ntohll ntohll
#endif

/* Between memory that a device reads or writes, too: loads and stores, loads, stores. */
#ifndef mb
#define mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif
#ifndef rmb
#define rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif
#ifndef wmb
#define wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif
#ifndef wc_wmb
#define wc_wmb() mb()
#endif

#endif
