// SPDX-License-Identifier: BSD-3-Clause
// pages.h - pages of memory that is about to be used.
//
// Asked for together they take 0.1 us each; one by one, when they are touched, several times that,
// and in a virtual machine up to 16 us where one that is asked for takes 3.

#pragma once

#include <stdint.h>
#include <sys/mman.h>

// The pages that [begin, begin + bytes) touches; of what is long the first ones: what a template
// says it uses, and does not, may be more than there is. Needs _GNU_SOURCE.
// A kernel that cannot do it (before 5.14) has them touched.
static inline void fetch_pages(const void *begin, uint64_t bytes) {
  const uintptr_t page = 4096, most = 4096 * page, at = (uintptr_t)begin / page * page;
  const uint64_t all = (uintptr_t)begin % page + bytes;
  if (bytes) (void)madvise((void *)at, all < most ? all : most, MADV_POPULATE_WRITE);
}
