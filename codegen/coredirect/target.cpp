// SPDX-License-Identifier: BSD-3-Clause
// target.cpp - the target as a value, and the adapters it knows.

#include "codegen/coredirect/coredirect.h"
#include "nbc/mlx5_wqe.h"

namespace nbcc {
namespace {

constexpr unsigned everything = 1u << MLX5_CALC_ADD_U64 | 1u << MLX5_CALC_ADD_F64 |
                                1u << MLX5_CALC_MAX_U64 | 1u << MLX5_CALC_AND | 1u << MLX5_CALC_OR |
                                1u << MLX5_CALC_XOR;
static_assert(everything == 0x7e, "as nbc/hca_devices.def has it");

const Device devices[] = {
#define HCA_DEVICE(called, what, gather, scatter, queue, inlined, reduces, waitsFor) \
  {.name = called,                                                                   \
   .summary = what,                                                                  \
   .maxGather = gather,                                                              \
   .maxScatter = scatter,                                                            \
   .logQueue = queue,                                                                \
   .inlineBytes = inlined,                                                           \
   .crossChannel = ((waitsFor) & NBC_HCA_WAITS_CQ) != 0,                             \
   .calc = reduces},
#include "nbc/hca_devices.def"
};

}  // namespace

nbc_hca_facts coredirect_facts(const Device &device) {
  constexpr uint32_t logCq = 22;  // what adapters of all these kinds have
  const auto log = static_cast<uint32_t>(device.logQueue);
  return {.max_gather = static_cast<uint32_t>(device.maxGather),
          .max_scatter = static_cast<uint32_t>(device.maxScatter),
          .max_log_sq = log,
          .max_log_rq = log,
          .max_log_cq = logCq,
          .calc = device.calc,
          .waits = device.crossChannel ? NBC_HCA_WAITS_CQ : NBC_HCA_WAITS_DATA,
          .ports = 1};
}

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
