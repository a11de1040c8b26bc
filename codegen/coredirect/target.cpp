// SPDX-License-Identifier: BSD-3-Clause
// target.cpp - the target as a value, and the adapters it knows.
//
// Where a fact could not be found for a generation, the row holds what every
// member of the family is known to have: a template made for too little still
// runs, one made for too much does not. What a real adapter reports is compared
// with the row when a plan is made.

#include "codegen/coredirect/coredirect.h"
#include "nbc/mlx5_wqe.h"

namespace nbcc {
namespace {

constexpr unsigned calc(auto... operations) {
  return ((1u << operations) | ...);
}

// maxGather: a work queue entry has at most 63 segments; 30 is what the drivers
// grant a send, whatever stands before the data.
const Device devices[] = {
    {.name = "soft",
     .summary = "the software HCA of devices/hca",
     .maxGather = 30,
     .maxScatter = 32,
     .logQueue = 15,
     .inlineBytes = 928,
     .crossChannel = true,
     .calc = calc(MLX5_CALC_ADD_U64, MLX5_CALC_ADD_F64, MLX5_CALC_MAX_U64, MLX5_CALC_AND,
                  MLX5_CALC_OR, MLX5_CALC_XOR)},
    {.name = "connectx2",
     .summary = "ConnectX-2: adds, ands, ors and xors scalars of 64 bits",
     .maxGather = 28,
     .maxScatter = 31,
     .logQueue = 14,
     .inlineBytes = 460,
     .crossChannel = true,
     .calc = calc(MLX5_CALC_ADD_U64, MLX5_CALC_ADD_F64, MLX5_CALC_MAX_U64, MLX5_CALC_AND,
                  MLX5_CALC_OR, MLX5_CALC_XOR)},
    {.name = "connectx5",
     .summary = "ConnectX-5: as ConnectX-2, longer queues",
     .maxGather = 30,
     .maxScatter = 32,
     .logQueue = 15,
     .inlineBytes = 928,
     .crossChannel = true,
     .calc = calc(MLX5_CALC_ADD_U64, MLX5_CALC_ADD_F64, MLX5_CALC_MAX_U64, MLX5_CALC_AND,
                  MLX5_CALC_OR, MLX5_CALC_XOR)},
    // That scalar calc is still there nobody says: the host reduces.
    {.name = "connectx7",
     .summary = "ConnectX-7: waits and triggers; does not reduce",
     .maxGather = 30,
     .maxScatter = 32,
     .logQueue = 15,
     .inlineBytes = 928,
     .crossChannel = true,
     .calc = 0},
};

}  // namespace

const Target coredirect = {
    .name = "coredirect",
    .summary = "CORE-Direct: the NIC itself waits and triggers, so the CPU is free",
    .devices = devices,
    .legalize = coredirect_legalize,
    .emit = coredirect_emit,
    .printTasks = coredirect_printTasks,
    .printResources = coredirect_printResources,
    .verifyTemplate = coredirect_verifyTemplate,
};

}  // namespace nbcc
