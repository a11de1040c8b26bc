// SPDX-License-Identifier: BSD-3-Clause
// wc_status.h - what verbs call an error that an mlx5 completion tells. For devices that speak
// verbs.

#pragma once

#include <infiniband/verbs.h>

#include "nbc/mlx5_wqe.h"

namespace hca {

inline ibv_wc_status statusOf(uint8_t syndrome) {
  switch (static_cast<mlx5_syndrome>(syndrome)) {
    case MLX5_LOCAL_LENGTH:
      return IBV_WC_LOC_LEN_ERR;
    case MLX5_LOCAL_QP_OP:
      return IBV_WC_LOC_QP_OP_ERR;
    case MLX5_LOCAL_PROT:
      return IBV_WC_LOC_PROT_ERR;
    case MLX5_FLUSHED:
      return IBV_WC_WR_FLUSH_ERR;
    case MLX5_LOCAL_ACCESS:
      return IBV_WC_LOC_ACCESS_ERR;
    case MLX5_REMOTE_INVALID:
      return IBV_WC_REM_INV_REQ_ERR;
    case MLX5_REMOTE_ACCESS:
      return IBV_WC_REM_ACCESS_ERR;
    case MLX5_REMOTE_OP:
      return IBV_WC_REM_OP_ERR;
    case MLX5_RETRY_EXCEEDED:
      return IBV_WC_RETRY_EXC_ERR;
    case MLX5_RNR_EXCEEDED:
      return IBV_WC_RNR_RETRY_EXC_ERR;
  }
  return IBV_WC_GENERAL_ERR;
}

}  // namespace hca
