// SPDX-License-Identifier: BSD-3-Clause
// devx.h - mlx5 adapters by DevX: commands to the adapter's firmware that libmlx5 passes on. They
// do what libibverbs cannot: tell whether there are cross-channel queue pairs, and make them, with
// rings of one's own.
//
// libibverbs and libmlx5 are loaded when they are asked for: a machine without adapters need not
// have them.
//
//   libraries.c    loaded, or which of them is missing
//   open.c         a device, or what keeps it from being opened
//   capability.c   what the adapter says it can do
//   commands.h     the commands that make queues
//   adapter.h      the device of target coredirect, out of these

#pragma once

#include <infiniband/mlx5dv.h>
#include <stdbool.h>

#include "nbc/hca.h"

// What is called of them, and its names here.
#define DEVX_OF_VERBS(FUNCTION)             \
  FUNCTION(list, ibv_get_device_list)       \
  FUNCTION(free_list, ibv_free_device_list) \
  FUNCTION(name, ibv_get_device_name)       \
  FUNCTION(close, ibv_close_device)         \
  FUNCTION(query_device, ibv_query_device)  \
  FUNCTION(query_port, ibv_query_port)      \
  FUNCTION(query_gid, _ibv_query_gid_ex)    \
  FUNCTION(make_domain, ibv_alloc_pd)       \
  FUNCTION(free_domain, ibv_dealloc_pd)     \
  FUNCTION(register_memory, ibv_reg_mr)     \
  FUNCTION(deregister_memory, ibv_dereg_mr) \
  FUNCTION(make_way, ibv_create_ah)         \
  FUNCTION(free_way, ibv_destroy_ah)        \
  FUNCTION(get_event, ibv_get_async_event)  \
  FUNCTION(ack_event, ibv_ack_async_event)
#define DEVX_OF_MLX5(FUNCTION)                              \
  FUNCTION(is_mlx5, mlx5dv_is_supported)                    \
  FUNCTION(open, mlx5dv_open_device)                        \
  FUNCTION(look_into, mlx5dv_init_obj)                      \
  FUNCTION(command, mlx5dv_devx_general_cmd)                \
  FUNCTION(create, mlx5dv_devx_obj_create)                  \
  FUNCTION(modify, mlx5dv_devx_obj_modify)                  \
  FUNCTION(destroy, mlx5dv_devx_obj_destroy)                \
  FUNCTION(make_known, mlx5dv_devx_umem_reg)                \
  FUNCTION(forget, mlx5dv_devx_umem_dereg)                  \
  FUNCTION(make_page, mlx5dv_devx_alloc_uar)                \
  FUNCTION(free_page, mlx5dv_devx_free_uar)                 \
  FUNCTION(event_queue, mlx5dv_devx_query_eqn)              \
  FUNCTION(make_channel, mlx5dv_devx_create_event_channel)  \
  FUNCTION(free_channel, mlx5dv_devx_destroy_event_channel) \
  FUNCTION(subscribe, mlx5dv_devx_subscribe_devx_event)     \
  FUNCTION(next_event, mlx5dv_devx_get_event)

struct devx_libraries {
#define MEMBER(name, function) __typeof__(&function) name;
  DEVX_OF_VERBS(MEMBER)
  DEVX_OF_MLX5(MEMBER)
#undef MEMBER
};

// What went wrong, in words. Of the caller.
struct devx_why {
  char text[512];
};
__attribute__((format(printf, 2, 3))) bool devx_refuse(struct devx_why *, const char *format, ...);

// False: *why says what is missing.
bool devx_load(struct devx_libraries *, struct devx_why *why);
// Null: *why says why not.
struct ibv_context *devx_open(const struct devx_libraries *, struct ibv_device *,
                              struct devx_why *why);

// --- capability.c ---

// Of the answer to QUERY_HCA_CAP: places of fields are bits from its beginning, widths at most 64.
enum {
  DEVX_QUERY_BYTES = 16,
  DEVX_CAPABILITY = 16,  // where capabilities begin
  DEVX_CAPABILITY_BYTES = 4096,
  DEVX_ANSWER_BYTES = DEVX_CAPABILITY + DEVX_CAPABILITY_BYTES
};
void devx_put_query(uint8_t command[DEVX_QUERY_BYTES]);
// `waits` without cq_oi is 0: the runtime's CQs overrun, and nobody reads them.
void devx_read_facts(const uint8_t capability[DEVX_CAPABILITY_BYTES], struct nbc_hca_facts *);
bool devx_query(const struct devx_libraries *, struct ibv_context *, struct nbc_hca_facts *,
                struct devx_why *why);
