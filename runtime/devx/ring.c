// SPDX-License-Identifier: BSD-3-Clause
// ring.c - the doorbell: the one store that goes to the adapter and to no memory.
//
// The page is mapped uncached, so the store goes out by itself, after what was stored in memory
// before. It has 8 bytes, and several threads may make it.

#include "runtime/devx/adapter.h"

// What is in memory is there for the adapter, before it is told to look.
static void stored_before(void) {
#if defined __x86_64__
  __asm__ volatile("sfence" ::: "memory");
#elif defined __aarch64__
  __asm__ volatile("dmb oshst" ::: "memory");
#elif defined __powerpc64__
  __asm__ volatile("sync" ::: "memory");
#else
#error "what orders stores to devices on this processor?"
#endif
}

void devx_doorbell(struct nbc_hca *hca, uint32_t number, uint64_t ctrl) {
  (void)number;  // `ctrl` has it
  stored_before();
  *(volatile uint64_t *)devx_adapter_of(hca)->page->reg_addr = ctrl;
}
