/* SPDX-License-Identifier: BSD-3-Clause
 * transfer.h - what the ways of nbc_transfer are called, in tables, options and reports. */
#ifndef NBC_TRANSFER_H
#define NBC_TRANSFER_H

#include "nbc.h"

/* "auto", "pio", "dma". */
static inline const char *nbc_transfer_name(enum nbc_transfer transfer) {
  return transfer == NBC_TRANSFER_PIO ? "pio" : transfer == NBC_TRANSFER_DMA ? "dma" : "auto";
}

#endif
