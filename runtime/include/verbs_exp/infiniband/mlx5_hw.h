/* SPDX-License-Identifier: BSD-3-Clause
 * mlx5_hw.h - of the vendor's header of this name nothing: its structs are the insides of the
 * vendor's library. It is here for programs that include it and use verbs alone.
 */
#ifndef INFINIBAND_MLX5_HW_H
#define INFINIBAND_MLX5_HW_H
#endif
