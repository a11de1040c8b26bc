// SPDX-License-Identifier: BSD-3-Clause
// devx.h - what real adapters say of themselves, by DevX: commands to the adapter's firmware that
// libmlx5 passes on. They tell what libibverbs does not: whether there are cross-channel queue
// pairs, and whether entries may wait for words of memory.
//
// libibverbs and libmlx5 are loaded when they are asked for: a machine without adapters need not
// have them.
//
//   libraries.c    loaded, or which of them is missing
//   open.c         a device, or what keeps it from being opened
//   capability.c   the command, and the bits of its answer

#pragma once

#include <infiniband/mlx5dv.h>
#include <stdbool.h>

#include "nbc/hca.h"

struct devx_libraries {
  __typeof__(&ibv_get_device_list) list;
  __typeof__(&ibv_free_device_list) free_list;
  __typeof__(&ibv_get_device_name) name;
  __typeof__(&ibv_close_device) close;
  __typeof__(&mlx5dv_is_supported) is_mlx5;
  __typeof__(&mlx5dv_open_device) open;
  __typeof__(&mlx5dv_devx_general_cmd) command;
};

// What went wrong, in words. Of the caller.
struct devx_why {
  char text[256];
};
__attribute__((format(printf, 2, 3))) bool devx_refuse(struct devx_why *, const char *format, ...);

// False: *why says what is missing.
bool devx_load(struct devx_libraries *, struct devx_why *why);
// Null: *why says why not.
struct ibv_context *devx_open(const struct devx_libraries *, struct ibv_device *,
                              struct devx_why *why);

// Of the answer to QUERY_HCA_CAP: places of fields are bits from its beginning, widths at most 32.
enum {
  DEVX_QUERY_BYTES = 16,
  DEVX_CAPABILITY = 16,  // where capabilities begin
  DEVX_ANSWER_BYTES = DEVX_CAPABILITY + 4096
};
void devx_put_query(uint8_t command[DEVX_QUERY_BYTES]);
uint32_t devx_bits(const uint8_t *from, uint32_t place, uint32_t width);
// `waits` without cq_oi is 0: the runtime's CQs overrun, and nobody reads them.
void devx_read_facts(const uint8_t capability[4096], struct nbc_hca_facts *);
bool devx_query(const struct devx_libraries *, struct ibv_context *, struct nbc_hca_facts *,
                struct devx_why *why);
