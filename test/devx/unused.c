// SPDX-License-Identifier: BSD-3-Clause
// unused.c - what the libraries that stand_in.c is for have to have, and nobody calls who only
// asks.

#include <stdlib.h>

#define UNUSED(function) \
  void function(void);   \
  void function(void) {  \
    abort();             \
  }
UNUSED(ibv_query_device)
UNUSED(ibv_query_port)
UNUSED(_ibv_query_gid_ex)
UNUSED(ibv_alloc_pd)
UNUSED(ibv_dealloc_pd)
UNUSED(ibv_reg_mr)
UNUSED(ibv_dereg_mr)
UNUSED(ibv_create_ah)
UNUSED(ibv_destroy_ah)
UNUSED(ibv_get_async_event)
UNUSED(ibv_ack_async_event)
UNUSED(mlx5dv_init_obj)
UNUSED(mlx5dv_devx_obj_create)
UNUSED(mlx5dv_devx_obj_modify)
UNUSED(mlx5dv_devx_obj_destroy)
UNUSED(mlx5dv_devx_umem_reg)
UNUSED(mlx5dv_devx_umem_dereg)
UNUSED(mlx5dv_devx_alloc_uar)
UNUSED(mlx5dv_devx_free_uar)
UNUSED(mlx5dv_devx_query_eqn)
UNUSED(mlx5dv_devx_create_event_channel)
UNUSED(mlx5dv_devx_destroy_event_channel)
UNUSED(mlx5dv_devx_subscribe_devx_event)
UNUSED(mlx5dv_devx_get_event)
