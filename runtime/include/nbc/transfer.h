/* SPDX-License-Identifier: BSD-3-Clause
 * transfer.h - what the ways of nbc_transfer are called, in tables, options and reports. */
#ifndef NBC_TRANSFER_H
#define NBC_TRANSFER_H

#include "nbc.h"

/* "auto", "pio", "dma", "eager", "write", "read", "send", "direct". */
static inline const char *nbc_transfer_name(enum nbc_transfer transfer) {
  static const char *const names[] = {"auto",  "pio",  "dma",  "eager",
                                      "write", "read", "send", "direct"};
  return names[(unsigned)transfer < NBC_TRANSFERS ? transfer : NBC_TRANSFER_AUTO];
}
/* The target that has this way; null: every one has it. */
static inline const char *nbc_transfer_target(enum nbc_transfer transfer) {
  if (transfer == NBC_TRANSFER_AUTO) return 0;
  return transfer <= NBC_TRANSFER_DMA ? "sci" : "verbs";
}

#endif
